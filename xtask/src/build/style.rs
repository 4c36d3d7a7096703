//! One stylesheet from `style/main.css`, whose `@import` lines give the order.

use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub fn bundle(style: &Path) -> Result<String> {
    let mut css = String::new();
    include(&style.join("main.css"), &mut Vec::new(), &mut css)?;
    Ok(css)
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
            (Ok(css), Ok(expected)) => assert_eq!(css, expected),
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
    fn a_wrong_import_says_where() {
        check(&[("main.css", "\n@import \"gone.css\";")], Err("main.css:2"));
        check(&[("main.css", "@import \"https://x.test/a.css\";")], Err("main.css:1: an import is written"));
        check(&[("main.css", "@import \"a.css\" print;"), ("a.css", "")], Err("an import is written"));
        check(&[("main.css", "@import \"main.css\";")], Err("imported twice"));
    }
}
