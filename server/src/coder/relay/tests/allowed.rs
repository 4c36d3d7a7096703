//! How much a task may ask, and what of it counts.

use super::*;

const QUESTION: &str =
    r#"{"tools": [{"type": "function"}], "messages": [{"role": "user", "content": "Look."}]}"#;

/// One that has asked as often as it may is asked for its answer, and whoever reads along is told once.
#[tokio::test]
async fn a_task_that_may_not_go_on_is_asked_for_its_answer() {
    let upstream = upstream((StatusCode::OK, "application/json", "{}")).await;
    let (outputs, mut told) = mpsc::channel(8);
    let limits = Some(Limits { steps: 2, calls: 9 });
    let passage = relay().await.open(endpoint(&upstream.url), "chosen", limits, &outputs);
    for _ in 0..4 {
        assert_eq!(ask(&passage, "/v1/chat/completions", QUESTION).await.0, StatusCode::OK);
    }
    let seen = guard(&upstream.seen).clone();
    let has_tools: Vec<_> = seen.iter().map(|seen| seen.body.get("tools").is_some()).collect();
    assert_eq!(has_tools, [true, true, false, false]);
    let words = format!("You have taken all the steps that you may take. {IN_FORM}");
    assert_eq!(seen[2].body["messages"][1], json!({"role": "user", "content": words}));
    let Ok(Output::Text(text)) = told.try_recv() else { panic!("nobody is told") };
    assert_eq!(text.trim(), "*It has taken all the steps that it may take.*");
    assert!(told.try_recv().is_err(), "once");
    // The control: without limits nothing is taken away.
    let free = relay().await.open(endpoint(&upstream.url), "chosen", None, &nobody());
    guard(&upstream.seen).clear();
    for _ in 0..4 {
        ask(&free, "/v1/chat/completions", QUESTION).await;
    }
    assert!(guard(&upstream.seen).iter().all(|seen| seen.body.get("tools").is_some()));
}

/// A busy server makes the agent ask again; that is no step of its work, nor is it the answer it was asked for.
#[tokio::test]
async fn a_question_that_the_server_refuses_uses_up_nothing() {
    for status in [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY] {
        let (refusals, has_tools) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (left, noted) = (Arc::clone(&refusals), Arc::clone(&has_tools));
        let routes = Router::new().fallback(move |axum::Json(body): axum::Json<Value>| async move {
            let mut left = guard(&left);
            if *left > 0 {
                *left -= 1;
                return (status, "later").into_response();
            }
            guard(&noted).push(body.get("tools").is_some());
            axum::Json(json!({})).into_response()
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, routes).into_future());
        let (outputs, mut told) = mpsc::channel(8);
        let limits = Some(Limits { steps: 2, calls: 9 });
        let passage = relay().await.open(endpoint(&url), "chosen", limits, &outputs);
        // Each question is refused more often than there are steps, or last questions.
        for _ in 0..3 {
            *guard(&refusals) = 6;
            for _ in 0..6 {
                assert_eq!(ask(&passage, "/v1/chat/completions", QUESTION).await.0, status);
            }
            assert_eq!(ask(&passage, "/v1/chat/completions", QUESTION).await.0, StatusCode::OK, "{status}");
        }
        assert_eq!(*guard(&has_tools), [true, true, false], "{status}");
        assert!(matches!(told.try_recv(), Ok(Output::Text(_))), "{status}");
        assert!(told.try_recv().is_err(), "once");
    }
}
