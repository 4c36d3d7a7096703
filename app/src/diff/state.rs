//! What a view of a diff knows, and what it is asked to do.

use domain::diff::{Comment, Found, Of, Options, Outline, Rows};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::written::Draft;
use crate::error::AppError;

/// What a page that shows a diff starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct First {
    pub outline: Outline,
    pub rows: Rows,
}

#[derive(Clone, Copy)]
pub struct Diff {
    #[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
    pub of: Of,
    /// Begins the ids of its elements: a page may show several.
    pub name: StoredValue<String>,
    /// As the rows on the screen were asked for.
    pub options: RwSignal<Options>,
    /// As they were asked for last. Until they come, the screen shows what was there before.
    #[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
    wanted: StoredValue<Options>,
    pub outline: RwSignal<Option<Outline>>,
    pub failure: RwSignal<Option<AppError>>,
    /// What is chosen; a phone shows one column and breaks lines all the same.
    pub is_split: RwSignal<bool>,
    pub wraps: RwSignal<bool>,
    pub ignores_whitespace: RwSignal<bool>,
    /// The file at the top of the screen.
    pub file: RwSignal<usize>,
    /// The row that keys work on.
    pub current: RwSignal<u32>,
    pub query: RwSignal<String>,
    pub found: RwSignal<Found>,
    pub is_finding: RwSignal<bool>,
    pub is_tree_open: RwSignal<bool>,
    /// Folders that are folded in the tree.
    pub folded: RwSignal<Vec<String>>,
    #[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
    pub takes_comments: bool,
    /// Comments that wait to be sent.
    pub comments: RwSignal<Vec<Comment>>,
    pub draft: RwSignal<Option<Draft>>,
    /// The row that the draft is written under, once it is known.
    pub place: RwSignal<Option<u32>>,
    /// The words of the draft as they are now.
    pub typed: RwSignal<String>,
    /// What was done, for those who cannot see it.
    pub said: RwSignal<String>,
    #[cfg(feature = "hydrate")]
    pub screen: StoredValue<Option<super::screen::Screen>, LocalStorage>,
}

impl Diff {
    pub fn new(of: Of, outline: Option<Outline>, takes_comments: bool) -> Self {
        Self {
            of,
            name: StoredValue::new(super::element_of(of)),
            options: RwSignal::default(),
            wanted: StoredValue::default(),
            outline: RwSignal::new(outline),
            failure: RwSignal::new(None),
            is_split: RwSignal::new(false),
            wraps: RwSignal::new(false),
            ignores_whitespace: RwSignal::new(false),
            file: RwSignal::new(0),
            current: RwSignal::new(0),
            query: RwSignal::default(),
            found: RwSignal::default(),
            is_finding: RwSignal::new(false),
            is_tree_open: RwSignal::new(true),
            folded: RwSignal::default(),
            takes_comments,
            comments: RwSignal::default(),
            draft: RwSignal::new(None),
            place: RwSignal::new(None),
            typed: RwSignal::default(),
            said: RwSignal::default(),
            #[cfg(feature = "hydrate")]
            screen: StoredValue::new_local(None),
        }
    }

    /// The row where a file begins.
    pub fn start_of(self, file: usize) -> Option<u32> {
        self.outline.with_untracked(|outline| outline.as_ref()?.starts().get(file).copied())
    }
}

/// The server renders what it was given and asks for nothing.
#[cfg(not(feature = "hydrate"))]
impl Diff {
    pub fn relayout(self) {}
    pub fn go(self, _row: u32) {}
    pub fn focus_rows(self) {}
    pub fn look_for(self) {}
}

#[cfg(feature = "hydrate")]
mod browser {
    use domain::diff::{Expanded, Seek, Window};
    use leptos::task::spawn_local;

    use super::*;
    use crate::diff::{
        api::{diff_outline, diff_patch, diff_rows, find_in_diff, seek_in_diff},
        geometry::Geometry,
        screen::{CHUNK_ROWS, Screen},
    };

    impl Diff {
        pub fn with_screen<T>(self, act: impl FnOnce(&Screen) -> T) -> Option<T> {
            self.screen.try_with_value(|screen| screen.as_ref().map(act)).flatten()
        }

        /// Shows more of a gap.
        pub fn expand(self, wanted: Expanded) {
            let mut options = self.wanted.get_value();
            let is_same = |own: &&mut Expanded| own.file == wanted.file && own.gap == wanted.gap;
            match options.expanded.iter_mut().find(is_same) {
                Some(own) => {
                    own.top = own.top.saturating_add(wanted.top);
                    own.bottom = own.bottom.saturating_add(wanted.bottom);
                }
                None => options.expanded.push(wanted),
            }
            self.load(options);
        }

        /// Lays it out by these options, from the change as it is now.
        pub fn load(self, options: Options) {
            self.wanted.set_value(options.clone());
            spawn_local(async move {
                let loaded = diff_outline(self.of, options.clone()).await;
                // Something else is wanted by now; what comes for it counts.
                if self.wanted.try_with_value(|wanted| *wanted == options) != Some(true) {
                    return;
                }
                match loaded {
                    Ok(outline) => {
                        self.failure.try_set(None);
                        self.keep_place(&outline, &options);
                        self.options.try_set(options.clone());
                        self.with_screen(|screen| screen.lay_out(&outline, &options));
                        self.outline.try_set(Some(outline));
                        self.place_draft();
                        if self.is_finding.try_get_untracked() == Some(true) {
                            self.look_for();
                        }
                    }
                    Err(error) => {
                        self.wanted.set_value(self.options.get_untracked());
                        self.failure.try_set(Some(error));
                    }
                }
            });
        }

        /// The row that keys work on stays about where it is in its file.
        fn keep_place(self, outline: &Outline, options: &Options) {
            let is_same_way = self.options.try_with_untracked(|own| {
                (own.is_split, own.ignores_whitespace, own.columns)
                    == (options.is_split, options.ignores_whitespace, options.columns)
            });
            // What opens is mostly below.
            if is_same_way != Some(false) {
                return;
            }
            let current = self.current.get_untracked();
            let row = self.outline.with_untracked(|own| {
                let own = own.as_ref()?;
                let file = Geometry::of(own).file_of(current);
                let (old, new) = (own.files.get(file)?.rows, outline.files.get(file)?.rows);
                let within = current - own.starts().get(file)?;
                let within = u64::from(within) * u64::from(new) / u64::from(old.max(1));
                Some(outline.starts().get(file)? + within as u32)
            });
            self.current.set(row.unwrap_or_default());
        }

        /// Asks for the rows of a chunk.
        pub fn ask(self, chunk: u32) {
            let Some(options) = self.options.try_get_untracked() else { return };
            spawn_local(async move {
                let window = Window { start: chunk * CHUNK_ROWS, count: CHUNK_ROWS };
                match diff_rows(self.of, options.clone(), window).await {
                    Ok(rows) => {
                        let is_current = self.options.try_with_untracked(|own| *own == options);
                        let stamp = self.outline.try_with_untracked(|outline| {
                            outline.as_ref().map(|outline| outline.stamp.clone())
                        });
                        if is_current != Some(true) {
                            return;
                        }
                        if stamp.flatten().as_deref() == Some(&rows.stamp) {
                            self.with_screen(|screen| screen.take(chunk, rows.text));
                        } else {
                            // The change itself has changed.
                            self.load(options);
                        }
                    }
                    Err(error) => {
                        self.with_screen(|screen| screen.forget(chunk));
                        self.failure.try_set(Some(error));
                    }
                }
            });
        }

        /// As it was chosen, in the room that there is.
        pub fn relayout(self) {
            let Some(room) = self.with_screen(Screen::room) else { return };
            let is_split = self.is_split.get_untracked() && !room.is_narrow;
            let wraps = self.wraps.get_untracked() || is_split || room.is_narrow;
            let own = self.wanted.get_value();
            let options = Options {
                is_split,
                ignores_whitespace: self.ignores_whitespace.get_untracked(),
                columns: if wraps { room.columns(is_split) } else { 0 },
                expanded: own.expanded.clone(),
            };
            if options != own || self.outline.with_untracked(Option::is_none) {
                self.load(options);
            }
        }

        /// Makes a row the one that keys work on, and shows it.
        pub fn go(self, row: u32) {
            self.current.set(row);
            self.with_screen(|screen| screen.reveal(row));
        }

        pub fn focus_rows(self) {
            self.with_screen(Screen::focus);
        }

        pub fn seek(self, seek: Seek) {
            let (options, from) = (self.options.get_untracked(), self.current.get_untracked());
            spawn_local(async move {
                match seek_in_diff(self.of, options, from, seek).await {
                    Ok(Some(row)) => self.go(row),
                    Ok(None) => drop(self.said.try_set("There is no further change".to_owned())),
                    Err(error) => drop(self.failure.try_set(Some(error))),
                }
            });
        }

        /// To the next file, or the previous one.
        pub fn turn_file(self, is_forward: bool) {
            let current = self.current.get_untracked();
            let starts = self
                .outline
                .with_untracked(|outline| outline.as_ref().map(Outline::starts))
                .unwrap_or_default();
            let row = match is_forward {
                true => starts.iter().find(|start| **start > current),
                false => starts.iter().rev().find(|start| **start < current),
            };
            if let Some(row) = row {
                self.go(*row);
            }
        }

        /// Finds what is typed, and goes to the first place from here on.
        pub fn look_for(self) {
            let (options, query) = (self.options.get_untracked(), self.query.get_untracked());
            spawn_local(async move {
                let found = match query.is_empty() {
                    true => Ok(Found::default()),
                    false => find_in_diff(self.of, options, query.clone()).await,
                };
                let is_current = self.query.try_with_untracked(|own| *own == query) == Some(true);
                match found {
                    Ok(found) if is_current => {
                        let current = self.current.get_untracked();
                        let next =
                            found.rows.iter().find(|row| **row >= current).or(found.rows.first()).copied();
                        self.found.set(found);
                        self.with_screen(Screen::redraw);
                        if let Some(row) = next {
                            self.go(row);
                        }
                    }
                    Ok(_) => {}
                    Err(error) => drop(self.failure.try_set(Some(error))),
                }
            });
        }

        pub fn turn_found(self, is_forward: bool) {
            let current = self.current.get_untracked();
            let row = self.found.with_untracked(|found| {
                let rows = &found.rows;
                let row = match is_forward {
                    true => rows.iter().find(|row| **row > current).or(rows.first()),
                    false => rows.iter().rev().find(|row| **row < current).or(rows.last()),
                };
                row.copied()
            });
            if let Some(row) = row {
                self.go(row);
            }
        }

        pub fn copy_patch(self, file: u32) {
            spawn_local(async move {
                match diff_patch(self.of, file).await {
                    Ok(patch) => self.copy(patch, "Patch copied").await,
                    Err(error) => drop(self.failure.try_set(Some(error))),
                }
            });
        }

        pub async fn copy(self, text: String, said: &str) {
            let is_copied = crate::markdown::copy_text(&text).await;
            self.said.try_set(if is_copied { said } else { "The browser refused to copy" }.to_owned());
        }
    }
}
