use std::fmt::Write;

use super::*;
use crate::flow::{FlowId, Signal, golden, rounds::Next, signal::Found};

pub(crate) fn request(flow: FlowId, band: Band, fast: bool) -> Request {
    Request::new(flow, band, fast, "src", "why is it slow", true).unwrap()
}

pub(crate) fn signals(present: &[Signal]) -> Signals {
    let found =
        |signal: &Signal| (*signal, Found { path: "src/a.rs".into(), line: Some(1), text: "x".into() });
    Signals { found: present.iter().map(found).collect(), files: 12, is_partial: false }
}

/// A plan as somebody would draw it: one line a step.
fn drawn(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let who = match &step.work {
            Work::Agent(Agent { role, part, first, limits, .. }) => {
                let fast = if *limits == Limits::FAST { " fast" } else { "" };
                let ids = if step.skip.is_none() { format!("{}{first}", role.letters()) } else { "-".into() };
                format!("{part:?} {role} {ids}{fast}")
            }
            code => format!("{code:?}"),
        };
        let needs: Vec<_> = step.needs.iter().map(|id| id.0.as_str()).collect();
        let needs = if needs.is_empty() { String::new() } else { format!(" < {}", needs.join(" ")) };
        let skip = step.skip.as_ref().map(|why| format!(" (skipped: {why})")).unwrap_or_default();
        writeln!(text, "  {:<16} {who}{needs}{skip}", step.id.0).unwrap();
    }
    text
}

/// With and without signals, in each band, and the rounds that there may be.
fn drawn_whole(flow: FlowId) -> String {
    let mut text = String::new();
    for band in Band::ALL {
        for (name, present) in [("no signals", &[][..]), ("all signals", &Signal::ALL[..])] {
            let plan = Plan::new(request(flow, band, false), &signals(present));
            write!(text, "{flow}, {band}, {name}\n{}", drawn(&plan.steps)).unwrap();
            let mut whole = plan.clone();
            for round in 1..flow.method().rounds.most(band) {
                let more = whole.next_round(round);
                write!(text, "  another round adds\n{}", drawn(&more)).unwrap();
                whole.steps.extend(more);
            }
            text.push('\n');
        }
    }
    text
}

#[test]
fn plans_are_as_they_were() {
    for flow in FlowId::ALL {
        golden::check(&format!("plans/{flow}.txt"), &drawn_whole(flow));
    }
    assert_eq!(golden::count("plans"), FlowId::ALL.len());
}

#[test]
fn every_plan_can_be_carried_out_and_passes_a_gate() {
    for flow in FlowId::ALL {
        for band in Band::ALL {
            // Every set of signals there is.
            for set in 0..1usize << Signal::ALL.len() {
                let present: Vec<_> =
                    (0..6).filter(|at| set & (1 << at) != 0).map(|at| Signal::ALL[at]).collect();
                let plan = Plan::new(request(flow, band, false), &signals(&present));
                check_plan(&plan);
            }
        }
    }
}

fn check_plan(plan: &Plan) {
    let named = |id: &StepId| plan.steps.iter().position(|step| step.id == *id);
    for (at, step) in plan.steps.iter().enumerate() {
        assert_eq!(named(&step.id), Some(at), "an id is there twice: {step:?}");
        assert!(step.needs.iter().all(|id| named(id).is_some_and(|needed| needed < at)), "{step:?}");
    }
    let last = plan.steps.last().unwrap();
    assert_eq!(last.work, Work::Render);
    // Whatever is asked reaches the report through a gate.
    assert!(last.needs.iter().all(|id| plan.step(id).unwrap().is_gate()) && !last.needs.is_empty());
    for step in plan.steps.iter().filter(|step| step.skip.is_none() && step.as_angle().is_some()) {
        assert!(
            last.needs.iter().any(|gate| reaches(plan, gate, &step.id)),
            "{} is attacked by nobody",
            step.id
        );
    }
}

fn reaches(plan: &Plan, from: &StepId, to: &StepId) -> bool {
    from == to || plan.step(from).unwrap().needs.iter().any(|need| reaches(plan, need, to))
}

#[test]
fn no_two_agents_share_their_numbers() {
    for flow in FlowId::ALL {
        let mut plan = Plan::new(request(flow, Band::Large, false), &signals(&Signal::ALL));
        for round in 1..flow.method().rounds.most(Band::Large) {
            plan.steps.extend(plan.next_round(round));
        }
        let items = flow.method().items.as_ref().map(|items| (items.letters, 1));
        let agents = plan.steps.iter().filter(|step| step.skip.is_none()).filter_map(Step::agent);
        let mut taken: Vec<_> =
            agents.map(|agent| (agent.role.letters(), agent.first)).chain(items).collect();
        let all = taken.len();
        taken.sort();
        taken.dedup();
        assert_eq!(taken.len(), all, "{flow}");
    }
}

#[test]
fn fast_mode_limits_workers_and_not_the_gate() {
    let plan = Plan::new(request(FlowId::Investigate, Band::Small, true), &signals(&[]));
    for agent in plan.steps.iter().filter_map(Step::agent) {
        let expected = if agent.part == Part::Angle { Limits::FAST } else { Limits::FULL };
        assert_eq!(agent.limits, expected, "{agent:?}");
    }
}

#[test]
fn a_plan_comes_back_from_the_wire_as_it_was() {
    let plan = Plan::new(request(FlowId::GapAnalysis, Band::Large, true), &signals(&[Signal::Data]));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    assert_eq!(crate::json::read::<Plan>(&json).unwrap(), plan);
}

#[test]
fn only_three_flows_have_rounds() {
    let many = |flow: &FlowId| flow.method().rounds.most(Band::Large) > 1;
    let flows: Vec<_> = FlowId::ALL.into_iter().filter(many).collect();
    assert_eq!(flows, [FlowId::GapAnalysis, FlowId::PlanImplementation, FlowId::IterativePlanReview]);
    let rounds = &FlowId::Research.method().rounds;
    assert!(matches!(rounds.after(Band::Large, 1, None), Next::Enough(_)));
}
