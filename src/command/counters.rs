//! How many commands there were, by what they asked and how it ended.

use super::table::Kind;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, or its request admitted.
    Allowed,
    /// Its request was refused.
    Denied,
    /// It was wrong, or could not be done.
    Error,
}

const OUTCOMES: [&str; 3] = ["allowed", "denied", "error"];
const FAMILIES: [&str; 5] = ["gcra.limit", "ratelimit.check", "cl.throttle", "valve.admit", "other"];

/// Commands since the engine was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters([[u64; 3]; 5]);

impl Counters {
    /// Counts one command.
    pub(super) fn count(&mut self, kind: Kind, outcome: Outcome) {
        let family = match kind {
            Kind::GcraLimit => 0,
            Kind::LimiterCheck => 1,
            Kind::Throttle => 2,
            Kind::Admit => 3,
            _ => 4,
        };
        if let Some(count) = self.0.get_mut(family).and_then(|counts| counts.get_mut(outcome as usize)) {
            *count = count.wrapping_add(1);
        }
    }

    /// How many there were, in the order of [`Counters::iter`].
    pub(crate) const fn counts(&self) -> &[u64] {
        self.0.as_flattened()
    }

    /// Each command or kind of command, outcome, and how many there were.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let counts = FAMILIES.into_iter().zip(self.0);
        counts.flat_map(|(family, counts)| {
            OUTCOMES.into_iter().zip(counts).map(move |(outcome, count)| (family, outcome, count))
        })
    }
}
