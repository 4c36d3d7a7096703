//! The files of a diff as a tree of folders.

use super::Outline;

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub depth: u16,
    /// What is shown of it: folders that hold nothing but one folder are named together.
    pub name: String,
    /// The number of the file; folders have none.
    pub file: Option<u32>,
    /// Of a folder, by which it is folded.
    pub path: String,
}

/// As it is shown while these folders are folded.
pub fn entries(outline: &Outline, folded: &[String]) -> Vec<Entry> {
    let mut files: Vec<(&str, u32)> = outline.files.iter().map(|file| file.path.as_str()).zip(0..).collect();
    files.sort_by_key(|(path, _)| *path);
    let mut entries = Vec::new();
    add(&files, "", 0, folded, &mut entries);
    entries
}

/// All files whose paths begin with `prefix`, in order.
fn add(files: &[(&str, u32)], prefix: &str, depth: u16, folded: &[String], entries: &mut Vec<Entry>) {
    let mut rest = files;
    let mut own = Vec::new();
    while let Some((path, file)) = rest.first() {
        let below = &path[prefix.len()..];
        let Some(end) = below.find('/') else {
            own.push(Entry { depth, name: below.to_owned(), file: Some(*file), path: (*path).to_owned() });
            rest = &rest[1..];
            continue;
        };
        let mut folder = &path[..prefix.len() + end + 1];
        let count = rest.iter().take_while(|(path, _)| path.starts_with(folder)).count();
        let (inside, after) = rest.split_at(count);
        // As long as all of it is in one folder.
        while let Some(next) = path[folder.len()..].find('/') {
            let deeper = &path[..folder.len() + next + 1];
            if !inside.iter().all(|(path, _)| path.starts_with(deeper)) {
                break;
            }
            folder = deeper;
        }
        let name = folder[prefix.len()..folder.len() - 1].to_owned();
        entries.push(Entry { depth, name, file: None, path: folder.to_owned() });
        if !folded.iter().any(|name| name == folder) {
            add(inside, folder, depth + 1, folded, entries);
        }
        rest = after;
    }
    entries.append(&mut own);
}
