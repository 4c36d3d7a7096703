//! Ids for what a decision makes. How many that are is known only when it is made.

use uuid::Uuid;

use crate::id::TaskId;

/// Ids in a row, beginning with one that was made where randomness lives, for one decision alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fresh(Uuid);

impl Fresh {
    pub fn new(first: Uuid) -> Self {
        Self(first)
    }

    pub fn task(&mut self) -> TaskId {
        TaskId(self.next())
    }

    /// Something that nobody who wrote before could know.
    pub fn seed(&mut self) -> u64 {
        let bits = self.next().as_u128();
        (bits ^ (bits >> 64)) as u64
    }

    fn next(&mut self) -> Uuid {
        let now = self.0;
        self.0 = Uuid::from_u128(now.as_u128().wrapping_add(1));
        now
    }
}
