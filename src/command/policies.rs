//! The commands of policies.

use alloc::vec::Vec;

use super::execute::signed;
use super::parse::{Arguments, PolicyCommand, integer, is};
use super::resp::Writer;
use crate::policy::{Admission, Job, Shown};
use crate::{Engine, Error, Positive};

/// The options of `VALVE.ADMIT`: `[SCOPE dimension identity]... [LEASE id] [WAIT] [RESERVE max-ms]`.
#[derive(Clone, Debug, Default)]
pub struct AdmitOptions<'a> {
    /// Pairs of dimension and identity.
    pub scope: Vec<(&'a [u8], &'a [u8])>,
    lease: Option<&'a [u8]>,
    wait: bool,
    reserve: Option<Positive>,
}

impl<'a> AdmitOptions<'a> {
    /// Reads the options.
    ///
    /// # Errors
    /// [`Error::Syntax`]; [`Error::NotAnInteger`].
    pub fn parse(mut options: Arguments<'a>) -> Result<Self, Error> {
        let mut read = Self::default();
        loop {
            let rest = match *options {
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
                [name, ref rest @ ..] if is(name, b"WAIT") => {
                    read.wait = true;
                    rest
                }
                _ => return Err(Error::Syntax),
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
            return Ok(admission(writer, &engine.policy_admit(now, namespace, fingerprint, &options.job(cost))?));
        }
        PolicyCommand::Show { namespace } => show(writer, &engine.policy_show(now, namespace)?),
        PolicyCommand::Forget { namespace } => writer.bulk(engine.policy_forget(now, namespace)?.as_bytes()),
        PolicyCommand::Renew { namespace, leases } => writer.count(engine.policy_renew(now, namespace, leases)?),
        PolicyCommand::Release { namespace, leases } => writer.count(engine.policy_release(now, namespace, leases)?),
    }
    Ok(true)
}

/// The reply of `VALVE.ADMIT`: allowed, `retry_after_ms`, and the indexes of the rules that refuse, -1 for the lease. Of a
/// reservation the second figure is when it starts. Whether it was admitted.
fn admission(writer: &mut Writer<'_>, admission: &Admission) -> bool {
    writer.array(3);
    let starts_in = match admission {
        Admission::Admitted => 0,
        Admission::Reserved { starts_in } => *starts_in,
        Admission::Refused { retry_after, rules, lease } => {
            writer.integer(0);
            writer.integer(signed(*retry_after));
            writer.array(rules.len().saturating_add(usize::from(*lease)));
            for rule in rules {
                writer.count(*rule);
            }
            if *lease {
                writer.integer(-1);
            }
            return false;
        }
    };
    writer.integer(1);
    writer.integer(signed(starts_in));
    writer.array(0);
    true
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
