//! From which number each agent counts its findings.

use std::collections::BTreeMap;

use super::{Role, Step};
use crate::flow::method::Method;

/// An agent with more findings than this would run into the next one's numbers.
const RANGE: u32 = 100;

/// How many ranges each letter has given away.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    taken: BTreeMap<&'static str, u32>,
    gates: u32,
}

impl Numbers {
    /// After what `steps` have taken already.
    pub(super) fn of(method: &Method, steps: &[Step]) -> Self {
        let mut numbers = Self::default();
        if let Some(items) = &method.items {
            numbers.taken.insert(items.letters, 1);
        }
        for agent in
            steps.iter().filter(|step| step.skip.is_none() && !step.is_gate()).filter_map(Step::agent)
        {
            numbers.next(agent.role);
        }
        numbers
    }

    pub(super) fn next(&mut self, role: Role) -> u32 {
        // The gate's own items begin with V1, whoever else is a validator.
        let reserved = u32::from(role == Role::AdversarialValidator);
        let taken = self.taken.entry(role.letters()).or_insert(reserved);
        *taken += 1;
        (*taken - 1) * RANGE + 1
    }

    pub(super) fn next_gate(&mut self) -> u32 {
        self.gates += 1;
        (self.gates - 1) * RANGE + 1
    }
}
