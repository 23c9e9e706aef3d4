//! Every error to the character; and what is wrong in itself is refused before anything is looked up.

use tidegate::{Engine, Options, Session};

use crate::client::{Client, NOW, request};

const INTEGER: &str = "-ERR value is not an integer or out of range|";
const SYNTAX: &str = "-ERR syntax error|";

#[test]
fn too_few_and_too_many_arguments_name_the_command() {
    // The command, and how many arguments after its name are right.
    for (name, least, most) in [
        ("gcra.limit", 3, Some(4)),
        ("gcra.reset", 1, None),
        ("ratelimit.create", 3, None),
        ("ratelimit.check", 2, Some(4)),
        ("ratelimit.peek", 2, Some(2)),
        ("ratelimit.reset", 2, Some(2)),
        ("ratelimit.stats", 1, Some(1)),
        ("ratelimit.drop", 1, Some(1)),
        ("ratelimit.list", 0, Some(0)),
        ("cl.throttle", 4, Some(5)),
        ("valve.define", 2, Some(2)),
        ("valve.admit", 3, None),
        ("valve.show", 1, Some(1)),
        ("valve.forget", 1, Some(1)),
        ("valve.renew", 2, None),
        ("valve.release", 2, None),
        ("set", 2, None),
        ("get", 1, Some(1)),
        ("del", 1, None),
        ("unlink", 1, None),
        ("exists", 1, None),
        ("type", 1, Some(1)),
        ("ttl", 1, Some(1)),
        ("pttl", 1, Some(1)),
        ("expire", 2, Some(4)),
        ("pexpire", 2, Some(4)),
        ("persist", 1, Some(1)),
        ("keys", 1, Some(1)),
        ("scan", 1, None),
        ("dbsize", 0, Some(0)),
        ("flushall", 0, Some(1)),
        ("flushdb", 0, Some(1)),
        ("ping", 0, Some(1)),
        ("echo", 1, Some(1)),
        ("auth", 1, Some(2)),
        ("select", 1, Some(1)),
        ("client", 1, None),
        ("time", 0, Some(0)),
        ("reset", 0, Some(0)),
        ("multi", 0, Some(0)),
        ("exec", 0, Some(0)),
        ("discard", 0, Some(0)),
    ] {
        let mut client = Client::new();
        let mut run = |count: usize| {
            let mut words = vec![name.to_uppercase()];
            words.extend((0..count).map(|_| "1".to_owned()));
            client.words(&words)
        };
        let wrong = format!("-ERR wrong number of arguments for '{name}' command|");
        if least > 0 {
            assert_eq!(run(least - 1), wrong);
            assert_eq!(run(0), wrong);
        }
        assert_ne!(run(least), wrong, "{name}");
        match most {
            Some(most) => {
                assert_eq!(run(most + 1), wrong);
                assert_ne!(run(most), wrong, "{name}");
            }
            None => assert_ne!(run(500), wrong, "{name}"),
        }
    }
}

#[test]
fn only_a_canonical_integer_in_range_is_one() {
    let mut client = Client::new();
    for bad in [
        "0",
        "-1",
        "+1",
        "01",
        "1.0",
        "1e3",
        "ten",
        "",
        " 1",
        "1 ",
        "0x1",
        "9007199254740992",
        "18446744073709551617",
        "१",
    ] {
        for at in 2..=4 {
            let mut words = ["GCRA.LIMIT", "k", "60000", "10", "1"];
            words[at] = bad;
            assert_eq!(client.words(&words), INTEGER, "{words:?}");
        }
        assert_eq!(client.words(&["RATELIMIT.CREATE", "l", bad, "1000"]), INTEGER);
        assert_eq!(client.words(&["RATELIMIT.CREATE", "l", "10", bad]), INTEGER);
        assert_eq!(client.words(&["RATELIMIT.CHECK", "l", "k", "COST", bad]), INTEGER);
        assert_eq!(client.words(&["CL.THROTTLE", "k", "1", bad, "1"]), INTEGER);
        assert_eq!(client.words(&["CL.THROTTLE", "k", "1", "1", bad]), INTEGER);
        assert_eq!(client.words(&["SET", "k", "v", "EX", bad]), INTEGER);
        assert_eq!(client.words(&["SET", "k", "v", "PXAT", bad]), INTEGER);
        assert_eq!(client.words(&["SCAN", "0", "COUNT", bad]), INTEGER);
        assert_eq!(client.words(&["VALVE.ADMIT", "ns", "x", bad]), INTEGER);
        assert_eq!(client.words(&["VALVE.ADMIT", "ns", "x", "1", "RESERVE", bad]), INTEGER);
        assert_eq!(client.words(&["VALVE.ADMIT", "ns", "x", "1", "TIMES", bad]), INTEGER);
        if bad != "0" {
            assert_eq!(client.words(&["CL.THROTTLE", "k", bad, "1", "1"]), INTEGER);
            assert_eq!(client.words(&["CL.THROTTLE", "k", "1", "1", "1", bad]), INTEGER);
        }
    }
    for bad in ["+1", "01", "-0", "-", "1.5", "", "9007199254740992", "-9007199254740992", "9223372036854775807"] {
        assert_eq!(client.words(&["EXPIRE", "k", bad]), INTEGER, "{bad}");
        assert_eq!(client.words(&["PEXPIRE", "k", bad]), INTEGER, "{bad}");
    }
    for bad in ["-1", "01", "x", "", "18446744073709551616"] {
        assert_eq!(client.words(&["SCAN", bad]), INTEGER);
    }
    // What is in range by itself can pass it as milliseconds.
    assert_eq!(client.run("EXPIRE k 9007199254741"), INTEGER);
    assert_eq!(client.run("SET k v EX 9007199254741"), INTEGER);
    assert_eq!(client.run("CL.THROTTLE k 9007199254740990 1 9007199254740991"), INTEGER);
    assert_eq!(client.run("CL.THROTTLE k 9007199254740991 1 1"), INTEGER);
    assert_eq!(client.run("DBSIZE"), ":0|", "nothing was spent or stored");
}

#[test]
fn options_are_refused_unless_they_are_known_complete_and_consistent() {
    let mut client = Client::new();
    for line in [
        "RATELIMIT.CREATE l 10 1000 ALGO",
        "RATELIMIT.CREATE l 10 1000 SPEED 5",
        "RATELIMIT.CREATE l 10 1000 ALGO gcra ALGO gcra",
        "RATELIMIT.CREATE l 10 1000 REFILL 5",
        "RATELIMIT.CREATE l 10 1000 ALGO token_bucket DRAIN 5",
        "RATELIMIT.CREATE l 10 1000 ALGO leaky_bucket REFILL 5",
        "RATELIMIT.CREATE l 10 1000 ALGO token_bucket REFILL",
        "RATELIMIT.CREATE l 10 1000 ALGO token_bucket REFILL 5 DRAIN 5",
        "RATELIMIT.CREATE l 10 1000 ALGO gcra DRAIN 5",
        "RATELIMIT.CHECK l k COST",
        "RATELIMIT.CHECK l k PRICE 1",
        "SET k v EX",
        "SET k v PX",
        "SET k v EXAT",
        "SET k v NX XX",
        "SET k v NX NX",
        "SET k v EX 1 PX 1",
        "SET k v EX 1 EXAT 1",
        "SET k v EX 1 KEEPTTL",
        "SET k v KEEPTTL PX 1",
        "SET k v FOREVER",
        "EXPIRE k 1 ALWAYS",
        "EXPIRE k 1 NX XX",
        "EXPIRE k 1 NX GT",
        "EXPIRE k 1 LT NX",
        "EXPIRE k 1 GT LT",
        "SCAN 0 MATCH",
        "SCAN 0 TYPE",
        "SCAN 0 LIMIT 5",
        "FLUSHALL NOW",
        "VALVE.ADMIT ns x 1 SCOPE a",
        "VALVE.ADMIT ns x 1 LEASE",
        "VALVE.ADMIT ns x 1 LEASE a LEASE b",
        "VALVE.ADMIT ns x 1 RESERVE",
        "VALVE.ADMIT ns x 1 RESERVE 1 RESERVE 1",
        "VALVE.ADMIT ns x 1 TIMES",
        "VALVE.ADMIT ns x 1 TIMES 1 TIMES 1",
        "VALVE.ADMIT ns x 1 TIMES 1 LEASE a",
        "VALVE.ADMIT ns x 1 RESERVE 1 TIMES 1",
        "HELLO 3 AUTH",
        "HELLO 3 AUTH default",
        "HELLO 3 SETNAME",
        "HELLO 3 VERBOSE",
        "CLIENT",
        "CLIENT NOTHING",
        "CLIENT ID 5",
        "COMMAND NOTHING",
    ] {
        let expected = if line == "CLIENT" { "-ERR wrong number of arguments for 'client' command|" } else { SYNTAX };
        assert_eq!(client.run(line), expected, "{line}");
    }
    client.expect(&[("DBSIZE", ":0|"), ("RATELIMIT.LIST", "*0|")]);
}

#[test]
fn algorithms_and_rates_are_checked_when_a_limiter_is_made() {
    let mut client = Client::new();
    client.expect(&[("RATELIMIT.CREATE l 10 1000 ALGO magic", "-ERR unknown algorithm|")]);
    for bad in
        ["0", "0.0", "-5", "+5", "5.", ".5", "1e3", "five", "", "0.0000001", "1234567890123456", "5,5", "NaN", "inf"]
    {
        for (algorithm, option) in [("token_bucket", "REFILL"), ("leaky_bucket", "DRAIN")] {
            let reply = client.words(&["RATELIMIT.CREATE", "l", "10", "1000", "ALGO", algorithm, option, bad]);
            assert_eq!(reply, "-ERR value is not a valid rate|", "{bad}");
        }
    }
    // A bucket that would take longer than 2^53 - 1 ms to recover.
    let slow = "RATELIMIT.CREATE l 9007199254740991 1000 ALGO token_bucket REFILL 0.000001";
    assert_eq!(client.run(slow), "-ERR value is not a valid rate|");
    assert_eq!(client.run("RATELIMIT.LIST"), "*0|");
}

#[test]
fn an_unknown_limiter_is_named_so_and_only_after_the_arguments_are_right() {
    let unknown = "-ERR limiter not found|";
    Client::new().expect(&[
        ("RATELIMIT.CHECK l k", unknown),
        ("RATELIMIT.PEEK l k", unknown),
        ("RATELIMIT.RESET l k", unknown),
        ("RATELIMIT.STATS l", unknown),
        ("RATELIMIT.DROP l", unknown),
        ("RATELIMIT.CHECK l k COST none", INTEGER),
        ("RATELIMIT.CHECK l k PRICE 1", SYNTAX),
        ("SET k words", "+OK|"),
        ("GCRA.LIMIT k 0 1", INTEGER),
    ]);
}

#[test]
fn limiters_are_bounded_in_number() {
    let mut engine = Engine::new(&Options { max_limiters: 2, ..Options::default() });
    let mut session = Session::new(1);
    let mut replies = Vec::new();
    let commands = b"RATELIMIT.CREATE a 1 1\r\nRATELIMIT.CREATE b 1 1\r\nRATELIMIT.CREATE c 1 1\r\nRATELIMIT.DROP a\r\nRATELIMIT.CREATE c 1 1\r\n";
    session.feed(&mut engine, NOW, commands, &mut replies);
    let replies = String::from_utf8(replies).expect("text");
    assert_eq!(replies, "+OK\r\n+OK\r\n-ERR limiter already exists or limit reached\r\n+OK\r\n+OK\r\n");
}

#[test]
fn a_new_key_is_refused_when_all_are_live_and_the_live_ones_go_on() {
    let mut engine = Engine::new(&Options { max_keys: 1, ..Options::default() });
    let mut session = Session::new(1);
    let mut run = |line: &str| {
        let mut replies = Vec::new();
        session.feed(&mut engine, NOW, format!("{line}\r\n").as_bytes(), &mut replies);
        String::from_utf8(replies).expect("text")
    };
    assert_eq!(run("GCRA.LIMIT a 60000 2"), "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:30000\r\n");
    let oom = "-OOM all 1 keys are in use by live limits, so a new key can't be counted; raise max-keys or wait for one to recover\r\n";
    assert_eq!(run("GCRA.LIMIT b 60000 2"), oom);
    assert_eq!(run("SET b v"), oom);
    assert_eq!(run("GCRA.LIMIT a 60000 2"), "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:60000\r\n");
}

#[test]
fn a_key_over_4096_bytes_is_refused_and_one_of_4096_is_not() {
    let mut client = Client::new();
    let (fits, over) = ("k".repeat(4096), "k".repeat(4097));
    for command in [
        &["GCRA.LIMIT", "{}", "60000", "10"] as &[&str],
        &["CL.THROTTLE", "{}", "1", "1", "1"],
        &["GCRA.RESET", "a", "{}"],
        &["RATELIMIT.CHECK", "l", "{}"],
        &["RATELIMIT.PEEK", "l", "{}"],
        &["RATELIMIT.RESET", "l", "{}"],
        &["SET", "{}", "1"],
        &["GET", "{}"],
        &["DEL", "{}"],
        &["EXISTS", "a", "{}"],
        &["TYPE", "{}"],
        &["TTL", "{}"],
        &["PERSIST", "{}"],
        &["EXPIRE", "{}", "1"],
    ] {
        let with = |key: &str| -> Vec<String> { command.iter().map(|word| word.replace("{}", key)).collect() };
        assert_eq!(client.words(&with(&over)), "-ERR key must be at most 4096 bytes, not 4097|", "{command:?}");
        assert_ne!(client.words(&with(&fits)), "-ERR key must be at most 4096 bytes, not 4097|", "{command:?}");
    }
    let name = client.words(&["RATELIMIT.CREATE", &over, "1", "1"]);
    assert_eq!(name, "-ERR name must be at most 4096 bytes, not 4097|");
    let namespace = client.words(&["VALVE.DEFINE", &over, "{}"]);
    assert_eq!(namespace, "-ERR namespace must be at most 4096 bytes, not 4097|");
    for command in [&["KEYS", &over] as &[&str], &["SCAN", "0", "MATCH", &over]] {
        assert_eq!(client.words(command), "-ERR pattern must be at most 4096 bytes, not 4097|");
    }
}

#[test]
fn an_unknown_commands_name_is_shown_cut_and_harmless() {
    let mut client = Client::new();
    for (name, shown) in [
        ("NOPE", "NOPE"),
        ("X\r\n:1", "X??:1"),
        ("\u{1b}[2J", "?[2J"),
        ("\0", "?"),
        ("", ""),
        ("GET ", "GET "),
        ("naïve", "naïve"),
    ] {
        assert_eq!(client.words(&[name, "a", "b"]), format!("-ERR unknown command '{shown}'|"), "{name:?}");
    }
    let long = "y".repeat(100_000);
    assert_eq!(client.words(&[&long]), format!("-ERR unknown command '{}'|", "y".repeat(128)));
    let raw = client.words(&[b"\xff\xfe".as_slice()]);
    assert_eq!(raw, "-ERR unknown command '\u{fffd}\u{fffd}'|");
}

#[test]
fn an_error_is_one_line_whatever_it_shows() {
    let mut client = Client::new();
    for words in [
        &["VALVE.DEFINE", "ns", "{\"a\r\n:1\":1}"] as &[&str],
        &["VALVE.DEFINE", "ns", "\r\n+OK"],
        &["VALVE.ADMIT", "ns\r\n", "\r\n+OK", "1"],
        &["\r\n+OK\r\n"],
    ] {
        let (reply, _) = client.send(&request(words));
        assert!(reply.starts_with('-') && reply.find(['\r', '\n']) == Some(reply.len() - 2), "{reply:?}");
    }
}
