//! All flows in all bands, from the launch to the report.

use domain::flow::{Band, FlowId, Plan, Request, Signals};
use serde_json::json;

use super::{FAULT, Shop, launch, over, quick, report, server, steps};

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_runs_in_every_band() {
    let world = quick().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    // Something is changed, for the flows that work on that.
    super::write(&shop.project, "src/lib.rs", "mod cart;\n// more\n");
    for flow in FlowId::ALL {
        for band in Band::ALL {
            let mut run = shop.ask(flow.name(), &format!("It panics at the till. {FAULT}"));
            run["band"] = json!(band.name());
            run["fast"] = json!(band == Band::Medium);
            let id = launch(&server, run).await;
            let run = over(&server, &id).await;
            assert_eq!(run["status"], "done", "{flow} {band}: {run:#}");
            let found = steps(&run);
            assert!(
                found.iter().all(|(_, status)| matches!(*status, "done" | "skipped")),
                "{flow}: {found:?}"
            );
            // At least those that the plan has without any signal.
            let request = Request::new(flow, band, false, "", "x", true).unwrap();
            for step in Plan::new(request, &Signals::default()).steps {
                assert!(found.iter().any(|(id, _)| *id == step.id.0), "{flow} {band} lacks {}", step.id);
            }
            let (report, markdown) = report(&server, &id).await;
            assert_eq!(report["head"]["confidence"], "high", "{flow} {band}: {markdown}");
            assert!(markdown.contains("## Validation") && markdown.contains("src/cart.rs:3"), "{markdown}");
        }
    }
    server.stop().await;
}
