//! What judges and people say of the results.

use super::super::{
    Battle,
    analysis::State,
    verdict::{Against, MARKS},
};

pub fn analyses(battle: &Battle) -> String {
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
                    let cells = entrants.iter().map(|(other, _)| match verdict.against(*one, *other) {
                        Some(Against { wins, mark, .. }) => format!("{wins} {mark}"),
                        None => "–".to_owned(),
                    });
                    let cells: Vec<_> = cells.collect();
                    text.push_str(&format!("| {letter} | {} |\n", cells.join(" | ")));
                }
                text.push_str(&format!("\n{MARKS}\n"));
            }
            State::Failed { reason } => text.push_str(&format!("No verdict: {reason}\n")),
            State::Stopped => text.push_str("It was stopped.\n"),
            State::Digesting | State::Judging => text.push_str("It is under way.\n"),
        }
        for entrant in &analysis.entrants {
            if let Some(digest) = &entrant.text {
                let letter = battle.letter(entrant.contestant);
                text.push_str(&format!("\n### What {letter} did\n\n{}\n", digest.trim()));
                if let Some(unread) = entrant.unread() {
                    text.push_str(&format!("\n{unread}\n"));
                }
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
