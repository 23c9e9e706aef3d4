//! The commands of policies.

use alloc::vec::Vec;

use super::execute::signed;
use super::parse::{Arguments, PolicyCommand};
use super::resp::Reply;
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
                [name, dimension, identity, ref rest @ ..] if name.eq_ignore_ascii_case(b"SCOPE") => {
                    read.scope.push((dimension, identity));
                    rest
                }
                [name, id, ref rest @ ..] if name.eq_ignore_ascii_case(b"LEASE") && read.lease.is_none() => {
                    read.lease = Some(id);
                    rest
                }
                [name, ref rest @ ..] if name.eq_ignore_ascii_case(b"WAIT") => {
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

pub(super) fn run(engine: &mut Engine, now: u64, command: &PolicyCommand<'_>) -> Result<Reply, Error> {
    Ok(match *command {
        PolicyCommand::Define { namespace, policy } => {
            Reply::Bulk(engine.policy_define(now, namespace, policy)?.as_bytes().into())
        }
        PolicyCommand::Admit { .. } => return Err(Error::Syntax),
        PolicyCommand::Show { namespace } => show(&engine.policy_show(now, namespace)?),
        PolicyCommand::Forget { namespace } => Reply::Bulk(engine.policy_forget(now, namespace)?.as_bytes().into()),
        PolicyCommand::Renew { namespace, leases } => Reply::count(engine.policy_renew(now, namespace, leases)?),
        PolicyCommand::Release { namespace, leases } => Reply::count(engine.policy_release(now, namespace, leases)?),
    })
}

/// The reply of `VALVE.ADMIT`: allowed, `retry_after_ms`, and the indexes of the rules that refuse, -1 for the lease.
pub(super) fn admission(admission: &Admission) -> Reply {
    let (allowed, retry_after, blocked) = match admission {
        Admission::Admitted => (1, 0, Vec::new()),
        Admission::Refused { retry_after, rules, lease } => {
            let rules = rules.iter().map(|index| signed(*index as u64));
            (0, signed(*retry_after), rules.chain(lease.then_some(-1)).collect())
        }
    };
    Reply::Array(Vec::from([Reply::Integer(allowed), Reply::Integer(retry_after), Reply::integers(blocked)]))
}

fn show(shown: &Shown<'_>) -> Reply {
    let states = shown.states.iter().map(|state| {
        Reply::Map(Vec::from([
            (Reply::text("rule"), Reply::count(state.rule)),
            (Reply::text("identity"), Reply::Bulk(state.identity.clone())),
            (Reply::text("used"), Reply::Integer(signed(state.used))),
            (Reply::text("remaining"), Reply::Integer(signed(state.remaining))),
            (Reply::text("reset_after_ms"), Reply::Integer(signed(state.reset_after))),
        ]))
    });
    Reply::Map(Vec::from([
        (Reply::text("policy"), Reply::text(&shown.policy.canonical)),
        (Reply::text("fingerprint"), Reply::Bulk(shown.policy.fingerprint.as_bytes().into())),
        (Reply::text("states"), Reply::Array(states.collect())),
        (Reply::text("more_states"), Reply::count(shown.more)),
        (Reply::text("leases"), Reply::count(shown.leases)),
    ]))
}
