mod streaming;

use std::fmt::Write;

use super::*;

/// A short form of the tree, so that a test reads as a line.
fn sketch(blocks: &[Block]) -> String {
    blocks.iter().map(sketch_block).collect::<Vec<_>>().join(" ")
}

fn sketch_block(block: &Block) -> String {
    match block {
        Block::Paragraph(content) => format!("p({})", sketch_inlines(content)),
        Block::Heading { level, content } => format!("h{level}({})", sketch_inlines(content)),
        Block::Quote(blocks) => format!("quote({})", sketch(blocks)),
        Block::Code { lang, text } => format!("code[{lang}]({text:?})"),
        Block::Rule => "rule".to_owned(),
        Block::List(list) => {
            let mut out = list.start.map_or("ul".to_owned(), |start| format!("ol{start}"));
            out.push_str(if list.tight { "(" } else { " loose(" });
            for item in &list.items {
                let mark = item.checked.map_or("-", |ticked| if ticked { "x" } else { "o" });
                let _ = write!(out, "{mark} {};", sketch(&item.blocks));
            }
            out + ")"
        }
        Block::Table(table) => {
            let row =
                |cells: &Vec<Cell>| cells.iter().map(|c| sketch_inlines(c)).collect::<Vec<_>>().join("|");
            let rows: Vec<_> = std::iter::once(&table.head).chain(&table.rows).map(row).collect();
            format!("table{:?}({})", table.align, rows.join("/"))
        }
    }
}

fn sketch_inlines(content: &[Inline]) -> String {
    content
        .iter()
        .map(|node| match node {
            Inline::Text(text) => text.clone(),
            Inline::Strong(content) => format!("strong({})", sketch_inlines(content)),
            Inline::Emphasis(content) => format!("em({})", sketch_inlines(content)),
            Inline::Strike(content) => format!("del({})", sketch_inlines(content)),
            Inline::Code(text) => format!("code({text})"),
            Inline::Link { href, content } => format!("a[{href}]({})", sketch_inlines(content)),
            Inline::SoftBreak => "~".to_owned(),
            Inline::HardBreak => "/".to_owned(),
        })
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(sketch(&parse(text)), expected, "{text:?}");
}

#[test]
fn blocks() {
    check("", "");
    check("a\nb\n\nc", "p(a~b) p(c)");
    check("# One\n###### Six\nTwo\n---", "h1(One) h6(Six) h2(Two)");
    check("> a\n> - b", "quote(p(a) ul(- p(b);))");
    check("- a\n- b\n  - c", "ul(- p(a);- p(b) ul(- p(c););)");
    check("3. a\n\n4. b", "ol3 loose(- p(a);- p(b);)");
    check("- [ ] a\n- [x] b", "ul(o p(a);x p(b);)");
    check("a\n\n---\n\nb", "p(a) rule p(b)");
    check("```rust,ignore\nlet a;\n```", "code[rust](\"let a;\\n\")");
    check("```\nopen", "code[](\"open\")");
    check("    indented", "code[](\"indented\")");
    check("|a|b|\n|:-|-:|\n|**1**|2|", "table[Left, Right](a|b/strong(1)|2)");
}

#[test]
fn inlines() {
    check("a **b *c* ~~d~~** `e`", "p(a strong(b em(c) del(d)) code(e))");
    check("a  \nb\\\nc", "p(a/b/c)");
    check("[a *b*](https://x.example/)", "p(a[https://x.example/](a em(b)))");
    check("[a][1]\n\n[1]: https://x.example", "p(a[https://x.example](a))");
    check("<https://x.example>", "p(a[https://x.example](https://x.example))");
    check("&lt;b&gt; \\*", "p(<b> *)");
    check("note[^1]\n\n[^1]: the note", "p(note[^1]) p([^1]: the note)");
}

#[test]
fn bare_addresses_become_links() {
    let link = |address: &str| format!("a[{address}]({address})");
    let a = link("https://x.example/a_b?c=d&e");
    check("see https://x.example/a_b?c=d&e.", &format!("p(see {a}.)"));
    check("(https://x.example/a_b?c=d&e)", &format!("p(({a}))"));
    check("**https://x.example/a_b?c=d&e**", &format!("p(strong({a}))"));
    check(
        "http://a.example http://b.example",
        &format!("p({} {})", link("http://a.example"), link("http://b.example")),
    );
    check("xhttps://x.example https://", "p(xhttps://x.example https://)");
    check("`https://x.example`", "p(code(https://x.example))");
    check("[https://y.example](https://x.example)", "p(a[https://x.example](https://y.example))");
    check("[**https://y.example**](https://x.example)", "p(a[https://x.example](strong(https://y.example)))");
}

#[test]
fn hostile_links_are_text() {
    check("[a](javascript:alert(1))", "p(a)");
    check("[a](JAVASCRIPT:alert(1)) <javascript:alert(1)>", "p(a javascript:alert(1))");
    check("[a](java&#10;script:alert(1))", "p(a)");
    check("[a](data:text/html,x) [b](//x.example) [c](/d)", "p(a b c)");
    check("<me@x.example> [m](mailto:me@x.example)", "p(me@x.example m)");
    check("[a][1]\n\n[1]: javascript:alert(1)", "p(a)");
    // The control: the same text with an address that is allowed is a link.
    check("[a](https://x.example)", "p(a[https://x.example](a))");
}

#[test]
fn pictures_are_links() {
    check("![a *b*](https://x.example/p.png)", "p(a[https://x.example/p.png](image: a b))");
    check("![](https://x.example/p.png)", "p(a[https://x.example/p.png](image))");
    check("![a](data:image/png;base64,x)", "p(image: a)");
    check("[![a](https://x.example/p)](https://y.example)", "p(a[https://y.example](image: a))");
    check("![a [b](https://y.example)](https://x.example)", "p(a[https://x.example](image: a b))");
}

#[test]
fn html_is_text() {
    check("<script>alert(1)</script>", "p(<script>alert(1)</script>)");
    check("a <img src=x onerror=alert(1)> b", "p(a <img src=x onerror=alert(1)> b)");
    check("Vec<String> a<br>b<br />c", "p(Vec<String> a/b/c)");
    check("<div>\n**a**\n</div>\n\nb", "p(<div>/**a**/</div>) p(b)");
}

#[test]
fn depth_is_bounded() {
    for text in [
        ">".repeat(100_000),
        format!("{} a", "> ".repeat(50_000)),
        "- ".repeat(50_000) + "a",
        "1. ".repeat(30_000) + "a",
        "*a ".repeat(20_000) + &"b*".repeat(20_000),
        "**a ".repeat(20_000) + &"b**".repeat(20_000),
        "[".repeat(50_000) + &"](https://x.example)".repeat(1000),
        "![".repeat(50_000) + "a" + &"](https://x.example)".repeat(1000),
        (0..300).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect(),
    ] {
        let blocks = parse(&text);
        assert!(blocks.iter().map(depth).max() <= Some(64), "{}", &text[..20]);
        assert_eq!(blocks, blocks.clone());
    }
    // The control: nesting within the bound is kept as it is.
    assert_eq!(parse(&"> ".repeat(10)).iter().map(depth).max(), Some(10));
}

#[test]
fn flattened_text_is_kept() {
    let blocks = parse(&format!("{}deep **bold**", "> ".repeat(1000)));
    assert!(sketch(&blocks).contains("p(deep strong(bold))"));
}

fn depth(block: &Block) -> usize {
    let inner = match block {
        Block::Quote(blocks) => blocks.iter().map(depth).max(),
        Block::List(list) => list.items.iter().flat_map(|item| &item.blocks).map(depth).max(),
        Block::Paragraph(content) | Block::Heading { content, .. } => content.iter().map(inline_depth).max(),
        _ => None,
    };
    1 + inner.unwrap_or(0)
}

fn inline_depth(node: &Inline) -> usize {
    match node {
        Inline::Strong(content)
        | Inline::Emphasis(content)
        | Inline::Strike(content)
        | Inline::Link { content, .. } => 1 + content.iter().map(inline_depth).max().unwrap_or(0),
        _ => 0,
    }
}
