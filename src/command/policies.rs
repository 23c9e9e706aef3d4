//! The commands of policies.

use alloc::vec::Vec;

use super::execute::signed;
use super::parse::{Arguments, PolicyCommand, is};
use super::resp::Writer;
use crate::policy::{Admission, Job, Shown};
use crate::{Engine, Error, Positive};

/// The options of `VALVE.ADMIT`: `[SCOPE dimension identity]... [LEASE id] [WAIT]`.
#[derive(Clone, Debug, Default)]
pub struct AdmitOptions<'a> {
    /// Pairs of dimension and identity.
    pub scope: Vec<(&'a [u8], &'a [u8])>,
    lease: Option<&'a [u8]>,
    wait: bool,
}

impl<'a> AdmitOptions<'a> {
    /// Reads the options.
    ///
    /// # Errors
    /// [`Error::Syntax`].
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
        Job { cost, scope: &self.scope, lease: self.lease, wait: self.wait }
    }
}

pub(super) fn run(
    engine: &mut Engine,
    now: u64,
    command: &PolicyCommand<'_>,
    writer: &mut Writer<'_>,
) -> Result<(), Error> {
    match *command {
        PolicyCommand::Define { namespace, policy } => {
            writer.bulk(engine.policy_define(now, namespace, policy)?.as_bytes());
        }
        PolicyCommand::Admit { namespace, fingerprint, cost, ref options } => {
            admission(writer, &engine.policy_admit(now, namespace, fingerprint, &options.job(cost))?);
        }
        PolicyCommand::Show { namespace } => show(writer, &engine.policy_show(now, namespace)?),
        PolicyCommand::Forget { namespace } => writer.bulk(engine.policy_forget(now, namespace)?.as_bytes()),
        PolicyCommand::Renew { namespace, leases } => writer.count(engine.policy_renew(now, namespace, leases)?),
        PolicyCommand::Release { namespace, leases } => writer.count(engine.policy_release(now, namespace, leases)?),
    }
    Ok(())
}

/// The reply of `VALVE.ADMIT`: allowed, `retry_after_ms`, and the indexes of the rules that refuse, -1 for the lease.
pub(super) fn admission(writer: &mut Writer<'_>, admission: &Admission) {
    writer.array(3);
    match admission {
        Admission::Admitted => {
            writer.integer(1);
            writer.integer(0);
            writer.array(0);
        }
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
        }
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
