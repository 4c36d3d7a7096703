//! What was settled while a page slept because nobody looked at it: told in the page, to one who comes back.

use super::{Notice, Sight};
use crate::feed::{Event, Seq};

/// As many as a page has room for at once.
const TOLD_MAX: usize = 4;
/// Of more places than this only the number is kept.
const KEPT_MAX: usize = 64;

/// One notice a place it leads to, the newest last.
#[derive(Debug, Default)]
pub struct Overslept {
    kept: Vec<Notice>,
    dropped: usize,
}

impl Overslept {
    /// Whether an event that was overslept is told. What still asks for somebody is marked in the page; what a page of
    /// this browser that was looked at came past is `seen`.
    pub fn is_worth_telling(event: &Event, seq: Seq, seen: Option<Seq>) -> bool {
        !matches!(event, Event::TaskPhase { .. }) && seen.is_none_or(|seen| seq > seen)
    }

    pub fn note(&mut self, notice: Notice) {
        self.kept.retain(|earlier| earlier.leads_to != notice.leads_to);
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
            self.dropped += 1;
        }
        self.kept.push(notice);
    }

    /// What is told now that all of it is known, once.
    pub fn take(&mut self, sight: &Sight) -> Vec<Notice> {
        let Self { mut kept, dropped } = std::mem::take(self);
        kept.retain(|notice| notice.leads_to.content().is_none_or(|content| !sight.shows(content)));
        let untold = kept.len().saturating_sub(TOLD_MAX);
        kept.drain(..untold);
        let more = untold + dropped;
        if let Some(last) = kept.last_mut().filter(|_| more > 0) {
            last.body = format!("{} (and {more} more)", last.body);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{id::ChatId, layout::Content, notifications::Kind, page::Wanted};

    const SEEN: Sight = Sight { is_visible: true, is_focused: true, in_front: Vec::new() };

    fn chat(place: u128) -> ChatId {
        ChatId(Uuid::from_u128(place))
    }

    /// Notes a notice for each place, numbered as they come, and compares what is told as `place:body`.
    #[track_caller]
    fn check(places: impl IntoIterator<Item = u128>, sight: &Sight, expected: &str) {
        let mut overslept = Overslept::default();
        for (number, place) in places.into_iter().enumerate() {
            overslept.note(Notice {
                kind: Kind::Done,
                tag: String::new(),
                title: place.to_string(),
                body: format!("#{number}"),
                leads_to: Wanted::Chat(chat(place)),
            });
        }
        let told = overslept.take(sight);
        let told: Vec<_> = told.iter().map(|notice| format!("{}:{}", notice.title, notice.body)).collect();
        assert_eq!(told.join(", "), expected);
        assert_eq!(overslept.take(sight), []);
    }

    #[test]
    fn each_place_is_told_once_and_four_at_most() {
        check([], &SEEN, "");
        check([1, 2, 1], &SEEN, "2:#1, 1:#2");
        check(1..=4, &SEEN, "1:#0, 2:#1, 3:#2, 4:#3");
        check(1..=6, &SEEN, "3:#2, 4:#3, 5:#4, 6:#5 (and 2 more)");
        check(1..=100, &SEEN, "97:#96, 98:#97, 99:#98, 100:#99 (and 96 more)");
    }

    #[test]
    fn what_is_in_front_by_then_is_not_told() {
        let sight = Sight { in_front: vec![Content::Chat(chat(2))], ..SEEN };
        check([1, 2, 3], &sight, "1:#0, 3:#2");
    }
}
