//! What a stylesheet names must be there, and colours have names.

use anyhow::{Context, Result};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The one file that may hold colours.
const TOKENS: &str = "tokens.css";

pub fn faults(style: &Path, sources: &[PathBuf]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for path in sources.iter().filter(|path| path.starts_with(style)) {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        files.push((path.strip_prefix(style)?.display().to_string(), text));
    }
    Ok(faults_in(&files))
}

fn faults_in(files: &[(String, String)]) -> Vec<String> {
    let defined: BTreeSet<_> = files.iter().flat_map(|(_, text)| defined(text)).collect();
    let lines = files.iter().flat_map(|(file, text)| text.lines().enumerate().map(move |line| (file, line)));
    let faults = lines.flat_map(|(file, (number, line))| {
        let place = format!("style/{file}:{}", number + 1);
        let missing = used(line).into_iter().filter(|name| !defined.contains(name));
        let missing = missing.map(|name| format!("{place}: {name} is defined nowhere"));
        let color = (file != TOKENS && holds_color(line))
            .then(|| format!("{place}: a colour without a name; give it one in {TOKENS}"));
        missing.chain(color).collect::<Vec<_>>()
    });
    faults.collect()
}

fn defined(text: &str) -> impl Iterator<Item = &str> {
    let declared = text.lines().filter_map(|line| line.trim_start().split_once(':'));
    declared.map(|(name, _)| name.trim_end()).filter(|name| name.starts_with("--"))
}

/// What has a value for when it is missing may be missing: a script sets it.
fn used(line: &str) -> Vec<&str> {
    let names = line.split("var(").skip(1).filter_map(|rest| rest.split_once(')'));
    names.map(|(name, _)| name.trim()).filter(|name| !name.contains(',')).collect()
}

/// A mask knows no colours, only how much of them.
fn holds_color(line: &str) -> bool {
    let is_hex = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        let ends = rest[digits..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
        matches!(digits, 3 | 4 | 6 | 8) && ends
    };
    let value = line.split_once(':').map_or("", |(_, value)| value);
    let is_declared = line.trim_end().ends_with([';', ',', '(']) && !line.contains("mask");
    let is_named = ["rgb(", "rgba(", "hsl(", "oklch("].iter().any(|name| value.contains(name));
    is_declared && (is_named || value.split('#').skip(1).any(is_hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<_> = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        assert_eq!(faults_in(&files), expected);
    }

    #[test]
    fn what_is_used_is_defined() {
        let tokens = (TOKENS, ":root {\n  --line: light-dark(#fff, #000);\n}\n");
        check(&[tokens, ("a.css", "a {\n  color: var(--line);\n  --own: 1px;\n  top: var(--own);\n}")], &[]);
        check(&[tokens, ("a.css", "a {\n  width: var(--columns, 10);\n}")], &[]);
        check(
            &[tokens, ("a.css", "a {\n  color: var(--surface);\n}")],
            &["style/a.css:2: --surface is defined nowhere"],
        );
    }

    #[test]
    fn colours_have_names() {
        let fault = "style/a.css:1: a colour without a name; give it one in tokens.css";
        for line in ["color: #fff;", "background: light-dark(#fdeaa8, red);", "color: rgb(1 2 3 / 0.5);"] {
            check(&[("a.css", line)], &[fault]);
            check(&[(TOKENS, line)], &[]);
        }
        for line in
            ["#feedback:target {", "mask-image: linear-gradient(#000, transparent);", "a: url(\"x#abc-d\");"]
        {
            check(&[("a.css", line)], &[]);
        }
    }
}
