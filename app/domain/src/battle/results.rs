//! The results folder of a battle: what is in it, and what each file says. It can be written again at any time.

use serde::Serialize;

use super::{Battle, Contestant, Kind, analysis::State, names};
use crate::{fence::code_block, moment};

const SCHEMA: u32 = 1;

/// What was said and changed, in the order of the roster, and what examiners said.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    pub said: Vec<String>,
    pub patches: Vec<Vec<u8>>,
    pub examinations: Vec<String>,
    /// Whether a patch holds a value that was configured as a secret. It is not altered, so it is said.
    pub holds_secret: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Below the battle's folder.
    pub path: String,
    pub content: Vec<u8>,
}

#[derive(Serialize)]
struct Manifest<'a> {
    schema: u32,
    id: String,
    battle_type: &'static str,
    prompt: &'a str,
    status: &'static str,
    contestants: Vec<Listed<'a>>,
    created_at: String,
    finished_at: Option<String>,
    winner: Option<&'a str>,
}

#[derive(Serialize)]
struct Listed<'a> {
    identity: &'a str,
    model: String,
    lane: &'static str,
    folder: &'a str,
    status: &'static str,
}

/// Every file of the folder.
pub fn files(battle: &Battle, texts: &Texts) -> Vec<File> {
    let folders = names::contestants(battle);
    let mut files = vec![manifest(battle, &folders)];
    for (place, (contestant, folder)) in battle.contestants.iter().zip(&folders).enumerate() {
        let said = texts.said.get(place).map(String::as_str).unwrap_or_default();
        let is_secret = texts.holds_secret.get(place) == Some(&true);
        files.push(file(format!("{folder}/result.md"), result(battle, contestant, said, is_secret)));
        if let Some(patch) = texts.patches.get(place).filter(|_| battle.kind == Kind::Coding) {
            files.push(File { path: format!("{folder}/diff.patch"), content: patch.clone() });
        }
    }
    if !battle.analyses.is_empty() {
        files.push(file("analysis.md".to_owned(), analyses(battle)));
    }
    for (place, (examination, said)) in battle.examinations.iter().zip(&texts.examinations).enumerate() {
        let who = format!("{} {}", examination.examiner.identity, examination.examiner.model.model);
        let name = format!("cross-examinations/{:02}-{}.md", place + 1, names::slug(&who));
        let question = examination.question.as_deref().unwrap_or(super::examination::QUESTION);
        let text = format!("# {who}\n\n## Question\n\n{question}\n\n## Answer\n\n{}\n", said.trim());
        files.push(file(name, text));
    }
    files
}

fn file(path: String, text: String) -> File {
    File { path, content: text.into_bytes() }
}

fn manifest(battle: &Battle, folders: &[String]) -> File {
    let winner = battle.leader().and_then(|id| battle.contestants.iter().position(|it| it.id == id));
    let manifest = Manifest {
        schema: SCHEMA,
        id: battle.id.to_string(),
        battle_type: battle.kind.word(),
        prompt: &battle.prompt,
        status: battle.course.status.word(),
        contestants: battle
            .contestants
            .iter()
            .zip(folders)
            .map(|(contestant, folder)| Listed {
                identity: contestant.identity.name(),
                model: contestant.model.to_string(),
                lane: contestant.lane.word(),
                folder,
                status: contestant.standing.word(),
            })
            .collect(),
        created_at: moment::utc(battle.created_at_ms),
        finished_at: battle.course.finished_at_ms.map(moment::utc),
        winner: winner.map(|place| folders[place].as_str()),
    };
    let mut content = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
    content.push(b'\n');
    File { path: "manifest.json".to_owned(), content }
}

fn result(battle: &Battle, contestant: &Contestant, said: &str, is_secret: bool) -> String {
    let mut text = format!("# {} · {}\n\n", battle.letter(contestant.id), contestant.title());
    let reason = contestant.standing.reason().map(|why| format!(": {why}")).unwrap_or_default();
    text.push_str(&format!("{}{reason}\n\n## Benchmark\n\n", contestant.standing.label()));
    match &contestant.benchmark {
        Some(benchmark) => {
            text.push_str("| | |\n|---|---|\n");
            for (name, value) in benchmark.rows() {
                text.push_str(&format!("| {name} | {} |\n", value.as_deref().unwrap_or("not known")));
            }
            let tokens = contestant.tokens.map_or("not known".to_owned(), |tokens| tokens.to_string());
            text.push_str(&format!("| Tokens of all tries | {tokens} |\n"));
        }
        None => text.push_str("Nothing was measured.\n"),
    }
    if let Some(checked) = contestant.check.checked() {
        let words = checked.compared(battle.course.base_check.checked()).words();
        text.push_str(&format!("\n## Check\n\n{words}\n\n{}\n", code_block(&checked.tail)));
    }
    if is_secret {
        text.push_str("\n> The patch holds a value that is configured as a secret. It is kept as it is.\n");
    }
    text.push_str(&format!("\n## Output\n\n{}\n", said.trim()));
    text
}

fn analyses(battle: &Battle) -> String {
    let mut text = String::from("# Analysis\n");
    for analysis in &battle.analyses {
        text.push_str(&format!("\n## {} by {}\n\n", analysis.number, analysis.model));
        match &analysis.state {
            State::Done { verdict } => {
                text.push_str(&format!("{}\n\n| wins against | ", verdict.sentence));
                let entrants = analysis.in_roster_order(battle);
                let letters: Vec<_> = entrants.iter().map(|(_, letter)| letter.to_string()).collect();
                text.push_str(&format!("{} |\n|---{}|\n", letters.join(" | "), "|---".repeat(letters.len())));
                for (one, letter) in &entrants {
                    let cells = entrants.iter().map(|(other, _)| match verdict.wins(*one, *other) {
                        Some(wins) => wins.to_string(),
                        None => "–".to_owned(),
                    });
                    let cells: Vec<_> = cells.collect();
                    text.push_str(&format!("| {letter} | {} |\n", cells.join(" | ")));
                }
            }
            State::Failed { reason } => text.push_str(&format!("No verdict: {reason}\n")),
            State::Stopped => text.push_str("It was stopped.\n"),
            State::Digesting | State::Judging => text.push_str("It is under way.\n"),
        }
        for entrant in &analysis.entrants {
            if let Some(digest) = &entrant.text {
                let letter = battle.letter(entrant.contestant);
                text.push_str(&format!("\n### What {letter} did\n\n{}\n", digest.trim()));
            }
        }
        for (head, reason) in analysis.judged_words(|id| battle.letter(id)) {
            text.push_str(&format!("\n- {head}. {reason}"));
        }
        text.push('\n');
    }
    if let Some(winner) = battle.course.winner {
        text.push_str(&format!("\nA person chose {} as the winner.\n", battle.letter(winner)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::tests::battle, *};

    #[test]
    fn the_folder_tells_everything_and_is_there_from_the_start() {
        let mut it = battle(Kind::Coding, "L1 C2", |_| {});
        it.contestants[1].benchmark =
            Some(super::super::Benchmark { duration_ms: 1_500, ..Default::default() });
        it.contestants[1].standing = super::super::Standing::Done;
        it.course.winner = Some(it.contestants[1].id);
        let texts = Texts {
            said: vec!["I did.".into(), "So did I.".into()],
            patches: vec![b"+a\n".to_vec(), Vec::new()],
            examinations: Vec::new(),
            holds_secret: vec![true, false],
        };
        let files = files(&it, &texts);
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        let expected = [
            "manifest.json",
            "agent0-l1/result.md",
            "agent0-l1/diff.patch",
            "agent1-c2/result.md",
            "agent1-c2/diff.patch",
        ];
        assert_eq!(paths, expected);
        let manifest: serde_json::Value = serde_json::from_slice(&files[0].content).unwrap();
        assert_eq!((&manifest["finished_at"], &manifest["schema"]), (&serde_json::Value::Null, &1.into()));
        assert_eq!(manifest["contestants"][0]["lane"], "local");
        assert_eq!(manifest["winner"], "agent1-c2");
        let text = |place: usize| String::from_utf8(files[place].content.clone()).unwrap();
        assert!(text(1).contains("Nothing was measured.") && text(1).contains("configured as a secret"));
        assert!(
            text(3).contains("| Duration | 1.5 s |") && text(3).contains("| Model loading | not known |")
        );
        assert!(text(3).ends_with("## Output\n\nSo did I.\n"));
    }
}
