//! Bytes that are cut anywhere give the same replies, and bytes that are no request give one error.

use tidegate::Flow;

use crate::client::{Client, request};

fn pipeline() -> Vec<u8> {
    [
        request(&["PING"]),
        request(&["SET", "key", "a\r\nvalue\r\n*1\r\n"]),
        b"GET key\r\n".to_vec(),
        b"*0\r\n\r\n\n   \r\n".to_vec(),
        request(&["GCRA.LIMIT", "k", "60000", "10"]),
        b"  GCRA.LIMIT\tk 60000   10 2  \n".to_vec(),
        request(&["ECHO", ""]),
        request(&["MULTI"]),
        request(&["GET", "key"]),
        b"PING\r\n".to_vec(),
        request(&["EXEC"]),
        request(&["X\r\n:1"]),
        request(&["HELLO", "3"]),
        request(&["GET", "none"]),
    ]
    .concat()
}

#[test]
fn a_pipeline_cut_in_two_anywhere_replies_the_same() {
    let bytes = pipeline();
    let (whole, _) = Client::new().send(&bytes);
    assert!(whole.contains(":-1\r\n:18000\r\n") && whole.ends_with("_\r\n"), "{whole}");
    for at in 0..=bytes.len() {
        let mut client = Client::new();
        let (first, _) = client.send(&bytes[..at]);
        let (second, _) = client.send(&bytes[at..]);
        assert_eq!(first + &second, whole, "cut at {at}");
    }
}

#[test]
fn pieces_of_every_size_reply_the_same() {
    let bytes = pipeline();
    let (whole, _) = Client::new().send(&bytes);
    for size in 1..40 {
        let mut client = Client::new();
        let replies: String = bytes.chunks(size).map(|piece| client.send(piece).0).collect();
        assert_eq!(replies, whole, "pieces of {size}");
    }
}

#[test]
fn a_long_answer_comes_in_parts_and_whole() {
    let mut client = Client::new();
    client.words(&["SET", "big", &"v".repeat(1 << 19)]);
    let mut sent = Vec::new();
    for _ in 0..9 {
        sent.extend(request(&["GET", "big"]));
    }
    let mut part = Vec::new();
    assert_eq!(client.session.feed(&mut client.engine, client.now, &sent, &mut part), Flow::More);
    assert!(part.len() < 3 << 20);
    let (rest, flow) = client.send(b"");
    assert_eq!(flow, Flow::Continue);
    assert_eq!(part.len() + rest.len(), 9 * ("$524288\r\n\r\n".len() + (1 << 19)));
}

#[test]
fn what_is_no_request_gets_one_error_and_the_end() {
    for bytes in [
        "*1\r\n$3\r\nfooXX",
        "*1\r\n$3\r\nfoo\n\r",
        "*1\r\n$-1\r\n",
        "*1\r\n$-5\r\n",
        "*1\r\n$1048577\r\n",
        "*1\r\n$1073741824\r\n",
        "*1\r\n$99999999999999999999\r\n",
        "*1\r\n$\r\n",
        "*1\r\n$ 3\r\n",
        "*1\r\n$+3\r\n",
        "*1\r\n$03\r\n",
        "*1\r\n$3x\r\n",
        "*1048576\r\n",
        "*1025\r\n",
        "*-1\r\n",
        "*-7\r\n",
        "*x\r\n",
        "*\r\n",
        "*1\r\n*1\r\n$4\r\nPING\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n+PING\r\n",
        "*1\r\nPING\r\n",
        "*99999999999999999999999999999999999999",
        "*1\r\n$99999999999999999999999999999999999999",
        "POST / HTTP/1.1\r\n",
        "Host: 127.0.0.1:6379\r\n",
    ] {
        let mut client = Client::new();
        let sent = [bytes.as_bytes(), b"\r\n", &request(&["SET", "k", "v"])].concat();
        let (reply, flow) = client.send(&sent);
        assert_eq!(flow, Flow::Close, "{bytes:?}");
        assert!(reply.starts_with("-ERR Protocol error: "), "{bytes:?}: {reply:?}");
        assert_eq!(reply.find(['\r', '\n']), Some(reply.len() - 2), "{bytes:?}: {reply:?}");
        // Byte by byte it is the same error, and it comes once.
        let mut client = Client::new();
        let mut replies = String::new();
        for byte in bytes.bytes() {
            let (reply, flow) = client.send(&[byte]);
            replies += &reply;
            if flow == Flow::Close {
                break;
            }
        }
        assert_eq!(replies, reply, "{bytes:?}");
    }
}

#[test]
fn what_came_before_the_fault_was_answered() {
    let sent = [request(&["SET", "k", "v"]), b"*1\r\n$3\r\nfooXX".to_vec(), request(&["PING"])].concat();
    let (replies, flow) = Client::new().send(&sent);
    assert!(replies.starts_with("+OK\r\n-ERR Protocol error: "));
    assert_eq!((replies.matches("\r\n").count(), flow), (2, Flow::Close));
}

#[test]
fn the_largest_of_everything_is_still_a_request() {
    let mut client = Client::new();
    let keys = vec!["k"; 1023];
    let words: Vec<&str> = std::iter::once("EXISTS").chain(keys).collect();
    assert_eq!(client.words(&words), ":0|");
    let line = format!("ECHO {}\r\n", "x".repeat((1 << 16) - 5));
    assert!(client.send(line.as_bytes()).0.starts_with("$65531\r\nxxx"));
    let (reply, flow) = client.send(format!("ECHO {}\r\n", "x".repeat(1 << 16)).as_bytes());
    assert_eq!((reply.as_str(), flow), ("-ERR Protocol error: too big inline request\r\n", Flow::Close));
    let (reply, flow) = Client::new().send(format!("DEL{}\r\n", " k".repeat(1024)).as_bytes());
    assert_eq!((reply.as_str(), flow), ("-ERR Protocol error: too many arguments\r\n", Flow::Close));
}

#[test]
fn a_command_of_over_16_mib_is_no_request() {
    let mut client = Client::new();
    let value = "v".repeat(1 << 20);
    let words: Vec<&str> = std::iter::once("DEL").chain(std::iter::repeat_n(value.as_str(), 17)).collect();
    let (reply, flow) = client.send(&request(&words));
    assert_eq!((reply.as_str(), flow), ("-ERR Protocol error: too big command\r\n", Flow::Close));
}

/// F49: looking again at what was looked at before would take 10^12 steps here.
#[test]
fn a_megabyte_byte_by_byte_takes_no_longer_than_its_bytes() {
    let mut client = Client::new();
    let bytes = request(&["SET", "k", &"v".repeat(1 << 20)]);
    let mut replies = Vec::new();
    for byte in &bytes {
        client.session.feed(&mut client.engine, client.now, &[*byte], &mut replies);
    }
    assert_eq!(replies, b"+OK\r\n");
}
