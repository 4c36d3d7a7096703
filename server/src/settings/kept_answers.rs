//! Answers to forms of browsers without scripts: kept from the form's answer to the page that is loaded next.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use domain::settings::Checked;
use uuid::Uuid;

const ANSWERS_MAX: usize = 32;

#[derive(Default)]
pub struct KeptAnswers(Mutex<VecDeque<(Uuid, Checked)>>);

impl KeptAnswers {
    pub fn keep(&self, checked: Checked) -> Uuid {
        // Not to be guessed, although there is nothing to gain.
        let id = Uuid::from_bytes(rand::random());
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((id, checked));
        if answers.len() > ANSWERS_MAX {
            answers.pop_front();
        }
        id
    }

    /// It stays, so that the page can be loaded again.
    pub fn find(&self, id: Uuid) -> Option<Checked> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(kept, _)| *kept == id).map(|(_, checked)| checked.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_again_and_are_few() {
        let answers = KeptAnswers::default();
        let first = answers.keep(Checked { added: true, ..Checked::default() });
        assert!(answers.find(first).is_some_and(|checked| checked.added));
        assert_eq!(answers.find(Uuid::nil()), None);
        for _ in 0..ANSWERS_MAX {
            answers.keep(Checked::default());
        }
        assert_eq!(answers.find(first), None);
    }
}
