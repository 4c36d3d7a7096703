//! The results folder of a battle: what is in it, and what each file says. It can be written again at any time.

mod compared;

use std::hash::{DefaultHasher, Hash, Hasher as _};

use serde::Serialize;

use super::{Battle, Contestant, Kind, benchmark::COST, names};
use crate::{feed::Event, fence::code_block, id::BattleId, moment, task::Task};

/// Since 2, times are as RFC 3339 has them.
const SCHEMA: u32 = 2;

/// What a contestant left: what it said, and its change where one was kept.
#[derive(Clone, Debug, Default)]
pub struct Left {
    pub said: String,
    pub patch: Option<Vec<u8>>,
    /// Whether the patch holds a value that was configured as a secret. It is not altered, so it is said.
    pub holds_secret: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Below the battle's folder.
    pub path: String,
    /// None: there must be no such file.
    pub content: Option<Vec<u8>>,
}

/// What is written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Summary,
    /// By its place in the roster.
    Contestant(usize),
    /// By its place.
    Examination(usize),
}

/// Every part that there is by now, with a mark that changes whenever it has to be written again. Whoever is still at
/// work has none yet: what is there of an earlier try stays until then.
pub fn parts(battle: &Battle) -> Vec<(Part, u64)> {
    let mut parts =
        vec![(Part::Summary, mark(&summary(battle).iter().map(|it| &it.content).collect::<Vec<_>>()))];
    for (place, contestant) in battle.contestants.iter().enumerate() {
        if contestant.standing.is_over() {
            let told = serde_json::to_string(&(contestant, &battle.course.base_check)).unwrap_or_default();
            parts.push((Part::Contestant(place), mark(&told)));
        }
    }
    for (place, examination) in battle.examinations.iter().enumerate() {
        if battle.tasks.get(&examination.task).is_some_and(Task::is_settled) {
            parts.push((Part::Examination(place), mark(&examination.task)));
        }
    }
    parts
}

/// The battle whose folder no longer tells what is so. What is being said and done comes with the end of its task.
pub fn concerned(event: &Event) -> Option<BattleId> {
    match event {
        Event::TaskQueued { .. }
        | Event::TaskStarted { .. }
        | Event::TaskPhase { .. }
        | Event::TaskAnswered { .. }
        | Event::TaskCancelling { .. }
        | Event::TaskRequeued { .. } => None,
        event => event.battle(),
    }
}

fn mark(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
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

/// The manifest, and what judges and people say of the results.
pub fn summary(battle: &Battle) -> Vec<File> {
    let mut files = vec![manifest(battle, &names::contestants(battle))];
    if !battle.analyses.is_empty() {
        files.push(file("analysis.md".to_owned(), compared::analyses(battle)));
    }
    files
}

pub fn contestant(battle: &Battle, place: usize, left: Left) -> Vec<File> {
    let folders = names::contestants(battle);
    let (Some(contestant), Some(folder)) = (battle.contestants.get(place), folders.get(place)) else {
        return Vec::new();
    };
    let mut files = vec![file(format!("{folder}/result.md"), result(battle, contestant, &left))];
    if battle.kind == Kind::Coding {
        // An empty one says that nothing was changed, which is not what is known where none was kept.
        files.push(File { path: format!("{folder}/diff.patch"), content: left.patch });
    }
    files
}

pub fn examination(battle: &Battle, place: usize, said: &str) -> Option<File> {
    let examination = battle.examinations.get(place)?;
    let who = format!("{} {}", examination.examiner.identity, examination.examiner.model.model);
    let name = format!("cross-examinations/{}.md", names::examination(place, &who));
    let question = examination.question.as_deref().unwrap_or(super::examination::QUESTION);
    let text = format!("# {who}\n\n## Question\n\n{question}\n\n## Answer\n\n{}\n", said.trim());
    Some(file(name, text))
}

fn file(path: String, text: String) -> File {
    File { path, content: Some(text.into_bytes()) }
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
        created_at: moment::rfc3339(battle.created_at_ms),
        finished_at: battle.course.finished_at_ms.map(moment::rfc3339),
        winner: winner.map(|place| folders[place].as_str()),
    };
    let mut content = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
    content.push(b'\n');
    File { path: "manifest.json".to_owned(), content: Some(content) }
}

fn result(battle: &Battle, contestant: &Contestant, left: &Left) -> String {
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
            text.push_str(&format!("| Tokens of all tries | {tokens} |\n\n{COST}\n"));
        }
        None => text.push_str("Nothing was measured.\n"),
    }
    if let Some(words) = contestant.check.told(&battle.course.base_check) {
        text.push_str(&format!("\n## Check\n\n{words}\n"));
    }
    if let Some(checked) = contestant.check.checked() {
        text.push_str(&format!("\n{}\n", code_block(&checked.tail)));
    }
    if let Some(why) = &contestant.unkept {
        text.push_str(&format!("\n> Its changes could not be kept: {why}\n"));
    }
    let left_out = contestant.changes.as_ref().map(|changes| &changes.left_out[..]).unwrap_or_default();
    if !left_out.is_empty() {
        text.push_str("\n## Not part of the patch\n\n");
        text.push_str(&code_block(&left_out.join("\n")));
        text.push('\n');
    }
    if left.holds_secret {
        text.push_str("\n> The patch holds a value that is configured as a secret. It is kept as it is.\n");
    }
    text.push_str(&format!("\n## Output\n\n{}\n", left.said.trim()));
    text
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Benchmark, Standing,
            tests::{battle, story::play},
        },
        *,
    };

    fn text(file: &File) -> String {
        String::from_utf8(file.content.clone().unwrap()).unwrap()
    }

    #[test]
    fn the_folder_tells_everything() {
        let mut it = battle(Kind::Coding, "L1 C2", |_| {});
        it.contestants[1].benchmark = Some(Benchmark { duration_ms: 1_500, ..Default::default() });
        it.contestants[1].standing = Standing::Done;
        it.contestants[0].unkept = Some("the disk is full".into());
        it.course.winner = Some(it.contestants[1].id);
        let [manifest] = &summary(&it)[..] else { panic!() };
        let manifest: serde_json::Value = serde_json::from_str(&text(manifest)).unwrap();
        assert_eq!((&manifest["finished_at"], &manifest["schema"]), (&serde_json::Value::Null, &2.into()));
        assert_eq!(manifest["created_at"], "1970-01-01T00:00:00.001Z");
        assert_eq!(manifest["contestants"][0]["lane"], "local");
        assert_eq!(manifest["winner"], "agent1-c2");

        let left = |said: &str, patch: Option<&str>, holds_secret| Left {
            said: said.into(),
            patch: patch.map(|patch| patch.as_bytes().to_vec()),
            holds_secret,
        };
        let [result, patch] = &contestant(&it, 0, left("I did.", None, true))[..] else { panic!() };
        assert_eq!(
            (result.path.as_str(), patch.path.as_str()),
            ("agent0-l1/result.md", "agent0-l1/diff.patch")
        );
        // What could not be kept is no empty change.
        assert_eq!(patch.content, None);
        for words in
            ["Nothing was measured.", "configured as a secret", "could not be kept: the disk is full"]
        {
            assert!(text(result).contains(words), "{words}");
        }
        let left_out = vec!["vendor: changes inside a submodule".into()];
        it.contestants[1].changes = Some(crate::worktree::Changes { left_out, ..Default::default() });
        let [result, patch] = &contestant(&it, 1, left("So did I.", Some(""), false))[..] else { panic!() };
        assert_eq!(patch.content.as_deref(), Some(&b""[..]));
        for words in [
            "| Duration | 1.5 s |",
            "| Model loading | not known |",
            "vendor: changes inside a submodule",
            COST,
        ] {
            assert!(text(result).contains(words), "{words}");
        }
        assert!(text(result).ends_with("## Output\n\nSo did I.\n"));
    }

    /// Each step with the parts that have to be written after it.
    #[test]
    fn only_what_changed_is_written_again() {
        let mut known = std::collections::BTreeMap::new();
        let mut story = play(battle(Kind::Coding, "C1 C2", |_| {}), "");
        let mut written = |word: &str| {
            if !word.is_empty() {
                story.step(word).unwrap();
            }
            let stale = parts(&story.battle)
                .into_iter()
                .filter(|(part, mark)| known.insert(*part, *mark) != Some(*mark));
            let words = stale.map(|(part, _)| match part {
                Part::Summary => "s".to_owned(),
                Part::Contestant(place) => super::super::letter(place).to_string(),
                Part::Examination(place) => place.to_string(),
            });
            words.collect::<String>()
        };
        let mut check = |word: &str, expected: &str| assert_eq!(written(word), expected, "{word}");
        check("", "s");
        check("A>", "");
        check("A.used:5", "");
        check("A.done", "sA");
        check("B.fail", "sB");
        check("A.wins", "s");
        check("examine", "");
        check("examination.because", "0");
        check("B.retry", "s");
        check("B.done", "sB");
    }
}
