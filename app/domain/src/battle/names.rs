//! What folders and files of results are called.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Battle, Contestant, Kind};
use crate::{id::BattleId, moment};

const PART_CHARS_MAX: usize = 60;

/// `2026-07-30-coding-1a2b3c4d`
pub fn folder(kind: Kind, created_at_ms: i64, id: BattleId) -> String {
    let moment = moment::utc(created_at_ms);
    let date = moment.split(' ').next().unwrap_or_default();
    format!("{date}-{}", ending(kind, id))
}

fn ending(kind: Kind, id: BattleId) -> String {
    // The end of an id is the part that chance made.
    let id = id.0.simple().to_string();
    format!("{}-{}", kind.word(), &id[id.len() - 8..])
}

/// Whether a folder of this name, with this manifest in it, holds the results of a battle.
pub fn is_results_folder(name: &str, manifest: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Manifest {
        id: BattleId,
        battle_type: Kind,
    }
    let manifest = serde_json::from_slice::<Manifest>(manifest);
    manifest.is_ok_and(|Manifest { id, battle_type }| name.ends_with(&ending(battle_type, id)))
}

/// `<identity>-<model>` for each contestant, each once however alike they are.
pub fn contestants(battle: &Battle) -> Vec<String> {
    let mut taken = BTreeSet::new();
    battle.contestants.iter().map(|contestant| unused(&mut taken, plain(contestant))).collect()
}

fn plain(contestant: &Contestant) -> String {
    let identity = match contestant.identity.name() {
        "" => "plain",
        name => name,
    };
    let parts = [identity, &contestant.model.model, &contestant.variant];
    let parts: Vec<_> = parts.iter().map(|part| slug(part)).filter(|part| !part.is_empty()).collect();
    // Names that no letter of the alphabet stands in leave nothing.
    if parts.is_empty() { "contestant".to_owned() } else { parts.join("-") }
}

/// `01-code-reviewer-small`
pub fn examination(place: usize, who: &str) -> String {
    let name = slug(who);
    let name = if name.is_empty() { "examiner" } else { &name };
    format!("{:02}-{name}", place + 1)
}

fn unused(taken: &mut BTreeSet<String>, name: String) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}-{number}");
        number += 1;
    }
    free
}

/// Small letters, digits and single dashes: good on every disk, and no path.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        match letter {
            letter if letter.is_ascii_alphanumeric() || letter == '.' || letter == '_' => slug.push(letter),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= PART_CHARS_MAX {
            break;
        }
    }
    slug.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_good_on_every_disk() {
        let check = |text: &str, expected: &str| assert_eq!(slug(text), expected, "{text}");
        check("Qwen/Qwen3-Coder:30b", "qwen-qwen3-coder-30b");
        check("../../etc/passwd", "etc-passwd");
        check("..", "");
        check("Security Reviewer", "security-reviewer");
        check("模型", "");
        check("a\0b\nc", "a-b-c");
        check(&"x".repeat(200), &"x".repeat(PART_CHARS_MAX));
    }

    #[test]
    fn a_folder_tells_when_what_and_which() {
        let id = BattleId(uuid::Uuid::from_u128(0x1234_5678_9abc_def0_1122_3344_aabb_ccdd));
        assert_eq!(folder(Kind::Qa, 1_785_420_180_000, id), "2026-07-30-qa-aabbccdd");
    }

    #[test]
    fn a_folder_of_results_is_told_from_others() {
        let battle = crate::battle::tests::battle(Kind::Coding, "L1 L2", |_| {});
        let manifest = crate::battle::results::summary(&battle).remove(0).content.unwrap();
        let name = folder(battle.kind, battle.created_at_ms, battle.id);
        assert!(is_results_folder(&name, &manifest));
        assert!(!is_results_folder("sources", &manifest));
        assert!(!is_results_folder(&name, b"{\"name\": \"arena\"}") && !is_results_folder(&name, b""));
    }

    #[test]
    fn whoever_has_no_name_that_a_disk_takes_has_one_all_the_same() {
        let mut battle = crate::battle::tests::battle(Kind::Qa, "L1 L2 L3", |_| {});
        for (contestant, model) in battle.contestants.iter_mut().zip(["模型", "型模", "m"]) {
            contestant.identity = crate::battle::Identity::Persona("诗人".into());
            contestant.model.model = model.into();
        }
        assert_eq!(contestants(&battle), ["contestant", "contestant-2", "m"]);
        assert_eq!([examination(0, "诗人"), examination(11, "Poet m")], ["01-examiner", "12-poet-m"]);
    }

    #[test]
    fn names_that_would_be_the_same_are_told_apart() {
        let mut taken = BTreeSet::new();
        let names = ["a", "a", "b", "a", "a-2"].map(|name| unused(&mut taken, name.into()));
        assert_eq!(names, ["a", "a-2", "b", "a-3", "a-2-2"]);
    }
}
