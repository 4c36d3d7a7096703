//! What was said is found, whatever it is.

use domain::{
    chat::Input,
    history::{Entry, Filter, Speaker},
    id::{ChatId, MessageId, TaskId},
    output::{Outcome, Output},
    search::{ASKED_CHARS_MAX, Asked, TEXT_BYTES_MAX},
    transcript::Encoder,
};
use rand::{SeedableRng as _, rngs::StdRng};
use sqlx::PgPool;
use std::sync::atomic::AtomicUsize;
use store::{commit, history, search, streams};
use uuid::Uuid;

use super::{
    scene::{Scene, choice, done, stream_of},
    story::{Story, any},
};

impl Scene {
    pub async fn search(&self, words: &str) -> Vec<Entry> {
        let filter = Filter { asked: Some(Asked::new(words).unwrap()), ..Filter::default() };
        history::list(&self.db, &filter).await.unwrap().entries
    }

    async fn rename(&self, chat: ChatId, title: &str) {
        commit::chat(&self.db, chat, Input::Rename { title: title.into() }).await.unwrap();
    }

    /// What the search shows of its only hit, with the speaker before it.
    async fn assert_found(&self, words: &str, title: &str, said: &str) {
        let found = self.search(words).await;
        let [entry] = &found[..] else { panic!("{words}: {found:?}") };
        let shown = |text: &domain::search::Marked| {
            let piece =
                |(mark, piece): (bool, &str)| if mark { format!("[{piece}]") } else { piece.to_owned() };
            text.pieces().into_iter().map(piece).collect::<String>()
        };
        let by = |speaker| if speaker == Speaker::Person { "?" } else { "!" };
        let found =
            entry.found.as_ref().map_or(String::new(), |found| by(found.by).to_owned() + &shown(&found.text));
        assert_eq!((shown(&entry.title).as_str(), found.as_str()), (title, said), "{words}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_title_a_question_and_an_answer_are_found(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (chat, other) = (scene.chat().await, scene.chat().await);
    scene.question(chat, "Why is the Pool in src/main.rs slow?").await;
    scene.answer("Because every worker waits for a connection.", done()).await;
    scene.rename(chat, "Slow connections").await;
    scene.question(other, "Anything else?").await;
    scene.answer("No.", done()).await;

    scene.assert_found("pool", "Slow connections", "?Why is the [Pool] in src/main.rs slow?").await;
    scene.assert_found("main", "Slow connections", "?Why is the Pool in src/[main].rs slow?").await;
    scene.assert_found("WORK", "Slow connections", "!Because every [worker] waits for a connection.").await;
    scene.assert_found("anything", "[Anything] else?", "?[Anything] else?").await;
    // Said by different people, and one of the two only in the title.
    scene
        .assert_found("pool worker", "Slow connections", "!Because every [worker] waits for a connection.")
        .await;
    scene
        .assert_found("slow conn", "[Slow] [connections]", "!Because every worker waits for a [connection].")
        .await;

    assert_eq!(scene.search("orker").await, [], "a word is found by its beginning");
    assert_eq!(scene.search("pool unsaid").await, [], "one word is nowhere");
    assert_eq!(scene.search("hm").await, [], "reasoning is not the answer");
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_title_is_found_while_it_is_the_title(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    assert_eq!(scene.search("new").await, [], "a chat that nobody named has no title");
    scene.rename(chat, "Früher").await;
    scene.assert_found("FRÜH", "[Früher]", "").await;
    scene.rename(chat, "Später").await;
    scene.assert_found("spät", "[Später]", "").await;
    assert_eq!(scene.search("früher").await, []);
}

/// An answer that fails, stops or is lost keeps the words it had; a lost attempt that is repeated does not.
#[sqlx::test(migrations = "../../migrations")]
async fn an_answer_is_found_however_it_ended(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let outcomes = [
        ("failing", Outcome::Failed { reason: "unsaid".into() }),
        ("voided", Outcome::Void { reason: "unsaid".into() }),
        ("stopped", Outcome::Cancelled),
    ];
    for (word, outcome) in outcomes {
        let chat = scene.chat().await;
        scene.question(chat, "Why?").await;
        scene.answer(word, outcome).await;
        assert_eq!(scene.search(word).await.len(), 1, "{word}");
    }
    assert_eq!(scene.search("unsaid").await, []);

    let chat = scene.chat().await;
    scene.question(chat, "Why?").await;
    scene.answer("firsttry", Outcome::Lost).await;
    assert_eq!(scene.search("firsttry").await, []);
    scene.answer("secondtry", done()).await;
    assert_eq!((scene.search("firsttry").await.len(), scene.search("secondtry").await.len()), (0, 1));

    // A turn that was stopped before it began has no answer.
    let chat = scene.chat().await;
    scene.question(chat, "Why?").await;
    commit::chat(&scene.db, chat, Input::Stop).await.unwrap();
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn every_branch_of_a_chat_is_found(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let first = scene.question(chat, "Why?").await;
    scene.answer("uno", done()).await;
    let (reply, task) = (MessageId(Uuid::now_v7()), TaskId(Uuid::now_v7()));
    let retry = Input::Retry { of: first.reply, reply, task, choice: choice("local"), at_ms: scene.now() };
    commit::chat(&scene.db, chat, retry).await.unwrap();
    scene.answer("dos", done()).await;
    assert_eq!((scene.search("uno").await.len(), scene.search("dos").await.len()), (1, 1));
}

/// Whatever is searched for is words, never a query language; and nothing that was said can break it.
#[sqlx::test(migrations = "../../migrations")]
async fn hostile_words_are_words(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let hostile = [
        "'; drop table chats; --",
        "a & b | !c <-> (d)",
        "x:*ABCD 'y':A \\'z\\' \"q\"",
        "the and of",
        "100%_x%",
        "$1 {{}} \u{202e}abc\u{200b}def 👩‍💻1",
        "İstanbul ẞ ﬁ Ⅷ ²",
    ];
    for text in hostile {
        scene.question(chat, text).await;
        scene.answer(text, done()).await;
        assert_eq!(scene.search(text).await.len(), 1, "{text}");
    }
    let longest = "ab ".repeat(9) + &"x".repeat(ASKED_CHARS_MAX - 27);
    assert_eq!(scene.search(&longest).await, []);
    let most = (0..32).map(|n| format!("w{n} ")).collect::<String>();
    assert_eq!(scene.search(&most).await, []);
    assert!(Asked::new(&"long ".repeat(2_000)).is_err(), "ten kilobytes are refused before they get here");
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn long_texts_are_found_by_their_beginning(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    // As many different words as fit, so that the index's limits would show.
    let longest: String = (0u32..).map(|n| format!("{n:x} ")).take(60_000).collect();
    let longest = format!("beginning {} end", &longest[..domain::chat::TEXT_BYTES_MAX - 100]);
    scene.question(chat, &longest).await;
    let stream = stream_of(&scene.claim_at(Uuid::nil(), &["local"]).await.unwrap());
    let mut encoder = Encoder::default();
    let thought = encoder.encode(&Output::Reasoning("hm ".repeat(100_000)));
    let said = encoder.encode(&Output::Text(format!("answered \0 zero {}", "x".repeat(TEXT_BYTES_MAX))));
    for piece in [thought, said] {
        let at = streams::extent(&scene.db, stream).await.unwrap().unwrap().len;
        assert!(streams::append(&scene.db, stream, at, &piece).await.unwrap());
    }
    scene.report(stream, done()).await.unwrap();

    assert_eq!(scene.search("beginning").await.len(), 1);
    assert_eq!(scene.search("answered zero").await.len(), 1, "behind much reasoning");
    assert_eq!(scene.search("end").await, []);
    assert_eq!(scene.search("hm").await, []);
    let kept: Option<i32> = sqlx::query_scalar("select max(length(body)) from search_entries")
        .fetch_one(&scene.pool)
        .await
        .unwrap();
    assert!(kept.unwrap() as usize <= TEXT_BYTES_MAX);
}

/// What is indexed afterwards is what would have been indexed at once.
#[sqlx::test(migrations = "../../migrations")]
async fn what_was_said_before_is_indexed_once(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chats = [scene.chat().await, scene.chat().await];
    let (mut dice, changes) = (StdRng::seed_from_u64(7), AtomicUsize::new(0));
    let mut story = Story::new(&scene, 7, &changes);
    for _ in 0..300 {
        let chat = scene.load(any(&chats, &mut dice)).await;
        story.step(&chat).await;
    }
    scene.assert_consistent().await;
    let before = scene.dump().await;
    assert_eq!(search::index_missing(&scene.db).await.unwrap(), 0);
    let entries =
        sqlx::query("delete from search_entries").execute(&scene.pool).await.unwrap().rows_affected();
    assert!(entries > 20, "the story said only {entries} things");
    let mut indexed = 0;
    loop {
        match search::index_missing(&scene.db).await.unwrap() {
            0 => break,
            some => indexed += some as u64,
        }
    }
    assert_eq!(indexed, entries);
    assert_eq!(scene.dump().await, before);
}
