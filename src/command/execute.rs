//! Typed commands into calls of the engine, and their answers into replies.

use alloc::vec;

use super::counters::Outcome;
use super::parse::{Command, PolicyCommand};
use super::resp::{Reply, Writer};
use super::{keys, policies};
use crate::algorithm::Retry;
use crate::limiter::{Algorithm, Limiter};
use crate::policy::Admission;
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
}

impl Backend for Engine {
    fn engine(&mut self) -> &mut Engine {
        self
    }
}

/// Runs one command at time `now` and writes its reply. Commands about a connection are the session's, not for here.
pub fn execute<B: Backend>(backend: &mut B, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) {
    let done = backend.prepare(now, command).and_then(|()| run(backend.engine(), now, command, writer));
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
fn run(engine: &mut Engine, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<bool, Error> {
    let reply = match *command {
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
            Reply::Status("OK")
        }
        Command::LimiterReset { name, key } => {
            engine.rate_limit_reset(now, name, key)?;
            Reply::Status("OK")
        }
        Command::LimiterDrop { name } => {
            engine.rate_limit_drop(now, name)?;
            Reply::Status("OK")
        }
        Command::LimiterStats { name } => {
            let (limiter, unique_keys) = engine.rate_limit_stats(now, name)?;
            stats(name, limiter, unique_keys)
        }
        Command::LimiterList => Reply::Array(engine.rate_limit_list().map(|name| Reply::Bulk(name.into())).collect()),
        Command::Policy(PolicyCommand::Admit { namespace, fingerprint, cost, ref options }) => {
            let admission = engine.policy_admit(now, namespace, fingerprint, &options.job(cost))?;
            writer.reply(&policies::admission(&admission));
            return Ok(admission == Admission::Admitted);
        }
        Command::Policy(ref command) => policies::run(engine, now, command)?,
        Command::Connection(_) => return Err(Error::Syntax),
        ref other => keys::run(engine, now, other)?,
    };
    writer.reply(&reply);
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

fn stats(name: &[u8], limiter: &Limiter, unique_keys: usize) -> Reply {
    let settings = &limiter.settings;
    let mut items = vec![
        Reply::text("name"),
        Reply::Bulk(name.into()),
        Reply::text("algo"),
        Reply::text(settings.algorithm.name()),
        Reply::text("limit"),
        Reply::Integer(signed(settings.limit.get())),
        Reply::text("window_ms"),
        Reply::Integer(signed(settings.window.get())),
    ];
    if let Some(rate) = &settings.rate {
        items.push(Reply::text(if settings.algorithm == Algorithm::LeakyBucket { "drain" } else { "refill" }));
        items.push(Reply::text(rate.text()));
    }
    items.extend([
        Reply::text("unique_keys"),
        Reply::count(unique_keys),
        Reply::text("total_allowed"),
        Reply::Integer(signed(limiter.total_allowed)),
        Reply::text("total_denied"),
        Reply::Integer(signed(limiter.total_denied)),
    ]);
    Reply::Array(items)
}

/// An integer for a reply.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
