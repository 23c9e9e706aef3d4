//! A radio that may send so much and no more, on a processor without an operating system: no `std`, an allocator only.
//!
//! ```sh
//! rustup target add thumbv7em-none-eabi
//! cargo build --package tidegate-embedded --target thumbv7em-none-eabi
//! ```
#![no_std]

use core::time::Duration;

use tidegate::{Engine, Error, Options, Positive};

/// The band's duty cycle: 1 % of the time, which is 36 s of every hour.
const AIRTIME_MS: Positive = Positive::new(36_000).unwrap();
const HOUR: Positive = Positive::from_duration(Duration::from_hours(1)).unwrap();

/// The airtime that is left in one band after another.
#[derive(Debug)]
pub struct Airtime {
    engine: Engine,
}

impl Airtime {
    /// Every band rested.
    pub fn new() -> Self {
        Self { engine: Engine::new(&Options { max_keys: 16, ..Options::default() }) }
    }

    /// Takes `ms` of `band`'s airtime; how long to keep silent first, which is nothing when they were taken.
    ///
    /// `now` is milliseconds by any clock that rises steadily, such as the ticks since the processor started.
    ///
    /// # Errors
    /// [`OutOfMemory`](tidegate::ErrorKind::OutOfMemory) when more than 16 bands are in use.
    pub fn take(&mut self, now: u64, band: u8, ms: Positive) -> Result<Option<Duration>, Error> {
        Ok(self.engine.gcra_limit(now, &[band], HOUR, AIRTIME_MS, ms)?.retry.wait())
    }
}

impl Default for Airtime {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_silent_until_its_airtime_is_back() {
        let mut airtime = Airtime::new();
        let half = Positive::new(18_000).unwrap();
        assert_eq!(airtime.take(0, 1, AIRTIME_MS), Ok(Some(Duration::ZERO)));
        assert_eq!(airtime.take(0, 1, half), Ok(Some(Duration::from_mins(30))));
        assert_eq!(airtime.take(0, 2, half), Ok(Some(Duration::ZERO)), "another band has its own");
        assert_eq!(airtime.take(1_799_999, 1, half), Ok(Some(Duration::from_millis(1))));
        assert_eq!(airtime.take(1_800_000, 1, half), Ok(Some(Duration::ZERO)));
    }
}
