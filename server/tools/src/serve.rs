//! One call after the other, until nobody asks any more.

use std::{
    io::{self, BufRead, Write},
    path::Path,
};

use crate::{Answer, Call, call::Wrong, tool};

/// Answers each line of `calls` with a line, working in `folder`.
pub fn serve(folder: &Path, calls: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    for line in calls.lines() {
        let answer = match serde_json::from_str::<Call>(&line?) {
            Ok(call) => answer(folder, &call),
            Err(error) => Answer::failed(format!("The call cannot be read: {error}.")),
        };
        serde_json::to_writer(&mut answers, &answer)?;
        answers.write_all(b"\n")?;
        answers.flush()?;
    }
    Ok(())
}

fn answer(folder: &Path, call: &Call) -> Answer {
    let done = match call.name.as_str() {
        "list" => call.read().and_then(|wanted| tool::list::list(folder, &wanted)),
        "read" => call.read().and_then(|wanted| tool::file::read(folder, &wanted)),
        "grep" => call.read().and_then(|wanted| tool::search::grep(folder, &wanted)),
        "find" => call.read().and_then(|wanted| tool::search::find(folder, &wanted)),
        "edit" => call.read().and_then(|wanted| tool::file::edit(folder, &wanted)),
        "write" => call.read().and_then(|wanted| tool::file::write(folder, &wanted)),
        "run" => return call.read().map_or_else(refused, |wanted| tool::command::run(folder, &wanted)),
        "git" => return call.read().map_or_else(refused, |wanted| tool::command::git(folder, &wanted)),
        other => Err(Wrong(format!("There is no tool called {other}."))),
    };
    done.map_or_else(refused, Answer::done)
}

fn refused(wrong: Wrong) -> Answer {
    Answer::failed(wrong.0)
}

#[cfg(test)]
mod tests;
