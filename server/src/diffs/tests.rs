use std::collections::HashMap;

use app::ports::Diffs as _;
use domain::diff::{Expanded, Kind, RowText, Sample};

use super::*;

const OF: Of = Of::Sample(Sample::Files);

/// A patch and texts by hand; the patch can be another one later.
struct Given {
    patch: Mutex<String>,
    texts: HashMap<&'static str, String>,
}

impl Source for Given {
    fn take(&self, _limits: &Limits) -> Result<Taken, AppError> {
        Ok(Taken { patch: guard(&self.patch).clone().into_bytes(), left_out: Vec::new() })
    }

    fn old_text(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.texts.get(path).map(|text| text.clone().into_bytes())
    }
}

impl Sources for Arc<Given> {
    fn open(&self, _of: Of) -> BoxFuture<'_, Result<Arc<dyn Source>, AppError>> {
        let source = Arc::clone(self) as Arc<dyn Source>;
        async { Ok(source) }.boxed()
    }
}

fn given(patch: &str, texts: &[(&'static str, String)]) -> (Arc<Given>, Diffs) {
    let given = Given { patch: Mutex::new(patch.to_owned()), texts: texts.iter().cloned().collect() };
    let given = Arc::new(given);
    (Arc::clone(&given), Diffs::new(Arc::new(given)))
}

async fn all(diffs: &Diffs, of: Of, options: &Options) -> Vec<String> {
    let rows = diffs.outline(of, options.clone()).await.unwrap().rows();
    let mut all = Vec::new();
    for start in (0..rows).step_by(100) {
        let window = Window { start, count: 100 };
        let rows = diffs.rows(of, options.clone(), window).await.unwrap();
        all.extend(rows.text.split('\n').map(|row| row.replace('\u{7f}', "^")));
    }
    assert_eq!(all.len(), rows as usize);
    all
}

const RUST: &str = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -4,1 +4,1 @@\n-let a = 1;\n+let b = 1; // \u{202e}\n";

#[tokio::test]
async fn rows_come_with_colours_and_marks() {
    let (_, diffs) = given(RUST, &[]);
    let rows = all(&diffs, OF, &Options::default()).await;
    assert_eq!(rows, ["#,", "@,3", "-4,^klet ^Xa^x = ^n1^x;", "+,4^klet ^Xb^x = ^n1^x;^X ^C// ^uU+202E"]);
}

#[tokio::test]
async fn colours_follow_from_the_whole_text() {
    // What looks like code is in a comment that began above the patch.
    let text = "/*\n\n\nlet b = 1; // \u{202e}\n*/\n".to_owned();
    let (_, diffs) = given(RUST, &[("x.rs", text)]);
    let rows = all(&diffs, OF, &Options::default()).await;
    assert!(rows[3].starts_with("+,4^clet ^Cb^c = 1;"), "{rows:?}");
}

#[tokio::test]
async fn gaps_are_filled_from_the_text() {
    let (_, diffs) = given(RUST, &[("x.rs", "one\ntwo\nthree\nlet b\n".to_owned())]);
    let expanded = vec![Expanded { file: 0, gap: 0, top: 1, bottom: 1 }];
    let rows = all(&diffs, OF, &Options { expanded, ..Options::default() }).await;
    assert_eq!(rows[1..4], [" 1,1^xone", "@,1", " 3,3^xthree"]);
}

#[tokio::test]
async fn every_language_has_colours() {
    for (path, text) in [
        ("a.rs", "fn main() {}"),
        ("a.ts", "const a: string = 'x';"),
        ("a.tsx", "const a = <p>x</p>;"),
        ("a.js", "function a() { return 1 }"),
        ("a.py", "def a(): return 1"),
        ("a.go", "func main() {}"),
        ("a.c", "int main(void) { return 0; }"),
        ("A.java", "class A { int a = 1; }"),
        ("a.json", "{\"a\": 1}"),
        ("a.toml", "a = \"b\""),
        ("a.yaml", "a: \"b\""),
        ("a.html", "<p class=\"a\">b</p>"),
        ("a.css", "a { color: red }"),
        ("a.md", "# title"),
        ("a.sh", "if true; then echo \"a\"; fi"),
    ] {
        let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n");
        let (_, diffs) = given(&patch, &[]);
        let rows = all(&diffs, OF, &Options::default()).await;
        let coloured = rows[1].split('^').skip(1).any(|span| !span.starts_with('x'));
        assert!(coloured, "{path}: {}", rows[1]);
    }
}

#[tokio::test]
async fn a_text_too_large_for_one_go_is_coloured_in_pieces() {
    let line = "let value = \"text\"; // what follows is said at length, so that the file gets large enough";
    let lines = 15_000;
    let patch =
        format!("--- a/x.rs\n+++ b/x.rs\n@@ -0,0 +1,{lines} @@\n{}", format!("+{line}\n").repeat(lines));
    let (_, diffs) = given(&patch, &[]);
    let rows = |start| diffs.rows(OF, Options::default(), Window { start, count: 2 });
    let text = |rows: Rows| {
        let lines = rows.text.lines().map(|line| line.split_once('\u{7f}').unwrap().1.replace('\u{7f}', "^"));
        lines.collect::<Vec<_>>()
    };
    let first = text(rows(1).await.unwrap());
    assert!(first[0].starts_with("klet ^xvalue = ^s\"text\"^x; ^c// what"), "{first:?}");
    // At both sides of where a piece ends.
    assert_eq!(text(rows(2_000).await.unwrap()), first);
}

#[tokio::test]
async fn another_patch_has_another_stamp_and_the_same_one_the_same() {
    let (source, diffs) = given(RUST, &[]);
    let first = diffs.outline(OF, Options::default()).await.unwrap();
    assert_eq!(diffs.outline(OF, Options::default()).await.unwrap().stamp, first.stamp);
    guard(&source.patch).push_str("diff --git a/y b/y\nnew file mode 100644\n");
    let rows = diffs.rows(OF, Options::default(), Window { start: 0, count: 9 }).await.unwrap();
    assert_eq!(rows.stamp, first.stamp, "what was opened stays as it was");
    let second = diffs.outline(OF, Options::default()).await.unwrap();
    assert_ne!(second.stamp, first.stamp);
    assert_eq!(second.files.len(), 2);
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    let (_, diffs) = given("nothing\n", &[]);
    let refused = diffs.outline(OF, Options::default()).await.unwrap_err();
    assert_eq!(refused.to_string(), "Line 1 of the patch cannot be read: it is no patch.");
    let chat = Of::Chat(domain::id::ChatId(uuid::Uuid::nil()));
    let refused = Diffs::new(Arc::new(NoChanges)).outline(chat, Options::default()).await.unwrap_err();
    assert_eq!(refused.to_string(), "There are no changes here.");
    let many = vec![Expanded { file: 0, gap: 0, top: 0, bottom: 0 }; EXPANDED_MAX + 1];
    diffs.outline(OF, Options { expanded: many, ..Options::default() }).await.unwrap_err();
}

#[tokio::test]
async fn the_sample_holds_what_a_patch_may_hold() {
    let diffs = Diffs::new(Arc::new(NoChanges));
    let outline = diffs.outline(OF, Options::default()).await.unwrap();
    let letters: Vec<_> = outline.files.iter().map(|file| file.status.letter()).collect();
    assert_eq!(letters.concat(), "MMMMMMAMDAMRMM");
    for (is_split, columns) in [(false, 0), (true, 40), (false, 40)] {
        let options = Options { is_split, columns, ..Options::default() };
        for row in all(&diffs, OF, &options).await {
            RowText::read(&row.replace('^', "\u{7f}")).unwrap();
        }
    }
    let patch = diffs.patch(OF, 0).await.unwrap();
    assert!(patch.starts_with("diff --git a/app/src/cookie.rs"), "{patch}");
}

#[tokio::test]
async fn a_million_lines_open_by_windows() {
    let diffs = Diffs::new(Arc::new(NoChanges));
    let of = Of::Sample(Sample::Huge);
    let outline = diffs.outline(of, Options::default()).await.unwrap();
    assert_eq!(outline.rows(), 1_001_000);
    let window = Window { start: 1_000_000, count: 200 };
    let rows = diffs.rows(of, Options::default(), window).await.unwrap();
    assert_eq!(rows.text.lines().count(), 200);
    let last = RowText::read(rows.text.lines().last().unwrap()).unwrap();
    assert!(last.kind != Kind::File);
    let found = diffs.find(of, Options::default(), "step 7 of file 999:".into()).await.unwrap();
    assert_eq!((found.total, found.rows.len()), (1, 1));
}

#[tokio::test]
async fn old_diffs_make_room() {
    let (_, diffs) = given(RUST, &[]);
    for n in 0..20 {
        let of = Of::Chat(domain::id::ChatId(uuid::Uuid::from_u128(n)));
        diffs.outline(of, Options::default()).await.unwrap();
    }
    assert_eq!(guard(&diffs.kept).len(), KEPT_MAX);
}
