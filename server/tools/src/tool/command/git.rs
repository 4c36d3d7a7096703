//! git as a tool that looks and changes nothing. Nobody is asked before it, so it must neither write a file nor start
//! what a repository names.

use crate::call::Wrong;

const VERBS: [&str; 5] = ["status", "diff", "log", "show", "blame"];

/// Without it, a look at the status would write the index.
pub const ENVIRONMENT: [(&str, &str); 1] = [("GIT_OPTIONAL_LOCKS", "0")];

/// Before the verb: settings of the repository that would start a program.
const SETTINGS: [&str; 5] = ["--no-pager", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];

/// What may be asked for. git takes every beginning of an option for the whole, so the dangerous ones cannot be told
/// by their names; these are meant in full.
const OPTIONS: [&str; 75] = [
    "--abbrev",
    "--abbrev-commit",
    "--after",
    "--all",
    "--author",
    "--before",
    "--branch",
    "--branches",
    "--cached",
    "--color-words",
    "--committer",
    "--compact-summary",
    "--date",
    "--date-order",
    "--decorate",
    "--diff-filter",
    "--dirstat",
    "--find-copies",
    "--find-renames",
    "--first-parent",
    "--follow",
    "--format",
    "--full-history",
    "--full-index",
    "--function-context",
    "--graph",
    "--grep",
    "--histogram",
    "--ignore-all-space",
    "--ignore-blank-lines",
    "--ignore-case",
    "--ignore-space-change",
    "--ignored",
    "--invert-grep",
    "--left-right",
    "--line-porcelain",
    "--long",
    "--max-count",
    "--merge-base",
    "--merges",
    "--minimal",
    "--name-only",
    "--name-status",
    "--no-color",
    "--no-decorate",
    "--no-merges",
    "--no-patch",
    "--no-renames",
    "--numstat",
    "--oneline",
    "--parents",
    "--patch",
    "--patch-with-stat",
    "--patience",
    "--pickaxe-regex",
    "--porcelain",
    "--pretty",
    "--raw",
    "--relative",
    "--remotes",
    "--reverse",
    "--root",
    "--short",
    "--shortstat",
    "--since",
    "--skip",
    "--staged",
    "--stat",
    "--summary",
    "--tags",
    "--topo-order",
    "--unified",
    "--until",
    "--untracked-files",
    "--word-diff",
];

/// The words for git, where what is asked for only looks.
pub fn arguments(command: &str) -> Result<Vec<&str>, Wrong> {
    let mut words = command.split_whitespace().peekable();
    words.next_if_eq(&"git");
    let Some(verb) = words.next().filter(|verb| VERBS.contains(verb)) else {
        return Err(Wrong(format!("Only {} can be asked here.", VERBS.join(", "))));
    };
    let mut arguments = [&SETTINGS[..], &[verb]].concat();
    if matches!(verb, "diff" | "log" | "show") {
        arguments.extend(["--no-ext-diff", "--no-textconv"]);
    }
    let mut are_paths = false;
    for word in words {
        if !are_paths && !is_harmless(word) {
            return Err(Wrong(format!("git {verb} cannot be asked with {word} here.")));
        }
        are_paths |= word == "--";
        arguments.push(word);
    }
    Ok(arguments)
}

fn is_harmless(word: &str) -> bool {
    match word.as_bytes() {
        [b'-', b'-'] => true,
        [b'-', b'-', ..] => OPTIONS.contains(&word.split_once('=').map_or(word, |(name, _)| name)),
        // `-O` reads an order from a file; none of the short ones writes.
        [b'-', letter, ..] => letter.is_ascii_alphanumeric() && *letter != b'O',
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, expected: Result<&str, &str>) {
        let words = arguments(command).map(|words| words[SETTINGS.len()..].join(" "));
        let expected = expected.map(str::to_owned).map_err(Wrong::new);
        assert_eq!(words, expected, "{command}");
    }

    #[test]
    fn only_looks_are_let_through() {
        check("git status --short", Ok("status --short"));
        check("diff HEAD~1 -- --output", Ok("diff --no-ext-diff --no-textconv HEAD~1 -- --output"));
        check("log -3 -p --format=%h", Ok("log --no-ext-diff --no-textconv -3 -p --format=%h"));
        check("blame -L1,5 a", Ok("blame -L1,5 a"));
        let verbs = "Only status, diff, log, show, blame can be asked here.";
        check("push origin", Err(verbs));
        check("-c alias.status=!touch status", Err(verbs));
        check("", Err(verbs));
        for option in ["--output=x", "--outp=x", "--ext-diff", "--textconv", "--no-index", "-Ox"] {
            let words = format!("git diff cannot be asked with {option} here.");
            check(&format!("diff {option}"), Err(&words));
        }
    }
}
