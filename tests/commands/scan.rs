//! `KEYS` and `SCAN`.

use std::collections::BTreeSet;

use crate::client::Client;

/// The bulk strings of an array whose text has no line ends.
fn names(reply: &str) -> BTreeSet<String> {
    reply.split('|').skip(2).step_by(2).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn keys_replies_with_what_matches() {
    let mut client = Client::new();
    for key in ["user:1", "user:2", "user:10", "session:1"] {
        client.run(&format!("SET {key} v"));
    }
    for (pattern, expected) in [
        ("*", &["session:1", "user:1", "user:10", "user:2"] as &[&str]),
        ("user:?", &["user:1", "user:2"]),
        ("*:1", &["session:1", "user:1"]),
        ("user:[13-9]", &["user:1"]),
        ("user:[^1]", &["user:2"]),
        ("user:1", &["user:1"]),
        (r"user:\1", &["user:1"]),
        ("USER:1", &[]),
        ("", &[]),
    ] {
        let found = client.words(&["KEYS", pattern]);
        assert_eq!(names(&found), expected.iter().map(|name| (*name).to_owned()).collect(), "{pattern}");
        let scanned = client.words(&["SCAN", "0", "MATCH", pattern, "COUNT", "1000"]);
        assert_eq!(format!("*2|$1|0|{found}"), scanned, "{pattern}");
    }
}

#[test]
fn scan_sees_every_key_that_stays_exactly_once() {
    let mut client = Client::new();
    for number in 0..5000 {
        client.run(&format!("SET key:{number} v"));
    }
    let mut seen = BTreeSet::new();
    let mut cursor = "0".to_owned();
    let mut calls = 0;
    loop {
        let reply = client.run(&format!("SCAN {cursor} COUNT 100"));
        let mut parts = reply.splitn(4, '|').skip(2);
        cursor = parts.next().expect("a cursor").to_owned();
        for name in names(parts.next().expect("an array")) {
            assert!(seen.insert(name.clone()), "{name} twice");
        }
        // What comes and goes meanwhile disturbs nothing.
        client.run(&format!("SET other:{calls} v"));
        client.run(&format!("DEL other:{calls}"));
        calls += 1;
        if cursor == "0" {
            break;
        }
    }
    assert!(calls > 2, "several calls: {calls}");
    seen.retain(|name| name.starts_with("key:"));
    assert_eq!(seen.len(), 5000);
}

#[test]
fn scan_takes_a_type_and_any_cursor() {
    let mut client = Client::new();
    client.run("SET a v");
    client.expect(&[
        ("SCAN 0 TYPE string", "*2|$1|0|*1|$1|a|"),
        ("SCAN 0 TYPE STRING COUNT 1 MATCH a", "*2|$1|0|*1|$1|a|"),
        ("SCAN 0 TYPE hash", "*2|$1|0|*0|"),
        ("SCAN 4294967296", "*2|$1|0|*0|"),
        ("SCAN 9007199254740991 COUNT 9007199254740991", "*2|$1|0|*0|"),
    ]);
    assert!(client.run("SCAN 4294967295").starts_with("*2|$1|0|"));
}
