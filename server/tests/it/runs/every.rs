//! All flows in all bands, from the launch to the report.

use domain::flow::{Band, FlowId, Plan, Request, Signals};
use serde_json::json;

use super::{FAULT, Shop, launch, over, quick, report, steps, wide_server};
use crate::harness::Server;

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_runs_in_every_band() {
    let world = quick().await;
    let server = wide_server(&world, "one", "native", "local/analyst").await;
    for band in Band::ALL {
        let shop = Shop::new(&world, &server).await;
        // Something is changed, for the flows that work on that.
        super::write(&shop.project, "src/lib.rs", "mod cart;\n// more\n");
        std::fs::create_dir(shop.project.join("docs")).unwrap();
        super::write(
            &shop.project,
            "docs/PULL_REQUEST_TEMPLATE.md",
            "## Why\n\n- [ ] tested\n\n## What it risks\n",
        );
        // Some side by side.
        for flows in FlowId::ALL.chunks(3) {
            let mut launched = Vec::new();
            for flow in flows {
                let mut run = shop.ask(flow.name(), &format!("It panics at the till. {FAULT}"));
                run["band"] = json!(band.name());
                run["fast"] = json!(band == Band::Medium);
                launched.push((*flow, launch(&server, run).await));
            }
            for (flow, id) in launched {
                check(&server, flow, band, &id).await;
            }
        }
    }
    server.stop().await;
}

async fn check(server: &Server, flow: FlowId, band: Band, id: &str) {
    let run = over(server, id).await;
    assert_eq!(run["status"], "done", "{flow} {band}: {run:#}");
    let found = steps(&run);
    assert!(found.iter().all(|(_, status)| matches!(*status, "done" | "skipped")), "{flow}: {found:?}");
    // At least those that the plan has without any signal.
    let request = Request::new(flow, band, false, "", "x", true).unwrap();
    for step in Plan::new(request, &Signals::default()).steps {
        assert!(found.iter().any(|(id, _)| *id == step.id.0), "{flow} {band} lacks {}", step.id);
    }
    let (report, markdown) = report(server, id).await;
    assert_eq!(report["head"]["confidence"], "high", "{flow} {band}: {markdown}");
    assert!(markdown.contains("## Validation") && markdown.contains("src/cart.rs:3"), "{markdown}");
    // Who may look again does: the first look brought something new.
    let is_repeated = flow.method().rounds.most(band) > 1 && flow != FlowId::GapAnalysis;
    assert_eq!(found.iter().any(|(id, _)| id.ends_with("@2")), is_repeated, "{flow} {band}: {found:?}");
    // The repository's own template wins.
    let titles: Vec<_> =
        report["sections"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
    let is_own = titles.contains(&"Why") && titles.contains(&"What it risks");
    assert_eq!(is_own, flow == FlowId::UpdatePrDescription, "{flow} {band}: {titles:?}");
    assert!(!is_own || !titles.contains(&"Look first"), "{titles:?}");
}
