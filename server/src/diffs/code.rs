//! The colours of code that stands in a text, by the grammars that colour diffs.

use app::{
    error::AppError,
    markdown::colours::{ASKED_BYTES_MAX, CODE_BYTES_MAX, Code, Run},
    ports::CodeColours,
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::task::spawn_blocking;

use super::{colours::spans, languages::Language};

pub struct Grammars;

impl CodeColours for Grammars {
    fn of(&self, code: Vec<Code>) -> BoxFuture<'_, Result<Vec<Vec<Run>>, AppError>> {
        async move {
            let coloured = spawn_blocking(move || coloured(&code));
            coloured.await.map_err(|error| AppError::internal(&error))
        }
        .boxed()
    }
}

/// What is beyond what a page asks for stays plain.
fn coloured(code: &[Code]) -> Vec<Vec<Run>> {
    let mut bytes = 0;
    let runs = |Code { lang, text }: &Code| {
        bytes += text.len();
        if text.len() > CODE_BYTES_MAX || bytes > ASKED_BYTES_MAX {
            return Vec::new();
        }
        // Some write more than the name behind the fence.
        let name = lang.split([' ', ',', '{', ':']).next().unwrap_or_default().to_ascii_lowercase();
        let Some(language) = Language::of_name(&name) else { return Vec::new() };
        let spans = spans(text, language).into_iter();
        spans.map(|(range, letter)| (range.start as u32, range.end as u32, letter)).collect()
    };
    code.iter().map(runs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lang: &str, text: &str, expected: &str) {
        let code = Code { lang: lang.to_owned(), text: text.to_owned() };
        let piece = |(start, end, letter): &Run| {
            format!("{}:{}", char::from(*letter), &text[*start as usize..*end as usize])
        };
        let told: Vec<String> = coloured(&[code])[0].iter().map(piece).collect();
        assert_eq!(told.join(" "), expected);
    }

    #[test]
    fn code_has_the_colours_of_its_grammar() {
        check("rust", "let a = \"ü\";", "k:let s:\"ü\"");
        check("Python title=\"a.py\"", "return 1", "k:return n:1");
        check("klingon", "let a = 1;", "");
        check("rust", "", "");
    }

    #[test]
    fn too_much_stays_plain() {
        let long = Code { lang: "rust".into(), text: "let a;\n".repeat(CODE_BYTES_MAX / 7 + 1) };
        let short = Code { lang: "rust".into(), text: "let a;".into() };
        let told = coloured(&[long, short]);
        assert!(told[0].is_empty());
        assert_eq!(told[1].len(), 1);
        let many = vec![Code { lang: "rust".into(), text: "let a;\n".repeat(8_000) }; 6];
        let told = coloured(&many);
        assert!(!told[3].is_empty());
        assert!(told[5].is_empty());
    }
}
