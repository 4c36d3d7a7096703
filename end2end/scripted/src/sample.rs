//! Fixed texts that tests look for in the browser.

/// Everything that Markdown can do, and what it must never be allowed to do.
pub const MARKDOWN: &str = r#"# A heading

Some *emphasis*, some **strong words**, `inline code` and a [link](https://example.com/docs).

1. first
2. second
   - nested

| name | value |
|------|------:|
| one  |     1 |
| two  |     2 |

```rust
fn main() {
    println!("<b>not bold</b>");
}
```

> A quotation.

<script>window.scriptedWasHere = true;</script>
<img src="x" onerror="window.scriptedWasHere = true">

[do not follow](javascript:window.scriptedWasHere=true)

![remote](https://tracker.example.com/pixel.png?secret=1)

The end.
"#;

/// Characters of two, three and four bytes, to be cut inside.
pub const MULTIBYTE: &str = "naïve café — 日本語テキスト ✓ 🦀🎉 Ελληνικά über Ärger, done.";
