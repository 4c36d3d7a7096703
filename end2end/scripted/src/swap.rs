//! One model at a time, as llama-swap keeps them. Pure: the shell around it tells when a load or a stop is over.

use std::collections::VecDeque;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Empty,
    Starting(String),
    Ready(String),
    Stopping(String),
}

/// Work that takes time and ends with `settled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Load,
    Stop,
}

pub type Ticket = u64;

#[derive(Debug, Default)]
pub struct Swap {
    phase: Phase,
    in_flight: usize,
    queue: VecDeque<(Ticket, String)>,
    next_ticket: Ticket,
    unload: bool,
}

impl Swap {
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    pub fn join(&mut self, model: &str) -> Ticket {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.queue.push_back((ticket, model.to_owned()));
        ticket
    }

    pub fn leave(&mut self, ticket: Ticket) {
        self.queue.retain(|(queued, _)| *queued != ticket);
    }

    /// Lets a request in once its model is ready, past earlier ones that wait for another model.
    pub fn enter(&mut self, ticket: Ticket) -> bool {
        let Phase::Ready(loaded) = &self.phase else {
            return false;
        };
        let entered = self.queue.iter().any(|(queued, model)| *queued == ticket && model == loaded);
        if entered {
            self.leave(ticket);
            self.in_flight += 1;
        }
        entered
    }

    pub fn exit(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Asks for the model to go once nothing uses it.
    pub fn unload(&mut self) {
        self.unload = matches!(self.phase, Phase::Ready(_) | Phase::Starting(_));
    }

    /// What must be done next, if anything. A swap waits for every request in flight.
    pub fn turn(&mut self) -> Option<Work> {
        match &self.phase {
            Phase::Empty => {
                let (_, model) = self.queue.front()?;
                self.phase = Phase::Starting(model.clone());
                Some(Work::Load)
            }
            Phase::Ready(loaded) => {
                let wanted = self.queue.iter().any(|(_, model)| model == loaded);
                if self.in_flight > 0 || wanted || (self.queue.is_empty() && !self.unload) {
                    return None;
                }
                self.unload = false;
                self.phase = Phase::Stopping(loaded.clone());
                Some(Work::Stop)
            }
            Phase::Starting(_) | Phase::Stopping(_) => None,
        }
    }

    pub fn settled(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Starting(model) => Phase::Ready(model),
            Phase::Stopping(_) => Phase::Empty,
            other => other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps: `a+` joins for model a, `a?` enters if it may, `exit`, `settle`, `unload`, and `x-` leaves the queue.
    /// The outcome lists what each turn began and who got in.
    fn check(steps: &str, expected: &str) {
        let mut swap = Swap::default();
        let mut tickets: Vec<(String, Ticket)> = Vec::new();
        let mut seen = Vec::new();
        for step in steps.split(' ') {
            let name = step.trim_end_matches(['+', '?', '-']).to_owned();
            let ticket = tickets.iter().find(|(known, _)| *known == name).map(|(_, ticket)| *ticket);
            match (step, step.chars().last(), ticket) {
                ("exit", ..) => swap.exit(),
                ("settle", ..) => swap.settled(),
                ("unload", ..) => swap.unload(),
                (_, Some('+'), _) => tickets.push((name.clone(), swap.join(&name[..1]))),
                (_, Some('?'), Some(ticket)) if swap.enter(ticket) => seen.push(format!("{name} in")),
                (_, Some('?'), _) => seen.push(format!("{name} waits")),
                (_, Some('-'), Some(ticket)) => swap.leave(ticket),
                other => panic!("{other:?}"),
            }
            if let Some(work) = swap.turn() {
                seen.push(format!("{work:?}"));
            }
        }
        assert_eq!(seen.join(", "), expected, "{steps}");
    }

    #[test]
    fn loads_before_it_lets_in() {
        check("a1+ a1? settle a1?", "Load, a1 waits, a1 in");
    }

    #[test]
    fn the_loaded_model_overtakes() {
        check("a1+ settle a1? b1+ a2+ a2? b1?", "Load, a1 in, a2 in, b1 waits");
    }

    #[test]
    fn a_swap_waits_for_requests_in_flight() {
        check("a1+ settle a1? b1+ b1? exit settle settle b1?", "Load, a1 in, b1 waits, Stop, Load, b1 in");
    }

    #[test]
    fn who_left_the_queue_is_not_loaded_for() {
        check("a1+ settle a1? b1+ b1- exit c1+", "Load, a1 in, Stop");
        check("a1+ settle a1? b1+ b1- exit", "Load, a1 in");
    }

    #[test]
    fn unload_waits_too() {
        check("a1+ settle a1? unload exit settle", "Load, a1 in, Stop");
    }
}
