use domain::diff::{FileOutline, Outline, Rows, Sample, Status};

use super::*;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

fn html() -> String {
    html_for(true)
}

fn html_for(takes_comments: bool) -> String {
    let file = FileOutline {
        path: format!("a{HOSTILE}.rs"),
        old_path: None,
        status: Status::Modified,
        added: 1,
        removed: 0,
        is_binary: false,
        modes: None,
        rows: 3,
    };
    let left_out = vec![format!("{HOSTILE} is too large")];
    let outline = Outline { stamp: "1".into(), files: vec![file], columns: 9, lines: 1, left_out };
    let text = format!("#,\n@1,7\u{7f}x{HOSTILE}\n+,1\u{7f}k{HOSTILE}\u{7f}uU+202E");
    let first = First { outline, rows: Rows { stamp: "1".into(), start: 0, text } };
    let owner = Owner::new_root(None);
    owner.with(|| {
        let on_comments = takes_comments.then(|| Callback::new(|_| ()));
        view! { <DiffView of=Of::Sample(Sample::Files) first=Some(first) on_comments /> }.to_html()
    })
}

#[test]
fn the_first_rows_are_in_the_page_as_text() {
    let html = html();
    assert!(html.contains("Show 7 hidden lines"), "{html}");
    assert!(html.contains("diff-row ln add"), "{html}");
    assert!(html.contains("data-n=\"1\""), "{html}");
    assert!(html.contains("U+202E"), "{html}");
}

#[test]
fn nothing_in_a_change_becomes_markup() {
    let html = html();
    assert!(!html.contains("<img"), "{html}");
    // The control: it is there, in the name of the file, in the fold and in the line, each time as text.
    assert!(html.matches("&lt;img src=x onerror=alert(1)&gt;").count() >= 3, "{html}");
}

#[test]
fn where_nobody_takes_comments_none_can_be_written() {
    assert!(html().contains("diff-plus"));
    let html = html_for(false);
    assert!(html.contains("diff-row ln add") && !html.contains("diff-plus"), "{html}");
}
