//! Runs decisions and nothing else, for an instruction counter to watch: `instructions CASE N`.
//!
//! Two runs that differ only in `N` differ by exactly the decisions' instructions.

use std::hint::black_box;

use tidegate::limiter::{Algorithm, Settings};
use tidegate::{Engine, Options, Positive};
use tidegate_benches::{Walk, keys};

const NOW: u64 = 1_764_547_200_000;
const KEYS: usize = 2_000;
const CASES: [&str; 5] = ["gcra", "gcra-one-key", "gcra-refused", "sliding", "fixed"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_default();
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    if !CASES.contains(&case.as_str()) {
        eprintln!("usage: instructions CASE N; cases: {}", CASES.join(", "));
        std::process::exit(2);
    }
    let keys = keys(if case == "gcra-one-key" { 1 } else { KEYS });
    let mut walk = Walk::new(keys.len());
    let mut engine = Engine::new(&Options::default());
    for (name, algorithm) in [("sliding", Algorithm::SlidingWindow), ("fixed", Algorithm::FixedWindow)] {
        let settings = Settings { algorithm, limit: positive(100), window: positive(60_000), rate: None };
        engine.rate_limit_create(NOW, name.as_bytes(), settings).expect("a new limiter");
    }
    let (period, burst) = match case.as_str() {
        "gcra-refused" => (positive(86_400_000), Positive::ONE),
        _ => (positive(60_000), positive(1_000_000)),
    };
    let mut decide = |now: u64, key: &[u8]| {
        let decided = if case.starts_with("gcra") {
            engine.gcra_limit(now, key, period, burst, Positive::ONE).is_ok()
        } else {
            engine.rate_limit_check(now, case.as_bytes(), key, Positive::ONE).is_ok()
        };
        assert!(black_box(decided), "{case}");
    };
    // Every key is there before the count starts.
    for key in &keys {
        decide(NOW, key.as_bytes());
    }
    for tick in 0..count {
        decide(NOW + tick / 1000, keys[walk.step()].as_bytes());
    }
}

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("a positive integer")
}
