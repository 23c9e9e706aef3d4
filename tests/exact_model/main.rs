//! The engine against an independent model on exact fractions: random rules up to the largest numbers, random clocks that
//! step back, random commands.
#![allow(missing_docs, clippy::too_many_lines, reason = "a test")]

mod model;

use std::collections::BTreeMap;

use model::{Answer, Rule, States, admit, spacing_of_rate};
use num_rational::BigRational;
use proptest::prelude::*;
use tidegate::algorithm::Retry;
use tidegate::limiter::{Algorithm, Rate, Settings};
use tidegate::policy::{Admission, Job};
use tidegate::{Engine, MAX_INTEGER, Options, Positive};

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("an integer in range")
}

/// Numbers as people and attackers choose them: small, middling, round, and the largest.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1_u64..12,
        3 => 1_u64..5_000,
        2 => 1_u64..10_000_000,
        1 => prop::sample::select(vec![4096, 4097, 60_000, 86_400_000, 1 << 31, (1 << 32) + 1, 1 << 52, MAX_INTEGER - 1, MAX_INTEGER]),
        1 => 1..=MAX_INTEGER,
    ]
}

/// How far the clock moves before a step; backward now and then.
fn movement() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0_i64),
        6 => 1_i64..20,
        3 => 1_i64..100_000,
        1 => 1_i64..10_000_000_000,
        2 => -3_000_i64..0,
        1 => -10_000_000_000_i64..0,
    ]
}

fn moved(now: u64, by: i64) -> u64 {
    now.saturating_add_signed(by).min(MAX_INTEGER)
}

fn retry(answer: &Answer, now: i64) -> i64 {
    answer.retry.unwrap_or(now)
}

#[derive(Clone, Debug)]
enum Step {
    Gcra { key: u8, other_rule: bool, cost: u64 },
    Check { key: u8, cost: u64 },
    Peek { key: u8 },
    Reset { key: u8 },
    Delete { key: u8 },
    Count,
}

fn step() -> impl Strategy<Value = Step> {
    let cost = || prop_oneof![6 => Just(1_u64), 3 => 1_u64..8, 1 => number()];
    prop_oneof![
        6 => (0_u8..3, any::<bool>(), cost()).prop_map(|(key, other, cost)| Step::Gcra { key, other_rule: other && key == 0, cost }),
        8 => (0_u8..3, cost()).prop_map(|(key, cost)| Step::Check { key, cost }),
        2 => (0_u8..3).prop_map(|key| Step::Peek { key }),
        1 => (0_u8..3).prop_map(|key| Step::Reset { key }),
        1 => (0_u8..3).prop_map(|key| Step::Delete { key }),
        1 => Just(Step::Count),
    ]
}

/// An algorithm, its numbers, and a rate of so many digits with so many after the point.
fn settings() -> impl Strategy<Value = (Algorithm, u64, u64, Option<(u64, u32)>)> {
    let rate = prop::option::of((1_u64..999_999, 0_u32..=6));
    (prop::sample::select(Algorithm::ALL.to_vec()), number(), number(), rate)
}

fn rate_text(digits: u64, scale: u32) -> String {
    let text = format!("{digits:0width$}", width = scale as usize + 1);
    let (whole, fraction) = text.split_at(text.len() - scale as usize);
    if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn every_command_decides_as_the_model_does(
        (algorithm, limit, window, rate) in settings(),
        (period, burst, other_period, other_burst) in (number(), number(), number(), number()),
        start in prop_oneof![Just(1_764_547_200_000_u64), Just(0), 0..MAX_INTEGER / 2],
        steps in prop::collection::vec((movement(), step()), 1..60),
    ) {
        let rate = rate.filter(|_| matches!(algorithm, Algorithm::TokenBucket | Algorithm::LeakyBucket));
        let given = Settings {
            algorithm,
            limit: positive(limit),
            window: positive(window),
            rate: rate.map(|(digits, scale)| Rate::parse(rate_text(digits, scale).as_bytes()).expect("a rate")),
        };
        let spacing = match rate {
            Some((digits, scale)) => spacing_of_rate(digits, scale),
            None => BigRational::new(window.into(), limit.into()),
        };
        let rule = match algorithm {
            Algorithm::SlidingWindow => Rule::Sliding { limit, window },
            Algorithm::FixedWindow => Rule::Fixed { limit, interval: window },
            _ => Rule::Schedule { spacing: spacing.clone(), burst: limit },
        };
        let too_slow = matches!(rule, Rule::Schedule { .. })
            && spacing * BigRational::from_integer(limit.into()) > BigRational::from_integer(MAX_INTEGER.into());

        let mut engine = Engine::new(&Options { seed: [7, 11], ..Options::default() });
        let created = engine.rate_limit_create(start, b"l", given);
        prop_assert_eq!(created.is_err(), too_slow);
        prop_assume!(!too_slow);
        let (mut keys, mut limited) = (States::default(), States::default());
        let (mut allowed, mut denied) = (0_u64, 0_u64);
        let mut now = start;
        for (movement, step) in steps {
            now = moved(now, movement);
            keys.serve(now);
            limited.serve(now);
            match step {
                Step::Gcra { key, other_rule, cost } => {
                    let (period, burst) = if other_rule { (other_period, other_burst) } else { (period, burst) };
                    let name = [b'k', key];
                    let got = engine.gcra_limit(now, &name, positive(period), positive(burst), positive(cost)).expect("a decision");
                    let expected = keys.gcra(&name, period, burst, now, cost);
                    prop_assert_eq!(
                        (!got.denied, got.remaining.cast_signed(), got.retry.or(-1), got.reset_after.cast_signed()),
                        (expected.allowed, expected.remaining, retry(&expected, -1), expected.reset)
                    );
                }
                Step::Check { key, cost } => {
                    let got = engine.rate_limit_check(now, b"l", &[key], positive(cost)).expect("a decision");
                    let expected = limited.check(&[key], &rule, now, cost);
                    *(if expected.allowed { &mut allowed } else { &mut denied }) += cost;
                    prop_assert_eq!(
                        (got.allowed, got.remaining.cast_signed(), got.retry.or(0), got.current.cast_signed()),
                        (expected.allowed, expected.remaining, retry(&expected, 0), expected.used)
                    );
                }
                Step::Peek { key } => {
                    let got = engine.rate_limit_peek(now, b"l", &[key]).expect("a decision");
                    let (expected, _) = limited.peek(&[key], &rule, now, 1);
                    prop_assert_eq!(
                        (got.allowed, got.remaining.cast_signed(), got.retry.or(0), got.current.cast_signed()),
                        (expected.allowed, limit.cast_signed() - expected.used, retry(&expected, 0), expected.used)
                    );
                }
                Step::Reset { key } => {
                    engine.rate_limit_reset(now, b"l", &[key]).expect("the limiter");
                    limited.remove(&[key]);
                }
                Step::Delete { key } => {
                    prop_assert_eq!(engine.delete(now, &[b'k', key]), keys.remove(&[b'k', key]));
                }
                Step::Count => {
                    let (limiter, unique_keys) = engine.rate_limit_stats(now, b"l").expect("the limiter");
                    prop_assert_eq!(unique_keys, limited.len());
                    prop_assert_eq!((limiter.total_allowed, limiter.total_denied), (allowed, denied));
                }
            }
        }
    }

    #[test]
    fn every_policy_admits_as_the_model_does(
        given in prop::collection::vec((0_u8..3, number(), number(), number(), any::<bool>()), 1..6),
        start in prop_oneof![Just(1_764_547_200_000_u64), Just(0)],
        steps in prop::collection::vec((movement(), prop_oneof![6 => Just(1_u64), 2 => 1_u64..6], 0_u8..3), 1..60),
    ) {
        let mut json = Vec::new();
        let mut rules = Vec::new();
        for (index, (kind, limit, interval, burst, scoped)) in given.iter().copied().enumerate() {
            let spacing = BigRational::new(interval.into(), limit.into());
            let full = spacing.clone() * BigRational::from_integer(burst.into());
            let (algorithm, rule) = match kind {
                0 if full <= BigRational::from_integer(MAX_INTEGER.into()) => ("gcra", Rule::Schedule { spacing, burst }),
                0 | 1 => ("fixed-window", Rule::Fixed { limit, interval }),
                _ => ("sliding-window", Rule::Sliding { limit, window: interval }),
            };
            let scope = if scoped { r#","scope":"who""# } else { "" };
            json.push(format!(
                r#"{{"limit":{limit},"interval":{interval},"algorithm":"{algorithm}","burst":{burst},"name":"rule {index}"{scope}}}"#
            ));
            rules.push((scoped, rule));
        }
        let mut engine = Engine::new(&Options { seed: [7, 11], ..Options::default() });
        let fingerprint = engine.policy_define(start, b"ns", format!("[{}]", json.join(",")).as_bytes()).expect("a policy");
        let most = rules.iter().map(|(_, rule)| rule.most()).min().expect("rules");
        let mut states = States::default();
        let mut now = start;
        for (movement, cost, who) in steps {
            now = moved(now, movement);
            states.serve(now);
            let identity = [who];
            let scope: [(&[u8], &[u8]); 1] = [(b"who", &identity)];
            let job = Job { cost: positive(cost), scope: &scope, lease: None, wait: false, reserve: None };
            let got = engine.policy_admit(now, b"ns", fingerprint.as_bytes(), &job);
            if cost > most {
                prop_assert_eq!(got.map_err(|error| error.code()), Err("COST_EXCEEDS_LIMIT"));
                continue;
            }
            let keyed: Vec<_> = (0_u8..)
                .zip(&rules)
                .map(|(index, (scoped, rule))| {
                    let owner = if *scoped { vec![index, who] } else { vec![index] };
                    (owner, rule.clone())
                })
                .collect();
            match (got.expect("an answer"), admit(&mut states, &keyed, now, cost)) {
                (Admission::Admitted, Ok(())) => {}
                (Admission::Refused { retry_after, rules, lease: false }, Err((wait, refusing))) => {
                    prop_assert_eq!((retry_after.cast_signed(), rules), (wait, refusing));
                }
                (got, expected) => prop_assert!(false, "{:?} against {:?}", got, expected),
            }
        }
    }

    #[test]
    fn waiting_as_long_as_told_is_enough_and_a_millisecond_less_is_not(
        (algorithm, limit, window, _) in settings(),
        spends in prop::collection::vec((0_u64..5_000, 1_u64..5), 0..20),
        cost in 1_u64..6,
    ) {
        let (limit, window) = (limit.min(1_000_000), window.min(1_000_000_000));
        let settings = Settings { algorithm, limit: positive(limit), window: positive(window), rate: None };
        let mut now = 1_764_547_200_000;
        let make = || {
            let mut engine = Engine::new(&Options::default());
            engine.rate_limit_create(0, b"l", settings.clone()).expect("a limiter");
            engine
        };
        let mut engine = make();
        let mut history = BTreeMap::new();
        for (after, cost) in spends {
            now += after;
            if engine.rate_limit_check(now, b"l", b"k", positive(cost)).expect("a decision").allowed {
                *history.entry(now).or_insert(0) += cost;
            }
        }
        let asked = engine.rate_limit_check(now, b"l", b"k", positive(cost)).expect("a decision");
        if let Retry::After(wait) = asked.retry {
            prop_assert!(!asked.allowed && wait > 0);
            prop_assert!(!engine.rate_limit_check(now + wait - 1, b"l", b"k", positive(cost)).expect("a decision").allowed);
            prop_assert!(engine.rate_limit_check(now + wait, b"l", b"k", positive(cost)).expect("a decision").allowed);
        }
    }
}

/// Enough to find what is wrong in seconds; more with `TIDEGATE_CASES`.
fn cases() -> u32 {
    std::env::var("TIDEGATE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}
