//! What the Worker decides without the platform. The names are those of the package's own tests, so both place alike.

use std::string::String;
use std::vec;
use std::vec::Vec;

use super::denials::Denials;
use super::json;
use super::placement::{Names, Placement, slot, tag};
use super::route::{Route, Words, encode, objects_of, route, split_replies};

fn words(line: &str) -> Words {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

#[test]
fn the_tag_is_between_the_first_brace_and_the_next() {
    for (key, expected) in [
        ("user:42", "user:42"),
        ("rl:{user:42}:search", "user:42"),
        ("{}x", "{}x"),
        ("{}{a}", "{}{a}"),
        ("a{b}{c}", "b"),
        ("{{a}}", "{a"),
        ("{a", "{a"),
        ("a}b{c}", "c"),
    ] {
        assert_eq!(tag(key.as_bytes()), expected.as_bytes(), "{key}");
    }
}

#[test]
fn slots_are_those_of_a_cluster() {
    // The check value of CRC-16/XMODEM, and two slots from the cluster's own documentation.
    assert_eq!(slot(b"123456789"), 0x31C3);
    assert_eq!(slot(b"foo"), 12_182);
    assert_eq!(slot(b""), 0);
}

#[test]
fn two_things_never_share_an_object() {
    let names = Names::new("prod", Placement::Tag);
    assert_eq!(names.key(b"rl:{user:42}:search"), "key:prod:user:42");
    assert_eq!(names.limiter(b"user:42"), "limiter:prod:user:42");
    assert_eq!(names.policy(b"user:42"), "policy:prod:user:42");
    assert_eq!(names.directory(), "directory:prod");
    assert_eq!(Names::new("a:b", Placement::Tag).key(b"c"), "key:a%3Ab:c");
    assert_eq!(Names::new("é /", Placement::Tag).directory(), "directory:%C3%A9%20%2F");
    assert_eq!(Names::new("prod", Placement::Slot).key(b"foo"), "slot:prod:12182");
    assert_eq!(names.key(&[0xff, 0x00]), "key:prod:\0ff00");
    // SHA-256 of `key:prod:` and 600 times x.
    let long = "x".repeat(600);
    assert_eq!(names.key(long.as_bytes()), "sha256:e35363c913d44a3916e3fc79b8be75482b6bf70c211d1d40ec8308596bb27f18");
}

#[test]
fn each_command_goes_where_its_key_is() {
    let names = Names::new("n", Placement::Tag);
    let object = |name: &str| Route::Object(String::from(name));
    for (line, expected) in [
        ("gcra.limit {a}b 1 1", object("key:n:a")),
        ("DEL a", object("key:n:a")),
        ("DEL a b", Route::Keys),
        ("RATELIMIT.CHECK api k", object("limiter:n:api")),
        ("RATELIMIT.CREATE api 1 1", Route::Create(String::from("limiter:n:api"))),
        ("RATELIMIT.LIST", Route::List(String::from("directory:n"))),
        ("VALVE.ADMIT jobs f 1", object("policy:n:jobs")),
        ("GET", object("directory:n")),
        ("PING", object("directory:n")),
        ("NOSUCH a", object("directory:n")),
    ] {
        assert_eq!(route(&words(line), &names), expected, "{line}");
    }
    for line in ["KEYS *", "SCAN 0", "DBSIZE", "FLUSHALL", "flushdb"] {
        assert!(matches!(route(&words(line), &names), Route::Refused(_)), "{line}");
    }
    let across = [words("GET a"), words("DEL {a}1 {b}2")];
    assert_eq!(objects_of(&across, &names).unwrap(), ["key:n:a", "key:n:b"]);
    assert!(objects_of(&[words("RATELIMIT.LIST")], &names).is_err());
}

#[test]
fn replies_are_told_apart_wherever_they_end() {
    let replies: [&[u8]; 6] =
        [b"+OK\r\n", b":-1\r\n", b"$3\r\na\r\n\r\n", b"$-1\r\n", b"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", b"-ERR no\r\n"];
    let all = replies.concat();
    assert_eq!(split_replies(&all), replies);
    assert_eq!(split_replies(&all[..all.len() - 1]).len(), 5);
}

#[test]
fn json_in_is_the_command_and_json_out_its_reply() {
    let command = json::command(r#"["GCRA.LIMIT", "a\u00e9", 60000, 10]"#).unwrap();
    let mut bytes = Vec::new();
    encode(&command, &mut bytes);
    assert_eq!(bytes, "*4\r\n$10\r\nGCRA.LIMIT\r\n$3\r\naé\r\n$5\r\n60000\r\n$2\r\n10\r\n".as_bytes());
    assert_eq!(json::commands(r#"[["PING"],["GET","a"]]"#).unwrap(), vec![words("PING"), words("GET a")]);
    for bad in ["", "{}", "[]", "[[\"GET\"]]", "[null]", "[\"GET\",{}]", "[\"a\""] {
        assert!(json::command(bad).is_err(), "{bad}");
    }
    for (reply, expected) in [
        ("+OK\r\n", r#"{"result":"OK"}"#),
        ("*2\r\n:1\r\n:-1\r\n", r#"{"result":[1,-1]}"#),
        ("*0\r\n", r#"{"result":[]}"#),
        ("$-1\r\n", r#"{"result":null}"#),
        ("$2\r\n\"\n\r\n", r#"{"result":"\"\n"}"#),
        ("-ERR \"no\"\r\n", r#"{"error":"ERR \"no\""}"#),
        ("*1\r\n-ERR x\r\n", r#"{"result":[{"error":"ERR x"}]}"#),
    ] {
        assert_eq!(json::answer(reply.as_bytes()), expected.replace('\n', "\\n"), "{reply}");
    }
    assert_eq!(json::answers(&[b":1\r\n".to_vec(), b"-ERR x\r\n".to_vec()]), r#"[{"result":1},{"error":"ERR x"}]"#);
}

fn reply(denials: &mut Denials, command: &str, now: u64) -> Option<String> {
    denials.answer(&words(command), now).map(|reply| String::from_utf8(reply).unwrap().replace("\r\n", " "))
}

#[test]
fn a_refusal_answers_equal_and_dearer_asks_until_it_ends() {
    let mut denials = Denials::default();
    let ask = words("GCRA.LIMIT k 1000 10");
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10", 5000), None);
    denials.note(&ask, b"*5\r\n:1\r\n:10\r\n:0\r\n:100\r\n:1000\r\n", 5000, denials.epoch(), 1000);
    assert_eq!(reply(&mut denials, "gcra.limit k 1000 10 1", 5040).as_deref(), Some("*5 :1 :10 :0 :60 :960 "));
    // Two units more than the one that was refused: 200 ms more.
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10 3", 5040).as_deref(), Some("*5 :1 :10 :0 :260 :960 "));
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10 11", 5040).as_deref(), Some("*5 :1 :10 :0 :-1 :960 "));
    for other in ["GCRA.LIMIT k 1000 9", "GCRA.LIMIT k 999 10", "GCRA.LIMIT j 1000 10", "GCRA.LIMIT k 1000 10 1 1"] {
        assert_eq!(reply(&mut denials, other, 5040), None, "{other}");
    }
    // The last moment before the retry time, and that time itself.
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10", 5099).as_deref(), Some("*5 :1 :10 :0 :1 :901 "));
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10", 5100), None);
    // Gone for good, even when the clock steps back.
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10", 5099), None);
}

#[test]
fn a_cheaper_ask_than_the_one_refused_is_asked() {
    let mut denials = Denials::default();
    let refusal = b"*5\r\n:1\r\n:10\r\n:2\r\n:300\r\n:800\r\n";
    denials.note(&words("GCRA.LIMIT k 1000 10 5"), refusal, 5000, denials.epoch(), 1000);
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10 4", 5000), None);
    // A unit comes back every 100 ms, and what is left stays below what was refused.
    assert_eq!(reply(&mut denials, "GCRA.LIMIT k 1000 10 5", 5250).as_deref(), Some("*5 :1 :10 :4 :50 :550 "));
}

#[test]
fn a_refusal_is_forgotten_by_what_changes_its_key_and_after_the_stated_time() {
    let refusal = b"*5\r\n:1\r\n:10\r\n:0\r\n:6000\r\n:60000\r\n";
    let ask = "GCRA.LIMIT k 60000 10";
    let mut denials = Denials::default();
    denials.note(&words(ask), refusal, 5000, denials.epoch(), 1000);
    assert!(reply(&mut denials, ask, 5999).is_some());
    for kept in ["GET k", "PING", "RATELIMIT.CHECK k k"] {
        assert_eq!(reply(&mut denials, kept, 5999), None);
        assert!(reply(&mut denials, ask, 5999).is_some(), "{kept}");
    }
    assert_eq!(reply(&mut denials, ask, 6000), None);
    for change in ["GCRA.RESET other k", "del k", "SET k v", "CL.THROTTLE k 1 1 1"] {
        denials.note(&words(ask), refusal, 5000, denials.epoch(), 1000);
        assert!(reply(&mut denials, ask, 5000).is_some());
        let epoch = denials.epoch();
        assert_eq!(reply(&mut denials, change, 5000), None);
        assert_eq!(reply(&mut denials, ask, 5000), None, "{change}");
        // An answer that was on its way meanwhile is not remembered.
        denials.note(&words(ask), refusal, 5000, epoch, 1000);
        assert_eq!(reply(&mut denials, ask, 5000), None, "{change}");
    }
    // Off, and replies that are no refusal.
    denials.note(&words(ask), refusal, 5000, denials.epoch(), 0);
    denials.note(&words(ask), b"*5\r\n:0\r\n:10\r\n:9\r\n:-1\r\n:6000\r\n", 5000, denials.epoch(), 1000);
    denials.note(&words(ask), b"+QUEUED\r\n", 5000, denials.epoch(), 1000);
    assert_eq!(reply(&mut denials, ask, 5000), None);
}
