//! One line a stage, with its time.

use crate::process::{go_on, interrupted};
use anyhow::{Context, Result};
use std::{
    io::{IsTerminal, Write, stdout},
    time::Instant,
};

pub fn stage<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    stage_with(name, || work().map(|value| (value, String::new())))
}

/// As `stage`; the work also says a few words for the line.
pub fn stage_with<T>(name: &str, work: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
    go_on()?;
    let started = Instant::now();
    // Some stages take minutes: whoever watches sees which one it is.
    let watched = stdout().is_terminal();
    if watched {
        print!("… {name}");
        stdout().flush()?;
    }
    let outcome = work();
    if watched {
        print!("\r\x1b[K");
    }
    let seconds = started.elapsed().as_secs_f32();
    match outcome {
        Ok((value, words)) if words.is_empty() => {
            println!("✓ {name} {seconds:.1} s");
            Ok(value)
        }
        Ok((value, words)) => {
            println!("✓ {name} {seconds:.1} s: {words}");
            Ok(value)
        }
        Err(error) => {
            if !interrupted() {
                println!("✗ {name} {seconds:.1} s");
            }
            Err(error).context(format!("{name} failed"))
        }
    }
}

pub fn skipped(name: &str, why: &str) {
    println!("– {name} skipped: {why}");
}
