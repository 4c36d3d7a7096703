//! Hiding who made a result: letters that are dealt anew for each analysis, and names taken out of texts.

use super::Battle;
use crate::backend::NATIVE;

/// None of the roster's letters, so that nobody mistakes the one for the other.
const LETTERS: [char; 6] = ['P', 'Q', 'R', 'S', 'T', 'U'];
const HIDDEN: &str = "[name]";
/// Shorter ones are common words.
const NAME_CHARS_MIN: usize = 3;

/// The letter of the entrant at a place.
pub fn letter(place: usize) -> char {
    LETTERS[place % LETTERS.len()]
}

/// The numbers below `count` in an order that the seed gives.
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = seed;
    for at in (1..count).rev() {
        // SplitMix64, as good as needed for six.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(at, ((z ^ (z >> 31)) % (at as u64 + 1)) as usize);
    }
    order
}

/// What agents and models call themselves, whoever takes part.
const KNOWN: [&str; 24] = [
    "boocode",
    "claude code",
    "claude",
    "anthropic",
    "sonnet",
    "opus",
    "haiku",
    "opencode",
    "codex",
    "openai",
    "chatgpt",
    "gemini",
    "google",
    "qwen code",
    "qwen",
    "alibaba",
    "goose",
    "llama",
    "mistral",
    "deepseek",
    "smollm",
    "grok",
    "kimi",
    "glm",
];

/// Words that would tell who wrote a text, the longest first.
pub fn names(battle: &Battle) -> Vec<String> {
    let own = battle.contestants.iter().flat_map(|contestant| {
        let model = &contestant.model.model;
        let last = model.rsplit('/').next().unwrap_or(model);
        let family = last.split([':', '-', '_']).next().unwrap_or(last);
        // The name of our own backend is an ordinary word.
        let who = Some(contestant.identity.name()).filter(|name| *name != NATIVE).unwrap_or_default();
        [who, model, last, family].map(str::to_lowercase)
    });
    let known = KNOWN.iter().map(|name| (*name).to_owned());
    let mut names: Vec<_> = own.chain(known).filter(|name| name.chars().count() >= NAME_CHARS_MIN).collect();
    names.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
    names.dedup();
    names
}

/// The text with the names taken out, however they are written, where they stand as words.
pub fn scrub(text: &str, names: &[String]) -> String {
    let lower = text.to_lowercase();
    // Lower case may be longer or shorter in some scripts; then offsets would not fit.
    if lower.len() != text.len() {
        return names.iter().fold(text.to_owned(), |text, name| text.replace(name.as_str(), HIDDEN));
    }
    let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
    while at < text.len() {
        let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric());
        let found = names.iter().filter(|_| is_start).find(|name| {
            lower[at..].starts_with(name.as_str())
                && !lower[at + name.len()..].starts_with(|c: char| c.is_alphanumeric())
        });
        match found {
            Some(name) => {
                clean.push_str(HIDDEN);
                at += name.len();
            }
            None => {
                let letter = text[at..].chars().next().unwrap_or_default();
                clean.push(letter);
                at += letter.len_utf8();
            }
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_out_where_they_are_words() {
        let names =
            ["qwen3-coder:30b".to_owned(), "qwen code".to_owned(), "qwen".to_owned(), "poet".to_owned()];
        let check = |text: &str, expected: &str| assert_eq!(scrub(text, &names), expected, "{text}");
        check("I am Qwen, made for you.", "I am [name], made for you.");
        check("Qwen3-Coder:30B did it; QWEN CODE too", "[name] did it; [name] too");
        check("a poetic poet", "a poetic [name]");
        check("sqwen qwenish", "sqwen qwenish");
        check("ünïcödé qwen ünï", "ünïcödé [name] ünï");
        check("İstanbul qwen", "İstanbul [name]");
    }

    #[test]
    fn letters_are_dealt_by_the_seed_and_everybody_gets_one() {
        let mut firsts = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut order = shuffled(6, seed);
            assert_eq!(order, shuffled(6, seed));
            firsts.insert(order[0]);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        }
        assert_eq!(firsts.len(), 6);
        assert!(shuffled(0, 1).is_empty());
    }
}
