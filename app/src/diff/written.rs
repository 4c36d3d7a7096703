//! What a person writes on lines: the comments that wait to be sent, and the one that is being written.

use domain::diff::Comment;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::state::Diff;
#[cfg(feature = "hydrate")]
use {super::api::seek_in_diff, domain::diff::Seek, leptos::task::spawn_local};

/// A comment that is being written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub comment: Comment,
    /// Which of the waiting ones it is.
    pub index: Option<usize>,
}

impl Diff {
    /// Opens the form for a comment: at its row, if that is known. What is half written in it waits with the others,
    /// because nobody threw it away.
    pub fn write(self, draft: Draft, row: Option<u32>) {
        let is_open = |own: &Option<Draft>| {
            own.as_ref().is_some_and(|own| own.comment.is_on_the_line_of(&draft.comment))
        };
        if self.draft.with_untracked(is_open) {
            return self.focus_draft();
        }
        self.keep_typed();
        self.typed.set(draft.comment.text.clone());
        self.place.set(row);
        self.draft.set(Some(draft));
        if row.is_none() {
            self.place_draft();
        }
    }

    pub fn keep_comment(self) {
        self.keep_typed();
        self.draft.set(None);
        self.focus_rows();
    }

    fn keep_typed(self) {
        let text = self.typed.with_untracked(|typed| typed.trim().to_owned());
        let Some(draft) = self.draft.get_untracked().filter(|_| !text.is_empty()) else { return };
        let comment = Comment { text, ..draft.comment };
        self.comments.update(|comments| match draft.index.and_then(|index| comments.get_mut(index)) {
            Some(own) => *own = comment,
            None => comments.push(comment),
        });
    }

    /// What is being written about it stays, and becomes a comment of its own.
    pub fn remove_comment(self, index: usize) {
        self.comments.update(|comments| {
            if index < comments.len() {
                comments.remove(index);
            }
        });
        self.renumber_draft(|own| match own.cmp(&index) {
            std::cmp::Ordering::Less => Some(own),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(own - 1),
        });
    }

    /// Those that wait, to be sent.
    pub fn take_comments(self) -> Vec<Comment> {
        self.renumber_draft(|_| None);
        self.comments.try_update(std::mem::take).unwrap_or_default()
    }

    fn renumber_draft(self, number: impl FnOnce(usize) -> Option<usize>) {
        if self.draft.with_untracked(Option::is_some) {
            self.draft.update(|draft| {
                if let Some(draft) = draft {
                    draft.index = draft.index.and_then(number);
                }
            });
        }
    }
}

#[cfg(not(feature = "hydrate"))]
impl Diff {
    fn focus_draft(self) {}
    fn place_draft(self) {}
}

#[cfg(feature = "hydrate")]
impl Diff {
    /// What was written and not sent is there again after a look elsewhere, or a reload.
    pub fn keep_written(self) {
        use crate::device;

        let key = self.name.with_value(|name| format!("comments:{name}"));
        crate::erased::effect_first(move |is_first| {
            let (comments, mut draft) = (self.comments.get(), self.draft.get());
            if let Some(draft) = &mut draft {
                draft.comment.text = self.typed.get();
            }
            if !is_first {
                let is_empty = comments.is_empty() && draft.is_none();
                let now =
                    if is_empty { Ok(String::new()) } else { serde_json::to_string(&(comments, draft)) };
                device::remember(&key, &now.unwrap_or_default());
                return;
            }
            let kept = device::remembered(&key).and_then(|kept| domain::json::read(&kept).ok());
            let Some((comments, draft)): Option<(Vec<Comment>, Option<Draft>)> = kept else { return };
            self.comments.set(comments);
            if let Some(draft) = draft {
                self.write(draft, None);
            }
        });
    }

    /// Finds the row of the line that is written about: every way to look at the change has it elsewhere.
    pub fn place_draft(self) {
        let comment = self.draft.try_with_untracked(|own| own.as_ref().map(|own| own.comment.clone()));
        let (Some(comment), Some(options)) = (comment.flatten(), self.options.try_get_untracked()) else {
            return;
        };
        let file = self.outline.with_untracked(|outline| {
            let files = &outline.as_ref()?.files;
            Some(files.iter().position(|file| file.path == comment.path))
        });
        // Once there is an outline, this is asked for again.
        let Some(file) = file else { return };
        spawn_local(async move {
            let row = match file {
                Some(n) => {
                    let seek = Seek::Line { file: n as u32, side: comment.side, line: comment.line };
                    seek_in_diff(self.of, options.clone(), 0, seek).await.map(Option::unwrap_or_default)
                }
                // It is as it was before, and the words about it are still there.
                None => Ok(0),
            };
            let is_open = self.draft.try_with_untracked(|own| {
                own.as_ref().is_some_and(|own| own.comment.is_on_the_line_of(&comment))
            });
            let is_current = self.options.try_with_untracked(|own| *own == options);
            if is_open != Some(true) || is_current != Some(true) {
                return;
            }
            let row = row.unwrap_or_else(|error| {
                self.failure.try_set(Some(error));
                file.and_then(|file| self.start_of(file)).unwrap_or_default()
            });
            if self.place.get_untracked().is_none() {
                self.go(row);
            }
            self.place.set(Some(row));
        });
    }

    fn focus_draft(self) {
        use leptos::{wasm_bindgen::JsCast as _, web_sys::HtmlElement};

        let id = self.name.with_value(|name| format!("{name}-comment"));
        if let Some(area) = document().get_element_by_id(&id).and_then(|area| area.dyn_into().ok()) {
            HtmlElement::focus(&area).ok();
        }
    }

    /// Where both sides are in a row, the one that is pointed at counts.
    pub fn comment_on(self, row: u32, side: domain::diff::Side) {
        if !self.takes_comments {
            return;
        }
        if let Some((row, comment)) = self.with_screen(|screen| screen.comment_on(row, side)).flatten() {
            self.current.set(row);
            let is_there = |own: &Comment| own.is_on_the_line_of(&comment);
            let index = self.comments.with_untracked(|comments| comments.iter().position(is_there));
            let comment = index
                .and_then(|n| self.comments.with_untracked(|own| own.get(n).cloned()))
                .unwrap_or(comment);
            self.write(Draft { comment, index }, Some(row));
        }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use domain::diff::{Of, Sample, Side};

    use super::*;

    fn comment(line: u32, text: &str) -> Comment {
        Comment { path: "a.rs".into(), side: Side::New, line, text: text.into(), quoted: String::new() }
    }

    fn draft(line: u32, text: &str, index: Option<usize>) -> Draft {
        Draft { comment: comment(line, text), index }
    }

    /// Three comments wait, on the lines 1 to 3.
    fn check(act: impl FnOnce(Diff), expected: &[(u32, &str)]) {
        Owner::new_root(None).with(|| {
            let diff = Diff::new(Of::Sample(Sample::Files), None, true);
            diff.comments.set([(1, "A"), (2, "B"), (3, "C")].map(|(line, text)| comment(line, text)).into());
            act(diff);
            let kept = diff.comments.get_untracked();
            let kept: Vec<_> = kept.iter().map(|own| (own.line, own.text.as_str())).collect();
            assert_eq!(kept, expected);
        });
    }

    #[test]
    fn a_comment_is_saved_where_it_is_by_then() {
        let edit_b = |diff: Diff| {
            diff.write(draft(2, "B", Some(1)), Some(1));
            diff.typed.set("B, changed".into());
        };
        let removed_before = |diff: Diff| {
            edit_b(diff);
            diff.remove_comment(0);
            diff.keep_comment();
        };
        check(removed_before, &[(2, "B, changed"), (3, "C")]);
        let removed_after = |diff: Diff| {
            edit_b(diff);
            diff.remove_comment(2);
            diff.keep_comment();
        };
        check(removed_after, &[(1, "A"), (2, "B, changed")]);
        let removed_itself = |diff: Diff| {
            edit_b(diff);
            diff.remove_comment(1);
            diff.keep_comment();
        };
        check(removed_itself, &[(1, "A"), (3, "C"), (2, "B, changed")]);
        let sent = |diff: Diff| {
            edit_b(diff);
            assert_eq!(diff.take_comments().len(), 3);
            diff.comments.set(vec![comment(4, "D"), comment(5, "E")]);
            diff.keep_comment();
        };
        check(sent, &[(4, "D"), (5, "E"), (2, "B, changed")]);
    }

    #[test]
    fn what_is_half_written_waits_when_another_is_begun() {
        let begun = |diff: Diff| {
            diff.write(draft(9, "", None), Some(1));
            diff.typed.set("Half of i".into());
            diff.write(draft(2, "B", Some(1)), Some(1));
            assert_eq!(diff.typed.get_untracked(), "B");
            diff.typed.set("B, changed".into());
            diff.write(draft(10, "", None), Some(1));
            // Nothing was written there.
            diff.write(draft(11, "", None), Some(1));
        };
        check(begun, &[(1, "A"), (2, "B, changed"), (3, "C"), (9, "Half of i")]);
        let again = |diff: Diff| {
            diff.write(draft(9, "", None), Some(1));
            diff.typed.set("Half of i".into());
            diff.write(draft(9, "", None), Some(1));
            assert_eq!(diff.typed.get_untracked(), "Half of i");
        };
        check(again, &[(1, "A"), (2, "B"), (3, "C")]);
    }
}
