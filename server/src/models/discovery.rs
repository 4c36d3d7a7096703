//! Where model servers usually listen on the machine that BooCode runs on.

use domain::catalogue::Flavour;

use super::Address;

/// The usual ports of llama-swap and llama.cpp (8080) and of Ollama (11434).
pub fn usual_places() -> Vec<Address> {
    ["http://127.0.0.1:8080", "http://127.0.0.1:11434"]
        .into_iter()
        .filter_map(|url| Address::parse(url).ok())
        .collect()
}

/// What a server that nobody named is called, made different from the names that are taken.
pub fn name_for(flavour: Flavour, taken: &[String]) -> String {
    let plain = match flavour {
        Flavour::LlamaSwap => "llama-swap",
        Flavour::LlamaCpp => "llama.cpp",
        Flavour::Ollama => "ollama",
        Flavour::OpenAi | Flavour::Small | Flavour::Account => "local",
    };
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    let free = |name: &String| !taken.contains(name);
    std::iter::once(plain.to_owned()).chain(numbered).find(free).unwrap_or_else(|| plain.to_owned())
}
