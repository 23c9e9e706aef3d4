//! As `instructions`, with governor's decisions in place of ours: `governor N KEYS`, given the time, and hashing as it does.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use tidegate_benches::{Walk, keys};

fn main() {
    let mut arguments =
        std::env::args().skip(1).map(|text| text.parse::<usize>().expect("N and KEYS are whole numbers"));
    let count = arguments.next().expect("N");
    let keys = keys(arguments.next().expect("KEYS"));
    let burst = NonZeroU32::new(1_000_000).expect("not 0");
    let quota = Quota::with_period(Duration::from_micros(60)).expect("a rate").allow_burst(burst);
    let clock = FakeRelativeClock::default();
    let limiter = RateLimiter::hashmap_with_clock(quota, clock.clone());
    let mut admitted = 0;
    for key in &keys {
        admitted += u64::from(limiter.check_key(key).is_ok());
    }
    let mut walk = Walk::new(keys.len());
    for tick in 0..count {
        if tick % 1_000 == 0 {
            clock.advance(Duration::from_millis(1));
        }
        admitted += u64::from(limiter.check_key(black_box(&keys[walk.step()])).is_ok());
    }
    println!("{admitted} admitted");
}
