//! Reads personas. One that is wrong is left out with its line; the others are there.

use super::{
    DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX, PERSONAS_MAX, PROBLEMS_MAX, PROMPT_BYTES_MAX, Parsed, Persona,
    Problem, STEPS_MAX, Sampling, is_same_name,
};
use crate::agent::TOOLS;

pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let (entries, open_fence) = entries(text.strip_prefix('\u{feff}').unwrap_or(text));
    if let Some(line) = open_fence {
        let words = "A block of code begins here and has no end, so what follows is part of it.".to_owned();
        parsed.problems.push(Problem { line, name: None, words });
    }
    for entry in entries {
        if parsed.personas.len() == PERSONAS_MAX || parsed.problems.len() == PROBLEMS_MAX {
            let words = "What follows is not read: there is too much of it.".to_owned();
            parsed.problems.push(Problem { line: entry.line, name: None, words });
            break;
        }
        let taken = |name: &str| parsed.personas.iter().any(|other| is_same_name(&other.name, name));
        match persona(&entry, taken) {
            Ok(persona) => parsed.personas.push(persona),
            Err(problem) => parsed.problems.push(problem),
        }
    }
    parsed
}

struct Entry<'a> {
    /// Of its heading, from 1.
    line: usize,
    name: &'a str,
    /// Everything up to the next heading.
    body: Vec<&'a str>,
}

/// Headings in a block of code belong to the code. Also the line of a block that never ends.
fn entries(text: &str) -> (Vec<Entry<'_>>, Option<usize>) {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut fence: Option<(&str, usize)> = None;
    for (at, line) in text.lines().enumerate() {
        let mark = fence_of(line);
        match (fence, mark) {
            (None, Some(opened)) => fence = Some((opened, at + 1)),
            (Some((opened, _)), Some(mark)) if closes(line, mark, opened) => fence = None,
            _ => {}
        }
        match line.strip_prefix("## ").filter(|_| fence.is_none()) {
            Some(name) => entries.push(Entry { line: at + 1, name: name.trim(), body: Vec::new() }),
            None => {
                if let Some(entry) = entries.last_mut() {
                    entry.body.push(line);
                }
            }
        }
    }
    (entries, fence.map(|(_, line)| line))
}

/// The backticks or tildes that open or close a block of code.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    // Code within a line begins and ends in it.
    let is_inline = mark == '`' && line[length..].contains('`');
    (length >= 3 && !is_inline).then(|| &line[..length])
}

fn closes(line: &str, mark: &str, opened: &str) -> bool {
    mark.starts_with(opened) && line.trim() == mark
}

fn persona(entry: &Entry<'_>, taken: impl Fn(&str) -> bool) -> Result<Persona, Problem> {
    let name = entry.name;
    let at = |line: usize, words: String| Problem { line, name: Some(name.to_owned()), words };
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.contains(char::is_control) {
        let words = format!("A persona's name has 1 to {NAME_CHARS_MAX} characters that can be seen.");
        return Err(Problem { line: entry.line, name: None, words });
    }
    if taken(name) {
        let words = format!("There is a persona {name} above; this one is left out.");
        return Err(Problem { line: entry.line, name: None, words });
    }
    let dashes = |line: &&str| line.trim_end() == "---";
    let start = entry.body.iter().position(|line| !line.trim().is_empty());
    let Some(start) = start.filter(|start| dashes(&entry.body[*start])) else {
        return Err(at(entry.line, format!("{name} has no settings: they stand between two lines of ---.")));
    };
    let Some(length) = entry.body[start + 1..].iter().position(dashes) else {
        let line = entry.line + 1 + start;
        return Err(at(
            line,
            format!("The settings of {name} have no end: a second line of --- is missing."),
        ));
    };
    let end = start + 1 + length;
    let mut settings = Settings::default();
    for (offset, line) in entry.body[start + 1..end].iter().enumerate() {
        settings
            .take(line)
            .map_err(|words| at(entry.line + start + 2 + offset, format!("{name}: {words}")))?;
    }
    let prompt = entry.body[end + 1..].join("\n").trim().to_owned();
    let Settings { description, sampling, tools, steps, .. } = settings;
    let Some(description) = description else {
        return Err(at(entry.line, format!("{name} has no description.")));
    };
    match prompt.len() {
        0 => Err(at(entry.line, format!("{name} has no words for the model after its settings."))),
        size if size > PROMPT_BYTES_MAX => Err(at(
            entry.line,
            format!("What {name} tells the model is over {} KB.", PROMPT_BYTES_MAX / 1024),
        )),
        _ => Ok(Persona { name: name.to_owned(), description, sampling, tools, steps, prompt }),
    }
}

#[derive(Default)]
struct Settings<'a> {
    given: Vec<&'a str>,
    description: Option<String>,
    sampling: Sampling,
    tools: Option<Vec<String>>,
    steps: Option<u32>,
}

impl<'a> Settings<'a> {
    fn take(&mut self, line: &'a str) -> Result<(), String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let Some((key, value)) = line.split_once(':') else {
            return Err(format!("\"{line}\" is no setting; one is written as key: value."));
        };
        let (key, value) = (key.trim(), unquoted(value.trim()));
        if self.given.contains(&key) {
            return Err(format!("{key} is given twice."));
        }
        self.given.push(key);
        let sampling = &mut self.sampling;
        match key {
            "description" if value.is_empty() => return Err("the description is empty.".into()),
            "description" if value.chars().count() > DESCRIPTION_CHARS_MAX => {
                return Err(format!("the description has more than {DESCRIPTION_CHARS_MAX} characters."));
            }
            "description" => self.description = Some(value.to_owned()),
            "temperature" => sampling.temperature = Some(number(key, value, 0.0, 2.0)?),
            "top_p" => sampling.top_p = Some(number(key, value, 0.0, 1.0)?),
            "min_p" => sampling.min_p = Some(number(key, value, 0.0, 1.0)?),
            "presence_penalty" => sampling.presence_penalty = Some(number(key, value, -2.0, 2.0)?),
            "frequency_penalty" => sampling.frequency_penalty = Some(number(key, value, -2.0, 2.0)?),
            "top_k" => sampling.top_k = Some(whole(key, value, 1_000_000)?),
            "steps" => self.steps = Some(whole(key, value, STEPS_MAX)?),
            "tools" => self.tools = Some(tools(value)?),
            _ => {
                return Err(format!(
                    "there is no setting {key}; there are description, temperature, top_p, top_k, min_p, \
                     presence_penalty, frequency_penalty, tools and steps."
                ));
            }
        }
        Ok(())
    }
}

fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

fn number(key: &str, value: &str, least: f32, most: f32) -> Result<f32, String> {
    let number = value.parse::<f32>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{key} is a number from {least} to {most}, not \"{value}\"."))
}

fn whole(key: &str, value: &str, most: u32) -> Result<u32, String> {
    let number = value.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("{key} is a whole number from 1 to {most}, not \"{value}\"."))
}

/// A name that is wrong would take a tool away without a word.
fn tools(value: &str) -> Result<Vec<String>, String> {
    let named = list(value);
    match named.iter().find(|name| !TOOLS.contains(&name.as_str())) {
        Some(wrong) => Err(format!("there is no tool \"{wrong}\"; there are {}.", TOOLS.join(", "))),
        None => Ok(named),
    }
}

/// With commas between, with or without brackets.
fn list(value: &str) -> Vec<String> {
    let inner = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value);
    inner.split(',').map(|name| unquoted(name.trim()).to_owned()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_can_be_set() {
        let text = "Words before the first are nobody's.\n\n## Poet\n\n---\n# a remark\ndescription: \"Rhymes: always\"\n\
            temperature: 0.9\ntop_p: 0.95\ntop_k: 40\nmin_p: 0.05\npresence_penalty: -1\nfrequency_penalty: 2\n\
            tools: [read, 'grep']\nsteps: 7\n---\n\nYou rhyme.\n\n### Even here\n\nYes.\n";
        let Parsed { personas, problems } = parse(text);
        assert_eq!(problems, []);
        let poet = Persona {
            name: "Poet".into(),
            description: "Rhymes: always".into(),
            sampling: Sampling {
                temperature: Some(0.9),
                top_p: Some(0.95),
                top_k: Some(40),
                min_p: Some(0.05),
                presence_penalty: Some(-1.0),
                frequency_penalty: Some(2.0),
            },
            tools: Some(vec!["read".into(), "grep".into()]),
            steps: Some(7),
            prompt: "You rhyme.\n\n### Even here\n\nYes.".into(),
        };
        assert_eq!(personas, [poet]);
    }

    #[test]
    fn one_that_is_wrong_is_left_out_with_its_line() {
        let check = |bad: &str, line: usize, words: &str| {
            let good = "## Good\n---\ndescription: Works\n---\nBe good.\n";
            let text = format!("{good}\n{bad}\n\n## Also good\n---\ndescription: Works too\n---\nGo on.");
            let Parsed { personas, problems } = parse(&text);
            let names: Vec<_> = personas.iter().map(|persona| persona.name.as_str()).collect();
            assert_eq!(names, ["Good", "Also good"], "{bad}");
            let told: Vec<_> =
                problems.iter().map(|problem| (problem.line, problem.words.as_str())).collect();
            assert_eq!(told, [(line, words)], "{bad}");
        };
        check("## Bare\nNo settings.", 7, "Bare has no settings: they stand between two lines of ---.");
        check("## Bare", 7, "Bare has no settings: they stand between two lines of ---.");
        check(
            "## Open\n---\nsteps: 1",
            8,
            "The settings of Open have no end: a second line of --- is missing.",
        );
        check(
            "## Hot\n\n---\ndescription: x\ntemperature: 3\n---\ny",
            11,
            "Hot: temperature is a number from 0 to 2, not \"3\".",
        );
        check(
            "## Hot\n---\ntemperature: NaN\n---\ny",
            9,
            "Hot: temperature is a number from 0 to 2, not \"NaN\".",
        );
        check("## Lazy\n---\nsteps: 0\n---\ny", 9, "Lazy: steps is a whole number from 1 to 500, not \"0\".");
        check(
            "## Blind\n---\ndescription: x\ntools: raed, grep\n---\ny",
            10,
            "Blind: there is no tool \"raed\"; there are list, read, grep, find, edit, write, run, git, \
             web_fetch, web_search.",
        );
        check("## Twice\n---\nsteps: 1\nsteps: 2\n---\ny", 10, "Twice: steps is given twice.");
        check(
            "## Odd\n---\njust words\n---\ny",
            9,
            "Odd: \"just words\" is no setting; one is written as key: value.",
        );
        check("## Plain\n---\nsteps: 1\n---\ny", 7, "Plain has no description.");
        check(
            "## Mute\n---\ndescription: x\n---\n \n",
            7,
            "Mute has no words for the model after its settings.",
        );
        check(
            "## good\n---\ndescription: x\n---\ny",
            7,
            "There is a persona good above; this one is left out.",
        );
        check(
            &format!("## {}\n---\ndescription: x\n---\ny", "n".repeat(61)),
            7,
            "A persona's name has 1 to 60 characters that can be seen.",
        );
        let long = "w".repeat(PROMPT_BYTES_MAX + 1);
        check(
            &format!("## Long\n---\ndescription: x\n---\n{long}"),
            7,
            "What Long tells the model is over 32 KB.",
        );
    }

    #[test]
    fn a_heading_in_code_is_code() {
        let text = "## One\n---\ndescription: x\n---\nWrite:\n````md\n## Not one\n```\n````\n~~~\n## Nor this\n~~~\nEnd.\n## Two\n---\ndescription: y\n---\nz";
        let Parsed { personas, problems } = parse(text);
        assert_eq!(problems, []);
        let names: Vec<_> = personas.iter().map(|persona| persona.name.as_str()).collect();
        assert_eq!(names, ["One", "Two"]);
        assert!(personas[0].prompt.contains("## Nor this"));
    }

    #[test]
    fn what_is_odd_loses_nothing_without_a_word() {
        let check = |text: &str, names: &[&str], problems: &[(usize, &str)]| {
            let parsed = parse(text);
            let found: Vec<_> = parsed.personas.iter().map(|persona| persona.name.as_str()).collect();
            assert_eq!(found, names, "{text:?}");
            let told: Vec<_> =
                parsed.problems.iter().map(|problem| (problem.line, problem.words.as_str())).collect();
            assert_eq!(told, problems, "{text:?}");
        };
        let bare = "a has no settings: they stand between two lines of ---.";
        check("", &[], &[]);
        check("##\n---", &[], &[]);
        check("## a\n---\n---", &[], &[(1, "a has no description.")]);
        check("## a", &[], &[(1, bare)]);
        check("\u{feff}## a\r\n---\r\ndescription: x\r\n---\r\ny\r\n", &["a"], &[]);
        let inline = "## a\n---\ndescription: x\n---\n```x``` is code\n## b\n---\ndescription: x\n---\ny";
        check(inline, &["a", "b"], &[]);
        let open = "A block of code begins here and has no end, so what follows is part of it.";
        check("## a\n---\ndescription: x\n---\n```\n## b", &["a"], &[(5, open)]);
        check("## a\u{7}b\n", &[], &[(1, "A persona's name has 1 to 60 characters that can be seen.")]);
        let whole = format!("## a\n---\ndescription: x\n---\n{}", "w".repeat(PROMPT_BYTES_MAX));
        check(&whole, &["a"], &[]);
    }

    #[test]
    fn there_is_an_end_to_it() {
        let many: String = (0..200).map(|n| format!("## p{n}\n---\ndescription: x\n---\ny\n")).collect();
        let Parsed { personas, problems } = parse(&many);
        assert_eq!((personas.len(), problems.len()), (PERSONAS_MAX, 1));
        let Parsed { personas, problems } = parse(&"## bad\n".repeat(10_000));
        assert_eq!((personas.len(), problems.len()), (0, PROBLEMS_MAX + 1));
        assert_eq!(problems[PROBLEMS_MAX].words, "What follows is not read: there is too much of it.");
    }
}
