//! Who goes next. Cloud contestants start at once, side by side; local ones strictly one at a time, in roster order:
//! two models on one machine would slow each other down, and both figures would be worth nothing.

use super::{Battle, Contestant, Standing};
use crate::catalogue::Lane;

/// How contestants in these lanes will run, in words.
pub fn course(lanes: &[Lane]) -> String {
    let count = |wanted: Lane| lanes.iter().filter(|lane| **lane == wanted).count();
    let name =
        |count: usize| if count == 1 { "1 contestant".to_owned() } else { format!("{count} contestants") };
    match (count(Lane::Local), count(Lane::Cloud)) {
        (0, 0) => String::new(),
        (0, cloud) => format!("{} in the cloud run at once.", name(cloud)),
        (local, 0) => format!("{} on local models run one after the other, in this order.", name(local)),
        (local, cloud) => format!(
            "{} on local models run one after the other, in this order; {} in the cloud meanwhile.",
            name(local),
            name(cloud)
        ),
    }
}

impl Battle {
    /// The contestants whose task is to be queued now.
    pub(super) fn due(&self) -> Vec<&Contestant> {
        if self.course.stopped.is_some() {
            return Vec::new();
        }
        let waits = |contestant: &&Contestant| self.waits_for_turn(contestant);
        let cloud = self.contestants.iter().filter(|contestant| contestant.lane == Lane::Cloud).filter(waits);
        cloud.chain(self.next_local()).collect()
    }

    /// The next in its lane, once the one before it is over.
    fn next_local(&self) -> Option<&Contestant> {
        let mut local = self.contestants.iter().filter(|contestant| contestant.lane == Lane::Local);
        let is_busy = local.clone().any(|contestant| contestant.is_under_way(self.task_of(contestant)));
        local.find(|contestant| !is_busy && self.waits_for_turn(contestant))
    }

    /// Whether it is to run and has no task for that yet.
    pub fn waits_for_turn(&self, contestant: &Contestant) -> bool {
        contestant.standing == Standing::Queued && !contestant.is_under_way(self.task_of(contestant))
    }

    /// Those that the contestant lets go first because of the roster's order, by letter.
    pub fn ahead_of(&self, contestant: &Contestant) -> Vec<char> {
        if contestant.lane == Lane::Cloud || !self.waits_for_turn(contestant) {
            return Vec::new();
        }
        let place = self.contestants.iter().position(|other| other.id == contestant.id).unwrap_or_default();
        let is_ahead = |(at, other): &(usize, &Contestant)| {
            other.lane == Lane::Local
                && !other.standing.is_over()
                && (*at < place || other.is_under_way(self.task_of(other)))
                && other.id != contestant.id
        };
        let ahead = self.contestants.iter().enumerate().filter(is_ahead);
        ahead.map(|(at, _)| super::letter(at)).collect()
    }

    pub(super) fn is_every_contestant_over(&self) -> bool {
        self.contestants.iter().all(|contestant| contestant.standing.is_over())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_they_will_run_is_said_before_they_do() {
        let check = |lanes: &str, expected: &str| {
            let lane = |word| if word == 'L' { Lane::Local } else { Lane::Cloud };
            assert_eq!(course(&lanes.chars().map(lane).collect::<Vec<_>>()), expected, "{lanes}");
        };
        check("", "");
        check("CC", "2 contestants in the cloud run at once.");
        check("LL", "2 contestants on local models run one after the other, in this order.");
        let both = "1 contestant on local models run one after the other, in this order; 1 contestant in the cloud \
                    meanwhile.";
        check("CL", both);
    }
}
