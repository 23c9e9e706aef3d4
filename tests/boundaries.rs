//! The last value that is still right, and the first that is not.
#![allow(missing_docs, reason = "a test")]

use tidegate::algorithm::{Count, FixedWindow, Log, Retry, Schedule, SlidingWindow, Tat};
use tidegate::limiter::{Algorithm, Rate, Settings};
use tidegate::{Engine, MAX_INTEGER, Options, Positive};

const NOW: u64 = 1_764_547_200_000;

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("an integer in range")
}

#[test]
fn a_state_a_fraction_of_a_millisecond_too_far_ahead_is_read_as_fully_drained() {
    let mut engine = Engine::new(&Options::default());
    // Three units a second and four at once: a full recovery takes 1333 1/3 ms.
    let rate = Rate::parse(b"3").expect("a rate");
    let settings =
        Settings { algorithm: Algorithm::TokenBucket, limit: positive(4), window: positive(1), rate: Some(rate) };
    engine.rate_limit_create(NOW, b"l", settings).expect("a new limiter");
    assert!(engine.rate_limit_check(NOW, b"l", b"k", positive(2)).expect("a decision").allowed);
    // Two units took 666 2/3 ms, so the state is 1333 2/3 ms ahead now.
    let answer = engine.rate_limit_check(NOW - 667, b"l", b"k", positive(3)).expect("a decision");
    assert_eq!((answer.allowed, answer.remaining, answer.current), (false, 0, 4));
    assert_eq!(answer.retry, Retry::After(1000));
}

#[test]
fn a_full_recovery_of_2_to_the_53_less_1_ms_is_the_longest() {
    assert!(Schedule::spaced(2 * MAX_INTEGER, 2, Positive::ONE).is_some());
    assert!(Schedule::spaced(2 * MAX_INTEGER + 1, 2, Positive::ONE).is_none(), "half a millisecond over");
    assert!(Schedule::spaced(MAX_INTEGER, 1, positive(2)).is_none());
    assert!(Schedule::spaced(u64::MAX, 1, positive(MAX_INTEGER)).is_none());
    assert!(Schedule::spaced(MAX_INTEGER, MAX_INTEGER, positive(MAX_INTEGER)).is_some());
}

#[test]
fn a_tat_is_digits_with_a_sign_before_and_up_to_nine_after_the_point() {
    let tat = |ms, remainder, denominator| Some(Tat { ms, remainder, denominator });
    for (text, read) in [
        ("0", tat(0, 0, 1)),
        ("007", tat(7, 0, 1)),
        ("1.5", tat(1, 5, 10)),
        ("1.000000001", tat(1, 1, 1_000_000_000)),
        ("1.999999999", tat(1, 999_999_999, 1_000_000_000)),
        // Before 1970 nothing is ahead of any time.
        ("-1", tat(0, 0, 1)),
        ("-99999999999999999999999.9", tat(0, 0, 1)),
        // Beyond 2^64 everything is as far ahead as can be.
        ("99999999999999999999999", tat(u64::MAX, 0, 1)),
    ] {
        assert_eq!(Tat::parse(text.as_bytes()), read, "{text}");
    }
    for text in
        ["", "-", "--1", "+1", ".5", "-.5", "1.", "1.0000000000", "1.2.3", "1e3", " 1", "1 ", "0x1", "1,5", "NaN", "١"]
    {
        assert_eq!(Tat::parse(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn a_tat_is_rounded_up_to_the_next_grain_and_never_by_a_whole_one() {
    let third = Tat { ms: 5, remainder: 1, denominator: 3 };
    assert_eq!(third.rounded_up(2), Tat { ms: 5, remainder: 1, denominator: 2 });
    assert_eq!(third.rounded_up(6), Tat { ms: 5, remainder: 2, denominator: 6 });
    assert_eq!(third.rounded_up(1), Tat { ms: 6, remainder: 0, denominator: 1 });
    let largest = Tat { ms: 5, remainder: MAX_INTEGER - 1, denominator: MAX_INTEGER };
    assert_eq!(largest.rounded_up(MAX_INTEGER - 1), Tat { ms: 6, remainder: 0, denominator: MAX_INTEGER - 1 });
    let smallest = Tat { ms: 5, remainder: 1, denominator: MAX_INTEGER };
    assert_eq!(smallest.rounded_up(1_000_000_000), Tat { ms: 5, remainder: 1, denominator: 1_000_000_000 });
}

#[test]
fn a_request_on_the_boundary_belongs_to_the_new_window() {
    let rule = FixedWindow::new(positive(10), positive(1000));
    let count = Some(Count { units: 10, ends: NOW });
    assert_eq!((rule.used(count, NOW - 1), rule.used(count, NOW)), (10, 0));
    assert_eq!((rule.window_end(NOW - 1), rule.window_end(NOW)), (NOW, NOW + 1000));
    // The last time there can be, in the longest window there can be.
    let longest = FixedWindow::new(positive(1), positive(MAX_INTEGER));
    assert_eq!((longest.window_end(MAX_INTEGER - 1), longest.window_end(MAX_INTEGER)), (MAX_INTEGER, 2 * MAX_INTEGER));
}

#[test]
fn a_log_of_4096_entries_is_exact_and_one_of_more_counts_in_buckets() {
    let window = 10_000;
    // Three milliseconds make a bucket; this is the first of one.
    let first = 1_764_547_200_000 / 3 * 3;
    for (limit, leaves) in [(4096, first + window), (4097, first + 2 + window)] {
        let rule = SlidingWindow::new(positive(limit), positive(window));
        let mut log = Log::new();
        rule.admit(&mut log, first, positive(limit));
        let decide = |now| rule.decide(Some(&log), now, Positive::ONE);
        assert_eq!(decide(first).retry, Retry::After(leaves - first), "{limit}");
        assert!(!decide(leaves - 1).allowed, "{limit}");
        assert!(decide(leaves).allowed, "{limit}");
    }
}

#[test]
fn a_key_never_holds_more_than_4098_entries() {
    for (limit, window) in [(4096, 1_000_000), (MAX_INTEGER, 4096), (MAX_INTEGER, 4097), (1_000_000, 1_000_003)] {
        let rule = SlidingWindow::new(positive(limit), positive(window));
        let mut log = Log::new();
        let mut most = 0;
        for step in 0..20_000 {
            let now = NOW + step * window.div_ceil(5000);
            if rule.decide(Some(&log), now, Positive::ONE).allowed {
                rule.admit(&mut log, now, Positive::ONE);
            }
            most = most.max(log.len());
        }
        assert!((2000..=4098).contains(&most), "{limit} in {window}: {most}");
    }
}
