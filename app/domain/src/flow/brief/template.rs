//! The repository's own template for the description of a change: where it lies, and which sections it asks for.

use super::TEMPLATE_BYTES_MAX;

/// In small letters: nobody minds how they are written. The first that is there counts.
const FILES: [&str; 7] = [
    ".github/pull_request_template.md",
    "pull_request_template.md",
    "docs/pull_request_template.md",
    ".gitlab/merge_request_templates/default.md",
    ".github/pull_request_template.txt",
    "pull_request_template.txt",
    "docs/pull_request_template.txt",
];

/// Folders with several of them, of which the first by name is taken.
const FOLDERS: [&str; 4] = [
    ".github/pull_request_template/",
    "pull_request_template/",
    "docs/pull_request_template/",
    ".gitlab/merge_request_templates/",
];

/// More would be no template.
const HEADINGS_MAX: usize = 40;
/// A template without headings is one section.
const WHOLE: &str = "Description";

/// Among the paths of a project.
pub fn find_template<'a>(paths: &[&'a str]) -> Option<&'a str> {
    let named = FILES.iter().find_map(|file| paths.iter().find(|path| path.eq_ignore_ascii_case(file)));
    let in_folder = |folder: &&str| {
        let is_in = |path: &&&str| {
            let name = path.get(folder.len()..).filter(|_| path[..folder.len()].eq_ignore_ascii_case(folder));
            name.is_some_and(|name| !name.contains('/') && name.to_ascii_lowercase().ends_with(".md"))
        };
        paths.iter().filter(|path| path.is_char_boundary(folder.len())).filter(is_in).min()
    };
    named.or_else(|| FOLDERS.iter().find_map(in_folder)).copied()
}

/// Those outside of code and of remarks, each once.
pub(in crate::flow) fn headings(template: &str) -> Vec<String> {
    let shown = &template[..template.floor_char_boundary(TEMPLATE_BYTES_MAX)];
    let (mut headings, mut is_code, mut is_remark) = (Vec::new(), false, false);
    for line in shown.lines() {
        let text = line.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            is_code = !is_code;
        }
        let was_remark = is_remark;
        is_remark = match (text.rfind("<!--"), text.rfind("-->")) {
            (Some(opens), closes) => closes.is_none_or(|closes| closes < opens),
            (None, Some(_)) => false,
            (None, None) => is_remark,
        };
        let rest = text.trim_start_matches('#');
        let marks = text.len() - rest.len();
        let is_heading = (1..=6).contains(&marks) && rest.starts_with([' ', '\t']);
        let title = rest.split("<!--").next().unwrap_or_default().trim().trim_end_matches('#').trim();
        if is_code || was_remark || !is_heading || title.is_empty() || headings.iter().any(|it| it == title) {
            continue;
        }
        headings.push(title.to_owned());
    }
    headings.truncate(HEADINGS_MAX);
    if headings.is_empty() { vec![WHOLE.to_owned()] } else { headings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_found_wherever_it_may_lie() {
        let check = |paths: &[&str], expected: Option<&str>| assert_eq!(find_template(paths), expected);
        check(&["src/a.rs", "README.md"], None);
        check(&["docs/PULL_REQUEST_TEMPLATE.md"], Some("docs/PULL_REQUEST_TEMPLATE.md"));
        check(&["PULL_REQUEST_TEMPLATE.md", "a.rs"], Some("PULL_REQUEST_TEMPLATE.md"));
        check(
            &["PULL_REQUEST_TEMPLATE.md", ".github/pull_request_template.md"],
            Some(".github/pull_request_template.md"),
        );
        let several = [".github/PULL_REQUEST_TEMPLATE/fix.md", ".github/PULL_REQUEST_TEMPLATE/build.md"];
        check(&several, Some(".github/PULL_REQUEST_TEMPLATE/build.md"));
        check(&[".github/PULL_REQUEST_TEMPLATE/old/build.md", ".github/PULL_REQUEST_TEMPLATE/x.png"], None);
        let gitlab = [".gitlab/merge_request_templates/Bug.md", ".gitlab/merge_request_templates/Default.md"];
        check(&gitlab, Some(".gitlab/merge_request_templates/Default.md"));
        check(&gitlab[..1], Some(".gitlab/merge_request_templates/Bug.md"));
        check(&["äöü"], None);
    }

    #[test]
    fn its_headings_are_the_sections() {
        let check =
            |template: &str, expected: &[&str]| assert_eq!(headings(template), expected, "{template}");
        check("# Why\n\ntext\n\n## How tested ##\n- [ ] done", &["Why", "How tested"]);
        check("<!-- # Not\n# this -->\n# Why <!-- say it -->\n```\n# nor this\n```\n#hash\n# Why", &["Why"]);
        check("Say what changed.", &["Description"]);
        check("", &["Description"]);
        check(&"# a\n# b\n".repeat(100), &["a", "b"]);
    }
}
