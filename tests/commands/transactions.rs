//! `MULTI`, `EXEC` and `DISCARD`.

use tidegate::Flow;

use crate::client::{Client, request};

#[test]
fn queued_commands_run_together_in_their_order() {
    Client::new().expect(&[
        ("MULTI", "+OK|"),
        ("SET k 1", "+QUEUED|"),
        ("GCRA.LIMIT g 60000 10", "+QUEUED|"),
        ("GET k", "+QUEUED|"),
        ("GCRA.LIMIT k 60000 10 11", "+QUEUED|"),
        ("RATELIMIT.PEEK none k", "+QUEUED|"),
        ("EXEC", "*5|+OK|*5|:0|:10|:9|:-1|:6000|$1|1|*5|:1|:10|:10|:-1|:0|-ERR limiter not found|"),
        ("EXEC", "-ERR EXEC without MULTI|"),
        ("MULTI", "+OK|"),
        ("EXEC", "*0|"),
    ]);
}

#[test]
fn nothing_queued_is_done_before_exec_or_after_discard() {
    Client::new().expect(&[
        ("DISCARD", "-ERR DISCARD without MULTI|"),
        ("MULTI", "+OK|"),
        ("SET k 1", "+QUEUED|"),
        ("MULTI", "-ERR MULTI calls can not be nested|"),
        ("DISCARD", "+OK|"),
        ("EXISTS k", ":0|"),
    ]);
}

#[test]
fn a_command_that_is_wrong_in_itself_discards_them_all() {
    for (wrong, error) in [
        ("NOPE", "-ERR unknown command 'NOPE'|"),
        ("GET", "-ERR wrong number of arguments for 'get' command|"),
        ("GCRA.LIMIT k 0 1", "-ERR value is not an integer or out of range|"),
        ("AUTH x", "-ERR Command not allowed inside a transaction|"),
        ("HELLO 3", "-ERR Command not allowed inside a transaction|"),
    ] {
        Client::new().expect(&[
            ("MULTI", "+OK|"),
            ("SET k 1", "+QUEUED|"),
            (wrong, error),
            ("SET l 1", "+QUEUED|"),
            ("EXEC", "-EXECABORT Transaction discarded because of previous errors.|"),
            ("EXISTS k l", ":0|"),
            ("MULTI", "+OK|"),
            ("SET k 1", "+QUEUED|"),
            ("EXEC", "*1|+OK|"),
        ]);
    }
}

#[test]
fn commands_about_the_connection_wait_their_turn_too() {
    Client::new().expect(&[
        ("MULTI", "+OK|"),
        ("PING", "+QUEUED|"),
        ("ECHO x", "+QUEUED|"),
        ("CLIENT SETNAME me", "+QUEUED|"),
        ("CLIENT GETNAME", "+QUEUED|"),
        ("TIME", "+QUEUED|"),
        ("SELECT 0", "+QUEUED|"),
        ("EXEC", "*6|+PONG|$1|x|+OK|$2|me|*2|$10|1764547200|$1|0|+OK|"),
    ]);
}

#[test]
fn commands_typed_by_hand_can_be_queued() {
    let mut client = Client::new();
    let (replies, _) = client.send(b"MULTI\r\n\r\n  SET k  v \r\nGET k\nEXEC\r\n");
    assert_eq!(replies, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n$1\r\nv\r\n");
}

#[test]
fn a_transaction_holds_at_most_16_mib() {
    let mut client = Client::new();
    client.run("MULTI");
    let value = "v".repeat(1 << 20);
    for _ in 0..15 {
        assert_eq!(client.words(&["SET", "k", &value]), "+QUEUED|");
    }
    assert_eq!(client.words(&["SET", "k", &value]), "-ERR the transaction is over 16 MiB|");
    client.expect(&[
        ("GET k", "+QUEUED|"),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors.|"),
        ("EXISTS k", ":0|"),
    ]);
}

#[test]
fn short_commands_that_ask_for_much_get_at_most_16_mib() {
    let mut client = Client::new();
    let value = "v".repeat(1 << 20);
    client.words(&["SET", "big", &value]);
    let mut sent = request(&["MULTI"]);
    for _ in 0..1000 {
        sent.extend(request(&["GET", "big"]));
    }
    sent.extend(request(&["SET", "after", "1"]));
    client.send(&sent);
    let (reply, flow) = client.send(&request(&["EXEC"]));
    assert_eq!(flow, Flow::Continue);
    assert!(reply.len() < 18 << 20, "{}", reply.len());
    assert!(reply.starts_with("*1001\r\n$1048576\r\nvvv"));
    let refused = "-ERR the command was done, but the transaction's replies are over 16 MiB\r\n";
    assert_eq!(reply.matches("$1048576\r\n").count() + reply.matches(refused).count(), 1000);
    assert!(reply.ends_with("+OK\r\n"), "a short reply still fits");
    assert_eq!(client.run("EXISTS after"), ":1|");
}
