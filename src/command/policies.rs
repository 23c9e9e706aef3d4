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
        PolicyCommand::Admit { namespace, fingerprint, cost, ref options } => {
            match engine.policy_admit(now, namespace, fingerprint, &options.job(cost))? {
                Admission::Admitted => {
                    Reply::Array(Vec::from([Reply::Integer(1), Reply::Integer(0), Reply::Array(Vec::new())]))
                }
                Admission::Refused { retry_after, rules, lease } => {
                    let lease = lease.then_some(-1);
                    let blocked = rules.into_iter().map(|index| signed(index as u64)).chain(lease);
                    Reply::Array(Vec::from([
                        Reply::Integer(0),
                        Reply::Integer(signed(retry_after)),
                        Reply::integers(blocked),
                    ]))
                }
            }
        }
        PolicyCommand::Show { namespace } => show(&engine.policy_show(now, namespace)?),
        PolicyCommand::Forget { namespace } => Reply::Bulk(engine.policy_forget(now, namespace)?.as_bytes().into()),
        PolicyCommand::Renew { namespace, leases } => Reply::count(engine.policy_renew(now, namespace, leases)?),
        PolicyCommand::Release { namespace, leases } => Reply::count(engine.policy_release(now, namespace, leases)?),
    })
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
