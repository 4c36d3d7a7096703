//! A cross-examination: one more reader of a battle's results, who is asked about them.

use serde::{Deserialize, Serialize};

use super::{
    Battle, EXAMINATIONS_MAX, Identity, QUESTION_BYTES_MAX,
    room::{beginning, ends},
};
use crate::{Rejected, catalogue::ModelRef, fence::Nonce, id::TaskId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examination {
    /// It answers in its task's stream.
    pub task: TaskId,
    pub examiner: Examiner,
    /// What is asked, where it is something of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    pub asked_at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examiner {
    pub identity: Identity,
    pub model: ModelRef,
    pub paid: bool,
}

impl Examination {
    pub(super) fn check(battle: &Battle, question: Option<&str>) -> Result<(), Rejected> {
        let no = |words: String| Err(Rejected::Invalid(words));
        if !battle.course.status.is_over() {
            return Err(Rejected::NotNow("The battle is not over yet.".into()));
        }
        if battle.contestants.iter().all(|contestant| contestant.tries.is_empty()) {
            return no("Nobody has made anything yet that could be examined.".into());
        }
        if battle.examinations.len() >= EXAMINATIONS_MAX {
            return no(format!("A battle has at most {EXAMINATIONS_MAX} cross-examinations."));
        }
        match question {
            Some(words) if words.len() > QUESTION_BYTES_MAX => {
                let kilobytes = |bytes: usize| bytes.div_ceil(1024);
                Err(Rejected::TooLong { got: kilobytes(words.len()), max: kilobytes(QUESTION_BYTES_MAX) })
            }
            _ => Ok(()),
        }
    }
}

/// What is asked where nobody asks anything of their own.
pub const QUESTION: &str = "Compare these results. For each: what is right, what is wrong or missing, and what you would \
    ask its author. Then say which you would take, and why.";

/// One result as an examiner reads it.
pub struct Examined {
    pub letter: char,
    pub title: String,
    pub standing: &'static str,
    pub said: String,
    pub patch: String,
    /// What no patch can hold.
    pub left_out: Option<String>,
    pub check: Option<String>,
}

/// Here nobody is hidden: a person who asks wants to talk about A and B. What is too long is cut, all texts alike.
pub fn prompt(
    task: &str,
    results: &[Examined],
    question: Option<&str>,
    bytes_max: usize,
    nonce: &Nonce,
) -> String {
    let task = beginning(task, bytes_max / 4);
    let texts = results.iter().flat_map(|it| {
        [&it.said[..], &it.patch[..]].into_iter().chain(it.left_out.as_deref()).chain(it.check.as_deref())
    });
    let count = texts.filter(|text| !text.is_empty()).count().max(1);
    let each = bytes_max.saturating_sub(task.len()) / count;
    let mut blocks = vec![nonce.rule(), format!("The task was:\n{}", nonce.wrap("the task", &task))];
    for result in results {
        let Examined { letter, title, standing, said, patch, left_out, check } = result;
        blocks.push(format!("Contestant {letter} ({title}), {standing}."));
        blocks.push(nonce.wrap(&format!("what {letter} said"), &ends(said, each)));
        if !patch.is_empty() {
            blocks.push(nonce.wrap(&format!("what {letter} changed"), &ends(patch, each)));
        }
        if let Some(left_out) = left_out {
            let name = format!("what {letter} left besides, which no patch can hold");
            blocks.push(nonce.wrap(&name, &ends(left_out, each)));
        }
        if let Some(check) = check {
            blocks.push(nonce.wrap(&format!("the project's check of {letter}"), &ends(check, each)));
        }
    }
    blocks.push(question.unwrap_or(QUESTION).to_owned());
    blocks.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_is_shown_and_long_ones_at_both_ends() {
        let nonce = Nonce::new("0123456789abcdef").unwrap();
        let long = format!("opening{}end", "x".repeat(5_000));
        let results = ['A', 'B'].map(|letter| Examined {
            letter,
            title: "BooCode · m".into(),
            standing: "Done",
            said: long.clone(),
            patch: if letter == 'A' { "+new".into() } else { String::new() },
            left_out: (letter == 'B').then(|| "vendor: changes inside a submodule".into()),
            check: (letter == 'A').then(|| "check passes".into()),
        });
        let asked = prompt("Mend it", &results, Some("Which is shorter?"), 4_000, &nonce);
        assert!(asked.ends_with("Which is shorter?") && asked.matches("openingx").count() == 2);
        assert_eq!((asked.matches("xend").count(), asked.matches("left out here").count()), (2, 2));
        assert!(asked.contains("what A changed\n+new") && !asked.contains("what B changed"));
        assert!(asked.contains("what B left besides, which no patch can hold\nvendor"), "{asked}");
        assert!(prompt("t", &results, None, 4_000, &nonce).ends_with(QUESTION));
        let asked = prompt(&"t".repeat(1 << 18), &results, None, 4_000, &nonce);
        assert!(asked.len() < 4_000 + 3_000, "{}", asked.len());
    }
}
