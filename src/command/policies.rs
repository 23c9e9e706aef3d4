//! The commands of policies.

use super::execute::signed;
use super::parse::Command;
use super::resp::Writer;
use super::table::Kind;
use crate::policy::{Admission, Shown};
use crate::{Engine, Error};

/// The most jobs of one `VALVE.ADMIT`, so that no command keeps the others waiting.
const MOST_TIMES: u64 = 1000;

/// Runs the command and writes its reply; whether what it asked for was admitted.
pub(super) fn run(
    engine: &mut Engine,
    now: u64,
    command: &Command<'_>,
    writer: &mut Writer<'_>,
) -> Result<bool, Error> {
    let (namespace, second) = (command.first, command.second);
    let leases = command.arguments.get(1..).unwrap_or_default();
    match command.entry.kind {
        Kind::Admit => {
            let (job, [_, _, times, _]) = (command.job(), command.integers);
            let times = times.get().min(MOST_TIMES);
            let mut admitted = 0_u64;
            loop {
                // The first one's records are there, so the others can only be admitted or refused.
                let answer = engine.policy_admit(now, namespace, second, &job)?;
                admitted = admitted.saturating_add(u64::from(answer.is_admitted()));
                if !answer.is_admitted() || admitted >= times {
                    admission(writer, admitted, &answer);
                    return Ok(admitted > 0);
                }
            }
        }
        Kind::Define => writer.bulk(engine.policy_define(now, namespace, second)?.as_bytes()),
        Kind::Forget => writer.bulk(engine.policy_forget(now, namespace)?.as_bytes()),
        Kind::Renew => writer.count(engine.policy_renew(now, namespace, leases)?),
        Kind::Release => writer.count(engine.policy_release(now, namespace, leases)?),
        _ => show(writer, &engine.policy_show(now, namespace)?),
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
