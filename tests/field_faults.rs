//! Faults that users of other limiters reported, as inputs with the right answer. Each test is under its number; each is one
//! of a kind.
#![allow(missing_docs, reason = "a test")]

use tidegate::algorithm::Retry;
use tidegate::limiter::{Algorithm, Settings};
use tidegate::policy::{Admission, Job};
use tidegate::{Engine, ErrorKind, MAX_INTEGER, Options, Positive, Session};

const NOW: u64 = 1_764_547_200_000;

fn engine() -> Engine {
    Engine::new(&Options::default())
}

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("an integer in range")
}

/// Whether one unit passes, and the whole answer.
fn gcra(engine: &mut Engine, now: u64, period: u64, burst: u64, count: u64) -> tidegate::GcraDecision {
    engine.gcra_limit(now, b"k", positive(period), positive(burst), positive(count)).expect("a decision")
}

fn limiter(algorithm: Algorithm, limit: u64, window: u64) -> Engine {
    let mut engine = engine();
    let settings = Settings { algorithm, limit: positive(limit), window: positive(window), rate: None };
    engine.rate_limit_create(0, b"l", settings).expect("a new limiter");
    engine
}

fn check(engine: &mut Engine, now: u64, cost: u64) -> bool {
    engine.rate_limit_check(now, b"l", b"k", positive(cost)).expect("a decision").allowed
}

/// What a session replies to a line typed by hand.
fn reply(engine: &mut Engine, now: u64, line: &str) -> String {
    let mut bytes = Vec::new();
    Session::new(1).feed(engine, now, format!("{line}\r\n").as_bytes(), &mut bytes);
    String::from_utf8(bytes).expect("text")
}

fn admit(engine: &mut Engine, now: u64, wait: bool) -> Admission {
    let fingerprint = engine.policy_define(now, b"ns", br#"{"limit":10,"interval":"1s"}"#).expect("a policy");
    let job = Job { cost: Positive::ONE, scope: &[], lease: None, wait, reserve: None };
    engine.policy_admit(now, b"ns", fingerprint.as_bytes(), &job).expect("an answer")
}

#[test]
fn f01_an_hour_back_a_job_that_waits_starts_within_one_spacing() {
    let mut engine = engine();
    assert_eq!(admit(&mut engine, NOW, true), Admission::Admitted);
    let back = NOW - 3_600_000;
    let refused = Admission::Refused { retry_after: 100, rules: vec![0], lease: false };
    assert_eq!(admit(&mut engine, back, true), refused);
    assert_ne!(admit(&mut engine, back + 99, true), Admission::Admitted);
    assert_eq!(admit(&mut engine, back + 100, true), Admission::Admitted);
    assert_ne!(admit(&mut engine, back + 100, true), Admission::Admitted, "nothing is minted");
}

#[test]
fn f02_a_clock_that_starts_at_0_gives_no_refill_beyond_the_burst() {
    let mut engine = engine();
    for _ in 0..10 {
        assert!(!gcra(&mut engine, 0, 1000, 10, 1).denied);
    }
    assert!(gcra(&mut engine, 0, 1000, 10, 1).denied);
    for _ in 0..10 {
        assert!(!gcra(&mut engine, NOW, 1000, 10, 1).denied);
    }
    assert!(gcra(&mut engine, NOW, 1000, 10, 1).denied);
}

#[test]
fn f03_eleven_seconds_back_nothing_is_negative_and_nobody_waits_over_a_recovery() {
    let mut engine = engine();
    gcra(&mut engine, NOW, 1000, 10, 10);
    let answer = gcra(&mut engine, NOW - 11_000, 1000, 10, 1);
    assert_eq!((answer.denied, answer.remaining, answer.retry, answer.reset_after), (true, 0, Retry::After(100), 1000));
}

#[test]
fn f04_a_poll_every_millisecond_still_refills() {
    let mut engine = engine();
    let passed: Vec<u64> = (0..=40_000).filter(|ms| !gcra(&mut engine, NOW + ms, 10_000, 1, 1).denied).collect();
    assert_eq!(passed, [0, 10_000, 20_000, 30_000, 40_000]);
}

#[test]
fn f05_f06_what_is_no_positive_integer_is_refused_and_nothing_is_spent() {
    let mut engine = engine();
    for bad in ["0", "-1", "-5", "1.5", "NaN", "Infinity", "9007199254740992", "1e3", "0x10", "+1", "null", "true"] {
        for line in [
            format!("GCRA.LIMIT k {bad} 10"),
            format!("GCRA.LIMIT k 1000 {bad}"),
            format!("GCRA.LIMIT k 1000 10 {bad}"),
            format!("RATELIMIT.CREATE l {bad} 1000"),
            format!("RATELIMIT.CREATE l 10 {bad}"),
            format!("RATELIMIT.CHECK l k COST {bad}"),
            format!("VALVE.ADMIT ns fingerprint {bad}"),
        ] {
            assert_eq!(reply(&mut engine, NOW, &line), "-ERR value is not an integer or out of range\r\n", "{line}");
        }
        let policy = format!(r#"VALVE.DEFINE ns {{"limit":{bad},"interval":1000}}"#);
        assert!(reply(&mut engine, NOW, &policy).starts_with("-INVALID_OPTIONS "), "{policy}");
    }
    assert_eq!(Positive::named("burst", 0), Err(ErrorKind::OutOfRange { argument: "burst", value: 0 }.into()));
    let named = Positive::named("count", 1 << 53).expect_err("too large").to_string();
    assert_eq!(named, "count must be an integer from 1 to 9007199254740991, not 9007199254740992");
    assert_eq!(reply(&mut engine, NOW, "EXISTS k"), ":0\r\n");
    assert_eq!(reply(&mut engine, NOW, "RATELIMIT.LIST"), "*0\r\n");
}

#[test]
fn f07_a_deficit_of_less_than_a_millisecond_is_a_wait_of_one() {
    let mut engine = engine();
    gcra(&mut engine, NOW, 2, 5, 5);
    assert_eq!(gcra(&mut engine, NOW, 2, 5, 1).retry, Retry::After(1));
}

#[test]
fn f08_a_cost_equal_to_the_burst_on_a_drained_key_waits_the_whole_period() {
    let mut engine = engine();
    gcra(&mut engine, NOW, 60_000, 10, 10);
    assert_eq!(gcra(&mut engine, NOW, 60_000, 10, 10).retry, Retry::After(60_000));
    assert!(!gcra(&mut engine, NOW + 60_000, 60_000, 10, 10).denied);
}

#[test]
fn f09_the_largest_numbers_are_exact() {
    let mut engine = engine();
    let answer = gcra(&mut engine, NOW, MAX_INTEGER, MAX_INTEGER, MAX_INTEGER);
    assert_eq!((answer.denied, answer.remaining, answer.reset_after), (false, 0, MAX_INTEGER));
    let answer = gcra(&mut engine, NOW, MAX_INTEGER, MAX_INTEGER, 1);
    assert_eq!((answer.denied, answer.retry, answer.reset_after), (true, Retry::After(1), MAX_INTEGER));
    assert!(!gcra(&mut engine, NOW + 1, MAX_INTEGER, MAX_INTEGER, 1).denied);
}

#[test]
fn f10_ten_a_second_with_burst_5_makes_the_sixth_wait_100_ms() {
    let mut engine = engine();
    let fingerprint = engine.policy_define(NOW, b"ns", br#"{"limit":10,"interval":"1s","burst":5}"#).expect("a policy");
    let job = Job { cost: Positive::ONE, scope: &[], lease: None, wait: false, reserve: None };
    let mut admit = || engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &job).expect("an answer");
    for _ in 0..5 {
        assert_eq!(admit(), Admission::Admitted);
    }
    assert_eq!(admit(), Admission::Refused { retry_after: 100, rules: vec![0], lease: false });
}

#[test]
fn f11_what_is_left_is_rounded_down_and_what_is_used_is_rounded_up() {
    let mut engine = limiter(Algorithm::TokenBucket, 3, 1000);
    assert!(check(&mut engine, NOW, 2));
    // 0.3 of the two units have come back.
    let peek = engine.rate_limit_peek(NOW + 100, b"l", b"k").expect("a look");
    assert_eq!((peek.remaining, peek.current), (1, 2));
}

#[test]
fn f12_spacing_that_does_not_divide_admits_a_greedy_caller_exactly() {
    for (burst, period, expected) in [(3, 1000, 33), (7, 10, 7_007), (600, 1000, 6_600), (1000, 500, 21_000)] {
        let mut engine = engine();
        let mut admitted = 0_u64;
        for ms in 0..=10_000 {
            while !gcra(&mut engine, NOW + ms, period, burst, 1).denied {
                admitted += 1;
            }
        }
        assert_eq!(admitted, expected, "{burst} per {period} ms");
    }
}

#[test]
fn f13_a_refusal_leaves_what_a_smaller_cost_can_have() {
    let mut engine = engine();
    gcra(&mut engine, NOW, 60_000, 10, 8);
    assert!(gcra(&mut engine, NOW, 60_000, 10, 5).denied);
    assert!(!gcra(&mut engine, NOW, 60_000, 10, 2).denied);
}

#[test]
fn f14_f15_a_cost_over_the_limit_is_never_with_what_truly_remains() {
    for algorithm in Algorithm::ALL {
        let mut engine = limiter(algorithm, 5, 1000);
        assert!(check(&mut engine, NOW, 3));
        let answer = engine.rate_limit_check(NOW, b"l", b"k", positive(6)).expect("a decision");
        assert_eq!((answer.allowed, answer.retry, answer.remaining, answer.current), (false, Retry::Never, 2, 3));
        assert!(check(&mut engine, NOW, 2), "{algorithm:?}");
    }
}

#[test]
fn f16_four_tries_of_cost_2_on_5_leave_1() {
    for algorithm in Algorithm::ALL {
        let mut engine = limiter(algorithm, 5, 60_000);
        let passed = (0..4).filter(|_| check(&mut engine, NOW, 2)).count();
        let left = engine.rate_limit_peek(NOW, b"l", b"k").expect("a look").remaining;
        assert_eq!((passed, left), (2, 1), "{algorithm:?}");
    }
}

#[test]
fn f17_over_a_windows_edge_sliding_refuses_what_fixed_allows() {
    for (algorithm, allowed) in [(Algorithm::SlidingWindow, false), (Algorithm::FixedWindow, true)] {
        let mut engine = limiter(algorithm, 1, 60_000);
        assert!(check(&mut engine, 59_999, 1));
        assert_eq!(check(&mut engine, 61_000, 1), allowed, "{algorithm:?}");
    }
}

#[test]
fn f18_an_event_that_is_one_window_old_is_out() {
    let mut engine = limiter(Algorithm::SlidingWindow, 1, 1000);
    assert!(check(&mut engine, NOW, 1));
    assert!(!check(&mut engine, NOW + 999, 1));
    assert!(check(&mut engine, NOW + 1000, 1));
}

#[test]
fn f19_no_window_holds_more_than_is_promised() {
    let window = 97;
    for (algorithm, bound) in [
        (Algorithm::SlidingWindow, 10),
        (Algorithm::FixedWindow, 20),
        (Algorithm::Gcra, 20),
        (Algorithm::TokenBucket, 20),
    ] {
        let mut engine = limiter(algorithm, 10, window);
        let mut admitted = Vec::new();
        let mut seed = 1_u64;
        for ms in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            for _ in 0..(seed >> 60) {
                if check(&mut engine, NOW + ms, 1) {
                    admitted.push(ms);
                }
            }
        }
        let fullest = admitted
            .iter()
            .enumerate()
            .map(|(at, end)| admitted[..=at].iter().rev().take_while(|start| **start + window > *end).count());
        let fullest = fullest.max().expect("admissions");
        assert!(fullest <= bound && fullest >= 10, "{algorithm:?}: {fullest}");
    }
}

#[test]
fn f20_f22_after_many_idle_windows_a_key_is_fresh_and_no_time_is_negative() {
    for algorithm in Algorithm::ALL {
        let mut engine = limiter(algorithm, 10, 1000);
        assert!(check(&mut engine, NOW, 10));
        let peek = engine.rate_limit_peek(NOW + 60_000, b"l", b"k").expect("a look");
        assert_eq!((peek.current, peek.remaining, peek.retry), (0, 10, Retry::Now), "{algorithm:?}");
    }
}

#[test]
fn f21_a_thousand_refusals_postpone_nothing() {
    for algorithm in Algorithm::ALL {
        let mut engine = limiter(algorithm, 2, 10_000);
        assert!(check(&mut engine, NOW, 2));
        let Retry::After(wait) = engine.rate_limit_check(NOW, b"l", b"k", Positive::ONE).expect("a decision").retry
        else {
            panic!("{algorithm:?} refuses");
        };
        for refusal in 0..1000 {
            assert!(!check(&mut engine, NOW + refusal * wait / 1000, 1), "{algorithm:?}");
        }
        assert!(check(&mut engine, NOW + wait, 1), "{algorithm:?}");
    }
}

#[test]
fn f26_f29_no_two_names_share_a_count() {
    let mut engine = engine();
    for name in ["a:b", "a", "{a}", "%61", ""] {
        let settings =
            Settings { algorithm: Algorithm::FixedWindow, limit: positive(1), window: positive(60_000), rate: None };
        engine.rate_limit_create(NOW, name.as_bytes(), settings).expect("a new limiter");
    }
    let keys = ["c", "b:c", "", ":", "%", "{", "\n", "\0", "__proto__", "constructor", "user", "user:admin", "*"];
    for name in ["a:b", "a", "{a}", "%61", ""] {
        for key in keys {
            let checked = engine.rate_limit_check(NOW, name.as_bytes(), key.as_bytes(), Positive::ONE);
            assert!(checked.expect("a decision").allowed, "{name:?} {key:?}");
        }
    }
    engine.rate_limit_reset(NOW, b"a", b"user").expect("the limiter");
    engine.rate_limit_reset(NOW, b"a", b"*").expect("the limiter");
    let mut allowed =
        |key: &str| engine.rate_limit_check(NOW, b"a", key.as_bytes(), Positive::ONE).expect("a decision").allowed;
    assert!(allowed("user"));
    assert!(allowed("*"));
    assert!(!allowed("user:admin"));
}

#[test]
fn f30_nul_is_kept_and_4097_bytes_are_refused() {
    let mut engine = engine();
    let mut ask = |key: &[u8]| {
        engine.gcra_limit(NOW, key, positive(1000), positive(1), Positive::ONE).map(|answer| answer.denied)
    };
    assert_eq!(ask(b"a\0b"), Ok(false));
    assert_eq!(ask(b"a\0"), Ok(false));
    assert_eq!(ask(b"a"), Ok(false));
    assert_eq!(ask(&[b'x'; 4096]), Ok(false));
    assert_eq!(ask(&[b'x'; 4097]), Err(ErrorKind::KeyTooLong { argument: "key", bytes: 4097 }.into()));
}

#[test]
fn f34_five_thousand_other_keys_never_evict_a_live_one() {
    let mut engine = Engine::new(&Options { max_keys: 100, ..Options::default() });
    gcra(&mut engine, NOW, 3_600_000, 1, 1);
    let mut refused = 0;
    for key in 0..5000_u32 {
        let asked = engine.gcra_limit(NOW, &key.to_be_bytes(), positive(3_600_000), positive(1), Positive::ONE);
        refused += usize::from(asked == Err(ErrorKind::OutOfMemory { max_keys: 100 }.into()));
    }
    assert_eq!(refused, 5000 - 99);
    assert!(gcra(&mut engine, NOW, 3_600_000, 1, 1).denied);
    assert!(!gcra(&mut engine, NOW + 3_600_000, 3_600_000, 1, 1).denied);
}

#[test]
fn f36_a_rule_that_refuses_drains_no_other_and_two_of_one_key_are_refused() {
    let mut engine = engine();
    let policy = br#"[{"limit":5,"interval":"1h","algorithm":"fixed-window"},{"limit":1,"interval":"1m","algorithm":"sliding-window"}]"#;
    let fingerprint = engine.policy_define(NOW, b"ns", policy).expect("a policy");
    let job = Job { cost: Positive::ONE, scope: &[], lease: None, wait: false, reserve: None };
    for minute in 0..5_u64 {
        for ask in 0..10 {
            let admitted = engine.policy_admit(NOW + minute * 60_000, b"ns", fingerprint.as_bytes(), &job);
            assert_eq!(admitted.expect("an answer") == Admission::Admitted, ask == 0, "minute {minute}");
        }
    }
    let twice = br#"[{"limit":5,"interval":"60s"},{"limit":9,"interval":"1m"}]"#;
    assert_eq!(engine.policy_define(NOW, b"other", twice).map_err(|error| error.code()), Err("INVALID_OPTIONS"));
}
