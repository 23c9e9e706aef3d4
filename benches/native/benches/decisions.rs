//! Decisions of the core beside governor and ratelimit, in one run: every subject takes its turn in each round.
//! `cargo bench -p tidegate-benches` prints medians; with `-- --json` every round's value, with `-- --rules` no peers.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use tidegate::Positive;
use tidegate::algorithm::Schedule;
use tidegate_benches::{Case, NOW, Walk, keys};

const ROUNDS: usize = 11;
const BURST: u32 = 1_000_000;

/// Makes that many decisions.
type Turn<'a> = Box<dyn FnMut(u64) + 'a>;

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let mut results = BTreeMap::new();
    if std::env::args().any(|argument| argument == "--by-keys") {
        by_keys(&mut results);
        return print_json(&results);
    }
    let sizes: &[usize] =
        if std::env::args().any(|argument| argument == "--rules") { &[] } else { &[1, 10_000, 1_000_000] };
    for &size in sizes {
        eprintln!("  {size} keys");
        let keys = keys(size);
        measure(&mut results, beside_peers(&keys));
    }
    let keys = keys(10_000);
    eprintln!("  rules");
    measure(&mut results, rules(&keys));
    if json {
        print_json(&results);
    } else {
        for (name, values) in &results {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            println!("{name:45} {:8.1} ns ({:.1} to {:.1})", sorted[ROUNDS / 2], sorted[0], sorted[ROUNDS - 1]);
        }
    }
}

/// What this thread had of a processor so far, as Linux's scheduler counts it: what else the machine does counts for nobody.
fn processor_time() -> Duration {
    // The count is of the last time the scheduler looked.
    std::thread::yield_now();
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux's count");
    Duration::from_nanos(counted.split(' ').next().and_then(|text| text.parse().ok()).expect("nanoseconds"))
}

/// The core alone, with ever more keys.
fn by_keys(results: &mut BTreeMap<String, Vec<f64>>) {
    let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let all: Vec<Vec<String>> = sizes.into_iter().map(keys).collect();
    let turns = all.iter().map(|keys| (keys.len().to_string(), turn(&case("gcra", keys.len(), BURST.into()), keys)));
    measure(results, turns.collect());
}

/// Rounds of turns; nanoseconds a decision by name.
fn measure(results: &mut BTreeMap<String, Vec<f64>>, mut turns: Vec<(String, Turn<'_>)>) {
    let decisions = 200_000_u32;
    for round in 0..=ROUNDS {
        for (name, turn) in &mut turns {
            let before = processor_time();
            turn(decisions.into());
            let each = processor_time().saturating_sub(before).as_secs_f64() * 1e9 / f64::from(decisions);
            // The first round warms up.
            if round > 0 {
                results.entry(name.clone()).or_default().push(each);
            }
        }
    }
}

/// The core and its peers, all given the time where the peer can be.
fn beside_peers(keys: &[String]) -> Vec<(String, Turn<'_>)> {
    let size = keys.len();
    let quota = Quota::with_period(Duration::from_micros(60)).unwrap().allow_burst(NonZeroU32::new(BURST).unwrap());

    let clock = FakeRelativeClock::default();
    let given = RateLimiter::hashmap_with_clock(quota, clock.clone());
    let reading = RateLimiter::hashmap(quota);
    for key in keys {
        given.check_key(key).unwrap();
        reading.check_key(key).unwrap();
    }
    let ratelimit: std::collections::HashMap<&str, ratelimit::Ratelimiter> = keys
        .iter()
        .map(|key| {
            let limiter = ratelimit::Ratelimiter::builder(16_666).max_tokens(BURST.into()).build().unwrap();
            (key.as_str(), limiter)
        })
        .collect();
    let [mut first, mut second, mut third] = [(); 3].map(|()| Walk::new(size));
    let mut turns = vec![
        (format!("tidegate, {size} keys"), turn(&case("gcra", size, BURST.into()), keys)),
        (
            format!("governor, {size} keys"),
            Box::new(move |count: u64| {
                for tick in 0..count {
                    if tick.is_multiple_of(1000) {
                        clock.advance(Duration::from_millis(1));
                    }
                    let _ = black_box(given.check_key(black_box(&keys[first.step()])));
                }
            }) as Turn<'_>,
        ),
        (
            format!("governor reading the clock, {size} keys"),
            Box::new(move |count: u64| {
                for _ in 0..count {
                    let _ = black_box(reading.check_key(black_box(&keys[second.step()])));
                }
            }),
        ),
        (
            format!("ratelimit in a map, {size} keys"),
            Box::new(move |count: u64| {
                for _ in 0..count {
                    let _ = black_box(ratelimit[black_box(keys[third.step()].as_str())].try_wait());
                }
            }),
        ),
    ];
    if size == 1 {
        // One state and no table: what the rules alone take.
        let clock = FakeRelativeClock::default();
        let direct = RateLimiter::direct_with_clock(quota, clock.clone());
        let schedule = Schedule::per_period(Positive::new(60_000).unwrap(), Positive::new(BURST.into()).unwrap());
        let mut tat = None;
        turns.push((
            "tidegate without a key".to_string(),
            Box::new(move |count: u64| {
                for tick in 0..count {
                    let now = black_box(NOW + tick / 1_000);
                    let outcome = schedule.outcome(tat, now, Positive::ONE);
                    tat = schedule.tat(&outcome, now).or(tat);
                    black_box(outcome.allowed());
                }
            }),
        ));
        turns.push((
            "governor without a key".to_string(),
            Box::new(move |count: u64| {
                for tick in 0..count {
                    if tick.is_multiple_of(1000) {
                        clock.advance(Duration::from_millis(1));
                    }
                    let _ = black_box(direct.check());
                }
            }),
        ));
    }
    turns
}

/// The rules beside each other.
fn rules(keys: &[String]) -> Vec<(String, Turn<'_>)> {
    let mut turns = vec![("one GCRA".to_string(), turn(&case("gcra", keys.len(), BURST.into()), keys))];
    for algorithm in ["fixed_window", "sliding_window", "token_bucket"] {
        for limit in [10, 1_000, 1_000_000] {
            let case = Case { every: 100, ..case(&format!("limiter:{algorithm}"), keys.len(), limit) };
            turns.push((format!("{algorithm}, limit {limit}"), turn(&case, keys)));
        }
    }
    for rules in [1, 4] {
        let case = Case { rules, ..case("policy", keys.len(), BURST.into()) };
        turns.push((format!("policy of {rules}"), turn(&case, keys)));
    }
    turns
}

fn case(decider: &str, keys: usize, limit: u64) -> Case {
    let settings = [decider.to_string(), format!("keys={keys}"), format!("limit={limit}")];
    Case::parse(&settings).unwrap()
}

fn turn<'a>(case: &Case, keys: &'a [String]) -> Turn<'a> {
    let mut decide = case.ready(keys);
    let every = case.every;
    let mut walk = Walk::new(keys.len());
    let mut now = 0;
    Box::new(move |count| {
        for _ in 0..count {
            now += every;
            black_box(decide(NOW + now / 1_000, keys[walk.step()].as_bytes(), Positive::ONE));
        }
    })
}

fn print_json(results: &BTreeMap<String, Vec<f64>>) {
    let lines: Vec<String> =
        results.iter().map(|(name, values)| format!("{name:?}: {{ \"ns\": {values:?} }}")).collect();
    println!("{{ {} }}", lines.join(",\n"));
}
