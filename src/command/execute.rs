//! Typed commands into calls of the engine, and their answers into replies.

use super::counters::Outcome;
use super::parse::Command;
use super::resp::Writer;
use super::table::{Kind, Names};
use super::{keys, policies};
use crate::algorithm::Retry;
use crate::engine::CheckDecision;
use crate::keyspace::Space;
use crate::limiter::{Algorithm, Limiter};
use crate::{Engine, Error};

/// Where commands run: an engine, or one with a store behind it.
pub trait Backend {
    /// The engine itself.
    fn engine(&mut self) -> &mut Engine;

    /// Called before each command runs, so that a store can bring up what the command needs.
    ///
    /// # Errors
    /// Whatever stands in the way; the command does not run then and replies with it.
    fn prepare(&mut self, now: u64, command: &Command<'_>) -> Result<(), Error> {
        let _ = (now, command);
        Ok(())
    }

    /// How many live records a space has; a store counts those that are not in memory too.
    ///
    /// # Errors
    /// Whatever stands in the way.
    fn count(&mut self, space: Space) -> Result<usize, Error> {
        Ok(self.engine().keyspace().count(space))
    }
}

impl Backend for Engine {
    fn engine(&mut self) -> &mut Engine {
        self
    }
}

/// Runs one command at time `now` and writes its reply. Commands about a connection are the session's, not for here.
pub fn execute<B: Backend>(backend: &mut B, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) {
    let done = backend.prepare(now, command).and_then(|()| run(backend, now, command, writer));
    let outcome = match done {
        Ok(true) => Outcome::Allowed,
        Ok(false) => Outcome::Denied,
        Err(error) => {
            writer.error(&error);
            Outcome::Error
        }
    };
    backend.engine().counters.count(command.entry.kind, outcome);
}

/// As [`execute`] of `GCRA.LIMIT` or `RATELIMIT.CHECK`, whose replies are five integers: the integers.
///
/// # Errors
/// What the command replies with.
#[cfg(feature = "store")]
pub(crate) fn decide<B: Backend>(backend: &mut B, now: u64, command: &Command<'_>) -> Result<[i64; 5], Error> {
    let done = backend.prepare(now, command).and_then(|()| five(backend.engine(), now, command));
    let outcome = match done {
        Ok((true, _)) => Outcome::Allowed,
        Ok((false, _)) => Outcome::Denied,
        Err(_) => Outcome::Error,
    };
    backend.engine().counters.count(command.entry.kind, outcome);
    done.map(|(_, integers)| integers)
}

/// Whether `GCRA.LIMIT` or `RATELIMIT.CHECK` admits its request, and the integers that it replies.
fn five(engine: &mut Engine, now: u64, command: &Command<'_>) -> Result<(bool, [i64; 5]), Error> {
    let (first, second) = (command.first, command.second);
    let [one, two, three, _] = command.integers;
    if command.entry.kind == Kind::LimiterCheck {
        let decision = engine.rate_limit_check(now, first, second, one)?;
        return Ok((decision.allowed, check(&decision)));
    }
    let decision = engine.gcra_limit(now, first, one, two, three)?;
    let integers = [
        i64::from(decision.denied),
        signed(decision.limit),
        signed(decision.remaining),
        decision.retry.or(-1),
        signed(decision.reset_after),
    ];
    Ok((!decision.denied, integers))
}

/// Runs the command and writes its reply; whether what it asked for was admitted.
fn run<B: Backend>(backend: &mut B, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<bool, Error> {
    let engine = backend.engine();
    let (first, second) = (command.first, command.second);
    match command.entry.kind {
        Kind::GcraLimit | Kind::LimiterCheck => {
            let (admitted, integers) = five(engine, now, command)?;
            writer.integers(integers);
            return Ok(admitted);
        }
        Kind::LimiterPeek => {
            let decision = engine.rate_limit_peek(now, first, second)?;
            writer.integers(check(&decision));
            return Ok(decision.allowed);
        }
        Kind::Throttle => return throttle(engine, now, command, writer),
        Kind::LimiterCreate => {
            engine.rate_limit_create(now, first, command.settings()?)?;
            writer.ok();
        }
        Kind::LimiterReset => {
            engine.rate_limit_reset(now, first, second)?;
            writer.ok();
        }
        Kind::LimiterDrop => {
            engine.rate_limit_drop(now, first)?;
            writer.ok();
        }
        Kind::LimiterStats => {
            engine.advance(now);
            let space = engine.limiters.get(first)?.space;
            let unique_keys = backend.count(space)?;
            stats(writer, first, backend.engine().limiters.get(first)?, unique_keys);
        }
        Kind::DbSize => {
            engine.advance(now);
            writer.count(backend.count(Space::ORDINARY)?);
        }
        Kind::LimiterList => {
            writer.array(engine.limiters.len());
            engine.rate_limit_list().for_each(|name| writer.bulk(name));
        }
        _ => match command.entry.names {
            Names::Namespace | Names::NewNamespace => return policies::run(engine, now, command, writer),
            _ => keys::run(engine, now, command, writer)?,
        },
    }
    Ok(true)
}

/// `CL.THROTTLE`: as `GCRA.LIMIT`, but in seconds; without a quantity it only looks.
fn throttle(engine: &mut Engine, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<bool, Error> {
    let [.., quantity] = command.integers;
    let quantity = (command.amount > 0).then_some(quantity);
    let decision = engine.gcra(now, command.first, &command.schedule()?, quantity)?;
    let seconds = |ms: u64| signed(ms.div_ceil(1000));
    let denied = decision.denied && quantity.is_some();
    let retry = match decision.retry {
        Retry::After(ms) if denied => seconds(ms),
        _ => -1,
    };
    writer.integers([
        i64::from(denied),
        signed(decision.limit),
        signed(decision.remaining),
        retry,
        seconds(decision.reset_after),
    ]);
    Ok(!denied)
}

/// The reply of a check; whether it was admitted.
fn check(decision: &CheckDecision) -> [i64; 5] {
    [
        i64::from(decision.allowed),
        signed(decision.remaining),
        decision.retry.or(0),
        signed(decision.limit),
        signed(decision.current),
    ]
}

fn stats(writer: &mut Writer<'_>, name: &[u8], limiter: &Limiter, unique_keys: usize) {
    let settings = &limiter.settings;
    writer.array(if settings.rate.is_some() { 16 } else { 14 });
    writer.text_entry("name", name);
    writer.text_entry("algo", settings.algorithm.name().as_bytes());
    writer.integer_entry("limit", settings.limit.get());
    writer.integer_entry("window_ms", settings.window.get());
    if let Some(rate) = &settings.rate {
        let drains = settings.algorithm == Algorithm::LeakyBucket;
        writer.text_entry(if drains { "drain" } else { "refill" }, rate.text().as_bytes());
    }
    writer.integer_entry("unique_keys", unique_keys as u64);
    writer.integer_entry("total_allowed", limiter.total_allowed);
    writer.integer_entry("total_denied", limiter.total_denied);
}

/// An integer for a reply.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
