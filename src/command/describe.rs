//! What the server says of itself.

use alloc::format;
use alloc::string::ToString;

use super::connection::Describe;
use super::execute::Backend;
use super::resp::Writer;
use super::table::{COMMANDS, Entry, find};
use crate::keyspace::Space;

/// `COMMAND` and its subcommands.
pub(super) fn describe(asked: Describe<'_>, writer: &mut Writer<'_>) {
    match asked {
        Describe::Count => writer.count(COMMANDS.len()),
        Describe::Documents => writer.map(0),
        Describe::All => {
            writer.array(COMMANDS.len());
            for entry in COMMANDS {
                describe_one(entry, writer);
            }
        }
        Describe::Names => {
            writer.array(COMMANDS.len());
            for entry in COMMANDS {
                writer.text(entry.name);
            }
        }
        Describe::Named(names) => {
            writer.array(names.len());
            for name in names {
                match find(name) {
                    Some(entry) => describe_one(entry, writer),
                    None => writer.null(),
                }
            }
        }
    }
}

fn describe_one(entry: &Entry, writer: &mut Writer<'_>) {
    let words = i64::from(entry.least).saturating_add(1);
    let (first, last) = (entry.keys.0.into(), entry.keys.1.into());
    writer.array(6);
    writer.text(entry.name);
    // A negative arity is the least of several.
    writer.integer(if entry.least == entry.most { words } else { words.saturating_neg() });
    writer.array(1);
    writer.status(entry.flag);
    writer.integer(first);
    writer.integer(last);
    writer.integer(first);
}

/// `INFO`.
pub(super) fn info<B: Backend>(backend: &mut B, now: u64, writer: &mut Writer<'_>) {
    let engine = backend.engine();
    let limiters = engine.rate_limit_list().count();
    engine.advance(now);
    let records = engine.keyspace().len();
    let keys = backend.count(Space::ORDINARY).unwrap_or(0);
    let mut text = format!(
        "# Server\r\ntidegate_version:{}\r\nredis_mode:standalone\r\n\r\n# Keyspace\r\ndb0:keys={keys},expires={keys}\r\n\r\n# Tidegate\r\nrecords:{records}\r\nlimiters:{limiters}\r\n\r\n# Commands",
        env!("CARGO_PKG_VERSION"),
    );
    for (index, (command, outcome, count)) in backend.engine().counters().iter().enumerate() {
        let (start, middle) = if index.is_multiple_of(3) { ("\r\n", command) } else { (",", "") };
        text.push_str(start);
        text.push_str(middle);
        text.push_str(if middle.is_empty() { "" } else { ":" });
        text.push_str(outcome);
        text.push('=');
        text.push_str(&count.to_string());
    }
    text.push_str("\r\n");
    writer.text(&text);
}
