//! git as a tool that looks and changes nothing. Nobody is asked before it, so it must neither write a file nor start
//! what a repository names.

use std::{collections::BTreeSet, ffi::OsString, os::unix::ffi::OsStringExt as _};

use crate::call::Wrong;

const VERBS: [&str; 5] = ["status", "diff", "log", "show", "blame"];

const NOTHING: &str = "BOOCODE_NOTHING";

pub const ENVIRONMENT: [(&str, &str); 4] = [
    // Without it, a look at the status would write the index.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // An object that is not there would be fetched, by whatever program the repository names for that.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    (NOTHING, ""),
];

/// Before the verb: settings of the repository that would start a program.
const SETTINGS: [&str; 23] = [
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    // It would write the index, for which there are hooks.
    "-c",
    "diff.autoRefreshIndex=false",
    // A submodule has settings of its own.
    "-c",
    "diff.submodule=short",
    "-c",
    "status.submoduleSummary=false",
    // To show a merge as it differs from a new one would start the drivers of merges.
    "-c",
    "log.diffMerges=separate",
    "-c",
    "log.showSignature=false",
    "-c",
    "gpg.program=false",
    "-c",
    "gpg.openpgp.program=false",
    "-c",
    "gpg.ssh.program=false",
    "-c",
    "gpg.x509.program=false",
];

/// Prints the names of the settings of filters, which a repository may call as it likes.
pub const LIST_FILTERS: [&str; 5] = ["config", "-z", "--name-only", "--get-regexp", r"^filter\."];

/// Before the verb too: no file is read through a program. A name may hold every character, so it cannot be said with
/// `-c`, which takes it to end at the first `=`.
pub fn without_filters(listed: &[u8]) -> Vec<OsString> {
    let mut names = BTreeSet::new();
    for setting in listed.split(|byte| *byte == 0) {
        let Some(named) = setting.strip_prefix(b"filter.") else { continue };
        names.extend(named.iter().rposition(|byte| *byte == b'.').map(|end| &named[..end]));
    }
    let option = |name: &[u8], setting: &str| {
        let words = [b"--config-env=filter.", name, format!(".{setting}={NOTHING}").as_bytes()].concat();
        OsString::from_vec(words)
    };
    let of_one = |name| ["clean", "smudge", "process", "required"].map(|setting| option(name, setting));
    names.into_iter().flat_map(of_one).collect()
}

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
    arguments.extend(match verb {
        "status" => &["--ignore-submodules=dirty"][..],
        "blame" => &["--no-textconv"],
        _ => &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
    });
    let mut are_paths = false;
    for word in words {
        if !are_paths && !is_harmless(verb, word) {
            return Err(Wrong(format!("git {verb} cannot be asked with {word} here.")));
        }
        are_paths |= word == "--";
        arguments.push(word);
    }
    Ok(arguments)
}

fn is_harmless(verb: &str, word: &str) -> bool {
    match word.as_bytes() {
        [b'-', b'-'] => true,
        [b'-', b'-', ..] => OPTIONS.contains(&word.split_once('=').map_or(word, |(name, _)| name)),
        // As a diff, which here cannot be told to start nothing.
        [b'-', letters @ ..] if verb == "status" && letters.contains(&b'v') => false,
        // `-O` reads an order from a file; none of the short ones writes.
        [b'-', letter, ..] => letter.is_ascii_alphanumeric() && *letter != b'O',
        _ => true,
    }
}

#[cfg(test)]
mod tests;
