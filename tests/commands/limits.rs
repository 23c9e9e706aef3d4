//! The commands of rate limits.

use crate::client::Client;

const CHECK_FULL: &str = "*5|:1|:9|:0|:10|:0|";

#[test]
fn gcra_limit_counts_what_it_admits_and_nothing_else() {
    Client::new().expect(&[
        ("GCRA.LIMIT k 60000 10", "*5|:0|:10|:9|:-1|:6000|"),
        ("gcra.limit k 60000 10 9", "*5|:0|:10|:0|:-1|:60000|"),
        ("GCRA.LIMIT k 60000 10", "*5|:1|:10|:0|:6000|:60000|"),
        ("GCRA.LIMIT k 60000 10 11", "*5|:1|:10|:0|:-1|:60000|"),
        ("+5999", ""),
        ("GCRA.LIMIT k 60000 10", "*5|:1|:10|:0|:1|:54001|"),
        ("+1", ""),
        ("GCRA.LIMIT k 60000 10", "*5|:0|:10|:0|:-1|:60000|"),
        ("GCRA.RESET k other k", ":1|"),
        ("GCRA.LIMIT k 60000 10", "*5|:0|:10|:9|:-1|:6000|"),
    ]);
}

#[test]
fn a_gcra_key_is_an_ordinary_key_that_holds_its_tat() {
    Client::new().expect(&[
        ("GCRA.LIMIT whole 60000 10", "*5|:0|:10|:9|:-1|:6000|"),
        ("GET whole", "$13|1764547206000|"),
        ("GCRA.LIMIT third 1000 3", "*5|:0|:3|:2|:-1|:334|"),
        ("GET third", "$23|1764547200333.333333334|"),
        ("GCRA.LIMIT eighth 1000 8", "*5|:0|:8|:7|:-1|:125|"),
        ("GCRA.LIMIT half 1 2", "*5|:0|:2|:1|:-1|:1|"),
        ("GET half", "$15|1764547200000.5|"),
        ("TYPE whole", "+string|"),
        ("PTTL whole", ":6000|"),
        ("EXISTS whole third nothing", ":2|"),
        ("+6000", ""),
        ("GET whole", "$-1|"),
        ("DBSIZE", ":0|"),
    ]);
}

#[test]
fn a_numeric_text_is_a_tat_and_any_other_is_left_alone() {
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value|";
    let mut client = Client::new();
    client.expect(&[
        ("SET t 1764547254000", "+OK|"),
        ("GCRA.LIMIT t 60000 10", "*5|:0|:10|:0|:-1|:60000|"),
        ("SET t 1764547206000.5", "+OK|"),
        ("GCRA.LIMIT t 60000 10", "*5|:0|:10|:7|:-1|:12001|"),
        ("SET t -5", "+OK|"),
        ("GCRA.LIMIT t 60000 10", "*5|:0|:10|:9|:-1|:6000|"),
    ]);
    for text in ["words", "1.", ".5", "1e3", "+1", "--1", "1.0000000001", "1,5", "0x10"] {
        assert_eq!(client.words(&["SET", "t", text]), "+OK|");
        assert_eq!(client.run("GCRA.LIMIT t 60000 10"), wrong, "{text}");
        assert_eq!(client.run("CL.THROTTLE t 1 1 1"), wrong, "{text}");
        assert_eq!(client.run("GET t"), format!("${}|{text}|", text.len()));
    }
    client.words(&["SET", "t", ""]);
    assert_eq!(client.run("GCRA.LIMIT t 60000 10"), wrong);
}

#[test]
fn expire_and_persist_keep_a_gcra_keys_exact_state() {
    Client::new().expect(&[
        ("GCRA.LIMIT k 1000 3", "*5|:0|:3|:2|:-1|:334|"),
        ("PEXPIRE k 100000", ":1|"),
        ("PTTL k", ":100000|"),
        ("GET k", "$23|1764547200333.333333334|"),
        // A third of a millisecond that was lost or gained would show here.
        ("GCRA.LIMIT k 1000 3", "*5|:0|:3|:1|:-1|:667|"),
        ("GCRA.LIMIT k 1000 3", "*5|:0|:3|:0|:-1|:1000|"),
        ("PERSIST k", ":1|"),
        ("TTL k", ":-1|"),
        ("GCRA.LIMIT k 1000 3", "*5|:1|:3|:0|:334|:1000|"),
    ]);
}

#[test]
fn cl_throttle_replies_as_redis_cell_does() {
    Client::new().expect(&[
        ("CL.THROTTLE user123 15 30 60 1", "*5|:0|:16|:15|:-1|:2|"),
        ("CL.THROTTLE user123 15 30 60", "*5|:0|:16|:14|:-1|:4|"),
        ("CL.THROTTLE user123 15 30 60 0", "*5|:0|:16|:14|:-1|:4|"),
        ("CL.THROTTLE user123 15 30 60 14", "*5|:0|:16|:0|:-1|:32|"),
        ("CL.THROTTLE user123 15 30 60 0", "*5|:0|:16|:0|:-1|:32|"),
        ("CL.THROTTLE user123 15 30 60", "*5|:1|:16|:0|:2|:32|"),
        ("+1", ""),
        ("CL.THROTTLE user123 15 30 60", "*5|:1|:16|:0|:2|:32|"),
        ("+1000", ""),
        ("CL.THROTTLE user123 15 30 60", "*5|:1|:16|:0|:1|:31|"),
        ("+999", ""),
        ("CL.THROTTLE user123 15 30 60", "*5|:0|:16|:0|:-1|:32|"),
        ("CL.THROTTLE user123 15 30 60 17", "*5|:1|:16|:0|:-1|:32|"),
        ("CL.THROTTLE alone 0 1 1", "*5|:0|:1|:0|:-1|:1|"),
        ("CL.THROTTLE alone 0 1 1", "*5|:1|:1|:0|:1|:1|"),
        ("CL.THROTTLE unseen 3 1 1 0", "*5|:0|:4|:4|:-1|:0|"),
        ("EXISTS unseen", ":0|"),
    ]);
}

#[test]
fn each_algorithm_checks_peeks_and_resets() {
    for algorithm in ["sliding_window", "token_bucket", "leaky_bucket", "gcra", "fixed_window"] {
        let mut client = Client::new();
        assert_eq!(client.run(&format!("RATELIMIT.CREATE api 10 60000 ALGO {algorithm}")), "+OK|");
        client.expect(&[
            ("RATELIMIT.PEEK api u", "*5|:1|:10|:0|:10|:0|"),
            ("RATELIMIT.CHECK api u", CHECK_FULL),
            ("ratelimit.check api u cost 9", "*5|:1|:0|:0|:10|:1|"),
            ("RATELIMIT.CHECK api u COST 11", "*5|:0|:0|:-1|:10|:10|"),
            ("RATELIMIT.RESET api u", "+OK|"),
            ("RATELIMIT.CHECK api u", CHECK_FULL),
            ("RATELIMIT.CHECK api v", CHECK_FULL),
            ("RATELIMIT.DROP api", "+OK|"),
            ("RATELIMIT.PEEK api u", "-ERR limiter not found|"),
        ]);
    }
}

#[test]
fn a_full_limiter_says_how_long_to_wait() {
    for (algorithm, wait) in [
        ("sliding_window", 60_000),
        ("token_bucket", 6000),
        ("leaky_bucket", 6000),
        ("gcra", 6000),
        ("fixed_window", 60_000),
    ] {
        let mut client = Client::new();
        client.run(&format!("RATELIMIT.CREATE api 10 60000 ALGO {algorithm}"));
        assert_eq!(client.run("RATELIMIT.CHECK api u COST 10"), "*5|:1|:0|:0|:10|:0|");
        let refused = format!("*5|:0|:0|:{wait}|:10|:10|");
        assert_eq!(client.run("RATELIMIT.CHECK api u"), refused, "{algorithm}");
        assert_eq!(client.run("RATELIMIT.PEEK api u"), refused, "{algorithm}");
        client.now += wait - 1;
        assert_eq!(client.run("RATELIMIT.CHECK api u"), "*5|:0|:0|:1|:10|:10|", "{algorithm}");
        client.now += 1;
        assert!(client.run("RATELIMIT.CHECK api u").starts_with("*5|:1|"), "{algorithm}");
    }
}

#[test]
fn stats_name_a_limiters_settings_and_count_units() {
    let stats = |algorithm: &str, rate: &str, keys: u8, allowed: u8, denied: u8| {
        let length = if rate.is_empty() { 14 } else { 16 };
        format!(
            "*{length}|$4|name|$1|l|$4|algo|{algorithm}|$5|limit|:10|$9|window_ms|:60000|{rate}$11|unique_keys|:{keys}|$13|total_allowed|:{allowed}|$12|total_denied|:{denied}|"
        )
    };
    for (options, algorithm, rate) in [
        ("", "$14|sliding_window", ""),
        (" ALGO sliding_window", "$14|sliding_window", ""),
        (" ALGO fixed_window", "$12|fixed_window", ""),
        (" ALGO gcra", "$4|gcra", ""),
        (" ALGO token_bucket", "$12|token_bucket", ""),
        (" REFILL 5 ALGO token_bucket", "$12|token_bucket", "$6|refill|$1|5|"),
        (" algo leaky_bucket drain 0.250", "$12|leaky_bucket", "$5|drain|$5|0.250|"),
    ] {
        let mut client = Client::new();
        assert_eq!(client.run(&format!("RATELIMIT.CREATE l 10 60000{options}")), "+OK|");
        assert_eq!(client.run("RATELIMIT.STATS l"), stats(algorithm, rate, 0, 0, 0));
        client.run("RATELIMIT.CHECK l a COST 4");
        client.run("RATELIMIT.CHECK l b");
        client.run("RATELIMIT.CHECK l a COST 8");
        client.run("RATELIMIT.PEEK l c");
        assert_eq!(client.run("RATELIMIT.STATS l"), stats(algorithm, rate, 2, 5, 8), "{options}");
        // The same array for clients that know maps.
        client.run("HELLO 3");
        assert_eq!(client.run("RATELIMIT.STATS l"), stats(algorithm, rate, 2, 5, 8), "{options}");
    }
}

#[test]
fn list_sorts_names_by_their_bytes() {
    Client::new().expect(&[
        ("RATELIMIT.LIST", "*0|"),
        ("RATELIMIT.CREATE b 1 1", "+OK|"),
        ("RATELIMIT.CREATE a:b 1 1", "+OK|"),
        ("RATELIMIT.CREATE B 1 1", "+OK|"),
        ("RATELIMIT.CREATE a 1 1", "+OK|"),
        ("RATELIMIT.LIST", "*4|$1|B|$1|a|$3|a:b|$1|b|"),
        ("RATELIMIT.CREATE a 5 5 ALGO gcra", "-ERR limiter already exists or limit reached|"),
        ("RATELIMIT.DROP a", "+OK|"),
        ("RATELIMIT.CREATE a 5 5 ALGO gcra", "+OK|"),
    ]);
}

#[test]
fn policies_are_defined_asked_shown_and_forgotten() {
    let mut client = Client::new();
    let rules = r#"[{"limit":2,"interval":"1s","burst":2},{"limit":3,"interval":"1m","algorithm":"fixed-window"}]"#;
    assert!(client.words(&["VALVE.ADMIT", "ns", "x", "1"]).starts_with("-NOPOLICY "));
    let defined = client.words(&["VALVE.DEFINE", "ns", rules]);
    let fingerprint = defined.strip_prefix("$64|").and_then(|rest| rest.strip_suffix('|')).expect("64 letters");
    assert_eq!(client.words(&["VALVE.DEFINE", "ns", rules]), defined);
    let mut admit = |cost: &str| client.words(&["VALVE.ADMIT", "ns", fingerprint, cost]);
    assert_eq!(admit("2"), "*3|:1|:0|*0|");
    assert_eq!(admit("1"), "*3|:0|:500|*1|:0|");
    assert_eq!(admit("2"), "*3|:0|:60000|*2|:0|:1|");
    assert!(admit("3").starts_with("-COST_EXCEEDS_LIMIT "));
    assert_eq!(admit("0"), "-ERR value is not an integer or out of range|");
    assert!(client.words(&["VALVE.ADMIT", "ns", "other", "1"]).starts_with("-INVALID_OPTIONS "));
    let shown = client.run("VALVE.SHOW ns");
    assert!(shown.starts_with("*10|$6|policy|") && shown.contains(fingerprint), "{shown}");
    client.run("HELLO 3");
    assert!(client.run("VALVE.SHOW ns").starts_with("%5|$6|policy|"));
    client.run("HELLO 2");
    client.expect(&[("VALVE.RENEW ns a b", ":0|"), ("VALVE.RELEASE ns a", ":0|")]);
    assert_eq!(client.run("VALVE.FORGET ns"), defined);
    assert!(client.words(&["VALVE.ADMIT", "ns", fingerprint, "1"]).starts_with("-NOPOLICY "));
}

#[test]
fn one_command_admits_as_many_equal_jobs_as_pass() {
    let mut client = Client::new();
    let rules = r#"[{"limit":2000,"interval":"1h","burst":2000},{"limit":5,"interval":"1h","algorithm":"fixed-window","name":"w","scope":"t"}]"#;
    let defined = client.words(&["VALVE.DEFINE", "ns", rules]);
    let fingerprint = defined["$64|".len()..].trim_end_matches('|').to_owned();
    let mut admit =
        |tenant, times| client.words(&["VALVE.ADMIT", "ns", &fingerprint, "2", "SCOPE", "t", tenant, "TIMES", times]);
    assert_eq!(admit("a", "1"), "*3|:1|:0|*0|");
    assert!(admit("a", "5").starts_with("*3|:1|:") && admit("a", "5").starts_with("*3|:0|:"));
    assert!(admit("a", "1").ends_with("|*1|:1|"), "the scoped rule refuses");
    assert_eq!(admit("b", "2"), "*3|:2|:0|*0|");
    let shown = client.run("VALVE.SHOW ns");
    assert!(shown.contains("|$4|used|:8|") && shown.matches("|$4|used|:4|").count() == 2, "{shown}");
}

#[test]
fn one_command_admits_at_most_a_thousand_jobs() {
    let mut client = Client::new();
    let defined = client.words(&["VALVE.DEFINE", "ns", r#"{"limit":9000,"interval":"1h","burst":9000}"#]);
    let fingerprint = defined["$64|".len()..].trim_end_matches('|').to_owned();
    let times = client.words(&["VALVE.ADMIT", "ns", &fingerprint, "1", "TIMES", "9007199254740991"]);
    assert_eq!(times, "*3|:1000|:0|*0|");
}

#[test]
fn flushing_deletes_ordinary_keys_and_leaves_limiters_and_policies() {
    let mut client = Client::new();
    let policy = r#"{"limit":1,"interval":"1h"}"#;
    let defined = client.words(&["VALVE.DEFINE", "ns", policy]);
    let fingerprint = defined["$64|".len()..].trim_end_matches('|').to_owned();
    client.words(&["VALVE.ADMIT", "ns", &fingerprint, "1"]);
    client.expect(&[
        ("RATELIMIT.CREATE l 1 60000", "+OK|"),
        ("RATELIMIT.CHECK l u", "*5|:1|:0|:0|:1|:0|"),
        ("GCRA.LIMIT k 60000 1", "*5|:0|:1|:0|:-1|:60000|"),
        ("SET t v", "+OK|"),
        ("DBSIZE", ":2|"),
        ("FLUSHALL ASYNC", "+OK|"),
        ("DBSIZE", ":0|"),
        ("GCRA.LIMIT k 60000 1", "*5|:0|:1|:0|:-1|:60000|"),
        ("FLUSHDB", "+OK|"),
        ("EXISTS k t", ":0|"),
        ("RATELIMIT.CHECK l u", "*5|:0|:0|:60000|:1|:1|"),
    ]);
    assert_eq!(client.words(&["VALVE.ADMIT", "ns", &fingerprint, "1"]), "*3|:0|:3600000|*1|:0|");
}
