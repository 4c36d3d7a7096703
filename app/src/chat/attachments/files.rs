//! Files as they stand at a message.

use domain::{
    attachment::{Attachment, LeftOut, Media},
    id::AttachmentId,
};
use leptos::prelude::*;

use super::list::Ids;
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
};

/// What went along with a message, and what did not.
#[component]
pub fn SentFiles(files: Vec<Attachment>, left_out: Vec<LeftOut>) -> impl IntoView {
    if files.is_empty() && left_out.is_empty() {
        return ().erase();
    }
    let sent: Vec<_> = files.into_iter().map(|file| view! { <li class="file"><Chip file /></li> }).collect();
    let missed: Vec<_> = left_out.into_iter().map(missed).collect();
    view! { <ul class="files" aria-label="Files with this message">{sent}{missed}</ul> }.erase()
}

fn missed(LeftOut { name, reason }: LeftOut) -> Erased {
    view! {
        <li class="file refused">
            {Icon::Alert.view()}
            <span class="file-name">{name} " did not go along. " {reason}</span>
        </li>
    }
    .erase()
}

/// The files of a message that is sent again. Those that its text mentions are read anew.
#[derive(Clone, Copy)]
pub struct Kept(RwSignal<Vec<Attachment>>);

impl Kept {
    pub fn of(mut files: Vec<Attachment>) -> Self {
        files.retain(|file| !file.is_mention);
        Self(RwSignal::new(files))
    }

    pub fn ids(self) -> Vec<AttachmentId> {
        self.0.with(|files| files.iter().map(|file| file.id).collect())
    }
}

/// Each of them can be left out.
#[component]
pub fn KeptFiles(kept: Kept) -> impl IntoView {
    let ids = Signal::derive(move || kept.ids());
    let Kept(kept) = kept;
    let chips = move || {
        let chip = |file: Attachment| {
            let (id, name) = (file.id, file.name.clone());
            view! {
                <li class="file">
                    <Chip file />
                    <button
                        type="button"
                        class="icon-button"
                        aria-label=format!("Leave {name} out")
                        on:click=move |_| kept.update(|files| files.retain(|file| file.id != id))
                    >
                        {Icon::Close.view()}
                    </button>
                </li>
            }
            .erase()
        };
        let chips: Vec<_> = kept.get().into_iter().map(chip).collect();
        let is_empty = chips.is_empty();
        view! { <ul class="files" hidden=is_empty aria-label="Files that go along again">{chips}</ul> }
            .erase()
    };
    view! { {chips} <Ids files=ids /> }.erase()
}

/// A file that the server has: a link to it, with an image in small.
#[component]
pub fn Chip(file: Attachment) -> impl IntoView {
    let href = format!("/api/attachments/{}", file.id);
    let size = size_words(file.bytes);
    let picture = match file.media {
        Media::Image { .. } => {
            view! { <img class="file-picture" src=href.clone() alt="" width="32" height="32" loading="lazy" /> }
                .erase()
        }
        Media::Text if file.is_mention => Icon::At.view().erase(),
        Media::Text => Icon::File.view().erase(),
    };
    view! {
        <a class="file-link" href=href target="_blank" rel="external noopener">
            {picture}
            <span class="file-name">{file.name}</span>
            <span class="file-size">{size}</span>
        </a>
    }
    .erase()
}

/// Rounded up, so that nothing is said to be empty.
fn size_words(bytes: u64) -> String {
    if bytes == 1 {
        "1 byte".to_owned()
    } else if bytes < 1 << 10 {
        format!("{bytes} bytes")
    } else if bytes < 1 << 20 {
        format!("{} KB", bytes.div_ceil(1 << 10))
    } else {
        format!("{} MB", bytes.div_ceil(1 << 20))
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use domain::attachment::ImageType;
    use uuid::Uuid;

    use super::*;

    fn file(n: u128, name: &str, media: Media, is_mention: bool) -> Attachment {
        Attachment {
            id: AttachmentId(Uuid::from_u128(n)),
            name: name.into(),
            media,
            bytes: 1_025,
            is_mention,
        }
    }

    #[test]
    fn what_went_along_can_be_opened_and_what_did_not_says_why() {
        let files = vec![
            file(1, "<b>.png", Media::Image { mime: ImageType::Png }, false),
            file(2, "src/main.rs", Media::Text, true),
        ];
        let left_out = vec![LeftOut { name: "huge.log".into(), reason: "It is too large.".into() }];
        let html = view! { <SentFiles files left_out /> }.to_html();
        for part in ["&lt;b&gt;.png", "<img", "2 KB", "src/main.rs", "huge.log", "It is too large."] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert_eq!(html.matches("href=\"/api/attachments/").count(), 2);
        assert_eq!(view! { <SentFiles files=vec![] left_out=vec![] /> }.to_html().matches("<ul").count(), 0);
    }

    #[test]
    fn sizes_are_said_in_words() {
        for (bytes, words) in [
            (1, "1 byte"),
            (47, "47 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1 KB"),
            (1_025, "2 KB"),
            (2 << 20, "2 MB"),
        ] {
            assert_eq!(size_words(bytes), words);
        }
    }

    #[test]
    fn what_is_sent_again_names_its_files_but_not_its_mentions() {
        Owner::new().with(|| {
            let files = vec![file(1, "a.png", Media::Text, false), file(2, "b.rs", Media::Text, true)];
            let html = view! { <KeptFiles kept=Kept::of(files) /> }.to_html();
            assert!(html.contains("name=\"attachments[0]\"") && html.contains("Leave a.png out"), "{html}");
            assert!(!html.contains("attachments[1]") && !html.contains("b.rs"), "{html}");
        });
    }
}
