use domain::{attachment::Media, feed::Snapshot, page::Page, workspace::Workspace};
use uuid::Uuid;

use super::*;

fn file(n: u128, bytes: u64) -> Attachment {
    let id = AttachmentId(Uuid::from_u128(n));
    Attachment { id, name: format!("{n}.txt"), media: Media::Text, bytes, is_mention: false }
}

fn with_attached(check: impl FnOnce(Attached)) {
    Owner::new().with(|| check(Attached::new(ChatId(Uuid::nil()))));
}

impl Attached {
    /// As if the server had answered.
    fn answered(self, answer: Result<Attachment, AppError>) {
        let key = self.add("some".into(), State::OnItsWay);
        assert!(self.is_any_on_its_way());
        self.settle(key, "some", answer);
        assert!(!self.is_any_on_its_way());
    }

    fn last_refusal(self) -> Option<String> {
        self.items.with(|items| match items.last().map(|item| item.state.clone()) {
            Some(State::Refused(reason)) => Some(reason),
            _ => None,
        })
    }
}

#[test]
fn what_the_server_has_goes_along_once() {
    with_attached(|attached| {
        attached.answered(Ok(file(1, 10)));
        attached.answered(Ok(file(2, 10)));
        assert_eq!(attached.ids().len(), 2);
        attached.leave(&[file(1, 10).id]);
        assert_eq!(attached.files(), [file(2, 10)]);
    });
}

#[test]
fn what_cannot_go_along_says_why() {
    with_attached(|attached| {
        attached.answered(Err(AppError::Invalid("some is empty.".into())));
        assert_eq!(attached.last_refusal().as_deref(), Some("some is empty."));
        attached.answered(Err(AppError::Offline));
        assert!(attached.last_refusal().unwrap().contains("Attach it again"));
        attached.answered(Ok(file(1, attachment::TOGETHER_BYTES_MAX as u64)));
        assert_eq!(attached.last_refusal(), None);
        attached.answered(Ok(file(2, 1)));
        assert!(attached.last_refusal().unwrap().contains("20 MB together"));
        assert_eq!(attached.ids(), [file(1, 0).id]);
    });
}

#[test]
fn what_is_refused_takes_no_place() {
    with_attached(|attached| {
        for n in 1..=attachment::COUNT_MAX {
            attached.answered(Ok(file(n as u128, 1)));
            attached.answered(Err(AppError::Offline));
            assert_eq!(attached.count(), n);
        }
    });
}

#[test]
fn what_is_refused_goes_with_the_next_message() {
    with_attached(|attached| {
        attached.answered(Ok(file(1, 1)));
        attached.answered(Err(AppError::Offline));
        attached.forget_refused();
        assert_eq!(attached.last_refusal(), None);
        assert_eq!(attached.ids(), [file(1, 1).id]);
    });
}

#[test]
fn what_is_gone_is_named_and_the_rest_stays() {
    with_attached(|attached| {
        attached.answered(Ok(file(1, 1)));
        attached.answered(Ok(file(2, 1)));
        attached.lose(|id| id == file(2, 1).id);
        assert_eq!(attached.last_refusal().as_deref(), Some("some is no longer there. Attach it again."));
        assert_eq!(attached.ids(), [file(1, 1).id]);
    });
}

#[test]
fn a_chat_that_was_out_of_sight_has_its_files_still() {
    Owner::new().with(|| {
        AttachedByChat::provide();
        let page = Page { workspace: Workspace::default(), session: None };
        let feed = Feed::new(Snapshot { seq: 0, state: page, streams: vec![] });
        let all = expect_context::<AttachedByChat>();
        let of = |n| all.of(feed, ChatId(Uuid::from_u128(n)));
        Owner::new().with(|| of(1)).answered(Ok(file(1, 1)));
        assert_eq!(of(1).ids(), [file(1, 1).id]);
        assert!(of(2).ids().is_empty());
    });
}

#[test]
fn what_another_page_attached_or_removed_is_the_same_here() {
    with_attached(|attached| {
        attached.answered(Ok(file(1, 10)));
        attached.answered(Err(AppError::Offline));
        let on_its_way = attached.add("mine".into(), State::OnItsWay);
        attached.take_over(vec![file(1, 10), file(2, 10)]);
        assert_eq!(attached.files(), [file(1, 10), file(2, 10)]);
        attached.take_over(vec![file(2, 10)]);
        assert_eq!(attached.files(), [file(2, 10)]);
        // What only this page knows of stays.
        assert!(attached.is_any_on_its_way());
        attached.settle(on_its_way, "mine", Ok(file(3, 1)));
        assert_eq!(attached.files(), [file(3, 1), file(2, 10)]);
    });
}
