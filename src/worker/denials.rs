//! Refusals that are still true: the same ask, or a dearer one, is refused here without asking the object again. What
//! anybody else resets is noticed when the entry is over.

use std::format;
use std::string::String;
use std::vec::Vec;

use super::route::Words;
use crate::Positive;
use crate::sorted_map::SortedMap;

/// The most refusals that are remembered.
const MOST: usize = 1000;

/// Commands that end no refusal: they leave every key as it is, or are about no key, or can only spend more.
const KEEPS: [&[u8]; 12] = [
    b"GET",
    b"TYPE",
    b"TTL",
    b"PTTL",
    b"EXISTS",
    b"PING",
    b"ECHO",
    b"TIME",
    b"INFO",
    b"COMMAND",
    b"RATELIMIT.CHECK",
    b"GCRA.LIMIT",
];

/// A refusal by `GCRA.LIMIT`.
#[derive(Clone, Copy, Debug)]
struct Denial {
    period: u64,
    burst: u64,
    count: u64,
    /// When it was asked, before it was answered: a promise kept from then on is kept soon enough.
    at: u64,
    until: u64,
    remaining: u64,
    retry: u64,
    reset: u64,
}

/// What a `GCRA.LIMIT` asks.
struct Ask<'a> {
    key: &'a [u8],
    period: u64,
    burst: u64,
    count: u64,
}

impl<'a> Ask<'a> {
    fn of(command: &'a Words) -> Option<Self> {
        let [name, key, period, burst, count @ ..] = command.as_slice() else { return None };
        let number = |text: &Vec<u8>| Positive::parse(text).map(Positive::get);
        let count = match count {
            [] => 1,
            [count] => number(count)?,
            _ => return None,
        };
        let named = name.eq_ignore_ascii_case(b"GCRA.LIMIT");
        named.then_some(Self { key, period: number(period)?, burst: number(burst)?, count })
    }
}

/// The refusals that an isolate knows.
#[derive(Default)]
pub struct Denials {
    known: SortedMap<Denial>,
    /// Counted up by whatever may end a refusal; an answer that was asked for before is not remembered.
    epoch: u64,
}

impl Denials {
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The refusal of `command` that is known, as its reply.
    pub fn answer(&mut self, command: &Words, now: u64) -> Option<Vec<u8>> {
        let Some(Ask { key, period, burst, count }) = Ask::of(command) else {
            self.forget(command);
            return None;
        };
        let known = *self.known.get(key)?;
        if (known.period, known.burst) != (period, burst) || count < known.count {
            return None;
        }
        if now < known.at || now >= known.until {
            self.known.remove(key);
            return None;
        }
        let wide = u128::from;
        let passed = now.saturating_sub(known.at);
        let reset = known.reset.saturating_sub(passed);
        // A dearer ask waits for the more that it wants; of a fraction of a millisecond, a whole one.
        let more = wide(count.saturating_sub(known.count)).saturating_mul(wide(period)).div_ceil(wide(burst).max(1));
        let wait = wide(known.retry.saturating_sub(passed)).saturating_add(more);
        let retry = if count > burst { String::from("-1") } else { format!("{wait}") };
        let refilled = wide(period.saturating_sub(reset)).saturating_mul(wide(burst)).checked_div(wide(period));
        let remaining = wide(known.remaining).max(refilled.unwrap_or(0)).min(wide(known.count.saturating_sub(1)));
        Some(format!("*5\r\n:1\r\n:{burst}\r\n:{remaining}\r\n:{retry}\r\n:{reset}\r\n").into_bytes())
    }

    /// Remembers `reply` for `most` milliseconds at most when it is a refusal; the command was asked at `at`, in `epoch`.
    pub fn note(&mut self, command: &Words, reply: &[u8], at: u64, epoch: u64, most: u64) {
        if epoch != self.epoch || most == 0 {
            return;
        }
        let (Some(Ask { key, period, burst, count }), Some([1, _, remaining, retry, reset])) =
            (Ask::of(command), integers(reply))
        else {
            return;
        };
        let (Ok(remaining), Ok(retry), Ok(reset)) = (remaining.try_into(), u64::try_from(retry), reset.try_into())
        else {
            return;
        };
        let until = at.saturating_add(retry.min(most));
        self.known.insert(key, Denial { period, burst, count, at, until, remaining, retry, reset });
        if self.known.len() > MOST {
            self.known.retain(|denial| denial.until > at);
            if self.known.len() > MOST {
                self.known = SortedMap::default();
            }
        }
    }

    /// Whatever else is done to a key may end its refusal.
    fn forget(&mut self, command: &Words) {
        let Some((name, keys)) = command.split_first() else { return };
        if KEEPS.iter().any(|keeps| keeps.eq_ignore_ascii_case(name)) {
            return;
        }
        self.epoch = self.epoch.wrapping_add(1);
        for key in keys {
            self.known.remove(key);
        }
    }
}

/// The five integers of a decision.
fn integers(reply: &[u8]) -> Option<[i64; 5]> {
    let text = str::from_utf8(reply.strip_prefix(b"*5\r\n")?).ok()?;
    let mut numbers = [0; 5];
    let mut lines = text.split_terminator("\r\n");
    for number in &mut numbers {
        *number = lines.next()?.strip_prefix(':')?.parse().ok()?;
    }
    Some(numbers)
}
