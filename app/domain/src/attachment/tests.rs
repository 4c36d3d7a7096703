use proptest::prelude::*;

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn file(n: u128, bytes: usize) -> Attachment {
    let (id, name) = (AttachmentId(uuid::Uuid::from_u128(n)), format!("{n}.txt"));
    Attachment { id, name, media: Media::Text, bytes: bytes as u64, is_mention: false }
}

fn mention(n: u128, bytes: usize) -> Attachment {
    Attachment { is_mention: true, ..file(n, bytes) }
}

#[test]
fn the_content_says_what_a_file_is() {
    let check = |name: &str, content: &[u8], expected: Result<&str, &str>| {
        let found = inspect(name, content).map(Media::mime).map_err(|rejected| rejected.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
            (Err(words), Err(expected)) => {
                assert!(words.contains(expected) && words.contains(name), "{words}")
            }
            other => panic!("{name}: {other:?}"),
        }
    };
    check("a.png", PNG, Ok("image/png"));
    check("a.txt", PNG, Ok("image/png"));
    check("a.jpg", b"\xff\xd8\xff\xe0rest", Ok("image/jpeg"));
    check("a.gif", b"GIF89a...", Ok("image/gif"));
    check("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", Ok("image/webp"));
    // What only calls itself an image is text, whatever a browser would make of it.
    check("a.png", b"<svg onload='alert(1)'/>", Ok("text/plain"));
    check("a.gif", b"<html><script>", Ok("text/plain"));
    check("a.svg", b"<?xml version='1.0'?><svg/>", Ok("text/plain"));
    check("notes.md", "schön".as_bytes(), Ok("text/plain"));
    check("a.pdf", b"%PDF-1.7\n\xe2\xe3\xcf\xd3", Err("neither"));
    check("a.bin", b"a\0b", Err("neither"));
    check("latin1.txt", b"sch\xf6n", Err("UTF-8"));
    check("a.avi", b"RIFF\x10\0\0\0AVI LIST\xff", Err("neither"));
    check("empty", b"", Err("empty"));
    check("long.txt", &vec![b'x'; TEXT_BYTES_MAX + 1], Err("at most 256 KB"));
    check("exact.txt", &vec![b'x'; TEXT_BYTES_MAX], Ok("text/plain"));
    check("big.png", &[PNG, &vec![0; IMAGE_BYTES_MAX]].concat(), Err("at most 5 MB"));
}

#[test]
fn every_kind_is_known_by_its_stored_name() {
    for media in ImageType::ALL.map(|mime| Media::Image { mime }).into_iter().chain([Media::Text]) {
        assert_eq!(Media::from_mime(media.mime()), Some(media));
        let json = serde_json::to_string(&media).unwrap();
        assert_eq!(serde_json::from_str::<Media>(&json).unwrap(), media);
    }
    assert_eq!(Media::from_mime("image/svg+xml"), None);
    assert_eq!(Media::from_mime("text/html"), None);
}

#[test]
fn a_message_takes_so_much_and_no_more() {
    let enclosed = |attached: Vec<Attachment>, mentioned: Vec<Attachment>| {
        Enclosed { attached, mentioned, left_out: Vec::new() }.fit()
    };
    let ids = |files: &[Attachment]| files.iter().map(|file| file.id.0.as_u128()).collect::<Vec<_>>();
    let many = |count: u128| (1..=count).map(|n| file(n, 1)).collect::<Vec<_>>();
    assert!(enclosed(many(10), Vec::new()).is_ok());
    let refused = enclosed(many(11), Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("10"), "{refused}");
    let large = || vec![file(1, 15 * MB), file(2, 6 * MB)];
    let refused = enclosed(large(), Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("20 MB"), "{refused}");

    // The same one twice is there once; an old mention is not taken over.
    let (files, _) = enclosed(vec![file(1, 1), file(1, 1), mention(2, 1)], vec![mention(3, 1)]).unwrap();
    assert_eq!(ids(&files), [1, 3]);
    // A mention too many does not hold up the message.
    let (files, left_out) = enclosed(many(9), vec![mention(20, 1), mention(21, 1)]).unwrap();
    assert_eq!((files.len(), left_out.len()), (10, 1));
    assert_eq!((left_out[0].name.as_str(), left_out[0].reason.contains("10")), ("21.txt", true));
    let (files, left_out) = enclosed(vec![file(1, 20 * MB - 1)], vec![mention(2, 2), mention(3, 1)]).unwrap();
    assert_eq!((ids(&files), left_out.len()), (vec![1, 3], 1));
}

#[test]
fn a_name_is_one_visible_line() {
    let check = |text: &str, expected: &str| assert_eq!(name(text), expected, "{text:?}");
    check("C:\\Users\\ada\\notes.md", "notes.md");
    check("../../etc/passwd", "passwd");
    check("a\r\nSet-Cookie: b", "a Set-Cookie: b");
    check("photo\u{202e}gnp.exe", "photo gnp.exe");
    check("", "file");
    check("dir/", "file");
    assert_eq!(name(&"x".repeat(500)).chars().count(), NAME_CHARS_MAX);
}

#[test]
fn the_limits_are_said() {
    let words = limits();
    for limit in ["256 KB", "5 MB", "10 files", "20 MB"] {
        assert!(words.contains(limit), "{words}");
    }
}

proptest! {
    /// Nothing in a text ends its fence: only the last line is one.
    #[test]
    fn a_text_stays_in_its_fence(text in "[`~a\n ]{0,40}") {
        let shown = fenced("a.md", &text);
        let lines: Vec<&str> = shown.split('\n').collect();
        let fence = lines[1];
        prop_assert!(fence.len() >= 3 && fence.chars().all(|c| c == '`'));
        prop_assert_eq!(*lines.last().unwrap(), fence);
        let inside = &lines[2..lines.len() - 1];
        prop_assert!(inside.iter().all(|line| !line.contains(fence)));
        prop_assert_eq!(inside.join("\n"), text.strip_suffix('\n').unwrap_or(&text));
    }
}

#[test]
fn what_cannot_go_along_is_clear_before_it_travels() {
    let check = |bytes, waiting, expected: Option<&str>| {
        let words = check_arriving("a.png", bytes, waiting).err().map(|rejected| rejected.to_string());
        assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
        assert!(words.unwrap_or_default().starts_with(expected.unwrap_or_default()));
    };
    let largest = IMAGE_BYTES_MAX as u64;
    check(largest, COUNT_MAX - 1, None);
    check(largest + 1, 0, Some("a.png is too large. Text up to 256 KB"));
    check(1, COUNT_MAX, Some("a.png is one too many."));
}
