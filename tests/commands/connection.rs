//! What a client says about its own connection.

use tidegate::Flow;

use crate::client::{Client, request};

#[test]
fn ping_and_echo_answer() {
    Client::new().expect(&[("PING", "+PONG|"), ("ping hello", "$5|hello|"), ("ECHO hello", "$5|hello|")]);
    assert_eq!(Client::new().words(&["ECHO", "a\r\nb"]), "$4|a|b|");
}

#[test]
fn hello_chooses_the_protocol_and_names_the_client() {
    let fields = |kind: &str, version: u8| {
        format!(
            "{kind}|$6|server|$8|tidegate|$7|version|$5|0.1.0|$5|proto|:{version}|$2|id|:7|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|"
        )
    };
    let (two, three) = (fields("*14", 2), fields("%7", 3));
    Client::new().expect(&[
        ("HELLO", &two),
        ("HELLO 3 SETNAME worker:1", &three),
        ("HELLO", &three),
        ("CLIENT GETNAME", "$8|worker:1|"),
        ("GET none", "_|"),
        ("HELLO 4", "-NOPROTO unsupported protocol version|"),
        ("HELLO three", "-NOPROTO unsupported protocol version|"),
        ("GET none", "_|"),
        ("HELLO 2", &two),
        ("GET none", "$-1|"),
    ]);
}

#[test]
fn a_client_has_a_name_and_an_id() {
    let mut client = Client::new();
    let refused = "-ERR Client names cannot contain spaces, newlines or special characters.|";
    client.expect(&[
        ("CLIENT ID", ":7|"),
        ("CLIENT GETNAME", "$-1|"),
        ("client setname me", "+OK|"),
        ("CLIENT GETNAME", "$2|me|"),
        ("CLIENT SETINFO LIB-NAME redis", "+OK|"),
        ("CLIENT SETINFO lib-ver 1.2.3", "+OK|"),
    ]);
    for bad in ["two words", "line\nend", "\u{e9}", "\0"] {
        assert_eq!(client.words(&["CLIENT", "SETNAME", bad]), refused, "{bad:?}");
    }
    client.expect(&[("CLIENT GETNAME", "$2|me|")]);
    assert_eq!(client.words(&["CLIENT", "SETNAME", ""]), "+OK|");
    client.expect(&[("CLIENT GETNAME", "$-1|")]);
}

#[test]
fn there_is_one_database() {
    Client::new().expect(&[
        ("SELECT 0", "+OK|"),
        ("SELECT 1", "-ERR DB index is out of range|"),
        ("SELECT x", "-ERR DB index is out of range|"),
    ]);
}

#[test]
fn time_is_the_time_that_was_served() {
    let mut client = Client::new();
    client.now += 789;
    assert_eq!(client.run("TIME"), "*2|$10|1764547200|$6|789000|");
}

#[test]
fn command_describes_what_there_is() {
    let mut client = Client::new();
    let count: usize = client.run("COMMAND COUNT")[1..].trim_end_matches('|').parse().expect("a count");
    assert!(client.run("COMMAND").starts_with(&format!("*{count}|*6|$")));
    assert!(client.run("COMMAND LIST").starts_with(&format!("*{count}|$")));
    assert_eq!(client.run("COMMAND DOCS"), "*0|");
    assert_eq!(
        client.run("COMMAND INFO get nothing GCRA.LIMIT del"),
        "*4|*6|$3|get|:2|*1|+readonly|:1|:1|:1|$-1|*6|$10|gcra.limit|:-4|*1|+write|:1|:1|:1|*6|$3|del|:-2|*1|+write|:1|:-1|:1|"
    );
    client.run("HELLO 3");
    assert_eq!(client.run("COMMAND DOCS get"), "%0|");
}

#[test]
fn info_counts_keys_limiters_and_decisions() {
    let mut client = Client::new();
    for line in
        ["GCRA.LIMIT k 60000 1", "GCRA.LIMIT k 60000 1", "GCRA.LIMIT k 0 1", "RATELIMIT.CREATE l 1 1", "SET t words"]
    {
        client.run(line);
    }
    client.run("GCRA.LIMIT t 60000 1");
    for line in ["RATELIMIT.CHECK l u", "RATELIMIT.CHECK l u", "RATELIMIT.CHECK l u", "CL.THROTTLE c 0 1 60"] {
        client.run(line);
    }
    client.run("VALVE.ADMIT nobody fingerprint 1");
    let info = client.run("INFO");
    for line in [
        "tidegate_version:0.1.0",
        "limiters:1",
        "gcra.limit:allowed=1,denied=1,error=1",
        "ratelimit.check:allowed=1,denied=2,error=0",
        "cl.throttle:allowed=1,denied=0,error=0",
        "valve.admit:allowed=0,denied=0,error=1",
        "other:allowed=2,denied=0,error=0",
    ] {
        assert!(info.contains(&format!("|{line}|")), "{line} in {info}");
    }
    assert!(info.contains("|db0:keys=3,"), "{info}");
    assert_eq!(client.run("INFO server"), info);
}

#[test]
fn quit_ends_the_connection_and_nothing_after_it_is_looked_at() {
    let mut client = Client::new();
    let sent = [request(&["PING"]), request(&["QUIT"]), request(&["SET", "k", "v"]), b"*nonsense".to_vec()].concat();
    assert_eq!(client.send(&sent), ("+PONG\r\n+OK\r\n".to_owned(), Flow::Close));
    let mut other = Client { session: tidegate::Session::new(8), ..client };
    assert_eq!(other.run("EXISTS k"), ":0|");
}

#[test]
fn reset_makes_the_connection_as_it_was() {
    Client::new().expect(&[
        ("CLIENT SETNAME me", "+OK|"),
        ("MULTI", "+OK|"),
        ("SET k v", "+QUEUED|"),
        ("RESET", "+RESET|"),
        ("EXEC", "-ERR EXEC without MULTI|"),
        ("CLIENT GETNAME", "$-1|"),
        ("EXISTS k", ":0|"),
    ]);
}
