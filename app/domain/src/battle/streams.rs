//! Where what was said for a battle stands.

use super::Battle;
use crate::{
    Rejected,
    feed::StreamId,
    id::{ContestantId, TaskId},
};

impl Battle {
    /// The attempt that counts of a task. None where nobody has begun.
    pub fn stream_of(&self, task: TaskId) -> Option<StreamId> {
        let attempt = self.tasks.get(&task)?.attempts().last()?.0;
        Some(StreamId { task, attempt })
    }

    /// The attempt that counts of one of a contestant's tries, of the newest where none is named.
    pub fn stream_of_try(&self, id: ContestantId, of: Option<TaskId>) -> Result<Option<StreamId>, Rejected> {
        let tries = &self.contestant(id)?.tries;
        let task = match of {
            Some(task) if tries.contains(&task) => Some(task),
            Some(_) => return Err(Rejected::missing("try of this contestant")),
            None => tries.last().copied(),
        };
        Ok(task.and_then(|task| self.stream_of(task)))
    }

    /// The streams of contestants and cross-examinations, each with its final length once that is known. Those of
    /// earlier tries are fetched when somebody looks at them.
    pub fn visible_streams(&self) -> Vec<(StreamId, Option<u64>)> {
        let newest = self.contestants.iter().filter_map(|contestant| contestant.tries.last());
        let asked = self.examinations.iter().map(|examination| &examination.task);
        let tasks = newest.chain(asked).filter_map(|task| self.tasks.get(task));
        tasks
            .flat_map(|task| {
                let stream = |(attempt, len)| (StreamId { task: task.id, attempt }, len);
                task.attempts().into_iter().map(stream)
            })
            .collect()
    }
}
