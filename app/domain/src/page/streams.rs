//! Which texts a page begins with, where not all of them have room.

use std::cmp::Reverse;

use super::{Page, Wanted};
use crate::{feed::StreamId, layout::Content};

/// How much text a snapshot carries. What has no room in it comes through the feed.
pub const SNAPSHOT_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Page {
    /// The streams that it shows: what is in front before what is kept, and the newest of both first.
    pub fn streams_by_worth(&self, wanted: Wanted) -> Vec<StreamId> {
        let Some(open) = &self.session else { return Vec::new() };
        let in_front: Vec<_> = open.layout.visible().into_iter().chain(wanted.content()).collect();
        let chats = open
            .chats
            .iter()
            .map(|(id, chat)| (in_front.contains(&Content::Chat(*id)), chat.visible_streams()));
        let battles = open
            .battles
            .iter()
            .map(|(id, battle)| (in_front.contains(&Content::Battle(*id)), battle.visible_streams()));
        // Of a run, agents that are at work.
        let runs = open.runs.values().map(|run| (true, run.growing_streams()));
        let all = chats.chain(battles).chain(runs);
        let mut streams: Vec<_> = all
            .flat_map(|(is_in_front, streams)| streams.into_iter().map(move |(id, _)| (is_in_front, id)))
            .collect();
        // The ids of tasks grow with time.
        streams.sort_by_key(|stream| Reverse(*stream));
        streams.into_iter().map(|(_, id)| id).collect()
    }
}
