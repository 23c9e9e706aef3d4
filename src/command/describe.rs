//! What the server says of itself.

use alloc::format;
use alloc::vec::Vec;

use super::execute::Backend;
use super::resp::Reply;
use crate::keyspace::Space;

/// Every command with its arity (negative: at least so many), flags, and its first, last and step of keys.
const COMMANDS: &[(&str, i64, &str, [i64; 3])] = &[
    ("auth", -2, "fast", [0, 0, 0]),
    ("cl.throttle", -5, "write", [1, 1, 1]),
    ("client", -2, "fast", [0, 0, 0]),
    ("command", -1, "readonly", [0, 0, 0]),
    ("dbsize", 1, "readonly", [0, 0, 0]),
    ("del", -2, "write", [1, -1, 1]),
    ("discard", 1, "fast", [0, 0, 0]),
    ("echo", 2, "fast", [0, 0, 0]),
    ("exec", 1, "fast", [0, 0, 0]),
    ("exists", -2, "readonly", [1, -1, 1]),
    ("expire", -3, "write", [1, 1, 1]),
    ("flushall", -1, "write", [0, 0, 0]),
    ("flushdb", -1, "write", [0, 0, 0]),
    ("gcra.limit", -4, "write", [1, 1, 1]),
    ("gcra.reset", -2, "write", [1, -1, 1]),
    ("get", 2, "readonly", [1, 1, 1]),
    ("hello", -1, "fast", [0, 0, 0]),
    ("info", -1, "readonly", [0, 0, 0]),
    ("keys", 2, "readonly", [0, 0, 0]),
    ("multi", 1, "fast", [0, 0, 0]),
    ("persist", 2, "write", [1, 1, 1]),
    ("pexpire", -3, "write", [1, 1, 1]),
    ("ping", -1, "fast", [0, 0, 0]),
    ("pttl", 2, "readonly", [1, 1, 1]),
    ("quit", -1, "fast", [0, 0, 0]),
    ("ratelimit.check", -3, "write", [1, 1, 1]),
    ("ratelimit.create", -4, "write", [1, 1, 1]),
    ("ratelimit.drop", 2, "write", [1, 1, 1]),
    ("ratelimit.list", 1, "readonly", [0, 0, 0]),
    ("ratelimit.peek", 3, "readonly", [1, 1, 1]),
    ("ratelimit.reset", 3, "write", [1, 1, 1]),
    ("ratelimit.stats", 2, "readonly", [1, 1, 1]),
    ("reset", 1, "fast", [0, 0, 0]),
    ("scan", -2, "readonly", [0, 0, 0]),
    ("select", 2, "fast", [0, 0, 0]),
    ("set", -3, "write", [1, 1, 1]),
    ("time", 1, "fast", [0, 0, 0]),
    ("ttl", 2, "readonly", [1, 1, 1]),
    ("type", 2, "readonly", [1, 1, 1]),
    ("unlink", -2, "write", [1, -1, 1]),
    ("valve.admit", -4, "write", [1, 1, 1]),
    ("valve.define", 3, "write", [1, 1, 1]),
    ("valve.forget", 2, "write", [1, 1, 1]),
    ("valve.release", -3, "write", [1, 1, 1]),
    ("valve.renew", -3, "write", [1, 1, 1]),
    ("valve.show", 2, "readonly", [1, 1, 1]),
];

/// `COMMAND`, `COMMAND COUNT`, `COMMAND DOCS`.
pub(super) fn describe(subcommand: Option<&[u8]>) -> Reply {
    match subcommand {
        Some(name) if name.eq_ignore_ascii_case(b"COUNT") => Reply::count(COMMANDS.len()),
        Some(name) if name.eq_ignore_ascii_case(b"DOCS") => Reply::Map(Vec::new()),
        _ => Reply::Array(COMMANDS.iter().map(command).collect()),
    }
}

fn command(&(name, arity, flag, [first, last, step]): &(&'static str, i64, &'static str, [i64; 3])) -> Reply {
    Reply::Array(Vec::from([
        Reply::text(name),
        Reply::Integer(arity),
        Reply::Array(Vec::from([Reply::Status(flag)])),
        Reply::Integer(first),
        Reply::Integer(last),
        Reply::Integer(step),
    ]))
}

/// `INFO`.
pub(super) fn info<B: Backend>(backend: &mut B, now: u64) -> Reply {
    let engine = backend.engine();
    let limiters = engine.rate_limit_list().count();
    let keyspace = engine.keyspace();
    keyspace.advance(now);
    let keys = keyspace.count(Space::ORDINARY);
    let text = format!(
        "# Server\r\ntidegate_version:{}\r\nredis_mode:standalone\r\n\r\n# Keyspace\r\ndb0:keys={keys},expires={keys}\r\n\r\n# Tidegate\r\nrecords:{}\r\nlimiters:{limiters}\r\n",
        env!("CARGO_PKG_VERSION"),
        keyspace.len(),
    );
    Reply::text(&text)
}
