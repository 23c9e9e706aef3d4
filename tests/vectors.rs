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

/// One command's reply.
fn run(engine: &mut Engine, now: u64, command: &[&str]) -> Value {
    let mut bytes = Vec::new();
    Session::new(1).feed(engine, now, &request(command), &mut bytes);
    reply(&bytes).0
}

/// Runs every case of a policies file: how many cases, and how many steps.
fn run_policies(file: &str) -> (usize, usize) {
    let cases: Vec<Value> = serde_json::from_str(file).expect("a file of cases");
    let mut steps = 0;
    for case in &cases {
        let name = &case["name"];
        let mut engine = Engine::new(&Options::default());
        let defined = run(&mut engine, 0, &["VALVE.DEFINE", "ns", &case["rate"].to_string()]);
        if let Some(code) = case["error"].as_str() {
            assert!(defined["error"].as_str().is_some_and(|text| text.starts_with(code)), "{name}: {defined}");
            continue;
        }
        let fingerprint = defined.as_str().unwrap_or_else(|| panic!("{name}: {defined}"));
        for (index, step) in case["steps"].as_array().expect("steps").iter().enumerate() {
            let cost = step["cost"].to_string();
            let mut command = vec!["VALVE.ADMIT", "ns", fingerprint, &cost];
            for (dimension, identity) in step["scope"].as_object().expect("a scope") {
                command.extend(["SCOPE", dimension, identity.as_str().expect("text")]);
            }
            let reserve = step["reserve"].to_string();
            if step["reserve"].is_number() {
                command.extend(["RESERVE", &reserve]);
            }
            let given = run(&mut engine, step["at"].as_u64().expect("a time"), &command);
            let expected = &step["reply"];
            if let Some(code) = expected["error"].as_str() {
                let error = given["error"].as_str();
                assert!(error.is_some_and(|text| text.starts_with(code)), "{name} step {index}: {given}");
            } else {
                let blocked = expected.get("blockedBy").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
                let allowed = i64::from(expected["allowed"].as_bool().expect("a verdict"));
                let figure = expected.get("startsInMs").unwrap_or(&expected["retryAfterMs"]);
                let expected = serde_json::json!([allowed, figure, blocked]);
                assert_eq!(given, expected, "{name} step {index}");
            }
            steps += 1;
        }
    }
    (cases.len(), steps)
}

#[test]
fn the_reference_documents_policies_decide_as_documented() {
    assert_eq!(run_policies(include_str!("vectors/reference-policies.json")), (18, 58));
}

#[test]
fn random_policies_decide_as_the_exact_model_does() {
    assert_eq!(run_policies(include_str!("vectors/shared-policies.json")), (60, 2417));
}

#[test]
fn reservations_start_as_worked_out_by_hand_and_as_the_exact_model_does() {
    assert_eq!(run_policies(include_str!("vectors/reservations.json")), (15, 253));
}
