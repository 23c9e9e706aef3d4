//! The commands of policies.

use alloc::vec::Vec;

use super::execute::signed;
use super::parse::{Arguments, PolicyCommand, Wrong, integer, is};
use super::resp::Writer;
use crate::policy::{Admission, Job, Shown};
use crate::{Engine, Error, Positive};

/// The most jobs of one `VALVE.ADMIT`, so that no command keeps the others waiting.
const MOST_TIMES: u64 = 1000;

/// The options of `VALVE.ADMIT`: `[SCOPE dimension identity]... [LEASE id | RESERVE max-ms | TIMES n] [WAIT]`.
#[derive(Clone, Debug, Default)]
pub struct AdmitOptions<'a> {
    /// Pairs of dimension and identity.
    pub scope: Vec<(&'a [u8], &'a [u8])>,
    lease: Option<&'a [u8]>,
    wait: bool,
    reserve: Option<Positive>,
    times: Option<Positive>,
}

impl<'a> AdmitOptions<'a> {
    /// Reads the options.
    ///
    /// # Errors
    /// [`Wrong::Syntax`]; [`Wrong::NotAnInteger`].
    pub(super) fn parse(mut options: Arguments<'a>) -> Result<Self, Wrong> {
        let mut read = Self::default();
        loop {
            let rest = match *options {
                [] if read.times.is_some() && (read.lease.is_some() || read.reserve.is_some()) => {
                    return Err(Wrong::Syntax);
                }
                [] => return Ok(read),
                [name, dimension, identity, ref rest @ ..] if is(name, b"SCOPE") => {
                    read.scope.push((dimension, identity));
                    rest
                }
                [name, id, ref rest @ ..] if is(name, b"LEASE") && read.lease.is_none() => {
                    read.lease = Some(id);
                    rest
                }
                [name, most, ref rest @ ..] if is(name, b"RESERVE") && read.reserve.is_none() => {
                    read.reserve = Some(integer(most)?);
                    rest
                }
                [name, times, ref rest @ ..] if is(name, b"TIMES") && read.times.is_none() => {
                    read.times = Some(integer(times)?);
                    rest
                }
                [name, ref rest @ ..] if is(name, b"WAIT") => {
                    read.wait = true;
                    rest
                }
                _ => return Err(Wrong::Syntax),
            };
            options = rest;
        }
    }

    /// The job that they describe.
    pub fn job(&self, cost: Positive) -> Job<'_> {
        Job { cost, scope: &self.scope, lease: self.lease, wait: self.wait, reserve: self.reserve }
    }
}

/// Runs the command and writes its reply; whether what it asked for was admitted.
pub(super) fn run(
    engine: &mut Engine,
    now: u64,
    command: &PolicyCommand<'_>,
    writer: &mut Writer<'_>,
) -> Result<bool, Error> {
    match *command {
        PolicyCommand::Define { namespace, policy } => {
            writer.bulk(engine.policy_define(now, namespace, policy)?.as_bytes());
        }
        PolicyCommand::Admit { namespace, fingerprint, cost, ref options } => {
            let job = options.job(cost);
            let times = options.times.map_or(1, Positive::get).min(MOST_TIMES);
            let mut answer = engine.policy_admit(now, namespace, fingerprint, &job)?;
            let mut admitted = u64::from(answer.is_admitted());
            while answer.is_admitted() && admitted < times {
                // The first one's records are there, so the others can only be admitted or refused.
                answer = engine.policy_admit(now, namespace, fingerprint, &job)?;
                admitted = admitted.saturating_add(u64::from(answer.is_admitted()));
            }
            admission(writer, admitted, &answer);
            return Ok(admitted > 0);
        }
        PolicyCommand::Show { namespace } => show(writer, &engine.policy_show(now, namespace)?),
        PolicyCommand::Forget { namespace } => writer.bulk(engine.policy_forget(now, namespace)?.as_bytes()),
        PolicyCommand::Renew { namespace, leases } => writer.count(engine.policy_renew(now, namespace, leases)?),
        PolicyCommand::Release { namespace, leases } => writer.count(engine.policy_release(now, namespace, leases)?),
    }
    Ok(true)
}

/// The reply of `VALVE.ADMIT`: how many were admitted, `retry_after_ms`, and the indexes of the rules that refuse the next
/// one, -1 for the lease. Of a reservation the second figure is when it starts.
fn admission(writer: &mut Writer<'_>, admitted: u64, answer: &Admission) {
    let (ms, rules, lease) = match answer {
        Admission::Admitted => (0, [].as_slice(), false),
        Admission::Reserved { starts_in } => (*starts_in, [].as_slice(), false),
        Admission::Refused { retry_after, rules, lease } => (*retry_after, rules.as_slice(), *lease),
    };
    writer.array(3);
    writer.integer(signed(admitted));
    writer.integer(signed(ms));
    writer.array(rules.len().saturating_add(usize::from(lease)));
    for rule in rules {
        writer.count(*rule);
    }
    if lease {
        writer.integer(-1);
    }
}

fn show(writer: &mut Writer<'_>, shown: &Shown<'_>) {
    writer.map(5);
    writer.text_entry("policy", shown.policy.canonical.as_bytes());
    writer.text_entry("fingerprint", shown.policy.fingerprint.as_bytes());
    writer.text("states");
    writer.array(shown.states.len());
    for state in &shown.states {
        writer.map(5);
        writer.integer_entry("rule", state.rule as u64);
        writer.text_entry("identity", &state.identity);
        writer.integer_entry("used", state.used);
        writer.integer_entry("remaining", state.remaining);
        writer.integer_entry("reset_after_ms", state.reset_after);
    }
    writer.integer_entry("more_states", shown.more as u64);
    writer.integer_entry("leases", shown.leases as u64);
}
