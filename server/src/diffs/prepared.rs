//! One diff, with what was made of it so far.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex},
};

use domain::diff::{
    Colour, Found, Of, Options, Outline, Rows, Side, Status, Window,
    patch::Patch,
    view::{Colours, Texts, View},
};

use super::{
    Source,
    colours::{Coloured, piece_of},
    languages::Language,
    text::Text,
};
use crate::live::guard;

/// Ways to look at it that are kept; a browser uses one at a time.
const VIEWS_MAX: usize = 4;
/// Texts and colours; when there are more, all are forgotten and made again.
const MADE_BYTES_MAX: usize = 64 * 1024 * 1024;

pub struct Prepared {
    pub of: Of,
    pub stamp: String,
    pub left_out: Vec<String>,
    patch: Patch,
    source: Arc<dyn Source>,
    views: Mutex<Vec<(Options, Arc<View>)>>,
    made: Mutex<Made>,
}

/// A side of a file.
type Key = (usize, bool);

#[derive(Default)]
struct Made {
    texts: HashMap<Key, Arc<Text>>,
    colours: HashMap<(Key, usize), Arc<Coloured>>,
    bytes: usize,
}

impl Prepared {
    pub fn new(of: Of, stamp: String, left_out: Vec<String>, patch: Patch, source: Arc<dyn Source>) -> Self {
        Self { of, stamp, left_out, patch, source, views: Mutex::default(), made: Mutex::default() }
    }

    pub fn outline(&self, options: &Options) -> Outline {
        let outline = self.view(options).outline(&self.patch, &self.stamp);
        Outline { left_out: self.left_out.clone(), ..outline }
    }

    pub fn rows(&self, options: &Options, window: Window) -> Rows {
        let view = self.view(options);
        let shown = Shown::of(self, &view, window);
        let text = view.window(window, options, &self.patch, &shown, &shown);
        Rows { stamp: self.stamp.clone(), start: window.start, text }
    }

    pub fn find(&self, options: &Options, query: &str) -> Found {
        self.view(options).find(query, &self.patch, &Whole(self))
    }

    /// What is no text is given as what can be read of it.
    pub fn patch_of(&self, file: usize) -> Option<String> {
        let file = self.patch.files.get(file)?;
        Some(String::from_utf8_lossy(self.patch.of_file(file)).into_owned())
    }

    pub fn view(&self, options: &Options) -> Arc<View> {
        let found =
            guard(&self.views).iter().find(|(own, _)| own == options).map(|(_, view)| Arc::clone(view));
        found.unwrap_or_else(|| {
            let view = Arc::new(View::new(&self.patch, options, &Whole(self)));
            let mut views = guard(&self.views);
            if views.len() >= VIEWS_MAX {
                views.remove(0);
            }
            views.push((options.clone(), Arc::clone(&view)));
            view
        })
    }

    pub fn size(&self) -> usize {
        let views: usize = guard(&self.views).iter().map(|(_, view)| view.size()).sum();
        self.patch.size() + views + guard(&self.made).bytes
    }

    /// The whole file where it can be had, or what the patch shows of it.
    fn text(&self, number: usize, side: Side) -> Option<Arc<Text>> {
        let file = self.patch.files.get(number)?;
        let key = (number, side == Side::Old);
        if let Some(text) = guard(&self.made).texts.get(&key) {
            return Some(Arc::clone(text));
        }
        let bytes = match side {
            _ if file.is_binary => None,
            Side::Old if file.status == Status::Added => None,
            Side::New if file.status == Status::Deleted => None,
            Side::Old => self.source.old_text(file.old_path.as_deref().unwrap_or(&file.path)),
            Side::New => self.source.new_text(&file.path),
        };
        let text = bytes.and_then(Text::whole).unwrap_or_else(|| Text::of_patch(&self.patch, file, side));
        let text = Arc::new(text);
        let mut made = guard(&self.made);
        made.add(text.size());
        made.texts.insert(key, Arc::clone(&text));
        Some(text)
    }

    fn coloured(&self, key: Key, text: &Text, piece: usize) -> Option<Arc<Coloured>> {
        let language = Language::of_path(&self.patch.files.get(key.0)?.path)?;
        if let Some(coloured) = guard(&self.made).colours.get(&(key, piece)) {
            return Some(Arc::clone(coloured));
        }
        let coloured = Arc::new(Coloured::new(text, piece, language));
        let mut made = guard(&self.made);
        made.add(coloured.size());
        made.colours.insert((key, piece), Arc::clone(&coloured));
        Some(coloured)
    }
}

impl Made {
    fn add(&mut self, bytes: usize) {
        if self.bytes + bytes > MADE_BYTES_MAX {
            *self = Self::default();
        }
        self.bytes += bytes;
    }
}

/// The newer texts of all files, read as they are needed.
struct Whole<'a>(&'a Prepared);

impl Texts for Whole<'_> {
    fn count(&self, file: usize) -> Option<u32> {
        self.0.text(file, Side::New).filter(|text| text.is_whole()).map(|text| text.count() as u32)
    }

    fn line(&self, file: usize, number: u32) -> Option<Cow<'_, str>> {
        let text = self.0.text(file, Side::New)?;
        Some(text.line(text.index(number)?).to_owned().into())
    }
}

/// The texts and colours of a window.
#[derive(Default)]
struct Shown {
    texts: HashMap<Key, Arc<Text>>,
    colours: HashMap<(Key, usize), Arc<Coloured>>,
}

impl Shown {
    fn of(prepared: &Prepared, view: &View, window: Window) -> Self {
        let mut shown = Self::default();
        for at in view.range(window) {
            let (row, file) = (&view.rows()[at], view.file_of(at));
            if !row.kind.is_code() {
                continue;
            }
            for (side, number) in [(Side::Old, row.old), (Side::New, row.new)] {
                let key = (file, side == Side::Old);
                // The older side of an unchanged line is not shown.
                if number == 0 || (side == Side::Old && !row.kind.is_change()) {
                    continue;
                }
                let text = match shown.texts.get(&key) {
                    Some(text) => Arc::clone(text),
                    None => {
                        let Some(text) = prepared.text(file, side) else { continue };
                        shown.texts.insert(key, Arc::clone(&text));
                        text
                    }
                };
                let Some(index) = text.index(number) else { continue };
                let piece = piece_of(&text, index);
                if !shown.colours.contains_key(&(key, piece))
                    && let Some(coloured) = prepared.coloured(key, &text, piece)
                {
                    shown.colours.insert((key, piece), coloured);
                }
            }
        }
        shown
    }
}

impl Texts for Shown {
    fn count(&self, file: usize) -> Option<u32> {
        self.texts.get(&(file, false)).map(|text| text.count() as u32)
    }

    fn line(&self, file: usize, number: u32) -> Option<Cow<'_, str>> {
        let text = self.texts.get(&(file, false))?;
        Some(text.line(text.index(number)?).into())
    }
}

impl Colours for Shown {
    fn line(&self, file: usize, side: Side, number: u32) -> &[Colour] {
        let key = (file, side == Side::Old);
        let coloured = self.texts.get(&key).and_then(|text| {
            let index = text.index(number)?;
            Some(self.colours.get(&(key, piece_of(text, index)))?.line(index))
        });
        coloured.unwrap_or_default()
    }
}
