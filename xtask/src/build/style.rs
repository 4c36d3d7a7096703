//! One stylesheet from `style/main.css`, whose `@import` lines give the order, and the places of panes.

use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub fn bundle(style: &Path) -> Result<String> {
    let mut css = String::new();
    include(&style.join("main.css"), &mut Vec::new(), &mut css)?;
    css.push_str(&percents());
    Ok(css)
}

/// A page may hold no `style=`, so what it is to lie at is said as `data-left="50"`, in whole percents.
fn percents() -> String {
    let rule = |side: &str, n: u32| format!("[data-{side}=\"{n}\"]{{{side}:{n}%}}\n");
    let sides = ["left", "top", "width", "height"];
    sides.iter().flat_map(|side| (0..=100).map(move |n| rule(side, n))).collect()
}

/// Without comments and the space that only people need: a third of its compressed size.
pub fn squeeze(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(c) = rest.chars().next() {
        let after = match c {
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' => rest[1..].find(c).map_or(rest.len(), |end| end + 2),
            c => c.len_utf8(),
        };
        let (taken, left) = rest.split_at(after);
        rest = left;
        if taken.starts_with("/*") {
            continue;
        }
        if !c.is_whitespace() {
            if "{};,".contains(c) && out.ends_with(' ') {
                out.pop();
            }
            out.push_str(taken);
        } else if !out.is_empty() && !out.ends_with([' ', '{', '}', ';', ',']) {
            out.push(' ');
        }
    }
    out
}

fn include(file: &Path, seen: &mut Vec<PathBuf>, css: &mut String) -> Result<()> {
    if seen.iter().any(|path| path == file) {
        bail!("{} is imported twice", file.display());
    }
    seen.push(file.to_path_buf());
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    for (number, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with("@import") {
            css.push_str(line);
            css.push('\n');
            continue;
        }
        let place = || format!("{}:{}", file.display(), number + 1);
        let Some(name) = imported(line) else {
            bail!("{}: an import is written @import \"file.css\";", place());
        };
        let path = file.parent().unwrap_or(Path::new("")).join(name);
        include(&path, seen, css).with_context(place)?;
    }
    Ok(())
}

fn imported(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("@import")?.strip_suffix(';')?.trim();
    let name = name.strip_prefix("url(").and_then(|n| n.strip_suffix(')')).unwrap_or(name);
    let name = ['"', '\''].iter().find_map(|q| name.strip_prefix(*q)?.strip_suffix(*q))?;
    (!name.contains("://")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: Result<&str, &str>) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("panes")).unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        match (bundle(dir.path()), expected) {
            (Ok(css), Ok(expected)) => assert_eq!(css, format!("{expected}{}", percents())),
            (Err(error), Err(expected)) => assert!(format!("{error:#}").contains(expected), "{error:#}"),
            (got, expected) => panic!("{got:?}, not {expected:?}"),
        }
    }

    #[test]
    fn imports_are_resolved_in_order() {
        check(
            &[
                ("main.css", "@import \"b.css\";\n@import url('panes/a.css');\nbody {}\n"),
                ("b.css", "b {}\n"),
                ("panes/a.css", "@import \"c.css\";\na {}\n"),
                ("panes/c.css", "c {}"),
            ],
            Ok("b {}\nc {}\na {}\nbody {}\n"),
        );
    }

    #[test]
    fn only_what_people_need_is_squeezed_out() {
        let css = "/* why */\n:root {\n  --a: 1px;\n}\n\na > b,\n.c :is(d, e)::before { /* x */\n  content: \"a  /* b; \";\n}\n";
        let squeezed = ":root{--a: 1px;}a > b,.c :is(d,e)::before{content: \"a  /* b; \";}";
        assert_eq!(squeeze(css), squeezed);
        assert_eq!(squeeze(squeezed), squeezed);
        assert_eq!(squeeze("a { b: c } /* open"), "a{b: c}");
    }

    #[test]
    fn a_wrong_import_says_where() {
        check(&[("main.css", "\n@import \"gone.css\";")], Err("main.css:2"));
        check(&[("main.css", "@import \"https://x.test/a.css\";")], Err("main.css:1: an import is written"));
        check(&[("main.css", "@import \"a.css\" print;"), ("a.css", "")], Err("an import is written"));
        check(&[("main.css", "@import \"main.css\";")], Err("imported twice"));
    }
}
