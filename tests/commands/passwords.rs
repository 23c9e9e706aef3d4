//! Nothing is done for a client before it said the password.

use tidegate::{Flow, Session};

use crate::client::{Client, request};

const NOAUTH: &str = "-NOAUTH Authentication required.|";
const WRONG: &str = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

fn guarded() -> Client {
    Client::of(Session::with_password(7, b"correct horse"))
}

#[test]
fn every_command_but_those_that_give_the_password_is_refused() {
    let mut client = guarded();
    for line in [
        "GCRA.LIMIT k 60000 10",
        "GCRA.LIMIT k 0 10",
        "GCRA.LIMIT",
        "NOPE",
        "PING",
        "ECHO x",
        "INFO",
        "COMMAND",
        "MULTI",
        "EXEC",
        "RESET",
        "CLIENT ID",
        "TIME",
        "SELECT 0",
    ] {
        assert_eq!(client.run(line), NOAUTH, "{line}");
    }
    assert!(client.run("HELLO 3").starts_with("-NOAUTH HELLO "));
    assert_eq!(client.words(&["AUTH", "correct horse"]), "+OK|");
    client.expect(&[("EXISTS k", ":0|"), ("GCRA.LIMIT k 60000 10", "*5|:0|:10|:9|:-1|:6000|")]);
}

#[test]
fn hello_can_bring_the_password() {
    let mut client = guarded();
    assert!(client.words(&["HELLO", "3", "AUTH", "default", "correct horse", "SETNAME", "me"]).starts_with("%7|"));
    client.expect(&[("PING", "+PONG|"), ("CLIENT GETNAME", "$2|me|")]);
}

#[test]
fn only_the_whole_password_is_right() {
    let mut client = guarded();
    for guess in ["", "correct", "correct horsf", "correct horse ", "correct horse\0", "Correct horse", "\0"] {
        let (reply, flow) = client.send(&request(&["AUTH", guess]));
        assert_eq!(reply, WRONG, "{guess:?}");
        assert!(matches!(flow, Flow::Delay(_)), "{guess:?}");
    }
    assert_eq!(client.words(&["AUTH", "default", "correct horse"]), "+OK|");
}

#[test]
fn each_wrong_guess_is_answered_later_than_the_one_before_and_the_rest_waits() {
    let mut client = guarded();
    let guess = request(&["AUTH", "wrong"]);
    let sent = [guess.clone(), guess.clone(), request(&["AUTH", "correct horse"]), request(&["PING"])].concat();
    assert_eq!(client.send(&sent), (WRONG.to_owned(), Flow::Delay(100)));
    assert_eq!(client.send(b""), (WRONG.to_owned(), Flow::Delay(200)));
    assert_eq!(client.send(b""), ("+OK\r\n+PONG\r\n".to_owned(), Flow::Continue));
    let mut delays = Vec::new();
    for _ in 0..10 {
        let Flow::Delay(ms) = client.send(&guess).1 else { panic!("no delay") };
        delays.push(ms);
    }
    assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 12_800, 12_800]);
}

#[test]
fn a_password_that_nobody_asked_for_is_said_so() {
    assert_eq!(Client::new().run("AUTH x"), "-ERR Client sent AUTH, but no password is set|");
}

#[test]
fn reset_forgets_that_the_password_was_said() {
    let mut client = guarded();
    client.words(&["AUTH", "correct horse"]);
    client.expect(&[("RESET", "+RESET|"), ("PING", NOAUTH)]);
}

#[test]
fn a_stranger_can_make_the_session_hold_little() {
    for sent in ["*11\r\n", "*2\r\n$4\r\nAUTH\r\n$16385\r\n"] {
        let (reply, flow) = guarded().send(sent.as_bytes());
        assert!(reply.starts_with("-ERR Protocol error: ") && reply.matches("\r\n").count() == 1, "{reply:?}");
        assert_eq!(flow, Flow::Close);
    }
    // In one piece with the password, everything is allowed.
    let mut client = guarded();
    let keys: Vec<String> = (0..100).map(|key| key.to_string()).collect();
    let words: Vec<&str> = std::iter::once("DEL").chain(keys.iter().map(String::as_str)).collect();
    let sent = [request(&["AUTH", "correct horse"]), request(&words), request(&["SET", "k", &"v".repeat(20_000)])];
    assert_eq!(client.send(&sent.concat()).0, "+OK\r\n:0\r\n+OK\r\n");
}
