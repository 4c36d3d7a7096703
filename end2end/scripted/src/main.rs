//! The scripted model server as a program.

use std::io::Write;
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use scripted::{Flavour, Script};
use tokio::net::TcpListener;

/// A deterministic model server for tests, on 127.0.0.1.
#[derive(Parser)]
struct Arguments {
    /// 0 takes any free port; the address is printed.
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[arg(long, value_enum, default_value = "llama-swap")]
    flavour: Flavour,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, value_delimiter = ',', default_values_t = Script::default().models)]
    models: Vec<String>,
    /// Answer to any model name, listed or not.
    #[arg(long)]
    any_model: bool,
    /// 0 sends as fast as the reader takes it.
    #[arg(long, default_value_t = 200.0)]
    tokens_per_second: f64,
    #[arg(long, default_value_t = 0)]
    load_ms: u64,
    #[arg(long, default_value_t = 0)]
    unload_ms: u64,
    /// Tell a load as fake reasoning, as llama-swap's setting of that name does.
    #[arg(long)]
    send_loading_state: bool,
    #[arg(long, default_value_t = 10)]
    concurrency_limit: usize,
    #[arg(long, default_value_t = 262_144)]
    context_tokens: u64,
    /// Refuse requests without this key.
    #[arg(long)]
    api_key: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port))
        .await
        .with_context(|| format!("port {} cannot be taken; choose another with --port", arguments.port))?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening http://{}", listener.local_addr()?)?;
    // A pipe is not flushed line by line, and whoever started us waits for this one.
    stdout.flush()?;
    let script = Script {
        flavour: arguments.flavour,
        seed: arguments.seed,
        models: arguments.models,
        any_model: arguments.any_model,
        tokens_per_second: arguments.tokens_per_second.max(0.0),
        load: Duration::from_millis(arguments.load_ms),
        unload: Duration::from_millis(arguments.unload_ms),
        send_loading_state: arguments.send_loading_state,
        concurrency_limit: arguments.concurrency_limit,
        context_tokens: arguments.context_tokens,
        tells_context: true,
        api_key: arguments.api_key,
    };
    Ok(scripted::serve(listener, script).await?)
}
