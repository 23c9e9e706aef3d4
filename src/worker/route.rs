//! Where a command goes, and where one reply ends among several.

use std::format;
use std::string::String;
use std::vec::Vec;

use super::placement::Names;

/// A command's words, its name first.
pub type Words = Vec<Vec<u8>>;

/// Where a command goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To one object.
    Object(String),
    /// Its keys to an object each; the replies are added up.
    Keys,
    /// To a limiter's object and to the directory, in steps.
    Create(String),
    /// As `Create`.
    Drop(String),
    /// To the directory, after everything before it.
    List(String),
    /// Nowhere: the reply, an error.
    Refused(String),
}

/// Where `command` goes. One that is wrong in itself goes to the directory, which says what is wrong.
pub fn route(command: &Words, names: &Names) -> Route {
    let upper = command.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
    let first = command.get(1);
    match (upper.as_slice(), first) {
        (b"KEYS" | b"SCAN" | b"DBSIZE" | b"FLUSHALL" | b"FLUSHDB", _) => Route::Refused(format!(
            "ERR {} is not offered across Durable Objects, each of which holds a few keys and knows of no other",
            String::from_utf8_lossy(&upper)
        )),
        (b"RATELIMIT.LIST", _) => Route::List(names.directory()),
        (
            b"GCRA.LIMIT" | b"CL.THROTTLE" | b"SET" | b"EXPIRE" | b"PEXPIRE" | b"PERSIST" | b"GET" | b"TYPE" | b"TTL"
            | b"PTTL",
            Some(key),
        ) => Route::Object(names.key(key)),
        (b"GCRA.RESET" | b"DEL" | b"UNLINK" | b"EXISTS", Some(key)) => {
            if command.len() == 2 {
                Route::Object(names.key(key))
            } else {
                Route::Keys
            }
        }
        (b"RATELIMIT.CREATE", Some(name)) => Route::Create(names.limiter(name)),
        (b"RATELIMIT.DROP", Some(name)) => Route::Drop(names.limiter(name)),
        (b"RATELIMIT.CHECK" | b"RATELIMIT.PEEK" | b"RATELIMIT.RESET" | b"RATELIMIT.STATS", Some(name)) => {
            Route::Object(names.limiter(name))
        }
        (name, Some(namespace)) if name.starts_with(b"VALVE.") => Route::Object(names.policy(namespace)),
        _ => Route::Object(names.directory()),
    }
}

/// The objects that a transaction's commands need, each once; the refusal of a command that can't be in one.
pub fn objects_of(commands: &[Words], names: &Names) -> Result<Vec<String>, String> {
    let mut objects = Vec::new();
    let mut add = |object: String| {
        if !objects.contains(&object) {
            objects.push(object);
        }
    };
    for command in commands {
        match route(command, names) {
            Route::Object(object) => add(object),
            Route::Keys => command.iter().skip(1).for_each(|key| add(names.key(key))),
            Route::Refused(text) => return Err(text),
            Route::Create(_) | Route::Drop(_) | Route::List(_) => {
                let name = command.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(format!("ERR {name} is not offered in a transaction over Durable Objects"));
            }
        }
    }
    Ok(objects)
}

/// A command as the protocol writes it.
pub fn encode(command: &[Vec<u8>], out: &mut Vec<u8>) {
    out.extend(format!("*{}\r\n", command.len()).into_bytes());
    for word in command {
        out.extend(format!("${}\r\n", word.len()).into_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// Each reply of `bytes` by itself.
pub fn split_replies(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut replies = Vec::new();
    while let Some((reply, rest)) = reply_length(bytes).and_then(|length| bytes.split_at_checked(length)) {
        replies.push(reply.to_vec());
        bytes = rest;
    }
    replies
}

/// How long the first reply is; `None` when it is cut.
pub fn reply_length(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let head = line.checked_add(2)?;
    let count = || str::from_utf8(bytes.get(1..line)?).ok()?.parse::<i64>().ok();
    match bytes.first()? {
        b'$' | b'!' | b'=' => match usize::try_from(count()?) {
            Ok(length) => head.checked_add(length)?.checked_add(2).filter(|end| *end <= bytes.len()),
            Err(_) => Some(head),
        },
        kind @ (b'*' | b'~' | b'>' | b'%') => {
            let items = count()?.max(0).checked_mul(if *kind == b'%' { 2 } else { 1 })?;
            let mut at = head;
            for _ in 0..items {
                at = at.checked_add(reply_length(bytes.get(at..)?)?)?;
            }
            Some(at)
        }
        _ => Some(head),
    }
}
