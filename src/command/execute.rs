//! Typed commands into calls of the engine, and their answers into replies.

use super::counters::Outcome;
use super::parse::Command;
use super::resp::Writer;
use super::{keys, policies};
use crate::algorithm::Retry;
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
    backend.engine().counters.count(command, outcome);
}

/// Runs the command and writes its reply; whether what it asked for was admitted.
fn run<B: Backend>(backend: &mut B, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<bool, Error> {
    let engine = backend.engine();
    match *command {
        Command::GcraLimit { key, period, burst, count } => {
            let decision = engine.gcra_limit(now, key, period, burst, count)?;
            writer.integers([
                i64::from(decision.denied),
                signed(decision.limit),
                signed(decision.remaining),
                decision.retry.or(-1),
                signed(decision.reset_after),
            ]);
            return Ok(!decision.denied);
        }
        Command::LimiterCheck { name, key, cost } => {
            let decision = engine.rate_limit_check(now, name, key, cost)?;
            writer.integers(check(&decision));
            return Ok(decision.allowed);
        }
        Command::LimiterPeek { name, key } => {
            let decision = engine.rate_limit_peek(now, name, key)?;
            writer.integers(check(&decision));
            return Ok(decision.allowed);
        }
        Command::Throttle { key, ref rule, quantity } => {
            let decision = engine.gcra(now, key, rule, quantity)?;
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
            return Ok(!denied);
        }
        Command::LimiterCreate { name, ref settings } => {
            engine.rate_limit_create(now, name, settings.clone())?;
            writer.ok();
        }
        Command::LimiterReset { name, key } => {
            engine.rate_limit_reset(now, name, key)?;
            writer.ok();
        }
        Command::LimiterDrop { name } => {
            engine.rate_limit_drop(now, name)?;
            writer.ok();
        }
        Command::LimiterStats { name } => {
            engine.advance(now);
            let limiter = engine.limiters.get(name)?.clone();
            stats(writer, name, &limiter, backend.count(limiter.space)?);
        }
        Command::DbSize => {
            engine.advance(now);
            writer.count(backend.count(Space::ORDINARY)?);
        }
        Command::LimiterList => {
            writer.array(engine.rate_limit_list().count());
            engine.rate_limit_list().for_each(|name| writer.bulk(name));
        }
        Command::Policy(ref command) => return policies::run(engine, now, command, writer),
        Command::Connection(_) => return Err(Error::Syntax),
        ref other => keys::run(engine, now, other, writer)?,
    }
    Ok(true)
}

fn check(decision: &crate::engine::CheckDecision) -> [i64; 5] {
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
