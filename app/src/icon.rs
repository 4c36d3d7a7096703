//! The icons, in the manner of Lucide: one path on a grid of 24, in the colour of the text around it.

use leptos::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Chat,
    Close,
    Edit,
    Menu,
    Next,
    Plus,
    Previous,
    Retry,
    Send,
    Stop,
}

impl Icon {
    pub fn view(self) -> AnyView {
        view! {
            <svg
                viewBox="0 0 24 24"
                width="18"
                height="18"
                fill="none"
                stroke="currentColor"
                stroke-width="2"
                stroke-linecap="round"
                stroke-linejoin="round"
                aria-hidden="true"
            >
                <path d=self.path()></path>
            </svg>
        }
        .into_any()
    }

    fn path(self) -> &'static str {
        match self {
            Self::Chat => "M21 15a2 2 0 0 1-2 2H7l-4 4V5a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2z",
            Self::Close => "M18 6 6 18M6 6l12 12",
            Self::Edit => "M12 20h9M16.5 3.5a2.1 2.1 0 0 1 3 3L7 19l-4 1 1-4z",
            Self::Menu => "M4 6h16M4 12h16M4 18h16",
            Self::Next => "m9 18 6-6-6-6",
            Self::Plus => "M5 12h14M12 5v14",
            Self::Previous => "m15 18-6-6 6-6",
            Self::Retry => "M3 12a9 9 0 1 0 9-9 9.7 9.7 0 0 0-6.7 2.7L3 8M3 3v5h5",
            Self::Send => "m5 12 7-7 7 7M12 19V5",
            Self::Stop => "M7 6h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1z",
        }
    }
}
