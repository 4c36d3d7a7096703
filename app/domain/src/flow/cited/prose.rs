//! The places that prose names: where a word is one, and where it only looks like one.

use std::collections::BTreeSet;

use super::{Place, lines};

/// What a project is known to hold.
pub trait Tree {
    /// Whether a file has this path.
    fn holds(&self, path: &str) -> bool;

    /// The project's own folder, in every way in which it is named: agents often name files by their whole paths.
    fn folders(&self) -> &[String] {
        &[]
    }
}

/// A known path is looked for no further before its line: longer ones are not written into prose.
const KNOWN_BYTES_MAX: usize = 256;
/// In so many words before its line a known path may begin.
const STARTS_MAX: usize = 16;

/// The places that a text names with a line, each once. A path of the tree is one however it is written; of what is not
/// in the tree, only what can hardly be anything else.
pub fn places_in(text: &str, tree: &dyn Tree) -> Vec<Place> {
    let (mut places, mut seen, mut past) = (Vec::new(), BTreeSet::new(), 0);
    for at in marks(text) {
        if at < past {
            continue;
        }
        let (place, end) = known(text, past, at, tree).unwrap_or_else(|| guessed(text, past, at, tree));
        past = end;
        if let Some(place) = place.filter(|place| seen.insert(place.clone())) {
            places.push(place);
        }
    }
    places
}

/// The files in folders that a text names, with a line or without, each once.
pub fn paths_in(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.contains('/') && !word.contains("//"));
    for word in words {
        let path = Place::read(trimmed(word)).map(|place| place.path).filter(|path| is_path(path));
        if let Some(path) = path.filter(|path| !paths.contains(path)) {
            paths.push(path);
        }
    }
    paths
}

/// The path as it stands in the project's folder.
pub fn within<'a>(path: &'a str, tree: &dyn Tree) -> &'a str {
    let inside =
        tree.folders().iter().find_map(|folder| path.strip_prefix(folder.as_str())?.strip_prefix('/'));
    inside.unwrap_or(path).trim_start_matches("./")
}

/// Where a line is named: at the `:` of `:12`, at the `#` of `#L12`.
fn marks(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    text.match_indices([':', '#']).map(|(at, _)| at).filter(move |at| match bytes[*at] {
        b':' => is_digit(at + 1),
        _ => bytes.get(at + 1) == Some(&b'L') && is_digit(at + 2),
    })
}

/// The longest path of the tree that ends at a mark, with where its lines end. Paths may hold what no word does.
fn known(text: &str, past: usize, at: usize, tree: &dyn Tree) -> Option<(Option<Place>, usize)> {
    let from = past.max(text.floor_char_boundary(at.saturating_sub(KNOWN_BYTES_MAX)));
    let line = text[from..at].rfind('\n').map_or(from, |end| from + end + 1);
    let begins = |start: usize| {
        let before = text[..start].chars().next_back().filter(|_| start > past);
        before.is_none_or(|c| c == ':' || !(is_part(c) || c == '$'))
            && !text[start..].starts_with(char::is_whitespace)
    };
    let starts = text[line..at].char_indices().rev().map(|(offset, _)| line + offset);
    let paths =
        starts.filter(|start| begins(*start)).take(STARTS_MAX).map(|start| within(&text[start..at], tree));
    let path = paths.filter(|path| tree.holds(path)).last()?;
    let rest = text[at + 1..].strip_prefix('L').unwrap_or(&text[at + 1..]);
    let length =
        rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '–' | 'L')).unwrap_or(rest.len());
    let (line, until) = lines(&rest[..length]);
    let mut end = text.len() - rest.len() + length;
    // `a.rs:12:5` has a column too.
    let column = text[end..]
        .strip_prefix(':')
        .map_or(0, |rest| rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    end += if column > 0 { 1 + column } else { 0 };
    let place = line.map(|_| Place { path: path.to_owned(), line, until });
    Some((place, end))
}

/// The word around a mark, where it looks like a path, with where it ends. Addresses of pages are none.
fn guessed(text: &str, past: usize, at: usize, tree: &dyn Tree) -> (Option<Place>, usize) {
    let before = text[past..at].rfind(|c: char| !is_part(c));
    let start =
        before.map_or(past, |it| past + it + text[past + it..].chars().next().map_or(0, char::len_utf8));
    let end = text[at..].find(|c: char| !is_part(c)).map_or(text.len(), |length| at + length);
    let word = trimmed(&text[start..end]);
    let place = Place::read(word).filter(|place| place.line.is_some() && !word.contains("//"));
    let place = place.map(|place| Place { path: within(&place.path, tree).to_owned(), ..place });
    // `*.local:80` is no hidden file.
    let is_host = text[..start].ends_with('*') && word.starts_with('.');
    (place.filter(|place| !is_host && is_path(&place.path)), end)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | ':' | '#' | '@' | '+' | '~')
}

/// Without the end of a sentence.
fn trimmed(word: &str) -> &str {
    word.trim_end_matches(['.', ':'])
}

/// Hosts with a port, names of types and times of day look like places too. A path has a folder and an extension of
/// letters; one without a folder has a name that only files have.
fn is_path(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').map_or((None, path), |(folder, name)| (Some(folder), name));
    if NAMES.contains(&name) || name.starts_with(".env.") {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return false;
    };
    let has_letters = extension.starts_with(|c: char| c.is_ascii_alphabetic()) && extension.len() <= 10;
    match folder {
        Some(_) => has_letters,
        None => !stem.starts_with('.') && EXTENSIONS.contains(&extension),
    }
}

/// Of files that have no extension.
const NAMES: &[&str] = &[
    ".babelrc",
    ".bashrc",
    ".dockerignore",
    ".editorconfig",
    ".env",
    ".eslintrc",
    ".gitattributes",
    ".gitignore",
    ".gitmodules",
    ".npmrc",
    ".nvmrc",
    ".prettierrc",
    "Containerfile",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "Procfile",
    "Rakefile",
    "Vagrantfile",
    "justfile",
    "makefile",
];

/// Of files, and of nothing that stands in a host's name.
const EXTENSIONS: &[&str] = &[
    "adoc",
    "astro",
    "awk",
    "bash",
    "bat",
    "bzl",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "csproj",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "diff",
    "ejs",
    "erb",
    "erl",
    "ex",
    "exs",
    "fs",
    "fsx",
    "go",
    "gql",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "hbs",
    "hcl",
    "hh",
    "hpp",
    "hs",
    "htm",
    "html",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "lua",
    "md",
    "mdx",
    "mjs",
    "mk",
    "ml",
    "mli",
    "mm",
    "mod",
    "mts",
    "nix",
    "patch",
    "php",
    "pl",
    "pm",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "rake",
    "rb",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scss",
    "sh",
    "sol",
    "sql",
    "sum",
    "svelte",
    "svg",
    "swift",
    "tcl",
    "tf",
    "tfvars",
    "toml",
    "ts",
    "tsx",
    "txt",
    "vb",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A project with these files.
    struct Known(&'static [&'static str], Vec<String>);

    impl Tree for Known {
        fn holds(&self, path: &str) -> bool {
            self.0.contains(&path)
        }

        fn folders(&self) -> &[String] {
            &self.1
        }
    }

    fn check_in(tree: &Known, text: &str, expected: &str) {
        let places: Vec<_> = places_in(text, tree).iter().map(ToString::to_string).collect();
        assert_eq!(places.join(" "), expected, "{text}");
    }

    #[test]
    fn places_are_found_in_prose() {
        let check = |text: &str, expected: &str| check_in(&Known(&[], Vec::new()), text, expected);
        check("See `src/a.rs:12`, (src/b.rs:3-9) and **main.rs:1**.", "src/a.rs:12 src/b.rs:3-9 main.rs:1");
        check("at 12:30 on localhost:3000, 127.0.0.1:4400, example.com:443", "");
        check("https://example.org/a.rs:12 and http://x:1", "");
        check("src/a.rs and std::fs::read and a::b:1", "");
        check("deploy/Dockerfile:3", "deploy/Dockerfile:3");
        check("src/a.rs:12 again src/a.rs:12", "src/a.rs:12");
        check("src/a.rs:12:5, src/b.rs#L3-L9: so", "src/a.rs:12 src/b.rs:3-9");
    }

    #[test]
    fn what_only_looks_like_a_place_is_none() {
        let check = |text: &str| check_in(&Known(&[], Vec::new()), text, "");
        check("host.docker.internal:11434, api.example.co.uk:443 and *.local:80, *.env:80");
        check("com.shop.Cart:42 and ghcr.io/shop/cart:12 and v1.2:3");
        check("The 1st.:3, step:4, [E1]:5 and x:6");
    }

    /// There or not: they are read to be checked.
    #[test]
    fn files_without_a_folder_are_known_by_their_names() {
        let check = |text: &str| check_in(&Known(&[], Vec::new()), text, text);
        for text in ["Makefile:999", "Dockerfile:999", "Jenkinsfile:9", ".env:99", ".env.local:2", "lib.py:3"]
        {
            check(text);
        }
    }

    #[test]
    fn paths_of_the_tree_are_found_however_they_are_written() {
        let files = &[
            "app/[slug]/page.tsx",
            "app/(shop)/page.tsx",
            "posts.$id.tsx",
            "My App/a.rs",
            "bin/server",
            "src/a.rs",
            "a.rs",
            "größe/ä.rs",
            "host.docker.internal",
        ];
        let check = |text: &str, expected: &str| check_in(&Known(files, Vec::new()), text, expected);
        check("In app/[slug]/page.tsx:3.", "app/[slug]/page.tsx:3");
        check("(see `app/(shop)/page.tsx:3-9`)", "app/(shop)/page.tsx:3-9");
        check("posts.$id.tsx:12 and My App/a.rs:3", "posts.$id.tsx:12 My App/a.rs:3");
        check("bin/server:99, bin/other:99", "bin/server:99");
        check("host.docker.internal:11434", "host.docker.internal:11434");
        check("größe/ä.rs:1–2 and [src/a.rs](src/a.rs#L7)", "größe/ä.rs:1-2 src/a.rs:7");
        check("src/a.rs:12:5, ./a.rs:3, src/a.rs:4-this", "src/a.rs:12 a.rs:3 src/a.rs:4");
        // What ends like a known path is not that one.
        check("lib/src/a.rs:1 and ../src/a.rs:2", "lib/src/a.rs:1 ../src/a.rs:2");
        check("https://example.org/src/a.rs:12", "");
        check("src/a.rs:0 and src/a.rs:99999999999", "");
    }

    #[test]
    fn whole_paths_lead_into_the_project() {
        let folders = vec!["/home/me/shop".to_owned(), "/home/me/My Shop".to_owned()];
        let tree = Known(&["src/a.rs"], folders);
        let check = |text: &str, expected: &str| check_in(&tree, text, expected);
        check("At /home/me/shop/src/a.rs:3, `/home/me/My Shop/src/a.rs:4`.", "src/a.rs:3 src/a.rs:4");
        check("/home/me/shop/src/gone.rs:3", "src/gone.rs:3");
        check("/home/me/shopping/src/a.rs:3", "/home/me/shopping/src/a.rs:3");
        check("/etc/nginx.conf:3", "/etc/nginx.conf:3");
    }

    #[test]
    fn files_are_found_in_prose() {
        let check = |text: &str, expected: &str| assert_eq!(paths_in(text).join(" "), expected, "{text}");
        check("In src/a.rs, src/a.rs:3 and (lib/b.ts).", "src/a.rs lib/b.ts");
        check("and/or TCP/IP, CI/CD, 1/2, README.md and https://example.org/a.html", "");
    }
}
