//! The worked cases, through the protocol: bytes in, bytes out.
#![allow(missing_docs, reason = "a test")]

use serde_json::Value;
use tidegate::{Engine, Options, Session};

/// The bytes of a command whose arguments are all text.
fn request(arguments: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        bytes.extend(format!("${}\r\n{argument}\r\n", argument.len()).into_bytes());
    }
    bytes
}

/// One reply as the cases write it, and the bytes after it.
fn reply(bytes: &[u8]) -> (Value, &[u8]) {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n").expect("a line");
    let text = str::from_utf8(&bytes[1..end]).expect("text");
    let rest = &bytes[end + 2..];
    match bytes[0] {
        b':' => (text.parse::<i64>().expect("an integer").into(), rest),
        b'+' => (serde_json::json!({ "ok": text }), rest),
        b'-' => (serde_json::json!({ "error": text }), rest),
        b'$' if text == "-1" => (Value::Null, rest),
        b'$' => {
            let length: usize = text.parse().expect("a length");
            (str::from_utf8(&rest[..length]).expect("text").into(), &rest[length + 2..])
        }
        b'*' => {
            let mut rest = rest;
            let mut items = Vec::new();
            for _ in 0..text.parse::<usize>().expect("a length") {
                let (item, after) = reply(rest);
                items.push(item);
                rest = after;
            }
            (items.into(), rest)
        }
        other => panic!("an unexpected reply {other}"),
    }
}

/// Runs every case of a commands file; how many steps there were. An error may be given by its beginning.
fn run_commands(file: &str) -> (usize, usize) {
    let cases: Vec<Value> = serde_json::from_str(file).expect("a file of cases");
    let mut steps = 0;
    for case in &cases {
        let mut engine = Engine::new(&Options::default());
        let mut session = Session::new(1);
        for (index, step) in case["steps"].as_array().expect("steps").iter().enumerate() {
            let command: Vec<&str> = step["command"]
                .as_array()
                .expect("a command")
                .iter()
                .map(|word| word.as_str().expect("text"))
                .collect();
            let mut bytes = Vec::new();
            session.feed(&mut engine, step["at"].as_u64().expect("a time"), &request(&command), &mut bytes);
            let (given, rest) = reply(&bytes);
            assert!(rest.is_empty(), "{} step {index}: one reply", case["name"]);
            match (given["error"].as_str(), step["reply"]["error"].as_str()) {
                (Some(given), Some(expected)) => {
                    assert!(given.starts_with(expected), "{} step {index}: {given}", case["name"]);
                }
                _ => assert_eq!(given, step["reply"], "{} step {index}: {command:?}", case["name"]),
            }
            steps += 1;
        }
    }
    (cases.len(), steps)
}

#[test]
fn the_reference_documents_commands_reply_as_documented() {
    assert_eq!(run_commands(include_str!("vectors/reference-commands.json")), (18, 116));
}

#[test]
fn random_commands_reply_as_the_exact_model_does() {
    assert_eq!(run_commands(include_str!("vectors/shared-commands.json")), (60, 2447));
}
