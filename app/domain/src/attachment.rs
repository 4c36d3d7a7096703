//! Files that go with a message: what may be one, how many, how large, and how a model is shown a text.

use serde::{Deserialize, Serialize};

use crate::{Rejected, fence, id::AttachmentId};

pub const COUNT_MAX: usize = 10;
pub const TEXT_BYTES_MAX: usize = 256 * KB;
pub const IMAGE_BYTES_MAX: usize = 5 * MB;
/// All files of one message.
pub const TOGETHER_BYTES_MAX: usize = 20 * MB;
pub const NAME_CHARS_MAX: usize = 200;

const KB: usize = 1024;
const MB: usize = 1024 * KB;

/// What is known of a file without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub id: AttachmentId,
    pub name: String,
    pub media: Media,
    pub bytes: u64,
    /// It came with an `@` in the text, and is read anew when the text is sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_mention: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Media {
    Text,
    Image { mime: ImageType },
}

/// The images that browsers show and models see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageType {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/webp")]
    Webp,
    #[serde(rename = "image/gif")]
    Gif,
}

/// A file that was mentioned and could not go along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub name: String,
    pub reason: String,
}

/// What comes with a text before it is a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enclosed {
    /// By hand: they go along, or nothing is sent.
    pub attached: Vec<Attachment>,
    /// By an `@` in the text: what cannot go along is left out, and that is said.
    pub mentioned: Vec<Attachment>,
    pub left_out: Vec<LeftOut>,
}

impl Enclosed {
    /// What goes along, and what does not.
    pub fn fit(self) -> Result<(Vec<Attachment>, Vec<LeftOut>), Rejected> {
        let Self { attached, mentioned, mut left_out } = self;
        let mut files: Vec<Attachment> = Vec::new();
        for file in attached {
            // A mention of an earlier version of the message is read anew, not taken over.
            if !file.is_mention && files.iter().all(|known| known.id != file.id) {
                files.push(file);
            }
        }
        check_together(&files)?;
        for file in mentioned {
            let name = file.name.clone();
            files.push(file);
            if let Err(rejected) = check_together(&files) {
                files.pop();
                left_out.push(LeftOut { name, reason: rejected.to_string() });
            }
        }
        Ok((files, left_out))
    }
}

impl ImageType {
    pub const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Webp, Self::Gif];

    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// By how the content begins. A name may say anything.
    fn of(content: &[u8]) -> Option<Self> {
        match content {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}

impl Media {
    /// How it is stored and sent.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Image { mime } => mime.mime(),
        }
    }

    pub fn from_mime(mime: &str) -> Option<Self> {
        let image = ImageType::ALL.into_iter().find(|image| image.mime() == mime);
        image.map(|mime| Self::Image { mime }).or((mime == Self::Text.mime()).then_some(Self::Text))
    }
}

/// What the content is, if it may be attached. `name` is for the words of a refusal.
pub fn inspect(name: &str, content: &[u8]) -> Result<Media, Rejected> {
    if let Some(mime) = ImageType::of(content) {
        check_size(name, "an image", content.len(), IMAGE_BYTES_MAX)?;
        return Ok(Media::Image { mime });
    }
    let is_text = std::str::from_utf8(content).is_ok_and(|text| !text.contains('\0'));
    if !is_text {
        return Err(Rejected::Invalid(format!(
            "{name} is neither a text in UTF-8 nor a PNG, JPEG, WebP or GIF image, so it cannot be attached."
        )));
    }
    if content.is_empty() {
        return Err(Rejected::Invalid(format!("{name} is empty.")));
    }
    check_size(name, "a text", content.len(), TEXT_BYTES_MAX)?;
    Ok(Media::Text)
}

/// What is clear before a file travels. `waiting` are the files that go along already.
pub fn check_arriving(name: &str, bytes: u64, waiting: usize) -> Result<(), Rejected> {
    if waiting >= COUNT_MAX {
        return Err(Rejected::Invalid(format!("{name} is one too many. {}", limits())));
    }
    if bytes > IMAGE_BYTES_MAX as u64 {
        return Err(Rejected::Invalid(format!("{name} is too large. {}", limits())));
    }
    Ok(())
}

/// The last part of what a browser calls a file, without what could hide or break a line.
pub fn name(text: &str) -> String {
    let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible: String = last.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(NAME_CHARS_MAX).collect();
    if short.is_empty() { "file".to_owned() } else { short }
}

/// The rules in one sentence, for whoever picks a file.
pub fn limits() -> String {
    format!(
        "Text up to {}; PNG, JPEG, WebP or GIF up to {}; at most {COUNT_MAX} files and {} together.",
        size(TEXT_BYTES_MAX),
        size(IMAGE_BYTES_MAX),
        size(TOGETHER_BYTES_MAX)
    )
}

/// A text file as a model is shown it: named, and in a fence that nothing inside can close.
pub fn fenced(name: &str, text: &str) -> String {
    format!("File {name}:\n{}", fence::code_block(text))
}

/// Whether so many and so large files may go with one message.
pub fn check_together(files: &[Attachment]) -> Result<(), Rejected> {
    if files.len() > COUNT_MAX {
        return Err(Rejected::Invalid(format!("At most {COUNT_MAX} files go with one message.")));
    }
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    if bytes > TOGETHER_BYTES_MAX as u64 {
        return Err(Rejected::Invalid(format!(
            "The files of one message have at most {} together.",
            size(TOGETHER_BYTES_MAX)
        )));
    }
    Ok(())
}

fn check_size(name: &str, what: &str, bytes: usize, max: usize) -> Result<(), Rejected> {
    if bytes > max {
        let max = size(max);
        return Err(Rejected::Invalid(format!("{name} is too large: {what} may have at most {max}.")));
    }
    Ok(())
}

fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(MB) { format!("{} MB", bytes / MB) } else { format!("{} KB", bytes / KB) }
}

/// Neither control characters nor those that turn the direction of a line or are not to be seen.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
