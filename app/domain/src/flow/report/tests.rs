mod lost;
mod unread;
mod word;

use super::*;
use crate::flow::{
    Signal,
    evidence::{
        Check,
        tests::{FIVE, Files},
    },
    fold::Ended,
    golden,
    method::Part,
    plan::{
        self,
        tests::{request, signals},
    },
};

/// What each step of a plan said; who is not named said nothing.
struct Story {
    plan: Plan,
    ended: Vec<(String, Ended)>,
    has_web: bool,
}

impl Story {
    fn new(flow: FlowId, band: Band) -> Self {
        let plan = Plan::new(request(flow, band, false), &signals(&Signal::ALL));
        Self { plan, ended: Vec::new(), has_web: true }
    }

    /// In place of what it said before.
    fn says(mut self, step: &str, text: &str) -> Self {
        self.ended.retain(|(known, _)| known != step);
        self.ended.push((step.to_owned(), Ended::Said(text.to_owned())));
        self
    }

    fn ends(mut self, step: &str, ended: Ended) -> Self {
        self.ended.push((step.to_owned(), ended));
        self
    }

    fn report(&self) -> Report {
        self.with(None, Meanwhile::Changed(Vec::new()), 0)
    }

    fn with(&self, template: Option<&str>, meanwhile: Meanwhile, tried: u32) -> Report {
        let outputs = self.outputs();
        let (plan, project, has_web) = (&self.plan, &Files, self.has_web);
        let meant = Vec::new();
        Report::new(&Material {
            plan,
            outputs: &outputs,
            project,
            template,
            has_web,
            meanwhile,
            tried,
            meant,
        })
    }

    fn outputs(&self) -> Vec<Output<'_>> {
        let silent = Ended::Failed("it said nothing".into());
        let ended = |step: &plan::Step| {
            let told = self.ended.iter().find(|(id, _)| step.id.0 == *id).map(|(_, ended)| ended.clone());
            let skipped = step.skip.clone().map(Ended::Skipped);
            told.or(skipped).unwrap_or(silent.clone())
        };
        let agents = self.plan.steps.iter().filter(|step| step.agent().is_some());
        agents.map(|step| Output { step, ended: ended(step) }).collect()
    }
}

fn review_small() -> Story {
    Story::new(FlowId::CodeReview, Band::Small)
        .says("correctness", r#"Some thoughts first.
```json
{"summary": "One race.", "good": ["Clear names in src/cart.rs:1"], "findings": [
  {"id": "B1", "title": "Lost update", "level": "critical", "kind": "defect", "claim": "Two callers race.", "trust": "codebase",
   "introduced": "yes", "fix": "Lock it.", "places": [{"path": "src/cart.rs", "line": 2, "quote": "let n = load(cart);"}]},
  {"id": "B2", "title": "It might overflow", "level": "critical", "kind": "defect", "claim": "n + 1", "trust": "codebase",
   "introduced": "yes", "places": [{"path": "src/cart.rs", "line": 5, "quote": "store(cart, n + 1);"}]},
  {"id": "B3", "title": "Invented", "level": "critical", "kind": "defect", "claim": "See [B9].", "trust": "codebase",
   "places": [{"path": "src/gone.rs", "line": 5, "quote": "unsafe"}]},
  {"id": "B4", "title": "False alarm", "level": "warning", "claim": "x", "trust": "codebase", "places": ["src/cart.rs:1"]},
  {"id": "B5", "title": "Old warning", "level": "warning", "claim": "x", "trust": "codebase", "introduced": "no", "places": ["src/cart.rs:1"]}]}
```"#)
        .says("structure", r#"{"summary": "Sound.", "findings": [
  {"id": "S1", "title": "Unused layer", "level": "suggestion", "kind": "yagni", "claim": "Nobody calls it.", "trust": "codebase", "places": ["src/cart.rs:12"]}]}"#)
        .says("check-correctness", &FIVE.replace("\"drops\": []", "\"drops\": [\"B4\"], \"risks\": [\"No test.\"]").replace("[\"D1\"]", "[\"B1\"]"))
        .says("check-structure", r#"{"items": [{"id": "V101", "about": ["S1"], "hypothesis": "h", "checked": "c", "verdict": "Confirmed", "impact": "i"}], "drops": [], "confidence": "Low", "reason": "Only one looked."}"#)
}

fn research_refuted() -> Story {
    Story::new(FlowId::Research, Band::Small)
        .says("options", r#"{"summary": "Two options.", "findings": [
  {"id": "A1", "title": "Crate x is kept up", "level": "high", "claim": "Released this year.", "trust": "web",
   "sources": [{"title": "x", "url": "https://x.org/log", "date": "2026-02-01"}, {"title": "y", "url": "https://y.org", "date": "2026-03-01"}]},
  {"id": "A2", "title": "Crate z is fast", "level": "low", "claim": "Says its author.", "trust": "web", "single_source": true,
   "sources": [{"title": "z", "url": "https://x.org/log/", "date": "2026-02-01"}]}]}"#)
        .says("project", "I found nothing but prose.")
        .says("weigh", r#"{"summary": "Take x.", "findings": [], "sections": [
  {"title": "1. Results", "text": "x is kept up [A1]."}, {"title": "Options", "text": "| a | b |\n|---|---|\n| x | z |"},
  {"title": "Recommendation and its basis", "text": "Take x [A1]."}, {"title": "Mood", "text": "Good."}]}"#)
        .says("gate", &FIVE.replace("[\"D1\"]", "[\"recommendation\"]").replace("\"stands\"", "\"refuted\", \"settle\": \"A measurement.\""))
}

#[test]
fn reports_are_as_they_were() {
    golden::check("reports/code-review-small.md", &review_small().report().to_markdown());
    golden::check("reports/research-refuted.md", &research_refuted().report().to_markdown());
    let nobody = Story::new(FlowId::Investigate, Band::Medium);
    let meanwhile = Meanwhile::Changed(vec!["src/cart.rs".to_owned()]);
    golden::check("reports/investigate-nobody.md", &nobody.with(None, meanwhile, 0).to_markdown());
    let discovery = Story::new(FlowId::ProjectDiscovery, Band::Small).says("scan", r#"{"summary": "A shop.", "findings": [
  {"id": "PS1", "title": "cargo test", "kind": "command", "level": "high", "claim": "Runs the tests.", "trust": "codebase", "places": [{"path": "README.md", "line": 1, "quote": "cargo test"}]},
  {"id": "PS2", "title": "Rust", "kind": "fact", "level": "low", "claim": "All of it.", "trust": "codebase", "places": ["src/cart.rs:1"]}],
  "sections": [{"title": "Repository", "text": "One crate, see src/cart.rs:1 and src/none.rs:3."}], "questions": [{"question": "Who?", "recommended": "We."}]}"#)
        .says("gate", FIVE.replace("[\"D1\"]", "[\"PS1\"]").as_str());
    golden::check("reports/project-discovery-small.md", &discovery.report().to_markdown());
    assert_eq!(golden::count("reports"), 4);
}

fn section<'a>(report: &'a Report, title: &str) -> &'a Section {
    report.sections.iter().find(|section| section.title == title).unwrap_or_else(|| panic!("no {title}"))
}

fn ids(section: &Section) -> Vec<&str> {
    fn id(block: &Block) -> Option<&str> {
        match block {
            Block::Entry(entry) => Some(entry.id.as_str()),
            _ => None,
        }
    }
    section.blocks.iter().filter_map(id).collect()
}

#[test]
fn an_invented_citation_is_flagged_in_place_and_counted() {
    let report = review_small().report();
    let critical = section(&report, "Critical");
    let entries: Vec<_> = critical
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Entry(entry) => Some((entry.id.as_str(), entry.citations[0].holds, entry.flags.len())),
            _ => None,
        })
        .collect();
    assert_eq!(entries, [("B1", true, 0), ("B3", false, 2)]);
    assert_eq!(report.head.failed_checks, 3, "one validator made too few attempts");
    assert_eq!(report.head.confidence, Some(Confidence::Low), "the lowest of the validators");
}

#[test]
fn a_review_is_shown_by_its_rules() {
    let report = review_small().report();
    assert_eq!(ids(section(&report, "Critical")), ["B1", "B3"]);
    assert_eq!(
        ids(section(&report, "Warnings")),
        ["B2"],
        "doubt costs a level; old and false ones are not shown"
    );
    assert_eq!(ids(section(&report, "Advisory YAGNI")), ["S1"]);
    let text = report.to_markdown();
    assert!(
        text.contains("one level less for \"might\"")
            && text.contains("1 finding not shown in the small band.")
    );
    assert!(text.contains("**Request changes.** 2 critical findings."));
}

#[test]
fn every_report_follows_its_spine_with_validation_above_the_recommendation() {
    for flow in FlowId::ALL {
        let report = Story::new(flow, Band::Small).report();
        let titles: Vec<_> = report.sections.iter().map(|section| section.title.as_str()).collect();
        let spine: Vec<_> = flow.method().spine.iter().map(|section| section.title).collect();
        assert_eq!(titles[..spine.len()], spine, "{flow}");
        let is_advice =
            |part: &Part| matches!(part, Part::Conclusion { .. } | Part::ReviewVerdict | Part::NextStep);
        let advice = flow.method().spine.iter().position(|section| is_advice(&section.part));
        let validation = titles.iter().position(|title| *title == "Validation").unwrap();
        assert!(advice.is_none_or(|advice| validation < advice), "{flow}");
    }
}

/// Would take minutes if anything looked at everything for everything.
#[test]
fn a_hostile_answer_is_rendered_in_time() {
    let many = |piece: &dyn Fn(usize) -> String| (0..20_000).map(piece).collect::<Vec<_>>().join(",");
    let findings = many(&|n| {
        format!(r#"{{"id": "D{n}", "title": "t{n}", "cites": ["D{}"], "places": ["a/{n}.rs:1"]}}"#, n + 1)
    });
    let text = (0..20_000).map(|n| format!("[X{n}] b/{n}.rs:1 [D{n}] ")).collect::<String>();
    let answer = format!(
        r#"{{"findings": [{findings}], "sections": [{{"title": "Order of remedy", "text": "{text}"}}]}}"#
    );
    let gate = format!(r#"{{"drops": [{}]}}"#, many(&|n| format!("\"D{}\"", 2 * n)));
    let story = Story::new(FlowId::DataReview, Band::Small).says("data", &answer).says("gate", &gate);
    assert!(story.report().head.failed_checks > 20_000);
    // The same as entries of the report itself.
    let items = answer.replace("\"findings\"", "\"items\"");
    let planned = Story::new(FlowId::PlanAFeature, Band::Small).says("draft", &items);
    planned.says("gate", &gate).report();
    assert_eq!(crate::flow::tally(&story.plan, &story.outputs()).new, 20_000);
}

#[test]
fn without_a_web_nothing_comes_from_there() {
    let report = Story { has_web: false, ..research_refuted() }.report();
    assert_eq!(report.head.notes[0], "No web was available: what is said about the world is reasoning.");
    let flag = "> ⚠ No web was available, so it cannot come from there.";
    assert_eq!(report.to_markdown().matches(flag).count(), 2, "one for each claim that says so");
    assert!(!research_refuted().report().to_markdown().contains("No web was available"));
}

#[test]
fn sources_are_one_registry() {
    let report = research_refuted().report();
    let Block::Table(table) = &section(&report, "Sources").blocks[0] else { panic!() };
    let rows: Vec<_> = table.rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(rows, ["x https://x.org/log 2026-02-01 A1, A2", "y https://y.org 2026-03-01 A1"]);
}

#[test]
fn security_without_a_way_in_is_no_finding() {
    let report = Story::new(FlowId::SecurityReview, Band::Small)
        .says("security", r#"{"findings": [
            {"id": "SEC1", "level": "low", "title": "In", "exploit": "Anybody posts."}, {"id": "SEC2", "level": "critical", "title": "Fear"}]}"#)
        .says("gate", FIVE)
        .report();
    assert_eq!(ids(section(&report, "Findings")), ["SEC1", "SEC2"]);
    let text = report.to_markdown();
    let (lives, dies) = (text.find("### SEC1").unwrap(), text.find("### SEC2").unwrap());
    let border = text.find("### No finding: neither an exploit path nor a CVE").unwrap();
    assert!(lives < border && border < dies);
}

#[test]
fn the_next_step_is_one_of_six() {
    let check = |step: &str, flagged: bool| {
        let said = format!(r#"{{"summary": "s", "next_step": "{step}"}}"#);
        let report =
            Story::new(FlowId::IssueTriage, Band::Small).says("triager", &said).says("gate", FIVE).report();
        let Block::Text(text) = &section(&report, "Next step").blocks[0] else { panic!() };
        assert_eq!(!text.flags.is_empty(), flagged, "{step}");
    };
    check("clarify", false);
    check("plan-a-feature", false);
    check("Plan a feature.", false);
    check("clarify and investigate", true);
    check("", true);
}

#[test]
fn a_template_of_the_repository_wins() {
    let story = Story::new(FlowId::UpdatePrDescription, Band::Small)
        .says("newcomer", r#"{"summary": "s", "sections": [{"title": "Checklist", "text": "- [x] done"}, {"title": "Why", "text": "Because."}, {"title": "More", "text": "Besides it."}]}"#)
        .says("gate", FIVE);
    let titles = |report: &Report| -> Vec<String> {
        report.sections.iter().map(|section| section.title.clone()).collect()
    };
    let template = "# 1. Risks\n\n# Why\n\n## Checklist\n- [ ] done";
    let with = story.with(Some(template), Meanwhile::Changed(Vec::new()), 0);
    assert_eq!(titles(&with)[..4], ["Validation", "1. Risks", "Why", "Checklist"], "in the template's order");
    assert!(matches!(section(&with, "1. Risks").blocks[..], [Block::Missing(_)]));
    assert!(
        matches!(&section(&with, "Checklist").blocks[..], [Block::Text(text)] if text.markdown == "- [x] done")
    );
    assert!(with.to_markdown().contains("Besides it."), "what the template does not ask for is shown below");
    assert!(!titles(&with).contains(&"Look first".to_owned()));
    let without = story.report();
    assert!(titles(&without).contains(&"Look first".to_owned()));
    assert!(without.to_markdown().contains("Because."), "what has no place is shown below");
}

#[test]
fn what_happened_to_the_project_meanwhile_is_told() {
    let check = |meanwhile, tried, expected: &[&str]| {
        let report = Story::new(FlowId::Investigate, Band::Small).with(None, meanwhile, tried);
        assert_eq!(report.head.notes, expected);
    };
    check(Meanwhile::Changed(Vec::new()), 3, &[]);
    let changed = "The project was changed while the run worked: a.rs. The evidence is checked against how it was at \
                   the start.";
    let tried = "An agent tried to change something meanwhile. Agents are kept from it, but who made this change is \
                 not known: look at it if it was not you.";
    check(Meanwhile::Changed(vec!["a.rs".into()]), 0, &[changed]);
    check(Meanwhile::Changed(vec!["a.rs".into()]), 2, &[changed, tried]);
    let story = Story::new(FlowId::Investigate, Band::Small);
    let report = Report::new(&Material {
        plan: &story.plan,
        outputs: &story.outputs(),
        project: &Files,
        template: None,
        has_web: true,
        meanwhile: Meanwhile::Changed(vec!["a.rs".into()]),
        tried: 1,
        meant: vec!["a.rs".into()],
    });
    assert!(report.head.notes[1].starts_with("**An agent tried to change a.rs, and that was changed.**"));
    let many = (0..12).map(|n| n.to_string()).collect();
    let words = "The project was changed while the run worked: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more. The evidence \
                 is checked against how it was at the start.";
    check(Meanwhile::Changed(many), 0, &[words]);
    let unknown = "Whether the project was changed while the run worked is not known: it is gone.";
    check(Meanwhile::Unknown("it is gone".into()), 0, &[unknown]);
}

#[test]
fn an_answer_that_was_cut_is_told() {
    let more = Ended::SaidMore { text: r#"{"summary": "s"}"#.into(), left_out: 3_000 };
    let report = Story::new(FlowId::Investigate, Band::Small).ends("error-path", more).report();
    let note = "Error path said more than is kept: 3 KB of its answer are not in this report.";
    assert_eq!(report.head.notes, [note]);
}

#[test]
fn who_failed_is_named_in_the_head() {
    let story = Story::new(FlowId::Investigate, Band::Small)
        .says("error-path", r#"{"summary": "s"}"#)
        .ends("data-flow", Ended::Failed("out of memory".into()))
        .ends("gate", Ended::Cancelled);
    let report = story.report();
    let gone: Vec<_> =
        report.head.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why)).collect();
    let expected = [
        "Data flow: failed: out of memory",
        "Root cause: failed: it said nothing",
        "Planned fix: failed: it said nothing",
        "Gate: cancelled",
    ];
    assert_eq!(gone, expected);
    let validation = &section(&report, "Validation").blocks[0];
    assert!(matches!(validation, Block::Missing(missing) if missing.why.contains("Nobody tried to refute")));
}

#[test]
fn rounds_are_told_with_why_they_ended() {
    let mut story = Story::new(FlowId::IterativePlanReview, Band::Medium)
        .says("validator", r#"{"findings": [{"id": "V101", "title": "a", "level": "major"}, {"id": "V102", "title": "b", "level": "minor"}]}"#)
        .says("validator@2", r#"{"findings": [{"id": "V201", "title": "A!", "level": "major"}, {"id": "V202", "title": "c", "level": "minor"}]}"#);
    let more = story.plan.next_round(1);
    story.plan.steps.extend(more);
    let report = story.report();
    let blocks = &section(&report, "Rounds").blocks;
    let Block::Table(table) = &blocks[0] else { panic!() };
    let rows: Vec<_> = table.rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(rows, ["1 1 2 1", "2 1 1 0"]);
    assert!(
        matches!(&blocks[1], Block::Text(text) if text.markdown == "No further round: 2 rounds are the most.")
    );
}

#[test]
fn a_report_comes_back_from_the_wire_as_it_was() {
    for report in [review_small().report(), research_refuted().report()] {
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
        assert_eq!(crate::json::read::<Report>(&json).unwrap(), report);
    }
}

#[test]
fn places_in_what_cannot_be_read_are_links_or_flags() {
    let told = "It races at src/cart.rs:2, and at src/gone.rs:1.";
    let report = Story::new(FlowId::DataReview, Band::Small).says("data", told).says("gate", FIVE).report();
    let own = &section(&report, "In their own words").blocks;
    let [Block::Verbatim { text, citations, flags, .. }] = &own[..] else { panic!("{own:?}") };
    assert_eq!(text, told);
    assert_eq!(citations.iter().map(|citation| citation.holds).collect::<Vec<_>>(), [true, false]);
    assert_eq!(flags.iter().map(|flag| flag.check).collect::<Vec<_>>(), [Check::Place]);
    assert!(report.places().iter().any(|place| place.to_string() == "src/cart.rs:2"));
    let gone = "> ⚠ src/gone.rs is not in the project.";
    assert_eq!(report.to_markdown().matches(gone).count(), 1);
    let (checked, without) = (report.head.failed_checks, told.replace("src/gone.rs:1", "night"));
    let without = Story::new(FlowId::DataReview, Band::Small).says("data", &without).says("gate", FIVE);
    assert_eq!(checked, without.report().head.failed_checks + 1);
}

/// Agents name files by their whole paths too.
#[test]
fn whole_paths_are_places_of_the_project() {
    let told = r#"{"summary": "s", "findings": [{"id": "D1", "title": "x", "trust": "codebase", "claim": "See /home/me/shop/src/cart.rs:2.",
        "places": [{"path": "/home/me/shop/src/cart.rs", "line": 2, "quote": "let n = load(cart);"}]}]}"#;
    let report = Story::new(FlowId::DataReview, Band::Small).says("data", told).says("gate", FIVE).report();
    let places: Vec<_> = report.places().iter().map(ToString::to_string).collect();
    assert!(places.contains(&"src/cart.rs:2".to_owned()), "{places:?}");
    assert_eq!(
        report.flags().filter(|flag| flag.check == Check::Place).count(),
        0,
        "{}",
        report.to_markdown()
    );
    let other = Story::new(FlowId::DataReview, Band::Small).says("data", &told.replace("/me/", "/you/"));
    assert!(other.report().to_markdown().contains("> ⚠ /home/you/shop/src/cart.rs is not in the project."));
}

/// One that was written before such a piece had places.
#[test]
fn a_report_without_places_in_its_verbatim_pieces_can_be_read() {
    let old = r#"{"verbatim":{"label":"Data: Said besides","text":"So."}}"#;
    let block: Block = serde_json::from_str(old).unwrap();
    assert!(
        matches!(&block, Block::Verbatim { citations, flags, .. } if citations.is_empty() && flags.is_empty())
    );
    assert_eq!(serde_json::to_string(&block).unwrap(), old);
    assert_eq!(crate::json::read::<Block>(old).unwrap(), block);
}
