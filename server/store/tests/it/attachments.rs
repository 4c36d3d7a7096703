//! Files that go with messages: kept before they are sent, and for as long as their message.

use domain::{
    Rejected,
    attachment::{Attachment, Enclosed},
    chat::{Body, Input, NewTurn},
    id::{AttachmentId, ChatId},
};
use sqlx::PgPool;
use store::{
    Said, attachments,
    attachments::NewFile,
    commit::{self, Committed},
};
use uuid::Uuid;

use super::scene::{Scene, choice, done, rejected, stream_of, turn};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn file(name: &str, body: &[u8]) -> NewFile {
    NewFile { name: name.into(), body: body.to_vec(), is_mention: false }
}

impl Scene {
    async fn file(&self, chat: ChatId, name: &str) -> Attachment {
        attachments::add(&self.db, chat, file(name, name.as_bytes())).await.unwrap()
    }

    async fn ask_with(
        &self,
        chat: ChatId,
        turn: NewTurn,
        files: &[AttachmentId],
    ) -> store::Result<Committed> {
        let (text, choice, at_ms) = ("Why?".to_owned(), choice("local"), self.now());
        commit::chat_with_files(&self.db, chat, files, |attached| {
            let enclosed = Enclosed { attached, ..Enclosed::default() };
            Input::Ask { turn, text, choice, enclosed, at_ms }
        })
        .await
    }

    /// What is left after everything unsent has become two days old.
    async fn after_two_days(&self, removed: u64) -> Vec<String> {
        sqlx::query("update attachments set created_at = now() - interval '2 days'")
            .execute(&self.pool)
            .await
            .unwrap();
        assert_eq!(attachments::remove_unsent(&self.db).await.unwrap(), removed);
        sqlx::query_scalar("select name from attachments order by name").fetch_all(&self.pool).await.unwrap()
    }

    async fn finish_turn(&self) {
        let stream = stream_of(&self.claim_at(Uuid::nil(), &["local"]).await.unwrap());
        self.report(stream, done()).await.unwrap();
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_file_is_kept_as_it_is(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    for (name, body, mime) in [("schön.md", "schön".as_bytes(), "text/plain"), ("a.txt", PNG, "image/png")]
    {
        let added = attachments::add(&scene.db, chat, file(name, body)).await.unwrap();
        assert_eq!((added.media.mime(), added.bytes), (mime, body.len() as u64));
        assert_eq!(attachments::read(&scene.db, added.id).await.unwrap(), (added, body.to_vec()));
    }
    let refused = |rejected: Rejected, words: &str| {
        assert!(rejected.to_string().contains(words), "{rejected}");
    };
    refused(rejected(attachments::add(&scene.db, chat, file("a.bin", b"\0")).await), "a.bin");
    let nowhere = ChatId(Uuid::now_v7());
    refused(rejected(attachments::add(&scene.db, nowhere, file("a", b"a")).await), "chat");
    refused(rejected(attachments::read(&scene.db, AttachmentId(Uuid::nil())).await), "attachment");
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_waits_unsent_is_bounded(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let large = file("large.png", &[PNG, &vec![0; 5 * 1024 * 1024 - PNG.len()]].concat());
    for _ in 0..12 {
        attachments::add(&scene.db, chat, large.clone()).await.unwrap();
    }
    let refusal = rejected(attachments::add(&scene.db, chat, large.clone()).await);
    assert!(refusal.to_string().contains("without being sent"), "{refusal}");
    attachments::add(&scene.db, scene.chat().await, large).await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_message_has_its_files_and_nobody_elses(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (chat, other) = (scene.chat().await, scene.chat().await);
    let (one, two) = (scene.file(chat, "one").await, scene.file(chat, "two").await);
    let foreign = scene.file(other, "foreign").await;
    let before = scene.dump().await;
    for id in [foreign.id, AttachmentId(Uuid::nil())] {
        let refusal = rejected(scene.ask_with(chat, turn(), &[one.id, id]).await);
        assert_eq!(refusal, Rejected::missing("attachment"));
    }
    assert_eq!(scene.dump().await, before);

    let turn = turn();
    scene.ask_with(chat, turn, &[two.id, one.id, two.id]).await.unwrap();
    let sent = scene.dump().await;
    assert!(scene.ask_with(chat, turn, &[two.id, one.id]).await.unwrap().events.is_empty());
    assert_eq!(scene.dump().await, sent, "sent twice, it is attached once");
    let message = scene.load(chat).await.message(turn.message).unwrap().clone();
    let expected = Body::User { text: "Why?".into(), attachments: vec![two, one], left_out: Vec::new() };
    assert_eq!(message.body, expected);
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_was_not_sent_goes_after_a_day(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let mut files = Vec::new();
    for name in ["sent", "queued", "taken back", "unsent"] {
        files.push(scene.file(chat, name).await.id);
    }
    assert_eq!(attachments::remove_unsent(&scene.db).await.unwrap(), 0, "the control: they are young");
    scene.ask_with(chat, turn(), &files[0..1]).await.unwrap();
    scene.ask_with(chat, turn(), &files[1..2]).await.unwrap();
    let taken_back = turn();
    scene.ask_with(chat, taken_back, &files[2..3]).await.unwrap();
    commit::chat(&scene.db, chat, Input::Unqueue { message: taken_back.message }).await.unwrap();
    assert_eq!(scene.after_two_days(2).await, ["queued", "sent"]);
    scene.finish_turn().await;
    assert_eq!(scene.after_two_days(0).await, ["queued", "sent"]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_unsent_file_can_be_taken_back_and_a_sent_one_not(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let (sent, unsent) = (scene.file(chat, "sent").await, scene.file(chat, "unsent").await);
    scene.ask_with(chat, turn(), &[sent.id]).await.unwrap();
    for id in [sent.id, unsent.id] {
        attachments::remove(&scene.db, chat, id).await.unwrap();
    }
    assert!(attachments::read(&scene.db, sent.id).await.is_ok());
    assert_eq!(rejected(attachments::read(&scene.db, unsent.id).await), Rejected::missing("attachment"));
}

/// An edited message may keep the files of the version before it; both then have them.
#[sqlx::test(migrations = "../../migrations")]
async fn versions_of_a_message_share_a_file(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let file = scene.file(chat, "shared").await;
    let (first, second) = (turn(), turn());
    scene.ask_with(chat, first, &[file.id]).await.unwrap();
    scene.finish_turn().await;
    let (of, text, choice, at_ms) = (first.message, "Why not?".to_owned(), choice("local"), scene.now());
    commit::chat_with_files(&scene.db, chat, &[file.id], |attached| {
        let enclosed = Enclosed { attached, ..Enclosed::default() };
        Input::Resend { of, turn: second, text, choice, enclosed, at_ms }
    })
    .await
    .unwrap();
    assert_eq!(scene.after_two_days(0).await, ["shared"]);
    let conversation = store::conversation(&scene.db, second.task).await.unwrap();
    assert!(matches!(&conversation.said[0], Said::Question { files, .. } if files[0].file == file));
}

/// The newest files go to the model where there is not room for all, and the rest is known by name.
#[sqlx::test(migrations = "../../migrations")]
async fn a_model_is_given_the_newest_files(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let large = [PNG, &vec![0; 5 * 1024 * 1024 - PNG.len()]].concat();
    let mut last = turn();
    for n in 0..3 {
        let mut files = Vec::new();
        for m in 0..3 {
            let file = file(&format!("{n}{m}.png"), &large);
            files.push(attachments::add(&scene.db, chat, file).await.unwrap().id);
        }
        last = turn();
        scene.ask_with(chat, last, &files).await.unwrap();
        if n < 2 {
            scene.finish_turn().await;
        }
    }
    let conversation = store::conversation(&scene.db, last.task).await.unwrap();
    let mut given = Vec::new();
    for said in &conversation.said {
        let Said::Question { files, .. } = said else { continue };
        for sent in files {
            assert_eq!(sent.file.media.mime(), "image/png");
            assert!(sent.body.as_ref().is_none_or(|body| *body == large));
            given.push((sent.file.name.as_str(), sent.body.is_some()));
        }
    }
    let without: Vec<_> = given.iter().filter(|(_, given)| !given).map(|(name, _)| *name).collect();
    assert_eq!((given.len(), without), (9, vec!["00.png", "01.png", "02.png"]));
}
