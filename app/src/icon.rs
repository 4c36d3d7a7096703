//! The icons: Lucide's (ISC, see `style/public/licenses.txt`), each as one path on a grid of 24, in the colour and
//! size of the text around it.
//!
//! The crate `lucide-leptos` draws the same ones, but makes a component with six signals of each; a path and one
//! view for all of them cost the page a tenth of that.

use leptos::prelude::*;

use crate::erased::{Erase, Erased};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Alert,
    Archive,
    At,
    Bell,
    Branch,
    Cancelled,
    Chat,
    Check,
    Close,
    Code,
    Columns,
    Command,
    Copy,
    Down,
    Edit,
    External,
    Eye,
    Failed,
    File,
    Filter,
    Folder,
    FolderPlus,
    Grip,
    Hand,
    Help,
    History,
    Info,
    Key,
    Keyboard,
    Loader,
    LogOut,
    Maximise,
    Menu,
    Minimise,
    Monitor,
    Moon,
    More,
    Next,
    Ok,
    PanelLeft,
    Paperclip,
    Pause,
    Persona,
    Phone,
    Plus,
    Previous,
    Qr,
    Retry,
    Rows,
    Search,
    Send,
    Server,
    Settings,
    Slash,
    Stop,
    Sun,
    Swords,
    Terminal,
    Trash,
    Trophy,
    Undo,
    Up,
    UpDown,
    Waiting,
    Workflow,
    Wrap,
}

impl Icon {
    pub const ALL: [Self; 66] = [
        Self::Alert,
        Self::Archive,
        Self::At,
        Self::Bell,
        Self::Branch,
        Self::Cancelled,
        Self::Chat,
        Self::Check,
        Self::Close,
        Self::Code,
        Self::Columns,
        Self::Command,
        Self::Copy,
        Self::Down,
        Self::Edit,
        Self::External,
        Self::Eye,
        Self::Failed,
        Self::File,
        Self::Filter,
        Self::Folder,
        Self::FolderPlus,
        Self::Grip,
        Self::Hand,
        Self::Help,
        Self::History,
        Self::Info,
        Self::Key,
        Self::Keyboard,
        Self::Loader,
        Self::LogOut,
        Self::Maximise,
        Self::Menu,
        Self::Minimise,
        Self::Monitor,
        Self::Moon,
        Self::More,
        Self::Next,
        Self::Ok,
        Self::PanelLeft,
        Self::Paperclip,
        Self::Pause,
        Self::Persona,
        Self::Phone,
        Self::Plus,
        Self::Previous,
        Self::Qr,
        Self::Retry,
        Self::Rows,
        Self::Search,
        Self::Send,
        Self::Server,
        Self::Settings,
        Self::Slash,
        Self::Stop,
        Self::Sun,
        Self::Swords,
        Self::Terminal,
        Self::Trash,
        Self::Trophy,
        Self::Undo,
        Self::Up,
        Self::UpDown,
        Self::Waiting,
        Self::Workflow,
        Self::Wrap,
    ];

    /// Without a name of its own: what it stands in must say what it means.
    pub fn view(self) -> Erased {
        view! {
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
                <path d=self.path()></path>
            </svg>
        }
        .erase()
    }

    fn path(self) -> &'static str {
        match self {
            Self::Alert => {
                "M21.73 18l-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3M12 9v4M12 17h.01"
            }
            Self::Archive => "M21 8v13H3V8M1 3h22v5H1zM10 12h4",
            Self::At => "M8 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0M16 8v5a3 3 0 0 0 6 0v-1a10 10 0 1 0-4 8",
            Self::Bell => {
                "M10.268 21a2 2 0 0 0 3.464 0M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326"
            }
            Self::Branch => {
                "M15 6a9 9 0 0 0-9 9V3M15 6a3 3 0 1 0 6 0a3 3 0 1 0-6 0M3 18a3 3 0 1 0 6 0a3 3 0 1 0-6 0"
            }
            Self::Cancelled => "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M4.929 4.929 19.07 19.071",
            Self::Chat => {
                "M22 17a2 2 0 0 1-2 2H6.828a2 2 0 0 0-1.414.586l-2.202 2.202A.71.71 0 0 1 2 21.286V5a2 2 0 0 1 2-2h16a2 2 0 0 1 2 2z"
            }
            Self::Check => "M20 6 9 17l-5-5",
            Self::Close => "M18 6 6 18M6 6l12 12",
            Self::Code => "M18 16l4-4-4-4M6 8l-4 4 4 4M14.5 4l-5 16",
            Self::Columns => {
                "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2zM12 3v18"
            }
            Self::Command => "M15 6v12a3 3 0 1 0 3-3H6a3 3 0 1 0 3 3V6a3 3 0 1 0-3 3h12a3 3 0 1 0-3-3",
            Self::Copy => {
                "M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-10a2 2 0 0 1-2-2v-10a2 2 0 0 1 2-2zM4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2"
            }
            Self::Down => "M6 9l6 6 6-6",
            Self::Edit => {
                "M21.174 6.812a1 1 0 0 0-3.986-3.987L3.842 16.174a2 2 0 0 0-.5.83l-1.321 4.352a.5.5 0 0 0 .623.622l4.353-1.32a2 2 0 0 0 .83-.497zM15 5l4 4"
            }
            Self::External => "M15 3h6v6M10 14 21 3M18 13v6a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h6",
            Self::Eye => {
                "M2.062 12.348a1 1 0 0 1 0-.696 10.75 10.75 0 0 1 19.876 0 1 1 0 0 1 0 .696 10.75 10.75 0 0 1-19.876 0M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0"
            }
            Self::Failed => "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M15 9l-6 6M9 9l6 6",
            Self::File => {
                "M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2zM14 2v5a1 1 0 0 0 1 1h5M10 9H8M16 13H8M16 17H8"
            }
            Self::Filter => "M2 5h20M6 12h12M9 19h6",
            Self::Folder => {
                "M20 20a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-7.9a2 2 0 0 1-1.69-.9L9.6 3.9A2 2 0 0 0 7.93 3H4a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2Z"
            }
            Self::FolderPlus => {
                "M12 10v6M9 13h6M20 20a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-7.9a2 2 0 0 1-1.69-.9L9.6 3.9A2 2 0 0 0 7.93 3H4a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2Z"
            }
            Self::Grip => {
                "M8 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M8 5a1 1 0 1 0 2 0a1 1 0 1 0-2 0M8 19a1 1 0 1 0 2 0a1 1 0 1 0-2 0M14 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M14 5a1 1 0 1 0 2 0a1 1 0 1 0-2 0M14 19a1 1 0 1 0 2 0a1 1 0 1 0-2 0"
            }
            Self::Hand => {
                "M18 11V6a2 2 0 0 0-2-2a2 2 0 0 0-2 2M14 10V4a2 2 0 0 0-2-2a2 2 0 0 0-2 2v2M10 10.5V6a2 2 0 0 0-2-2a2 2 0 0 0-2 2v8M18 8a2 2 0 1 1 4 0v6a8 8 0 0 1-8 8h-2c-2.8 0-4.5-.86-5.99-2.34l-3.6-3.6a2 2 0 0 1 2.83-2.82L7 15"
            }
            Self::Help => {
                "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M9.09 9a3 3 0 0 1 5.83 1c0 2-3 3-3 3M12 17h.01"
            }
            Self::History => "M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8M3 3v5h5M12 7v5l4 2",
            Self::Info => "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M12 16v-4M12 8h.01",
            Self::Key => {
                "M2.586 17.414A2 2 0 0 0 2 18.828V21a1 1 0 0 0 1 1h3a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h1a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h.172a2 2 0 0 0 1.414-.586l.814-.814a6.5 6.5 0 1 0-4-4zM16 7.5a0.5 0.5 0 1 0 1 0a0.5 0.5 0 1 0-1 0"
            }
            Self::Keyboard => {
                "M10 8h.01M12 12h.01M14 8h.01M16 12h.01M18 8h.01M6 8h.01M7 16h10M8 12h.01M4 4h16a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-16a2 2 0 0 1-2-2v-12a2 2 0 0 1 2-2z"
            }
            Self::Loader => "M21 12a9 9 0 1 1-6.219-8.56",
            Self::LogOut => "M16 17l5-5-5-5M21 12H9M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4",
            Self::Maximise => "M15 3h6v6M21 3l-7 7M3 21l7-7M9 21H3v-6",
            Self::Menu => "M4 5h16M4 12h16M4 19h16",
            Self::Minimise => "M14 10l7-7M20 10h-6V4M3 21l7-7M4 14h6v6",
            Self::Monitor => {
                "M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-16a2 2 0 0 1-2-2v-10a2 2 0 0 1 2-2zM8 21L16 21M12 17L12 21"
            }
            Self::Moon => {
                "M20.985 12.486a9 9 0 1 1-9.473-9.472c.405-.022.617.46.402.803a6 6 0 0 0 8.268 8.268c.344-.215.825-.004.803.401"
            }
            Self::More => {
                "M11 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M18 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M4 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0"
            }
            Self::Next => "M9 18l6-6-6-6",
            Self::Ok => "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M16 9l-5.5 5.5L8 12",
            Self::PanelLeft => {
                "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2zM9 3v18"
            }
            Self::Paperclip => {
                "M16 6l-8.414 8.586a2 2 0 0 0 2.829 2.829l8.414-8.586a4 4 0 1 0-5.657-5.657l-8.379 8.551a6 6 0 1 0 8.485 8.485l8.379-8.551"
            }
            Self::Pause => "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M10 15L10 9M14 15L14 9",
            Self::Persona => "M19 21v-2a4 4 0 0 0-4-4H9a4 4 0 0 0-4 4v2M16 7a4 4 0 1 1-8 0a4 4 0 0 1 8 0z",
            Self::Phone => {
                "M7 2h10a2 2 0 0 1 2 2v16a2 2 0 0 1-2 2h-10a2 2 0 0 1-2-2v-16a2 2 0 0 1 2-2zM12 18h.01"
            }
            Self::Plus => "M5 12h14M12 5v14",
            Self::Previous => "M15 18l-6-6 6-6",
            Self::Qr => {
                "M4 3h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1zM17 3h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1zM4 16h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1zM21 16h-3a2 2 0 0 0-2 2v3M21 21v.01M12 7v3a2 2 0 0 1-2 2H7M3 12h.01M12 3h.01M12 16v.01M16 12h1M21 12v.01M12 21v-1"
            }
            Self::Retry => "M21 12a9 9 0 1 1-9-9c2.52 0 4.93 1 6.74 2.74L21 8M21 3v5h-5",
            Self::Rows => {
                "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2zM3 12h18"
            }
            Self::Search => "M21 21l-4.34-4.34M3 11a8 8 0 1 0 16 0a8 8 0 1 0-16 0",
            Self::Send => "M5 12l7-7 7 7M12 19V5",
            Self::Server => {
                "M4 2h16a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2h-16a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2zM4 14h16a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2h-16a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2zM6 6L6.01 6M6 18L6.01 18"
            }
            Self::Settings => {
                "M9.671 4.136a2.34 2.34 0 0 1 4.659 0 2.34 2.34 0 0 0 3.319 1.915 2.34 2.34 0 0 1 2.33 4.033 2.34 2.34 0 0 0 0 3.831 2.34 2.34 0 0 1-2.33 4.033 2.34 2.34 0 0 0-3.319 1.915 2.34 2.34 0 0 1-4.659 0 2.34 2.34 0 0 0-3.32-1.915 2.34 2.34 0 0 1-2.33-4.033 2.34 2.34 0 0 0 0-3.831A2.34 2.34 0 0 1 6.35 6.051a2.34 2.34 0 0 0 3.319-1.915M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0"
            }
            Self::Slash => "M22 2 2 22",
            Self::Stop => "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2z",
            Self::Sun => {
                "M8 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0M12 2v2M12 20v2M4.93 4.93l1.41 1.41M17.66 17.66l1.41 1.41M2 12h2M20 12h2M6.34 17.66l-1.41 1.41M19.07 4.93l-1.41 1.41"
            }
            Self::Swords => {
                "M13 19l6-6M14.5 17.5 3.586 6.586A2 2 0 013 5.172V3h2.172a2 2 0 011.414.586L17.5 14.5M14.828 6.172l2.586-2.586A2 2 0 0118.828 3H21v2.172a2 2 0 01-.586 1.414l-2.586 2.586M16 16l4 4M19 21l2-2M5 14l4 4M5 21l-2-2M7.5 16.5 4 20"
            }
            Self::Terminal => {
                "M7 11l2-2-2-2M11 13h4M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2z"
            }
            Self::Trophy => {
                "M6 9H4.5a2.5 2.5 0 0 1 0-5H6M18 9h1.5a2.5 2.5 0 0 0 0-5H18M4 22h16M10 14.66V17c0 .55-.47.98-.97 1.21C7.85 18.75 7 20.24 7 22M14 14.66V17c0 .55.47.98.97 1.21C16.15 18.75 17 20.24 17 22M18 2H6v7a6 6 0 0 0 12 0V2Z"
            }
            Self::Trash => {
                "M10 11v6M14 11v6M19 6v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6M3 6h18M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2"
            }
            Self::Undo => "M9 14 4 9l5-5M4 9h10.5a5.5 5.5 0 0 1 5.5 5.5a5.5 5.5 0 0 1-5.5 5.5H11",
            Self::Up => "M18 15l-6-6-6 6",
            Self::UpDown => "M7 15l5 5 5-5M7 9l5-5 5 5",
            Self::Waiting => "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0M12 6v6l4 2",
            Self::Workflow => {
                "M5 3h4a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2h-4a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2zM7 11v4a2 2 0 0 0 2 2h4M15 13h4a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2h-4a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2z"
            }
            Self::Wrap => "M3 6h18M3 12h15a3 3 0 1 1 0 6h-4M16 16l-2 2 2 2M3 18h7",
        }
    }
}
