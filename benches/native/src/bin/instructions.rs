//! Runs decisions and nothing else, for an instruction counter to watch: `instructions CASE N`.
//!
//! Two runs that differ only in `N` differ by exactly the decisions' instructions.

use std::hint::black_box;

use tidegate::limiter::{Algorithm, Settings};
use tidegate::{Engine, Options, Positive, Session};
use tidegate_benches::{Walk, keys};

const NOW: u64 = 1_764_547_200_000;
const KEYS: usize = 2_000;
const CASES: [&str; 6] = ["gcra", "gcra-one-key", "gcra-refused", "sliding", "fixed", "gcra-resp"];
/// Commands in one feed of `gcra-resp`.
const PIPELINE: u64 = 16;

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
    if case == "gcra-resp" {
        return pipelines(&mut engine, &keys, count);
    }
    for tick in 0..count {
        decide(NOW + tick / 1000, keys[walk.step()].as_bytes());
    }
}

/// `GCRA.LIMIT` through a session, 16 commands a feed.
fn pipelines(engine: &mut Engine, keys: &[String], count: u64) {
    let mut walk = Walk::new(keys.len());
    let mut session = Session::new(1);
    let mut pieces = Vec::new();
    for _ in 0..64 {
        let mut bytes = Vec::new();
        for _ in 0..PIPELINE {
            let key = &keys[walk.step()];
            let command =
                format!("*4\r\n$10\r\nGCRA.LIMIT\r\n${}\r\n{key}\r\n$5\r\n60000\r\n$7\r\n1000000\r\n", key.len());
            bytes.extend(command.into_bytes());
        }
        pieces.push(bytes);
    }
    let mut replies = Vec::with_capacity(1 << 12);
    for (tick, piece) in (0..count / PIPELINE).zip(pieces.iter().cycle()) {
        replies.clear();
        session.feed(engine, NOW + tick, piece, &mut replies);
        black_box(&replies);
    }
}

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("a positive integer")
}
