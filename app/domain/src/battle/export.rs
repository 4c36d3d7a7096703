//! A battle as one file of HTML that can be kept, sent and printed: it loads nothing and runs nothing.

mod html;

use super::{
    Battle, Benchmark, Contestant, Kind,
    analysis::{Analysis, State},
    benchmark::COST,
    check::changed_tests,
    examination::QUESTION,
    results::Left,
    verdict::{Against, MARKS},
};
use crate::moment;
use html::Html;

/// More of a change is in the results folder.
pub const PATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What is shown besides the battle itself.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// In the order of the roster.
    pub left: Vec<Left>,
    /// How long each patch really is.
    pub patch_bytes: Vec<usize>,
    pub examinations: Vec<String>,
}

/// What opens it reads words and nothing else, wherever the file lies.
const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<style>"#;
const STYLE: &str = include_str!("export/style.css");

pub fn page(battle: &Battle, texts: &Texts) -> String {
    let mut page = Html::default();
    page.raw(HEAD).raw(STYLE).raw("</style>\n").tag("title", &battle.title());
    page.raw("</head>\n<body>\n<main>\n");
    head(&mut page, battle);
    roster(&mut page, battle);
    figures(&mut page, battle);
    for analysis in battle.analyses.iter().rev() {
        compared(&mut page, battle, analysis);
    }
    for (place, contestant) in battle.contestants.iter().enumerate() {
        result(&mut page, battle, contestant, texts, place);
    }
    for (examination, said) in battle.examinations.iter().zip(&texts.examinations) {
        let examiner = &examination.examiner;
        let who = format!("Cross-examination by {} · {}", examiner.identity, examiner.model.model);
        page.raw("<section>\n").tag("h2", &who);
        page.block("question", examination.question.as_deref().unwrap_or(QUESTION));
        page.block("said", said.trim()).raw("</section>\n");
    }
    page.raw("</main>\n</body>\n</html>\n");
    page.finish()
}

fn head(page: &mut Html, battle: &Battle) {
    page.raw("<header>\n").tag("h1", &battle.title());
    let (kind, status) = (battle.kind.label(), battle.course.status.label());
    let ended = battle.course.finished_at_ms.map(|at| format!(" to {}", moment::utc(at)));
    let begun = moment::utc(battle.created_at_ms);
    page.tag("p", &format!("{kind} · {status} · {begun}{}", ended.unwrap_or_default()));
    if let Some(stopped) = battle.course.stopped {
        page.tag("p", stopped.words());
    }
    if let Some(verdict) = battle.verdict() {
        page.strong(&verdict.sentence);
    }
    match battle.course.winner {
        Some(winner) => {
            page.strong(&format!("A person chose {} as the winner.", battle.letter(winner)));
        }
        None => {
            if let Some(told) = battle.told().filter(|_| battle.verdict().is_none()) {
                page.strong(&told.words);
            }
        }
    }
    page.raw("</header>\n<section>\n").tag("h2", "Prompt").block("said", &battle.prompt);
    if let Some(check) = &battle.terms.check {
        page.tag("h3", "Check of each result").block("code", check);
        if let Some(words) = battle.course.base_check.told_of_base() {
            page.tag("p", &words);
        }
        if let Some(base) = battle.course.base_check.checked() {
            page.folded("What it said of the project itself", "code", &base.tail);
        }
    }
    page.raw("</section>\n");
}

fn roster(page: &mut Html, battle: &Battle) {
    page.raw("<section>\n").tag("h2", "Contestants").raw("<div class=\"wide\"><table>\n<thead><tr>");
    for name in ["", "Who", "Model", "Lane", "Status", "Changes", "Check"] {
        page.tag("th", name);
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for contestant in &battle.contestants {
        let standing = battle.standing(contestant);
        let reason = standing.reason().map(|why| format!(": {why}")).unwrap_or_default();
        page.raw("<tr>").tag("th", &mark(battle, contestant));
        page.tag("td", &contestant.identity.to_string()).tag("td", &contestant.model.to_string());
        page.tag("td", contestant.lane.word()).tag("td", &format!("{}{reason}", standing.label()));
        page.tag("td", &changed(contestant)).tag("td", &checked(battle, contestant)).raw("</tr>\n");
    }
    page.raw("</tbody>\n</table></div>\n</section>\n");
}

fn mark(battle: &Battle, contestant: &Contestant) -> String {
    let letter = battle.letter(contestant.id);
    if battle.leader() == Some(contestant.id) { format!("{letter} ★") } else { letter.to_string() }
}

fn changed(contestant: &Contestant) -> String {
    let Some(changes) = &contestant.changes else { return "–".to_owned() };
    let tests = match changed_tests(changes).len() {
        0 => String::new(),
        count => format!(", of them tests: {count}"),
    };
    let left_out = changes.left_out_in_brief();
    let left_out = left_out.map(|words| format!("; not part of the patch: {words}")).unwrap_or_default();
    format!("files: {}{tests}, +{} −{}{left_out}", changes.files.len(), changes.added, changes.deleted)
}

fn checked(battle: &Battle, contestant: &Contestant) -> String {
    contestant.check.told(&battle.course.base_check).unwrap_or_else(|| "–".to_owned())
}

fn figures(page: &mut Html, battle: &Battle) {
    page.raw("<section>\n").tag("h2", "Benchmark").raw("<div class=\"wide\"><table>\n<thead><tr><td></td>");
    for contestant in &battle.contestants {
        page.tag("th", &battle.letter(contestant.id).to_string());
    }
    page.raw("</tr></thead>\n<tbody>\n");
    let measured = |it: &Contestant, place: usize| it.benchmark.as_ref()?.rows().remove(place).1;
    for (place, (name, _)) in Benchmark::default().rows().into_iter().enumerate() {
        row(page, battle, name, |it| measured(it, place));
    }
    row(page, battle, "Tokens of all tries", |it| it.tokens.map(|tokens| tokens.to_string()));
    page.raw("</tbody>\n</table></div>\n");
    if battle.course.opinion_tokens > 0 {
        page.tag("p", &format!("Comparing and examining them used {} tokens.", battle.course.opinion_tokens));
    }
    page.tag("p", COST).raw("</section>\n");
}

fn row(page: &mut Html, battle: &Battle, name: &str, value: impl Fn(&Contestant) -> Option<String>) {
    page.raw("<tr>").tag("th", name);
    for contestant in &battle.contestants {
        page.tag("td", value(contestant).as_deref().unwrap_or("not known"));
    }
    page.raw("</tr>\n");
}

fn compared(page: &mut Html, battle: &Battle, analysis: &Analysis) {
    page.raw("<section>\n").tag("h2", &format!("Analysis {} by {}", analysis.number, analysis.model));
    match &analysis.state {
        State::Done { verdict } => {
            page.strong(&verdict.sentence);
            let entrants = analysis.in_roster_order(battle);
            page.raw("<div class=\"wide\"><table>\n<thead><tr>").tag("th", "Rounds won");
            for (_, letter) in &entrants {
                page.tag("th", &format!("over {letter}"));
            }
            page.raw("</tr></thead>\n<tbody>\n");
            for (one, letter) in &entrants {
                page.raw("<tr>").tag("th", &letter.to_string());
                for (other, _) in &entrants {
                    let told = verdict.against(*one, *other);
                    let told = told.map(|Against { wins, mark, .. }| format!("{wins} {mark}"));
                    page.tag("td", told.as_deref().unwrap_or("–"));
                }
                page.raw("</tr>\n");
            }
            page.raw("</tbody>\n</table></div>\n").tag("p", MARKS);
        }
        State::Failed { reason } => {
            page.tag("p", &format!("No verdict: {reason}"));
        }
        State::Stopped => {
            page.tag("p", "It was stopped.");
        }
        State::Digesting | State::Judging => {
            page.tag("p", "It is under way.");
        }
    }
    for entrant in &analysis.entrants {
        if let Some(text) = &entrant.text {
            let letter = battle.letter(entrant.contestant);
            page.folded(&format!("What {letter} did, as the judge was told"), "said", text);
            if let Some(unread) = entrant.unread() {
                page.tag("p", &unread);
            }
        }
    }
    let judged = analysis.judged_words(|id| battle.letter(id));
    if !judged.is_empty() {
        page.raw("<details>").tag("summary", &format!("All {} judgements", judged.len())).raw("<ol>\n");
        for (head, reason) in judged {
            page.raw("<li>").tag("b", &head).raw(" ").text(reason).raw("</li>\n");
        }
        page.raw("</ol></details>\n");
    }
    page.raw("</section>\n");
}

fn result(page: &mut Html, battle: &Battle, contestant: &Contestant, texts: &Texts, place: usize) {
    let title = format!("{} · {}", battle.letter(contestant.id), contestant.title());
    page.raw("<section>\n").tag("h2", &title);
    if let Some(reason) = battle.standing(contestant).reason() {
        page.tag("p", reason);
    }
    let left = texts.left.get(place);
    let said = left.map(|left| left.said.trim()).unwrap_or_default();
    page.block("said", if said.is_empty() { "It said nothing." } else { said });
    if let Some(check) = contestant.check.checked() {
        page.folded(&format!("Check: {}", checked(battle, contestant)), "code", &check.tail);
    }
    if let Some(why) = &contestant.unkept {
        page.strong(&format!("Its changes could not be kept: {why}"));
    }
    let patch = left.filter(|_| battle.kind == Kind::Coding).and_then(|left| left.patch.as_deref());
    if let Some(patch) = patch {
        if left.is_some_and(|left| left.holds_secret) {
            page.strong("The patch holds a value that is configured as a secret. It is kept as it is.");
        }
        page.raw("<details>").tag("summary", &format!("Changes: {}", changed(contestant)));
        page.patch(&String::from_utf8_lossy(patch));
        let more = texts.patch_bytes.get(place).map_or(0, |all| all.saturating_sub(patch.len()));
        if more > 0 {
            page.tag("p", &format!("{more} bytes more are in diff.patch of the results folder."));
        }
        page.raw("</details>\n");
    }
    page.raw("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::{super::tests::battle, *};
    use crate::battle::{CheckState, Checked, Standing};
    use crate::{id::TaskId, worktree::Changes};

    #[test]
    fn everything_of_a_battle_is_in_it_and_nothing_of_it_is_markup() {
        let evil = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>";
        let mut it = battle(Kind::Coding, "L1 C2", |terms| terms.check = Some(evil.into()));
        it.prompt = evil.into();
        it.contestants[0].standing = Standing::Failed { reason: evil.into() };
        let checked =
            Checked { code: Some(1), duration_ms: 1, failures: vec![evil.into()], tail: evil.into() };
        it.contestants[1].check = CheckState::Done { task: TaskId(uuid::Uuid::nil()), checked };
        it.course.winner = Some(it.contestants[1].id);
        it.contestants[1].changes = Some(Changes { left_out: vec![evil.into(); 5], ..Changes::default() });
        let left = |said: &str, patch: Vec<u8>, holds_secret| Left {
            said: said.into(),
            patch: Some(patch),
            holds_secret,
        };
        let texts = Texts {
            left: vec![
                left(evil, format!("+{evil}\n-\u{202e}old\n@@ 1 @@\n").into_bytes(), false),
                left("", vec![0xff, b'<'], true),
            ],
            patch_bytes: vec![0, 9],
            examinations: Vec::new(),
        };
        let page = page(&it, &texts);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\u{202e}"), "{page}");
        // Title twice, prompt, check, reason twice, what was said, the check's name and tail, and the patch.
        let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;";
        assert!(page.matches(escaped).count() >= 8, "{}", page.matches(escaped).count());
        assert!(page.contains("<ins>+&lt;/pre&gt;") && page.contains("<del>-<i>U+202E</i>old"), "{page}");
        for words in [
            "A person chose B",
            "B ★",
            "It said nothing.",
            "configured as a secret",
            "not known",
            "7 bytes more",
            "not part of the patch:",
            "and 2 more",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert_eq!((page.matches("<section>").count(), page.matches("</section>").count()), (5, 5));
    }
}
