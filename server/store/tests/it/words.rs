//! What is said: the conversation that a model is given, and characters that Postgres does not take.

use domain::{
    Rejected,
    chat::{Input, NewTurn},
    id::{ChatId, MessageId, TaskId},
    output::{Outcome, Output, Phase},
    task::{Status, Work},
    transcript::Encoder,
};
use sqlx::PgPool;
use store::{Said, commit, streams, workspace};
use uuid::Uuid;

use super::scene::{Scene, choice, done, ended, rejected, stream_of, turn};

impl Scene {
    pub async fn question(&self, chat: ChatId, text: &str) -> NewTurn {
        let turn = turn();
        let ask = Input::Ask {
            turn,
            text: text.into(),
            choice: choice("local"),
            enclosed: Default::default(),
            at_ms: self.now(),
        };
        commit::chat(&self.db, chat, ask).await.unwrap();
        turn
    }

    /// Runs the task that waits, with reasoning before its text.
    pub async fn answer(&self, text: &str, outcome: Outcome) {
        let stream = stream_of(&self.claim_at(Uuid::nil(), &["local"]).await.unwrap());
        let mut encoder = Encoder::default();
        let mut output = encoder.encode(&Output::Reasoning("Hm.".into()));
        output.push_str(&encoder.encode(&Output::Text(text.into())));
        assert!(streams::append(&self.db, stream, 0, &output).await.unwrap());
        let title = Some(choice("cloud"));
        commit::report(&self.db, commit::Ended { title, ..ended(stream, outcome, self.now()) })
            .await
            .unwrap();
    }

    /// The answer that a question follows.
    async fn after(&self, task: TaskId) -> Option<TaskId> {
        store::conversation(&self.db, task).await.unwrap().after
    }

    async fn assert_said(&self, task: TaskId, work: Work, expected: &str) {
        let conversation = store::conversation(&self.db, task).await.unwrap();
        let said = conversation.said.iter().map(|said| match said {
            Said::Question { text, .. } => format!("?{text}"),
            Said::Answer(text) => format!("!{text}"),
            Said::Unanswered => "!".to_owned(),
        });
        assert_eq!((conversation.work, said.collect::<Vec<_>>().join(" ").as_str()), (work, expected));
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_model_is_told_the_branch_it_continues(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let first = scene.question(chat, "one").await;
    scene.assert_said(first.task, Work::ChatTurn, "?one").await;
    scene.answer("uno", done()).await;
    let second = scene.question(chat, "two").await;
    scene.answer("", Outcome::Failed { reason: "no".into() }).await;
    let third = scene.question(chat, "three").await;
    scene.assert_said(third.task, Work::ChatTurn, "?one !uno ?two ! ?three").await;
    assert_eq!(scene.after(third.task).await, Some(second.task));
    scene.answer("tres", done()).await;

    // Another answer to the first question knows nothing of what followed the other one.
    let (reply, task) = (MessageId(Uuid::now_v7()), TaskId(Uuid::now_v7()));
    let retry = Input::Retry { of: first.reply, reply, task, choice: choice("local"), at_ms: scene.now() };
    commit::chat(&scene.db, chat, retry).await.unwrap();
    scene.assert_said(task, Work::ChatTurn, "?one").await;
    assert_eq!(scene.after(task).await, None);
    scene.answer("un", done()).await;
    scene.assert_said(second.task, Work::ChatTurn, "?one !uno ?two").await;

    let title = scene.load(chat).await.tasks.into_values().find(|task| task.work == Work::Title).unwrap();
    scene.assert_said(title.id, Work::Title, "?one !un").await;
}

/// What was lost stays readable, but the model is told what the last attempt said.
#[sqlx::test(migrations = "../../migrations")]
async fn a_model_is_told_the_last_attempt_of_an_answer(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    scene.question(chat, "one").await;
    scene.answer("un", Outcome::Lost).await;
    scene.answer("uno", done()).await;
    let next = scene.question(chat, "two").await;
    scene.assert_said(next.task, Work::ChatTurn, "?one !uno ?two").await;
}

/// Postgres keeps no character with the code zero in a text. Who writes one is told; a model that fails with
/// one must not be able to keep its task from ending.
#[sqlx::test(migrations = "../../migrations")]
async fn a_zero_character_is_refused_in_words_and_holds_up_nothing(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let before = scene.dump().await;
    let ask = Input::Ask {
        turn: turn(),
        text: "a\0b".into(),
        choice: choice("local"),
        enclosed: Default::default(),
        at_ms: 0,
    };
    let refused = [
        rejected(commit::chat(&scene.db, chat, ask).await),
        rejected(workspace::add_project(&scene.db, "Name", "/a\0b").await),
    ];
    for refusal in refused {
        assert!(matches!(&refusal, Rejected::Invalid(words) if words.contains("zero")), "{refusal:?}");
    }
    assert_eq!(scene.dump().await, before);

    for outcome in [Outcome::Failed { reason: "a\0b".into() }, Outcome::Void { reason: "\0".into() }] {
        let (chat, stream) = scene.start("local").await;
        commit::phase(&scene.db, stream, Phase::Generating, 5).await.unwrap();
        scene.report(stream, outcome).await.unwrap();
        match scene.task(chat, stream.task).await.status {
            Status::Settled { outcome: Outcome::Failed { reason } | Outcome::Void { reason }, .. } => {
                assert!(reason.contains('\u{fffd}') && !reason.contains('\0'), "{reason:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}
