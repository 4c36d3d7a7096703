//! How a chat gets its name.

const TITLE_CHARS_MAX: usize = 60;

/// The first words of the first message: good enough at once, and all there is when no model names it better.
pub fn from_prompt(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.trim_start_matches(['#', '>', '-', '*', '`', ' ']).to_owned();
    let title = shorten(&clean(&line), TITLE_CHARS_MAX);
    if title.is_empty() { super::Kind::Chat.untitled().to_owned() } else { title }
}

/// A model's answer as a title, if it is one. Small models explain, quote or ramble: then there is none.
pub fn from_model(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = clean(line);
    let line = line.strip_prefix("Title:").unwrap_or(&line).trim();
    let line = line.trim_matches(['"', '\'', '*', '`', '#', '.', ' ', '“', '”']).trim();
    let words = line.split_whitespace().count();
    let fits = (1..=10).contains(&words) && line.chars().count() <= TITLE_CHARS_MAX;
    (fits && !line.ends_with(':')).then(|| line.to_owned())
}

/// The instruction for a title task.
pub fn prompt(question: &str, answer: &str) -> String {
    let cut = |text: &str| text.chars().take(1_000).collect::<String>();
    format!(
        "Question:\n{}\n\nAnswer:\n{}\n\nWrite a title of at most six words for this conversation. \
         Write only the title.",
        cut(question),
        cut(answer)
    )
}

/// One line without what cannot be seen.
pub(crate) fn clean(line: &str) -> String {
    let visible: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At whole words.
pub(crate) fn shorten(line: &str, chars_max: usize) -> String {
    if line.chars().count() <= chars_max {
        return line.to_owned();
    }
    let cut: String = line.chars().take(chars_max - 1).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_gives_a_title() {
        let check = |text: &str, title: &str| assert_eq!(from_prompt(text), title, "{text:?}");
        check("How do I sort a list?", "How do I sort a list?");
        check("\n\n# Fix  the\tbuild\nplease", "Fix the build");
        check("```", "New chat");
        check(
            "Explain why the connection pool of the server runs dry when many people look at one battle",
            "Explain why the connection pool of the server runs dry…",
        );
    }

    #[test]
    fn a_model_gives_a_title_or_none() {
        let check =
            |text: &str, title: Option<&str>| assert_eq!(from_model(text).as_deref(), title, "{text:?}");
        check("Sorting a list in Rust", Some("Sorting a list in Rust"));
        check("\n**Title: \"Sorting\"**\nmore", Some("Title: \"Sorting"));
        check("Title: Sorting lists.", Some("Sorting lists"));
        check("Sure! Here is a title for the conversation that you have shown to me:", None);
        check("Here it is:", None);
        check("", None);
    }
}
