//! What stays and what changes in a hunk.

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::diff::{
    Kind, LineId,
    patch::{Hunk, Patch},
};

#[derive(Debug, PartialEq, Eq)]
pub enum Segment {
    /// One line, as it is on both sides. They are two lines of the patch where only whitespace differs.
    Same(LineId, LineId),
    Changed {
        removed: Vec<LineId>,
        added: Vec<LineId>,
    },
}

pub fn segments(patch: &Patch, hunk: &Hunk, ignores_whitespace: bool) -> Vec<Segment> {
    let mut segments = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let end = |removed: &mut Vec<LineId>, added: &mut Vec<LineId>, segments: &mut Vec<Segment>| {
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let block = (std::mem::take(removed), std::mem::take(added));
        match ignores_whitespace {
            true => without_whitespace(patch, block.0, block.1, segments),
            false => segments.push(Segment::Changed { removed: block.0, added: block.1 }),
        }
    };
    for (line, kind) in patch.lines(hunk) {
        match kind {
            Kind::Removed => {
                if !added.is_empty() {
                    end(&mut removed, &mut added, &mut segments);
                }
                removed.push(line);
            }
            Kind::Added => added.push(line),
            _ => {
                end(&mut removed, &mut added, &mut segments);
                segments.push(Segment::Same(line, line));
            }
        }
    }
    end(&mut removed, &mut added, &mut segments);
    segments
}

/// Compares the lines of a change again, without their blanks.
fn without_whitespace(patch: &Patch, removed: Vec<LineId>, added: Vec<LineId>, segments: &mut Vec<Segment>) {
    let bare = |line: &LineId| patch.text(*line).split_whitespace().collect::<String>();
    let mut input = InternedInput::default();
    input.update_before(removed.iter().map(bare));
    input.update_after(added.iter().map(bare));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let (mut old, mut new) = (0, 0);
    let same = |old: &mut usize, new: &mut usize, until: usize, segments: &mut Vec<Segment>| {
        while *old < until {
            segments.push(Segment::Same(removed[*old], added[*new]));
            *old += 1;
            *new += 1;
        }
    };
    for hunk in diff.hunks() {
        let (before, after) = (hunk.before, hunk.after);
        same(&mut old, &mut new, before.start as usize, segments);
        (old, new) = (before.end as usize, after.end as usize);
        segments.push(Segment::Changed {
            removed: removed[before.start as usize..old].to_vec(),
            added: added[after.start as usize..new].to_vec(),
        });
    }
    same(&mut old, &mut new, removed.len(), segments);
}
