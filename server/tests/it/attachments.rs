//! Files that go with a message: on their way in, to the model, and back. The control of each attack is the
//! same request without it.

use std::fs;

use domain::{
    attachment::Attachment,
    chat::Body,
    id::{AttachmentId, ChatId, MessageId},
    output::Outcome,
    task::Status,
};
use reqwest::{RequestBuilder, Response, StatusCode, header};
use serde_json::Value;
use uuid::Uuid;

use crate::harness::{Server, Watcher, World};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01";
const PNG_URL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAE=";

impl Server {
    fn upload(&self, chat: ChatId, name: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        self.client
            .post(format!("{}/api/chats/{chat}/attachments?name={name}", self.url))
            .header(header::COOKIE, &self.cookie)
            .header(header::ORIGIN, &self.url)
            .body(body)
    }

    async fn attach(&self, chat: ChatId, name: &str, body: &[u8]) -> Attachment {
        let answer = self.upload(chat, name, body.to_vec()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{name}");
        answer.json().await.unwrap()
    }

    async fn fetch(&self, file: AttachmentId) -> Response {
        self.get(&format!("/api/attachments/{file}")).send().await.unwrap()
    }

    fn question(
        &self,
        chat: ChatId,
        text: &str,
        files: &[AttachmentId],
    ) -> (MessageId, Vec<(String, String)>) {
        let message = MessageId(Uuid::now_v7());
        let mut fields = vec![
            ("chat".to_owned(), chat.to_string()),
            ("message".to_owned(), message.to_string()),
            ("text".to_owned(), text.to_owned()),
            ("model".to_owned(), "local/small".to_owned()),
        ];
        for (n, file) in files.iter().enumerate() {
            fields.push((format!("attachments[{n}]"), file.to_string()));
        }
        (message, fields)
    }

    async fn ask_with(&self, chat: ChatId, text: &str, files: &[AttachmentId]) -> MessageId {
        let (message, fields) = self.question(chat, text, files);
        self.call("ask", &borrowed(&fields)).await;
        message
    }
}

fn borrowed(fields: &[(String, String)]) -> Vec<(&str, String)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
}

fn files_of(page: &Watcher, message: MessageId) -> (Vec<String>, Vec<String>) {
    let Body::User { attachments, left_out, .. } = &page.chat().message(message).unwrap().body else {
        panic!()
    };
    let names = attachments.iter().map(|file| file.name.clone()).collect();
    (names, left_out.iter().map(|left| format!("{}: {}", left.name, left.reason)).collect())
}

/// The question with which the model was asked last, titles aside.
async fn last_asked(world: &World) -> Value {
    let log = world.model_log().await;
    let mut requests = log["requests"].as_array().unwrap().iter();
    requests.rfind(|request| request["system"] == "").unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_gets_what_was_attached() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let text = server.attach(chat, "notes.md", "```\nschön\n```\n".as_bytes()).await;
    let image = server.attach(chat, "dot.png", PNG).await;
    let message = server.ask_with(chat, "[[say seen]] Look", &[text.id, image.id]).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "seen");
    assert_eq!(files_of(&page, message).0, ["notes.md", "dot.png"]);
    let asked = last_asked(&world).await;
    let words = "[[say seen]] Look\n\nFile notes.md:\n````\n```\nschön\n```\n````\n\n[Image: dot.png]";
    assert_eq!(asked["last_user_message"], words);
    assert_eq!(asked["images"], serde_json::json!([PNG_URL]));

    // The next turn still has them, and another answer too.
    server.ask_with(chat, "[[say again]]", &[]).await;
    page.until_settled(&server).await;
    assert_eq!(last_asked(&world).await["images"], serde_json::json!([PNG_URL]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_takes_no_images_says_so() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[blind]] [[say fine]]").await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "fine", "the control: without an image");
    let image = server.attach(chat, "dot.png", PNG).await;
    server.ask_with(chat, "[[blind]] [[say fine]]", &[image.id]).await;
    page.until_settled(&server).await;
    let Status::Settled { outcome: Outcome::Failed { reason }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    assert!(reason.contains("does not take images") && reason.contains("mmproj"), "{reason}");

    // What was refused once does not stand in the way of every later question.
    server.ask_with(chat, "[[blind]] [[say without it]]", &[]).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "without it");
    assert_eq!(last_asked(&world).await["images"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_belongs_to_its_chat_and_is_sent_once() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (chat, other) = (server.new_chat(&world).await, server.new_chat(&world).await);
    let (own, foreign) = (server.attach(chat, "a", b"a").await, server.attach(other, "b", b"b").await);
    for file in [foreign.id, AttachmentId(Uuid::nil())] {
        let (_, fields) = server.question(chat, "hello", &[own.id, file]);
        let refusal = server.refusal("ask", &borrowed(&fields)).await;
        assert!(refusal.contains("missing") && refusal.contains("attachment"), "{refusal}");
    }
    let (message, fields) = server.question(chat, "[[say hi]]", &[own.id, own.id]);
    for _ in 0..2 {
        server.call("ask", &borrowed(&fields)).await;
    }
    let mut page = server.watch(chat).await;
    page.until_settled(&server).await;
    assert_eq!(page.chat().messages.len(), 2);
    assert_eq!(files_of(&page, message).0, ["a"]);
    let (_, fields) = server.question(chat, "hello", &[own.id]);
    let refusal = server.refusal("ask", &borrowed(&fields)).await;
    assert!(refusal.contains("another message"), "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_attached_is_said_with_its_limit() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let check = async |name: &str, body: Vec<u8>, status: StatusCode, words: &str| {
        let answer = server.upload(chat, name, body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{name}");
        let said = answer.text().await.unwrap();
        assert!(said.contains(words) && said.contains(name), "{said}");
    };
    check("ok.txt", b"fine".to_vec(), StatusCode::OK, "text").await;
    check("a.bin", vec![0; 10], StatusCode::UNPROCESSABLE_ENTITY, "PNG, JPEG, WebP or GIF").await;
    check("long.txt", vec![b'x'; 300_000], StatusCode::UNPROCESSABLE_ENTITY, "256 KB").await;
    check("big.png", vec![0; 6 << 20], StatusCode::PAYLOAD_TOO_LARGE, "5 MB").await;
    // Nobody says how long it is, so it is cut off while it comes.
    let endless = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 1 << 16]));
    let answer = server.upload(chat, "endless", reqwest::Body::wrap_stream(endless)).send().await;
    match answer {
        Ok(answer) => assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE),
        // The server need not listen to the rest before it hangs up.
        Err(error) => assert!(error.is_request() || error.is_body(), "{error:?}"),
    }
    let nowhere = server.upload(ChatId(Uuid::nil()), "a", "a").send().await.unwrap();
    assert_eq!(nowhere.status(), StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_neither_attach_nor_read() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let file = server.attach(chat, "secret.txt", b"secret").await;
    let attempt = async |request: RequestBuilder, change: &dyn Fn(&mut header::HeaderMap)| {
        let mut request = request.build().unwrap();
        change(request.headers_mut());
        server.client.execute(request).await.unwrap().status()
    };
    let upload = || server.upload(chat, "a.txt", "a");
    let read = || server.get(&format!("/api/attachments/{}", file.id));
    let evil = |headers: &mut header::HeaderMap| {
        headers.insert(header::ORIGIN, "https://evil.example".parse().unwrap());
    };
    let elsewhere = |headers: &mut header::HeaderMap| {
        headers.insert("sec-fetch-site", "cross-site".parse().unwrap());
    };
    let nobody = |headers: &mut header::HeaderMap| drop(headers.remove(header::COOKIE));
    let no_origin = |headers: &mut header::HeaderMap| drop(headers.remove(header::ORIGIN));
    assert_eq!(attempt(upload(), &|_| ()).await, StatusCode::OK, "the control");
    assert_eq!(attempt(upload(), &evil).await, StatusCode::FORBIDDEN);
    assert_eq!(attempt(upload(), &elsewhere).await, StatusCode::FORBIDDEN);
    assert_eq!(attempt(upload(), &no_origin).await, StatusCode::FORBIDDEN);
    assert_eq!(attempt(upload(), &nobody).await, StatusCode::UNAUTHORIZED);
    assert_eq!(attempt(read(), &|_| ()).await, StatusCode::OK, "the control");
    assert_eq!(attempt(read(), &evil).await, StatusCode::FORBIDDEN);
    assert_eq!(attempt(read(), &elsewhere).await, StatusCode::FORBIDDEN);
    assert_eq!(attempt(read(), &nobody).await, StatusCode::UNAUTHORIZED);
}

/// What only calls itself an image never becomes something that a browser runs; the control is an image.
#[tokio::test(flavor = "multi_thread")]
async fn only_images_are_shown_in_place() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".as_slice();
    let html = b"<!doctype html><script>alert(1)</script>".as_slice();
    for (name, body, kind, place) in [
        ("dot.png", PNG, "image/png", "inline"),
        ("dot.html", PNG, "image/png", "inline"),
        ("gif-and-html.gif", b"GIF89a<script>alert(1)</script>".as_slice(), "image/gif", "inline"),
        ("evil.svg", svg, "text/plain; charset=utf-8", "attachment"),
        ("evil.png", svg, "text/plain; charset=utf-8", "attachment"),
        ("page.html", html, "text/plain; charset=utf-8", "attachment"),
        ("page\"\r\nX-Evil: 1.png", html, "text/plain; charset=utf-8", "attachment"),
    ] {
        let file = server.attach(chat, name, body).await;
        let answer = server.fetch(file.id).await;
        let field = |name: header::HeaderName| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(field(header::CONTENT_TYPE), kind, "{name}");
        assert!(field(header::CONTENT_DISPOSITION).starts_with(place), "{name}");
        assert_eq!(field(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{name}");
        let policy = field(header::CONTENT_SECURITY_POLICY);
        assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{name}: {policy}");
        assert!(!policy.contains("allow-"), "{name}: {policy}");
        assert!(answer.headers().get("x-evil").is_none());
        assert_eq!(answer.bytes().await.unwrap(), body, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_brings_the_file_as_it_is_now() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let folder = server.snapshot(None).await.state.workspace.projects[0].path.clone();
    let write = |name: &str, body: &[u8]| {
        let path = std::path::Path::new(&folder).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, body).unwrap();
    };
    write("src/main.rs", b"fn main() {}\n");
    write("docs/my notes.md", "schön".as_bytes());
    write("logo.png", PNG);
    write("core.bin", &[0; 9]);
    write("huge.txt", &vec![b'x'; 300_000]);
    fs::write(world.folder.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret", std::path::Path::new(&folder).join("link")).unwrap();

    let mut page = server.watch(chat).await;
    let text = "[[say read]] Compare @src/main.rs, @\"docs/my notes.md\" and (@logo.png); @core.bin, @huge.txt? \
                ask @ada about @../secret, @link, @src/nope.rs, @Override and a@b.c";
    let message = server.ask(chat, text).await;
    page.until_settled(&server).await;
    let (names, left_out) = files_of(&page, message);
    assert_eq!(names, ["src/main.rs", "docs/my notes.md"]);
    let reasons = [
        ("logo.png", "image"),
        ("core.bin", "neither"),
        ("huge.txt", "256 KB"),
        ("../secret", "no such file"),
        ("src/nope.rs", "no such file"),
    ];
    assert_eq!(left_out.len(), reasons.len(), "{left_out:?}");
    for ((name, why), left) in reasons.iter().zip(&left_out) {
        assert!(left.starts_with(name) && left.contains(why), "{left}");
    }
    let asked = last_asked(&world).await["last_user_message"].as_str().unwrap().to_owned();
    assert!(asked.contains("File src/main.rs:\n```\nfn main() {}\n```"), "{asked}");
    assert!(asked.contains("schön") && asked.contains("The file huge.txt is not shown."), "{asked}");
    assert!(!asked.contains("\nsecret"), "{asked}");

    // Said again, it is read again; what the old version had stays with it.
    write("src/main.rs", b"fn changed() {}\n");
    let (again, mut fields) = server.question(chat, "[[say read]] @src/main.rs", &[]);
    fields.push(("of".to_owned(), message.to_string()));
    server.call("resend", &borrowed(&fields)).await;
    page.until_settled(&server).await;
    assert_eq!(files_of(&page, again).0, ["src/main.rs"]);
    let asked = last_asked(&world).await["last_user_message"].as_str().unwrap().to_owned();
    assert!(asked.contains("changed") && !asked.contains("main()"), "{asked}");
    let Body::User { attachments, .. } = &page.chat().message(message).unwrap().body else { panic!() };
    assert_eq!(server.fetch(attachments[0].id).await.text().await.unwrap(), "fn main() {}\n");
}
