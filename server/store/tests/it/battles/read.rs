//! What is read of battles: in lists, and of what was made.

use super::*;

/// Lists know nobody as the winner of what was tried again.
#[sqlx::test(migrations = "../../migrations")]
async fn lists_tell_who_won_what_is_there_now(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let judge = Judge { model: model(Lane::Local, "judge"), paid: false };
    let it = battle(&scene, "C1 C2", |terms| terms.judge = Some(judge.clone())).await;
    start(&scene, &it).await;
    let favourite = it.contestants[1].id;
    while let Some(task) = claim(&scene).await {
        let now = battles::get(&scene.db, it.id).await.unwrap();
        let judged = now.newest_analysis().and_then(|analysis| {
            let judgement = analysis.judgements.iter().find(|it| it.task == task.id)?;
            let is_first = analysis.entrants[judgement.first].contestant == favourite;
            Some(judgement.letters()[usize::from(!is_first)])
        });
        let said =
            judged.map_or(format!("words of {}", task.id), |letter| format!("{{\"better\": \"{letter}\"}}"));
        let said = format!("\u{1e}text\n{said}");
        assert!(streams::append(&scene.db, stream_of(&task), 0, &said).await.unwrap());
        // A digest may be many questions; a judgement is one.
        let duration_ms = if task.work == Work::Judgement { 5 } else { 900 };
        let outcome = Outcome::Done { measured: Measured { duration_ms, ..Measured::default() } };
        scene.report(stream_of(&task), outcome).await.unwrap();
    }
    assert_eq!(battles::opinion_ms(&scene.db, &judge.model).await.unwrap(), Some(5));
    let listed = async || battles::list(&scene.db, None, None, None, 10).await.unwrap().remove(0).winner;
    assert_eq!(listed().await, Some(favourite));
    let retry = Input::Retry { contestant: favourite, fresh: fresh(), at_ms: 9 };
    commit::battle(&scene.db, it.id, retry).await.unwrap();
    assert_eq!(listed().await, None);
    let task = claim(&scene).await.unwrap();
    scene.report(stream_of(&task), Outcome::Failed { reason: "no".into() }).await.unwrap();
    assert_eq!(listed().await, None);
    assert_eq!(battles::get(&scene.db, it.id).await.unwrap().course.status, Status::Completed);
    scene.assert_consistent().await;
}

/// Of a long change its ends are read, and what is between them is counted.
#[sqlx::test(migrations = "../../migrations")]
async fn a_long_change_is_read_at_both_ends(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "C1 C2", |_| {}).await;
    start(&scene, &it).await;
    let stream = stream_of(&claim(&scene).await.unwrap());
    let ends = async |max| results::patch_ends(&scene.db, stream, max).await.unwrap().map(|ends| ends.text());
    assert_eq!(ends(10).await, None);
    results::keep(&scene.db, stream, &Made::default(), Some(b"0123456789")).await.unwrap();
    assert_eq!(ends(4).await.as_deref(), Some("01\n[… 6 bytes are left out here …]\n89"));
    for max in [10, 12, 19, 20, 100] {
        assert_eq!(ends(max).await.as_deref(), Some("0123456789"), "{max}");
    }
    assert_eq!(results::sizes(&scene.db, &[stream], 99).await.unwrap(), [10]);
    // What was thought and what tools gave is not described, so it is not counted.
    let said = "\u{1e}text\nfour\u{1e}reasoning\nhm, hm\u{1e}text\n!";
    assert!(streams::append(&scene.db, stream, 0, said).await.unwrap());
    assert_eq!(results::sizes(&scene.db, &[stream], 99).await.unwrap(), [15]);
}

/// Of a long output the beginning and the end are read, and nothing of a short one is left out.
#[sqlx::test(migrations = "../../migrations")]
async fn a_long_output_is_read_at_both_ends(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "C1 C2", |_| {}).await;
    start(&scene, &it).await;
    let stream = stream_of(&claim(&scene).await.unwrap());
    let said = format!("\u{1e}text\nfirst{}\u{1e}reasoning\nhm\u{1e}text\nlast", "x".repeat(100));
    assert!(streams::append(&scene.db, stream, 0, &said).await.unwrap());
    let read = async |max| streams::text_of_ends(&scene.db, stream, max).await.unwrap().0;
    assert_eq!(read(100).await, format!("first{}last", "x".repeat(100)));
    assert_eq!(
        read(20).await,
        format!(
            "first{}\n[… 104 bytes of what it said and its tools gave are left out here …]\nlast",
            "x".repeat(9)
        )
    );
}

/// However long somebody noted and thought before, what it said in the end is its opinion.
#[sqlx::test(migrations = "../../migrations")]
async fn an_opinion_is_found_behind_all_that_was_thought(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let judge = Judge { model: model(Lane::Local, "judge"), paid: false };
    let it = battle(&scene, "C1 C2", |terms| terms.judge = Some(judge)).await;
    start(&scene, &it).await;
    let thought = "hm, hm. ".repeat(64 * 1024);
    let mut said = [
        // The contestants.
        "one".to_owned(),
        "other".to_owned(),
        format!("\u{1e}reasoning\n{thought}\u{1e}text\nIt is good."),
        format!("\u{1e}reasoning\n{thought}"),
    ]
    .into_iter();
    while let Some(task) = claim(&scene).await {
        assert!(streams::append(&scene.db, stream_of(&task), 0, &said.next().unwrap()).await.unwrap());
        scene.report(stream_of(&task), done()).await.unwrap();
    }
    let analysis = battles::get(&scene.db, it.id).await.unwrap().newest_analysis().unwrap().clone();
    let texts: Vec<_> = analysis.entrants.iter().filter_map(|entrant| entrant.text.as_deref()).collect();
    assert_eq!(texts, ["It is good."]);
    // Who only thought has said nothing.
    let reason = "A description of a result came back empty.".to_owned();
    assert_eq!(analysis.state, domain::battle::analysis::State::Failed { reason });
}
