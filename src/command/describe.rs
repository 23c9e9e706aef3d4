//! What the server says of itself.

use alloc::vec::Vec;

use super::execute::Backend;
use super::parse::Command;
use super::resp::Writer;
use super::table::{COMMANDS, Entry, Names, Word, find};
use crate::keyspace::Space;
use crate::text::filled;

/// `COMMAND` and its subcommands.
pub(super) fn describe(command: &Command<'_>, writer: &mut Writer<'_>) {
    let names = command.arguments.get(1..).unwrap_or_default();
    if command.has(Word::Docs) {
        // Nothing beyond what documentation says.
        writer.map(0);
    } else if command.has(Word::HowMany) {
        writer.count(COMMANDS.len());
    } else if names.is_empty() {
        writer.array(COMMANDS.len());
        for entry in COMMANDS {
            if command.has(Word::List) {
                writer.text(entry.name);
            } else {
                describe_one(entry, writer);
            }
        }
    } else {
        writer.array(names.len());
        for name in names {
            match find(name) {
                Some(entry) => describe_one(entry, writer),
                None => writer.null(),
            }
        }
    }
}

fn describe_one(entry: &Entry, writer: &mut Writer<'_>) {
    let words = i64::from(entry.least).saturating_add(1);
    let (first, last) = match entry.names {
        Names::Nothing | Names::AllLimiters | Names::Pattern | Names::AllKeys => (0, 0),
        Names::Keys => (1, -1),
        _ => (1, 1),
    };
    writer.array(6);
    writer.text(entry.name);
    // A negative arity is the least of several.
    writer.integer(if entry.least == entry.most { words } else { words.saturating_neg() });
    writer.array(1);
    writer.status(entry.flag.name());
    writer.integer(first);
    writer.integer(last);
    writer.integer(first);
}

/// What `INFO` replies, in which each `%` stands for a number.
const INFO: &str = concat!(
    "# Server\r\ntidegate_version:",
    env!("CARGO_PKG_VERSION"),
    "\r\nredis_mode:standalone\r\n\r\n# Keyspace\r\ndb0:keys=%,expires=%\r\n\r\n# Tidegate\r\nrecords:%\r\nlimiters:%\r\n\r\n\
     # Commands\r\ngcra.limit:allowed=%,denied=%,error=%\r\nratelimit.check:allowed=%,denied=%,error=%\r\n\
     cl.throttle:allowed=%,denied=%,error=%\r\nvalve.admit:allowed=%,denied=%,error=%\r\nother:allowed=%,denied=%,error=%\r\n",
);

/// `INFO`.
pub(super) fn info<B: Backend>(backend: &mut B, now: u64, writer: &mut Writer<'_>) {
    let engine = backend.engine();
    let limiters = engine.rate_limit_list().count();
    engine.advance(now);
    let records = engine.keyspace().len();
    let keys = backend.count(Space::ORDINARY).unwrap_or(0);
    let mut figures = Vec::from([keys, keys, records, limiters].map(|figure| figure as u64));
    figures.extend_from_slice(backend.engine().counters().counts());
    writer.text(&filled(INFO, &[], &figures));
}
