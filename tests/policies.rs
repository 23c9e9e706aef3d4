//! Policies: what may be stated, what guards them, and that a job spends every rule or none.
#![allow(missing_docs, reason = "a test")]

use proptest::prelude::*;
use tidegate::policy::{Admission, Job, Policy, RuleState};
use tidegate::{Engine, ErrorKind, Options, Positive};

const NOW: u64 = 1_764_547_200_000;

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("an integer in range")
}

fn engine() -> Engine {
    Engine::new(&Options::default())
}

fn fingerprint(policy: &str) -> String {
    Policy::read(policy.as_bytes()).unwrap_or_else(|error| panic!("{policy}: {error}")).fingerprint().to_string()
}

fn job<'a>(cost: u64, scope: &'a [(&'a [u8], &'a [u8])]) -> Job<'a> {
    Job { cost: positive(cost), scope, lease: None, wait: false, reserve: None }
}

/// What is live in the namespace.
fn states(engine: &mut Engine, now: u64) -> Vec<RuleState> {
    engine.policy_show(now, b"ns").expect("a policy").states
}

fn refused(retry_after: u64, rules: &[usize]) -> Admission {
    Admission::Refused { retry_after, rules: rules.to_vec(), lease: false }
}

#[test]
fn the_fingerprint_is_the_sha_256_of_the_canonical_text() {
    // Digests by sha256sum.
    for (policy, canonical, digest) in [
        (
            r#"{"limit":10,"interval":"1s"}"#,
            r#"{"rate":[{"algorithm":"gcra","burst":1,"interval":1000,"limit":10}]}"#,
            "dc97402893d1fdb0b1835a11c3cd695357c94d48e0855fdb7e06030befeff8f2",
        ),
        (
            r#"{"concurrency":{"limit":4},"rate":[{"limit":2,"interval":"1m","algorithm":"sliding-window","burst":9},{"scope":"\u0074enant","name":"a\"\u00e9","limit":1,"interval":"0.5s","burst":3}]}"#,
            r#"{"concurrency":{"lease":30000,"limit":4},"rate":[{"algorithm":"gcra","burst":3,"interval":500,"limit":1,"name":"a\"é","scope":"tenant"},{"algorithm":"sliding-window","interval":60000,"limit":2}]}"#,
            "9f11201b0ac8e7633ada84b71537a3e60f5ad8ea214ae2b3d03e664251cae7c7",
        ),
    ] {
        let read = Policy::read(policy.as_bytes()).expect("a policy");
        assert_eq!(read.canonical(), canonical);
        assert_eq!(read.fingerprint().to_string(), digest);
    }
}

const POLICY: &str = r#"{"rate":[{"limit":10,"interval":"1s","burst":5,"name":"a","scope":"tenant"},{"limit":100000,"interval":"24h","algorithm":"fixed-window"}],"concurrency":{"limit":4,"lease":"30s"}}"#;

#[test]
fn order_and_spelling_do_not_change_the_fingerprint() {
    for same in [
        r#"{"concurrency":{"lease":30000,"limit":4},"rate":[{"limit":100000,"interval":"1d","algorithm":"fixed-window"},{"scope":"tenant","name":"a","burst":5,"interval":1000,"limit":10}]}"#,
        r#"{"rate":[{"limit":10,"interval":"0.5s500ms","burst":5,"name":"\u0061","scope":"tenant","algorithm":"gcra"},{"limit":100000,"interval":"23h60m","algorithm":"fixed-window","burst":7}],"concurrency":{"limit":4}}"#,
    ] {
        assert_eq!(fingerprint(same), fingerprint(POLICY), "{same}");
    }
    assert_eq!(
        fingerprint(r#"{"limit":1,"interval":1}"#),
        fingerprint(r#" [ {"burst":1,"limit":1,"interval":"1ms"} ] "#)
    );
    assert_eq!(fingerprint(r#"{"limit":1,"interval":1}"#), fingerprint(r#"{"rate":{"limit":1,"interval":1}}"#));
}

#[test]
fn everything_that_counts_changes_the_fingerprint() {
    let mut all = vec![fingerprint(POLICY)];
    for (from, to) in [
        (r#""name":"a""#, r#""name":"b""#),
        (r#""scope":"tenant""#, r#""scope":"user""#),
        (r#","scope":"tenant""#, ""),
        (r#","algorithm":"fixed-window""#, ""),
        (r#""fixed-window""#, r#""sliding-window""#),
        (r#""interval":"1s""#, r#""interval":1001"#),
        (r#""limit":10,"#, r#""limit":11,"#),
        (r#""burst":5"#, r#""burst":6"#),
        (r#""limit":4"#, r#""limit":5"#),
        (r#""lease":"30s""#, r#""lease":"31s""#),
        (r#","concurrency":{"limit":4,"lease":"30s"}"#, ""),
        (r#",{"limit":100000,"interval":"24h","algorithm":"fixed-window"}"#, ""),
        (r#"{"rate":["#, r#"{"rate":[{"limit":1,"interval":1},"#),
    ] {
        let other = POLICY.replacen(from, to, 1);
        assert_ne!(other, POLICY, "{from}");
        all.push(fingerprint(&other));
    }
    let many = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), many, "no two are equal");
}

#[test]
fn what_is_no_policy_is_refused_naming_the_field_its_value_and_what_is_allowed() {
    let long = "x".repeat(4097);
    let long_name = format!(r#"{{"limit":1,"interval":1,"name":"{long}"}}"#);
    let long_scope = format!(r#"{{"limit":1,"interval":1,"name":"a","scope":"{long}"}}"#);
    let integer = "an integer from 1 to 9007199254740991";
    let interval = r#"whole milliseconds from 1, or text such as "1h30m" with ms, s, m, h, d, w"#;
    let recovery = "one whose full recovery, burst * interval / limit, takes at most 2^53 - 1 ms";
    let rule = "a rule: { limit, interval, algorithm?, burst?, name?, scope? }";
    let fields = "one of limit, interval, algorithm, burst, name, scope";
    let mut table: Vec<(String, String)> = Vec::new();
    let mut row = |json: &str, text: String| table.push((json.to_string(), text));
    for bad in
        ["0", "-1", "1.0", "1.5", "1e3", "9007199254740992", "10000000000000000", "null", "true", r#""10""#, "[]", "{}"]
    {
        row(&format!(r#"{{"limit":{bad},"interval":1}}"#), format!("rate.limit must be {integer}, not {bad}"));
        row(
            &format!(r#"[{{"limit":1,"interval":1}},{{"limit":1,"interval":2,"burst":{bad}}}]"#),
            format!("rate[1].burst must be {integer}, not {bad}"),
        );
        row(
            &format!(r#"{{"rate":{{"limit":1,"interval":1}},"concurrency":{{"limit":{bad}}}}}"#),
            format!("concurrency.limit must be {integer}, not {bad}"),
        );
        row(&format!(r#"[{{"limit":1,"interval":{bad}}}]"#), format!("rate[0].interval must be {interval}, not {bad}"));
        row(
            &format!(r#"{{"rate":{{"limit":1,"interval":1}},"concurrency":{{"limit":1,"lease":{bad}}}}}"#),
            format!("concurrency.lease must be {interval}, not {bad}"),
        );
    }
    for bad in ["", "1", "s", "1.5ms", "1 s", "-1s", "1y", "NaN", "Infinity", "9007199254740992ms", "0h"] {
        row(
            &format!(r#"{{"limit":1,"interval":"{bad}"}}"#),
            format!(r#"rate.interval must be {interval}, not "{bad}""#),
        );
    }
    for bad in ["1", "null", r#""GCRA""#, r#""""#] {
        row(
            &format!(r#"{{"limit":1,"interval":1,"algorithm":{bad}}}"#),
            format!("rate.algorithm must be gcra, fixed-window or sliding-window, not {bad}"),
        );
    }
    for (json, text) in [
        ("[]", "rate must be a rule, or an array of at least one, not []".to_string()),
        (r#"{"rate":[]}"#, "rate must be a rule, or an array of at least one, not []".to_string()),
        ("null", format!("rate must be {rule}, not null")),
        ("7", format!("rate must be {rule}, not 7")),
        ("[[]]", format!("rate[0] must be {rule}, not []")),
        (r#"{"rate":null}"#, format!("rate must be {rule}, not null")),
        (r#"{"interval":1}"#, format!("rate.limit must be {integer}, not nothing")),
        (r#"{"limit":1}"#, format!("rate.interval must be {interval}, not nothing")),
        (r#"{"limit":1,"interval":1,"window":1}"#, format!("rate.window must be {fields}, not 1")),
        (r#"{"limit":1,"interval":1,"__proto__":{}}"#, format!("rate.__proto__ must be {fields}, not {{}}")),
        (r#"{"limit":1,"interval":1,"limit":2}"#, "rate.limit must be given once, not 2".to_string()),
        (r#"{"rate":{"limit":1,"interval":1},"x":1}"#, "policy.x must be one of rate, concurrency, not 1".to_string()),
        (
            r#"{"rate":{"limit":1,"interval":1},"concurrency":null}"#,
            "concurrency must be { limit, lease? }, not null".to_string(),
        ),
        (r#"{"limit":1,"interval":1,"name":1}"#, "rate.name must be text of at most 4096 bytes, not 1".to_string()),
        (&long_name, "rate.name must be text of at most 4096 bytes, not \"xxx".to_string()),
        (&long_scope, "rate.scope must be text of at most 4096 bytes, not \"xxx".to_string()),
        (
            r#"{"limit":1,"interval":1,"scope":"t"}"#,
            "rate.name must be given, since the rule has a scope, not nothing".to_string(),
        ),
        (
            r#"[{"limit":1,"interval":1,"name":"a"},{"limit":2,"interval":2,"name":"\u0061"}]"#,
            "rate[1].name must be different from that of rate[0], which has the same name".to_string(),
        ),
        (
            r#"[{"limit":1,"interval":"60s"},{"limit":2,"interval":"1m","burst":2}]"#,
            "rate[1].name must be different from that of rate[0], which has the same algorithm and interval"
                .to_string(),
        ),
        (r#"{"limit":1,"interval":9007199254740991,"burst":2}"#, format!("rate must be {recovery}, not {{\"limit\":1")),
        (r#"{"limit":1,"interval":1"#, "the policy is not valid JSON: see byte 23".to_string()),
        (r#"{"limit":1,"interval":1,"name":"\ud800"}"#, "the policy is not valid JSON: see byte 38".to_string()),
        ("", "the policy is not valid JSON: see byte 0".to_string()),
    ] {
        row(json, text);
    }
    let mut engine = engine();
    for (json, text) in &table {
        let refused = engine.policy_define(NOW, b"ns", json.as_bytes()).expect_err(json);
        let ErrorKind::InvalidOptions(given) = refused.kind() else { panic!("{json}: {refused:?}") };
        assert!(given.starts_with(text), "{json}\n{given}\n{text}");
    }
    let not_utf8 = b"{\"limit\":1,\"interval\":1,\"name\":\"\xff\"}";
    assert_eq!(engine.policy_define(NOW, b"ns", not_utf8).map_err(|error| error.code()), Err("INVALID_OPTIONS"));
    assert_eq!(engine.policy_show(NOW, b"ns").map(|_| ()), Err(ErrorKind::NoPolicy.into()), "none of them is in force");
}

#[test]
fn names_scopes_and_numbers_may_be_anything_in_range() {
    let long = "é".repeat(2048);
    for policy in [
        r#"{"limit":9007199254740991,"interval":9007199254740991,"burst":9007199254740991}"#.to_string(),
        r#"{"limit":9007199254740991,"interval":"9007199254740991ms","algorithm":"sliding-window"}"#.to_string(),
        r#"{"limit":1,"interval":9007199254740991,"algorithm":"fixed-window","burst":9007199254740991}"#.to_string(),
        format!(r#"{{"limit":1,"interval":1,"name":"{long}","scope":"{long}"}}"#),
        r#"[{"limit":1,"interval":1,"name":""},{"limit":1,"interval":1,"name":"__proto__","scope":"constructor"},{"limit":1,"interval":1,"name":"\u0000\n\"\\"},{"limit":1,"interval":1},{"limit":1,"interval":1,"algorithm":"fixed-window"}]"#.to_string(),
    ] {
        fingerprint(&policy);
    }
}

#[test]
fn one_policy_is_in_force_and_another_is_told_of_both() {
    let (first, second) =
        (r#"[{"limit":1,"interval":"1s"},{"limit":5,"interval":"1m"}]"#, r#"{"limit":2,"interval":"1s"}"#);
    let mut engine = engine();
    let in_force = engine.policy_define(NOW, b"ns", first.as_bytes()).expect("a policy");
    assert_eq!(engine.policy_admit(NOW, b"ns", in_force.as_bytes(), &job(1, &[])), Ok(Admission::Admitted));
    let before = states(&mut engine, NOW);
    let again = r#"[{"limit":5,"interval":60000},{"limit":1,"interval":1000}]"#;
    assert_eq!(engine.policy_define(NOW, b"ns", again.as_bytes()), Ok(in_force));
    assert_eq!(states(&mut engine, NOW), before);
    // Indexes stay those of the first definition.
    assert_eq!(engine.policy_admit(NOW, b"ns", in_force.as_bytes(), &job(1, &[])), Ok(refused(12_000, &[0, 1])));
    assert_eq!(engine.policy_admit(NOW + 1000, b"ns", in_force.as_bytes(), &job(1, &[])), Ok(refused(11_000, &[1])));
    let other = fingerprint(second);
    for error in [
        engine.policy_define(NOW, b"ns", second.as_bytes()).map(|_| ()),
        engine.policy_admit(NOW, b"ns", other.as_bytes(), &job(1, &[])).map(|_| ()),
    ] {
        let error = error.expect_err("another one is in force");
        let ErrorKind::InvalidOptions(text) = error.kind() else { panic!("{error:?}") };
        assert!(text.contains(&in_force.to_string()) && text.contains(&other), "{text}");
    }
    assert_eq!(engine.policy_admit(NOW, b"none", other.as_bytes(), &job(1, &[])), Err(ErrorKind::NoPolicy.into()));
}

#[test]
fn forgetting_resets_the_fingerprint_and_nothing_else() {
    let first = r#"[{"limit":1,"interval":"1m"},{"limit":5,"interval":"1m","name":"n","algorithm":"fixed-window"}]"#;
    let second =
        r#"[{"limit":9,"interval":"1m","name":"n","algorithm":"fixed-window"},{"limit":2,"interval":"1m","burst":2}]"#;
    let mut engine = engine();
    let in_force = engine.policy_define(NOW, b"ns", first.as_bytes()).expect("a policy");
    assert_eq!(engine.policy_admit(NOW, b"ns", in_force.as_bytes(), &job(1, &[])), Ok(Admission::Admitted));
    assert_eq!(engine.policy_forget(NOW, b"ns"), Ok(in_force));
    assert_eq!(engine.policy_forget(NOW, b"ns"), Err(ErrorKind::NoPolicy.into()));
    assert_eq!(engine.policy_admit(NOW, b"ns", in_force.as_bytes(), &job(1, &[])), Err(ErrorKind::NoPolicy.into()));
    engine.policy_define(NOW, b"ns", second.as_bytes()).expect("another policy");
    let used: Vec<_> = states(&mut engine, NOW).iter().map(|state| (state.rule, state.used, state.remaining)).collect();
    assert_eq!(used, [(0, 1, 8), (1, 2, 0)], "a unit that was spent at a spacing of 1 min is two at 30 s");
}

#[test]
fn a_job_that_is_not_right_spends_nothing() {
    let policy = r#"[{"limit":9,"interval":"1m","burst":3},{"limit":1,"interval":"1h","name":"per \"tenant\"","scope":"tenant"}]"#;
    let mut engine = engine();
    let fingerprint = engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("a policy");
    let long = [b'x'; 4097];
    for (cost, scope, code, text) in [
        (1, &[][..], "INVALID_OPTIONS", "scope.tenant must be given, since rate["),
        (1, &[(&b"Tenant"[..], &b"a"[..])], "INVALID_OPTIONS", "rate[1] (per \"tenant\")"),
        (1, &[(b"tenant", b"a"), (b"tenant", b"a")], "INVALID_OPTIONS", "scope.tenant must be given once, since rate["),
        (1, &[(b"tenant", &long)], "ERR", "identity must be at most 4096 bytes, not 4097"),
        (2, &[(b"tenant", b"a")], "COST_EXCEEDS_LIMIT", "cost 2 can never pass rule 1, which admits at most 1"),
        (4, &[], "COST_EXCEEDS_LIMIT", "cost 4 can never pass rule 0, which admits at most 3"),
    ] {
        let error = engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &job(cost, scope)).expect_err(text);
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(text), "{error}");
    }
    assert_eq!(states(&mut engine, NOW), []);
}

#[test]
fn no_two_identities_and_no_two_rules_share_a_budget() {
    let names = ["", "a", "a:b", "b", "{a}", "%61", "\0", "\n", "__proto__", "toString", "é", "e\u{301}", "0", "null"];
    let rules: Vec<String> = names
        .iter()
        .map(|name| {
            let name = serde_json::to_string(name).expect("text");
            format!(r#"{{"limit":1,"interval":"1h","name":{name},"scope":{name}}}"#)
        })
        .collect();
    let mut engine = engine();
    let json = format!("[{}]", rules.join(","));
    let fingerprint = engine.policy_define(NOW, b"ns", json.as_bytes()).expect("a policy");
    for identity in names {
        let scope: Vec<(&[u8], &[u8])> = names.iter().map(|name| (name.as_bytes(), identity.as_bytes())).collect();
        let admitted = engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &job(1, &scope));
        assert_eq!(admitted, Ok(Admission::Admitted), "{identity:?}");
    }
    let live = states(&mut engine, NOW);
    assert_eq!(live.len(), names.len() * names.len());
    assert!(live.iter().all(|state| (state.used, state.remaining, state.reset_after) == (1, 0, 3_600_000)));
}

#[test]
fn without_room_for_every_new_state_none_is_made() {
    let policy = r#"[{"limit":1,"interval":1000},{"limit":1,"interval":2000},{"limit":1,"interval":3000}]"#;
    let mut engine = Engine::new(&Options { max_keys: 2, ..Options::default() });
    let fingerprint = engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("a policy");
    let admitted = engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &job(1, &[]));
    assert_eq!(admitted, Err(ErrorKind::OutOfMemory { max_keys: 2 }.into()));
    assert_eq!(states(&mut engine, NOW), []);
}

#[test]
fn show_says_what_is_in_use_now_and_when_nothing_is() {
    let policy = r#"[{"limit":10,"interval":"1s","burst":5},{"limit":10,"interval":"7s","algorithm":"fixed-window"},{"limit":10,"interval":"1s","algorithm":"sliding-window"}]"#;
    let mut engine = engine();
    let fingerprint = engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("a policy");
    for ms in [0, 50] {
        assert_eq!(engine.policy_admit(NOW + ms, b"ns", fingerprint.as_bytes(), &job(2, &[])), Ok(Admission::Admitted));
    }
    let state =
        |rule, used, remaining, reset_after| RuleState { rule, identity: [].into(), used, remaining, reset_after };
    // 400 ms of debt less the 60 that passed; at NOW a window of 7 s has 4 s left; the last entry leaves at 1,050.
    assert_eq!(states(&mut engine, NOW + 60), [state(0, 4, 1, 340), state(1, 4, 6, 3_940), state(2, 4, 6, 990)]);
    assert_eq!(states(&mut engine, NOW + 8_000), []);
}

#[test]
fn show_is_bounded_and_counts_the_rest() {
    let mut engine = engine();
    let policy = r#"{"limit":1,"interval":"1h","name":"n","scope":"s"}"#;
    let fingerprint = engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("a policy");
    for identity in 0..1234_u32 {
        let identity = identity.to_be_bytes();
        let scope: [(&[u8], &[u8]); 1] = [(b"s", &identity)];
        let admitted = engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &job(1, &scope));
        assert_eq!(admitted, Ok(Admission::Admitted));
    }
    let shown = engine.policy_show(NOW, b"ns").expect("a policy");
    assert_eq!((shown.states.len(), shown.more), (1000, 234));
}

#[test]
fn leases_bound_the_jobs_of_all_workers_and_those_of_dead_workers_run_out() {
    let policy = r#"{"rate":{"limit":1000,"interval":1,"burst":1000},"concurrency":{"limit":3,"lease":"1s"}}"#;
    let mut engine = engine();
    let fingerprint = engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("a policy");
    // Each running job: its id, when its lease was last taken or renewed, when it ends, and whether its worker has died.
    let mut running: Vec<(u32, u64, u64, bool)> = Vec::new();
    let (mut started, mut finished, mut full) = (0_u32, 0_u32, 0_u32);
    let mut seed = 7_u64;
    let mut random = move |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    for tick in 0..20_000 {
        let now = NOW + tick * 10;
        running.retain_mut(|(id, renewed, ends, dead)| {
            let id = id.to_be_bytes();
            if *dead {
                return now < *renewed + 1000;
            }
            if now >= *ends {
                assert_eq!(engine.policy_release(now, b"ns", &[&id]), Ok(1));
                assert_eq!(engine.policy_release(now, b"ns", &[&id]), Ok(0));
                finished += 1;
                return false;
            }
            if now >= *renewed + 330 {
                assert_eq!(engine.policy_renew(now, b"ns", &[&id, b"nobody's"]), Ok(1));
                *renewed = now;
            }
            *dead = random(1000) == 0;
            true
        });
        let id = started.to_be_bytes();
        let asks = Job { lease: Some(&id), ..job(1, &[]) };
        match engine.policy_admit(now, b"ns", fingerprint.as_bytes(), &asks).expect("an answer") {
            Admission::Admitted => {
                assert!(running.len() < 3, "at {now}");
                let again = engine.policy_admit(now, b"ns", fingerprint.as_bytes(), &asks);
                assert_eq!(again.map_err(|error| error.code()), Err("INVALID_OPTIONS"), "the id is held");
                running.push((started, now, now + 10 * random(300), false));
                started += 1;
            }
            Admission::Refused { retry_after, rules, lease } => {
                assert_eq!((running.len(), rules, lease), (3, vec![], true), "at {now}");
                let earliest = running.iter().map(|(_, renewed, ..)| renewed + 1000).min().expect("a lease");
                assert_eq!(retry_after, earliest - now);
                full += 1;
            }
            Admission::Reserved { .. } => panic!("nothing was to be reserved"),
        }
        assert_eq!(engine.policy_show(now, b"ns").expect("a policy").leases, running.len());
    }
    assert!(started > 300 && finished > 300 && full > 300, "{started} {finished} {full}");
}

#[test]
fn leases_of_a_former_policy_run_out_under_one_without_any() {
    let rate = r#"{"rate":{"limit":10,"interval":"1s"}"#;
    let mut engine = engine();
    let limited = format!(r#"{rate},"concurrency":{{"limit":2,"lease":"10s"}}}}"#);
    let fingerprint = engine.policy_define(NOW, b"ns", limited.as_bytes()).expect("a policy");
    let asks = Job { lease: Some(b"a"), ..job(1, &[]) };
    assert_eq!(engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &asks), Ok(Admission::Admitted));
    engine.policy_forget(NOW, b"ns").expect("a policy");
    engine.policy_define(NOW, b"ns", format!("{rate}}}").as_bytes()).expect("a policy");
    let mut held = |after| engine.policy_show(NOW + after, b"ns").expect("a policy").leases;
    assert_eq!([held(9999), held(10_000)], [1, 0]);
}

#[test]
fn without_a_free_lease_nothing_is_spent_and_without_budget_no_lease_is_taken() {
    let policy = r#"{"rate":{"limit":1,"interval":"1m","burst":2},"concurrency":{"limit":1,"lease":"10s"}}"#;
    let mut engine = engine();
    let fingerprint = engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("a policy");
    let asks = |engine: &mut Engine, now, cost, lease| {
        engine.policy_admit(now, b"ns", fingerprint.as_bytes(), &Job { lease, ..job(cost, &[]) })
    };
    let missing = asks(&mut engine, NOW, 1, None).map_err(|error| error.code());
    assert_eq!(missing, Err("INVALID_OPTIONS"), "a lease must be given");
    assert_eq!(asks(&mut engine, NOW, 1, Some(b"a")), Ok(Admission::Admitted));
    let no_lease = Admission::Refused { retry_after: 10_000, rules: vec![], lease: true };
    assert_eq!(asks(&mut engine, NOW, 1, Some(b"b")), Ok(no_lease));
    let neither = Admission::Refused { retry_after: 60_000, rules: vec![0], lease: true };
    assert_eq!(asks(&mut engine, NOW, 2, Some(b"b")), Ok(neither));
    assert_eq!(engine.policy_release(NOW, b"ns", &[b"a"]), Ok(1));
    assert_eq!(asks(&mut engine, NOW, 2, Some(b"b")), Ok(refused(60_000, &[0])));
    assert_eq!(engine.policy_show(NOW, b"ns").expect("a policy").leases, 0);
    assert_eq!(asks(&mut engine, NOW, 1, Some(b"b")), Ok(Admission::Admitted));
}

#[test]
fn a_lease_can_be_given_back_while_no_policy_is_in_force() {
    let leased = r#"{"rate":{"limit":1000,"interval":1,"burst":1000},"concurrency":{"limit":1,"lease":"1h"}}"#;
    let mut engine = engine();
    assert_eq!(engine.policy_release(NOW, b"ns", &[b"a"]), Err(ErrorKind::NoPolicy.into()), "there never was one");
    let fingerprint = engine.policy_define(NOW, b"ns", leased.as_bytes()).expect("a policy");
    let asks = |lease| Job { lease: Some(lease), ..job(1, &[]) };
    assert_eq!(engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &asks(b"a")), Ok(Admission::Admitted));
    engine.policy_forget(NOW, b"ns").expect("the policy");
    assert_eq!(engine.policy_renew(NOW, b"ns", &[b"a"]), Err(ErrorKind::NoPolicy.into()), "nothing says for how long");
    assert_eq!(engine.policy_release(NOW + 1, b"ns", &[b"a", b"b"]), Ok(1));
    engine.policy_define(NOW + 1, b"ns", leased.as_bytes()).expect("the policy");
    assert_eq!(engine.policy_admit(NOW + 1, b"ns", fingerprint.as_bytes(), &asks(b"b")), Ok(Admission::Admitted));
}

/// One rule and whether it counts each tenant by itself.
fn rule() -> impl Strategy<Value = (&'static str, u64, u64, u64, bool)> {
    let kind = prop::sample::select(vec!["gcra", "fixed-window", "sliding-window"]);
    (kind, 1_u64..8, 1_u64..3000, 1_u64..8, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_refused_admission_changes_no_rule_and_an_admitted_one_spends_every_rule(
        rules in prop::collection::vec(rule(), 2..6),
        jobs in prop::collection::vec((0_u64..300, 1_u64..8, 0_u8..3, prop::bool::weighted(0.1)), 1..60),
    ) {
        let spelled: Vec<String> = (0..).zip(&rules).map(|(index, (kind, limit, interval, burst, scoped))| {
            let scope = if *scoped { r#","scope":"t""# } else { "" };
            format!(r#"{{"name":"{index}","algorithm":"{kind}","limit":{limit},"interval":{interval},"burst":{burst}{scope}}}"#)
        }).collect();
        let most = rules.iter().map(|(kind, limit, _, burst, _)| if *kind == "gcra" { *burst } else { *limit });
        let most = most.min().expect("a rule");
        let mut engine = engine();
        let fingerprint = engine.policy_define(NOW, b"ns", format!("[{}]", spelled.join(",")).as_bytes()).expect("a policy");
        let mut now = NOW;
        for (passes, cost, tenant, back) in jobs {
            now = if back { now - passes } else { now + passes };
            let (cost, tenant) = (cost.min(most), [tenant]);
            let before = states(&mut engine, now);
            let scope: [(&[u8], &[u8]); 1] = [(b"t", &tenant)];
            let admission = engine.policy_admit(now, b"ns", fingerprint.as_bytes(), &job(cost, &scope)).expect("an answer");
            let after = states(&mut engine, now);
            if admission != Admission::Admitted {
                prop_assert_eq!(before, after);
                continue;
            }
            for (index, (.., scoped)) in rules.iter().enumerate() {
                let identity: &[u8] = if *scoped { &tenant } else { &[] };
                let of = |states: &[RuleState]| {
                    let found = states.iter().find(|state| state.rule == index && *state.identity == *identity);
                    found.map_or(0, |state| state.used)
                };
                prop_assert_eq!(of(&after), of(&before) + cost);
            }
        }
    }
}
