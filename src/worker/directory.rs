//! Limiters over two objects.
//!
//! A limiter is in an object of its own, which alone says whether it exists. The directory of its namespace runs the same
//! commands, so it holds every limiter's name and settings but no key: it answers `RATELIMIT.LIST` and keeps to
//! max-limiters.
//!
//! Creating: the directory first, which refuses one limiter too many; then the object; then the directory once more, in
//! case a drop that ran meanwhile took the name away. Dropping: the object first; then the directory; then a look at the object,
//! in case a creation that ran meanwhile made it again.
//!
//! Interrupted after any step, the directory may list a limiter that does not exist, and checks of it say so; the same
//! command again, or its opposite, completes and heals it. Only a drop interrupted while it raced with a creation can leave a
//! limiter unlisted; creating it again, which is refused, lists it.

use std::string::String;
use std::vec;
use std::vec::Vec;

use super::front::Objects;
use super::route::{Words, reply_length};

/// Runs `RATELIMIT.CREATE name …` on the limiter's object and the directory.
pub async fn create(objects: &Objects, object: &str, create: &Words) -> Vec<u8> {
    let directory = objects.names.directory();
    let listed = objects.ask(&directory, &[create.clone(), stats(create)]).await;
    // Refused, and not because the name is listed already: wrong arguments, one limiter too many, or no answer.
    if let [listed, stats] = listed.as_slice()
        && is_error(listed)
        && is_error(stats)
    {
        return listed.clone();
    }
    let created = first(objects.ask(object, std::slice::from_ref(create)).await);
    objects.ask(&directory, std::slice::from_ref(create)).await;
    created
}

/// Runs `RATELIMIT.DROP name` on both.
pub async fn drop(objects: &Objects, object: &str, drop: &Words) -> Vec<u8> {
    let directory = objects.names.directory();
    let dropped = first(objects.ask(object, std::slice::from_ref(drop)).await);
    if dropped.starts_with(b"-STORE_UNAVAILABLE") {
        return dropped;
    }
    objects.ask(&directory, std::slice::from_ref(drop)).await;
    let stats = first(objects.ask(object, &[stats(drop)]).await);
    if let Some(recreate) = recreated(&stats) {
        objects.ask(&directory, &[recreate]).await;
    }
    dropped
}

fn stats(command: &Words) -> Words {
    vec![b"RATELIMIT.STATS".to_vec(), command.get(1).cloned().unwrap_or_default()]
}

fn first(replies: Vec<Vec<u8>>) -> Vec<u8> {
    replies.into_iter().next().unwrap_or_default()
}

fn is_error(reply: &[u8]) -> bool {
    reply.first() == Some(&b'-')
}

/// The command that makes a limiter of this `RATELIMIT.STATS` reply; none when it is an error.
fn recreated(stats: &[u8]) -> Option<Words> {
    if stats.first() != Some(&b'*') {
        return None;
    }
    let mut rest = stats.get(stats.windows(2).position(|pair| pair == b"\r\n")?.checked_add(2)?..)?;
    let mut fields: Vec<Vec<u8>> = Vec::new();
    while let Some((item, after)) = reply_length(rest).and_then(|length| rest.split_at_checked(length)) {
        fields.push(payload(item)?.to_vec());
        rest = after;
    }
    let field = |name: &str| {
        fields.chunks_exact(2).find_map(|pair| match pair {
            [key, value] if key == name.as_bytes() => Some(value.clone()),
            _ => None,
        })
    };
    let mut words = vec![
        b"RATELIMIT.CREATE".to_vec(),
        field("name")?,
        field("limit")?,
        field("window_ms")?,
        b"ALGO".to_vec(),
        field("algo")?,
    ];
    for rate in ["refill", "drain"] {
        if let Some(value) = field(rate) {
            words.extend([String::from(rate).into_bytes(), value]);
        }
    }
    Some(words)
}

/// What an integer or a bulk string holds.
fn payload(item: &[u8]) -> Option<&[u8]> {
    let end = item.windows(2).position(|pair| pair == b"\r\n")?;
    match item.first()? {
        b'$' => item.get(end.checked_add(2)?..item.len().checked_sub(2)?),
        _ => item.get(1..end),
    }
}
