//! Which messages are shown, and for how long still.

use leptos::prelude::Callback;

/// More would be a wall, down to where messages are written; the oldest that goes by itself gives way, or else the
/// oldest.
const TOASTS_MAX: usize = 3;
pub const TICK_MS: u32 = 250;
const SHOWN_MS: u32 = 6_000;
/// What can be acted upon stays longer.
const SHOWN_LONGER_MS: u32 = 12_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToastKind {
    Info,
    Done,
    /// A person has to act; it stays until it is dismissed, as the next one does.
    Needed,
    Failed,
}

#[derive(Clone)]
pub struct ToastAction {
    pub label: String,
    pub run: Callback<()>,
}

#[derive(Clone)]
pub struct Toast {
    pub id: u32,
    pub kind: ToastKind,
    pub text: String,
    pub action: Option<ToastAction>,
    /// None for what stays until it is dismissed.
    left_ms: Option<u32>,
}

#[derive(Default)]
pub struct Shelf {
    toasts: Vec<Toast>,
    last_id: u32,
}

impl Shelf {
    pub fn toasts(&self) -> &[Toast] {
        &self.toasts
    }

    /// The same words are not said twice at a time.
    pub fn push(&mut self, kind: ToastKind, text: String, action: Option<ToastAction>) -> u32 {
        self.toasts.retain(|toast| toast.kind != kind || toast.text != text);
        if self.toasts.len() == TOASTS_MAX {
            let passing = self.toasts.iter().position(|toast| toast.left_ms.is_some());
            self.toasts.remove(passing.unwrap_or_default());
        }
        let left_ms = match kind {
            ToastKind::Failed | ToastKind::Needed => None,
            ToastKind::Info | ToastKind::Done if action.is_some() => Some(SHOWN_LONGER_MS),
            ToastKind::Info | ToastKind::Done => Some(SHOWN_MS),
        };
        self.last_id = self.last_id.wrapping_add(1);
        self.toasts.push(Toast { id: self.last_id, kind, text, action, left_ms });
        self.last_id
    }

    pub fn dismiss(&mut self, id: u32) {
        self.toasts.retain(|toast| toast.id != id);
    }

    pub fn pass(&mut self, ms: u32) {
        self.toasts.retain_mut(|toast| {
            toast.left_ms = toast.left_ms.map(|left| left.saturating_sub(ms));
            toast.left_ms != Some(0)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(shelf: &Shelf) -> Vec<&str> {
        shelf.toasts().iter().map(|toast| toast.text.as_str()).collect()
    }

    fn push(shelf: &mut Shelf, kind: ToastKind, text: &str) {
        shelf.push(kind, text.into(), None);
    }

    #[test]
    fn the_oldest_gives_way_and_nothing_is_said_twice() {
        let mut shelf = Shelf::default();
        for text in ["a", "b", "c", "d", "e", "c"] {
            push(&mut shelf, ToastKind::Info, text);
        }
        assert_eq!(texts(&shelf), ["d", "e", "c"]);
        shelf.dismiss(shelf.toasts()[1].id);
        assert_eq!(texts(&shelf), ["d", "c"]);
    }

    #[test]
    fn each_goes_when_its_time_is_up_and_faults_stay() {
        let mut shelf = Shelf::default();
        push(&mut shelf, ToastKind::Failed, "fault");
        push(&mut shelf, ToastKind::Done, "early");
        shelf.pass(SHOWN_MS - 1);
        push(&mut shelf, ToastKind::Done, "late");
        shelf.pass(1);
        assert_eq!(texts(&shelf), ["fault", "late"]);
        shelf.pass(SHOWN_LONGER_MS);
        assert_eq!(texts(&shelf), ["fault"]);
        for text in ["a", "b", "c", "d"] {
            push(&mut shelf, ToastKind::Info, text);
        }
        assert_eq!(texts(&shelf), ["fault", "c", "d"], "what passes gives way to what passes");
        for text in ["e", "f", "g", "h"] {
            push(&mut shelf, ToastKind::Needed, text);
        }
        assert_eq!(texts(&shelf), ["f", "g", "h"]);
    }
}
