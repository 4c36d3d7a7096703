//! A battle as one file.

use reqwest::{StatusCode, header};
use serde_json::json;
use uuid::Uuid;

use super::{Field, launch, over, until};
use crate::harness::World;

/// What a hostile model may say: it would run in whatever page takes it for markup.
const EVIL: &str = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>";

#[tokio::test(flavor = "multi_thread")]
async fn an_export_holds_everything_and_runs_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt =
        format!("[[on small]][[shell echo '{EVIL}' > made.html]][[say good {EVIL}]][[on large]][[say bad]]");
    let mut battle = field.coding(&prompt, &["native@small", "native@large"]);
    battle["judge"] = json!("local/judge");
    battle["check"] = json!("cat made.html");
    let id = launch(&server, battle).await;
    over(&server, &id).await;
    let asked = json!({"model": "local/echo", "question": format!("Why? {EVIL}")});
    let (status, answer) = server.script(&format!("/api/battles/{id}/cross-examine"), Some(asked)).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let whole = |it: &serde_json::Value| it["cross_examinations"][0]["status"] == "done";
    until(&server, &id, "the examination is over", whole).await;

    let answer = server.get(&format!("/battle/{id}/export")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let headers = answer.headers().clone();
    let page = answer.text().await.unwrap();
    let said = |name: header::HeaderName| headers[name].to_str().unwrap().to_owned();
    assert!(said(header::CONTENT_DISPOSITION).starts_with("attachment; filename=\"20"));
    assert!(said(header::CONTENT_SECURITY_POLICY).contains("default-src 'none'"));
    // In the title, the prompt, the output, the diff, the check, the digest and the examination; never as markup.
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;";
    assert!(page.matches(escaped).count() >= 7, "{}: {page}", page.matches(escaped).count());
    for words in [
        "A wins over the other in both orders; 6 of 6 judgements agree.",
        "Contestants",
        "check passes, it failed before",
        "<ins>+&lt;/pre&gt;",
        "All 6 judgements",
        "Cross-examination by No persona · echo",
        "Benchmark",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }

    // Nobody else reads it, and there is none of what is not there.
    let stranger = server.client.get(format!("{}/battle/{id}/export", server.url)).send().await.unwrap();
    assert_ne!(stranger.status(), StatusCode::OK);
    let nothing = server.get(&format!("/battle/{}/export", Uuid::now_v7())).send().await.unwrap();
    assert_eq!(nothing.status(), StatusCode::NOT_FOUND);
}
