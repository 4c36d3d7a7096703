//! How runs end, for whoever looks elsewhere.

use super::{Kind, Notice, line};
use crate::{
    id::RunId,
    page::Wanted,
    run::{Change, Status},
    workspace::Workspace,
};

/// The one change that a run has once.
pub(super) fn settled(run: RunId, change: &Change, workspace: &Workspace) -> Option<Notice> {
    let Change::RunSettled { status } = change else { return None };
    let (kind, words) = match status {
        Status::Done => (Kind::Done, "The report is ready.".to_owned()),
        Status::Failed { reason } => (Kind::Failed, format!("The run failed: {reason}")),
        // Whoever cancelled it knows.
        Status::Cancelled | Status::Queued | Status::Running { .. } => return None,
    };
    let entry = workspace.run(run)?;
    Some(Notice {
        kind,
        tag: run.to_string(),
        title: entry.title.clone(),
        body: line(&words),
        leads_to: Wanted::Run(run),
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        feed::Event,
        flow::{Band, FlowId},
        id::SessionId,
        layout::Content,
        notifications::{Channel, Choice, Notifier, Sight},
        workspace::RunEntry,
    };

    const RUN: RunId = RunId(Uuid::from_u128(7));

    #[track_caller]
    fn check(change: Change, sees: &str, expected: &str) {
        let entry = RunEntry {
            id: RUN,
            session: SessionId(Uuid::nil()),
            flow: FlowId::CodeReview,
            band: Band::Small,
            title: "Review".into(),
            status: Status::Running { cancelling: false },
        };
        let workspace = Workspace { runs: vec![entry], ..Default::default() };
        let is_away = sees.contains("away");
        let sight = Sight {
            is_visible: !is_away,
            is_focused: !is_away,
            in_front: sees.contains("front").then_some(Content::Run(RUN)).into_iter().collect(),
        };
        let mut choice = Choice::default();
        choice.set(Kind::Done, Channel::Browser, true);
        let event = Event::FlowRunUpdated { run: RUN, change: Box::new(change), at_ms: 0 };
        let told = Notifier::default().hear(&event, &workspace, &sight, &choice);
        let told: Vec<_> = told
            .into_iter()
            .map(|(channel, notice)| {
                assert_eq!((notice.title.as_str(), notice.leads_to), ("Review", Wanted::Run(RUN)));
                format!("{channel:?}:{:?}:{}", notice.kind, notice.body)
            })
            .collect();
        assert_eq!(told.join(" "), expected, "{sees}");
    }

    #[test]
    fn how_a_run_ended_is_told_to_whoever_looks_elsewhere() {
        let settled = |status| Change::RunSettled { status };
        let failed = || settled(Status::Failed { reason: "its\ngate failed".into() });
        check(settled(Status::Done), "elsewhere", "Page:Done:The report is ready.");
        check(
            settled(Status::Done),
            "front away",
            "Page:Done:The report is ready. Browser:Done:The report is ready.",
        );
        check(settled(Status::Done), "front", "");
        check(failed(), "elsewhere away", "Page:Failed:The run failed: its gate failed");
        check(settled(Status::Cancelled), "elsewhere away", "");
        check(Change::RunCancelling, "elsewhere away", "");
    }
}
