//! Whether a command that an agent found is really one of the project's: quoted from the line that defines it, and
//! where code can look it up, there.

use super::ProjectText;
use crate::flow::answer::Finding;

/// Nobody writes longer ones by hand.
const LINES_MAX: usize = 5_000;

/// What is wrong with it, in words.
pub(super) fn fault(project: &dyn ProjectText, finding: &Finding) -> Option<String> {
    if !finding.places.iter().any(|quoted| !quoted.quote.trim().is_empty()) {
        return Some("The line that defines this command is not quoted.".to_owned());
    }
    let (file, name, defines) = defined_by(words(finding))?;
    // In a repository of several projects the one that is meant lies beside what is quoted.
    let beside = finding.places.iter().map(|quoted| match quoted.place.path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{file}"),
        None => file.to_owned(),
    });
    let files: Vec<String> = beside.chain([file.to_owned()]).collect();
    let mut known =
        files.iter().filter_map(|file| Some((file, project.line_count(file)?.min(LINES_MAX)))).peekable();
    known.peek()?;
    // One file may take in another: what is quoted may be the very line.
    let quoted = finding.places.iter().map(|quoted| &quoted.place.path);
    let quoted = quoted.filter_map(|file| Some((file, project.line_count(file)?.min(LINES_MAX))));
    let is_there = known.chain(quoted).any(|(file, count)| {
        (1..=count).any(|number| project.line(file, number).is_some_and(|line| defines(&line, &name)))
    });
    (!is_there).then(|| format!("{file} defines no {name}."))
}

/// The command: what stands in code marks, else the title.
fn words(finding: &Finding) -> Vec<&str> {
    let code = finding.texts().find_map(|text| text.split('`').nth(1)).filter(|code| !code.trim().is_empty());
    code.unwrap_or(&finding.title).split_whitespace().collect()
}

type Defines = fn(&str, &str) -> bool;

/// Which file has to define it, under which name. None for what no file of the project defines.
fn defined_by(words: Vec<&str>) -> Option<(&'static str, String, Defines)> {
    let own = |name: &&str| !name.starts_with('-') && !name.contains(['=', '<', '{', '$', '"', '\'']);
    let (file, name, defines): (_, _, Defines) = match words.as_slice() {
        ["npm" | "pnpm" | "yarn" | "bun", "run" | "run-script", name, ..] => ("package.json", *name, script),
        // Bun has a test runner of its own.
        ["npm" | "pnpm" | "yarn", name @ ("test" | "start"), ..] => ("package.json", *name, script),
        ["make", name, ..] => ("Makefile", *name, target),
        ["just", name, ..] => ("justfile", *name, target),
        _ => return None,
    };
    own(&name).then(|| (file, name.to_owned(), defines))
}

fn script(line: &str, name: &str) -> bool {
    let rest = line.split_once(&format!("\"{name}\"")).map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// A rule may have several targets, and a recipe parameters.
fn target(line: &str, name: &str) -> bool {
    let head = line.split_once(':').map(|(head, _)| head).filter(|head| !head.starts_with(['\t', ' ', '#']));
    head.is_some_and(|head| head.trim_start_matches('@').split_whitespace().any(|word| word == name))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::flow::{
        answer::Quoted,
        cited::{Place, Tree},
    };

    struct Files;

    const PACKAGE: [&str; 4] =
        ["{", "  \"scripts\": {", "    \"build\" : \"tsc\",", "    \"lint\": \"build\" } }"];
    const MAKEFILE: [&str; 4] = ["# clean: no", "all test: x", "\tfake: y", "x:"];

    impl Tree for Files {
        fn holds(&self, path: &str) -> bool {
            self.line_count(path).is_some()
        }
    }

    impl ProjectText for Files {
        fn line_count(&self, path: &str) -> Option<usize> {
            match path {
                "web/package.json" | "Makefile" => Some(4),
                "mk/test.mk" => Some(1),
                _ => None,
            }
        }

        fn line(&self, path: &str, number: usize) -> Option<Cow<'_, str>> {
            let lines: &[&str] = match path {
                "Makefile" => &MAKEFILE,
                "mk/test.mk" => &["unit: x"],
                _ => &PACKAGE,
            };
            lines.get(number - 1).map(|line| Cow::Borrowed(*line))
        }
    }

    #[test]
    fn a_command_is_quoted_and_defined() {
        let check_at = |path: &str, title: &str, quote: &str, expected: Option<&str>| {
            let place = Place { path: path.into(), line: Some(1), until: None };
            let places = vec![Quoted { place, quote: quote.into() }];
            let finding = Finding { title: title.into(), places, ..Finding::default() };
            assert_eq!(fault(&Files, &finding).as_deref(), expected, "{title}");
        };
        let check = |title, quote, expected| check_at("web/package.json", title, quote, expected);
        let unquoted = Some("The line that defines this command is not quoted.");
        check("npm run build", "", unquoted);
        check("npm run build", "x", None);
        check("Builds it with `npm run build -- --watch`", "x", None);
        check("npm run deploy", "x", Some("package.json defines no deploy."));
        check("yarn test", "x", Some("package.json defines no test."));
        check("npm install", "x", None);
        check("make test", "x", None);
        check("make clean", "x", Some("Makefile defines no clean."));
        check("make fake", "x", Some("Makefile defines no fake."));
        check("make unit", "x", Some("Makefile defines no unit."));
        check_at("mk/test.mk", "make unit", "unit: x", None);
        check("bun test", "x", None);
        check("make -j4", "x", None);
        // What code cannot look up stands on its quote.
        check("just release", "x", None);
        check("cargo test", "x", None);
    }
}
