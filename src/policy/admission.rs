//! The one step: every rule admits and is spent, or nothing is.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::lease::Concurrency;
use super::namespace::Namespace;
use super::read::Policy;
use crate::algorithm::{Retry, Rule, Verdict};
use crate::error::checked_name;
use crate::keyspace::{Change, Decision, Key, Keyspace, NameHash, Next, Place, Space};
use crate::sorted_map::insert;
use crate::text::filled;
use crate::{Engine, Error, ErrorKind, Positive};

/// A job that asks to start.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Units it spends against every rule.
    pub cost: Positive,
    /// Its identity in each dimension that a rule is scoped by: pairs of dimension and identity.
    pub scope: &'a [(&'a [u8], &'a [u8])],
    /// The id of the lease it takes, where the policy limits how many jobs run at once.
    pub lease: Option<&'a [u8]>,
    /// Whether it will come back at the promised instant. A state found further in the future than a full recovery, after
    /// the clock stepped back, is then stored as it is read, so that the promise holds.
    pub wait: bool,
    /// How many milliseconds ahead it takes a start, where it can't start now.
    pub reserve: Option<Positive>,
}

/// A job of cost 1 without a scope and a lease.
impl Default for Job<'_> {
    fn default() -> Self {
        Self { cost: Positive::ONE, scope: &[], lease: None, wait: false, reserve: None }
    }
}

/// The answer to a [`Job`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Every rule admitted it, and its cost is spent.
    Admitted,
    /// Its cost is spent, and it is to start later. Whatever asks after it on a rule and identity that it spent starts no
    /// earlier.
    Reserved {
        /// In so many milliseconds.
        starts_in: u64,
    },
    /// Nothing is spent.
    Refused {
        /// Milliseconds until no rule refuses it, if nobody else spends.
        retry_after: u64,
        /// The rules that refuse, by their index in the policy: those that it can't start by now, or as far ahead as it
        /// would reserve.
        rules: Vec<usize>,
        /// Whether every lease is held.
        lease: bool,
    },
}

impl Admission {
    /// Whether the job may start: now, or when a reservation says.
    pub const fn is_admitted(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// How long until a reserved job starts, or no rule refuses one that was refused, if nobody else spends; nothing when it was
    /// admitted.
    pub const fn wait(&self) -> Duration {
        match self {
            Self::Admitted => Duration::ZERO,
            Self::Reserved { starts_in: wait } | Self::Refused { retry_after: wait, .. } => {
                Duration::from_millis(*wait)
            }
        }
    }
}

/// A namespace as `VALVE.SHOW` shows it.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The policy in force.
    pub policy: &'a Policy,
    /// Live states, at most [`Shown::MOST_STATES`] of them.
    pub states: Vec<RuleState>,
    /// How many more there are.
    pub more: usize,
    /// Leases that are held.
    pub leases: usize,
}

impl Shown<'_> {
    /// The most states that are shown.
    pub const MOST_STATES: usize = 1000;
}

/// The live state of one rule for one identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleState {
    /// The rule's index in the policy.
    pub rule: usize,
    /// Whose state it is; empty for a rule without a scope.
    pub identity: Box<[u8]>,
    /// Units in use, rounded up.
    pub used: u64,
    /// Units still free.
    pub remaining: u64,
    /// Milliseconds until nothing is in use.
    pub reset_after: u64,
}

/// A rule, where the job's state of it is, and what was decided.
#[derive(Clone, Copy)]
struct Step<'a> {
    rule: &'a Rule,
    key: Key<'a>,
    /// The instant it was decided for, and what is stored then.
    at: u64,
    place: Place,
    next: Next,
}

impl Engine {
    /// `VALVE.DEFINE`: puts a policy in force, or finds it in force already. Returns its fingerprint.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when it is no policy, or another one is in force.
    pub fn policy_define(&mut self, now: u64, namespace: &[u8], json: &[u8]) -> Result<super::Fingerprint, Error> {
        self.enforce(now, namespace, Policy::read(json))
    }

    /// [`Engine::policy_define`] of a policy that is no text.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when another policy is in force; [`ErrorKind::KeyTooLong`].
    pub fn policy_enforce(&mut self, now: u64, namespace: &[u8], policy: Policy) -> Result<super::Fingerprint, Error> {
        self.enforce(now, namespace, Ok(policy))
    }

    /// The namespace's name is checked before the policy.
    fn enforce(
        &mut self,
        now: u64,
        namespace: &[u8],
        policy: Result<Policy, Error>,
    ) -> Result<super::Fingerprint, Error> {
        checked_name("namespace", namespace)?;
        self.advance(now);
        let policy = policy?;
        let fingerprint = policy.fingerprint;
        if let Some(Ok(in_force)) = self.policies.get(namespace).map(Namespace::policy) {
            check_fingerprint(in_force, fingerprint.as_bytes())?;
            return Ok(fingerprint);
        }
        self.policies.entry(namespace).define(policy, &mut self.keyspace);
        self.keyspace.note(|| Change::Policy(namespace.into()));
        Ok(fingerprint)
    }

    /// `VALVE.ADMIT`: admits the job by every rule and, where jobs at once are limited, a lease; or spends nothing.
    ///
    /// ```
    /// use tidegate::{Engine, Options, Positive, policy::{Admission, Job}};
    ///
    /// let mut engine = Engine::new(&Options::default());
    /// let now = 1_764_547_200_000;
    /// let fingerprint = engine.policy_define(now, b"mail", br#"{ "limit": 10, "interval": "1s" }"#)?;
    /// let job = Job::default();
    /// assert_eq!(engine.policy_admit(now, b"mail", fingerprint.as_bytes(), &job)?, Admission::Admitted);
    /// let refused = Admission::Refused { retry_after: 60, rules: vec![0], lease: false };
    /// assert_eq!(engine.policy_admit(now + 40, b"mail", fingerprint.as_bytes(), &job)?, refused);
    /// let ahead = Job { reserve: Positive::new(60), ..job };
    /// let reserved = Admission::Reserved { starts_in: 60 };
    /// assert_eq!(engine.policy_admit(now + 40, b"mail", fingerprint.as_bytes(), &ahead)?, reserved);
    /// # Ok::<(), tidegate::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoPolicy`]; [`ErrorKind::InvalidOptions`] when another policy is in force, or an identity or the lease is
    /// missing, or the policy limits how many jobs run at once and the start is to be reserved; [`ErrorKind::CostExceedsLimit`];
    /// [`ErrorKind::OutOfMemory`].
    pub fn policy_admit(
        &mut self,
        now: u64,
        namespace: &[u8],
        fingerprint: &[u8],
        job: &Job<'_>,
    ) -> Result<Admission, Error> {
        self.advance(now);
        let found = self.policies.get_mut(namespace).ok_or(ErrorKind::NoPolicy)?;
        let policy = found.policy.as_ref().ok_or(ErrorKind::NoPolicy)?;
        check_fingerprint(policy, fingerprint)?;
        for (index, decider) in policy.deciders.iter().enumerate() {
            if job.cost > decider.most {
                let (cost, most) = (job.cost.get(), decider.most.get());
                return Err(ErrorKind::CostExceedsLimit { cost, most, rule: index }.into());
            }
        }
        let lease = match (policy.concurrency, job.lease) {
            (None, _) => None,
            (Some(_), _) if job.reserve.is_some() => {
                return Err(Error::invalid_options(
                    "reserve must be left out, since the policy limits concurrency".into(),
                ));
            }
            (Some(_), None) => {
                return Err(Error::invalid_options("lease must be given, since the policy limits concurrency".into()));
            }
            (Some(concurrency), Some(id)) => Some((concurrency, checked_name("lease", id)?)),
        };
        let mut steps = Steps::default();
        let mut new = 0_usize;
        let ahead = job.reserve.map_or(0, Positive::get);
        let mut retry_after = 0_u64;
        let mut refusing = Vec::new();
        let (mut name, mut hash) = ([].as_slice(), NameHash::default());
        for (index, (decider, space)) in policy.deciders.iter().zip(&found.spaces).enumerate() {
            if !decider.same_identity {
                name = identity(policy, index, job)?;
                hash = self.keyspace.hash_name(name);
            }
            let key = Key { space: *space, name };
            let at = self.keyspace.starts(key);
            let Decision { verdict, next, place, new: is_new, .. } =
                self.keyspace.decide_hashed(at, hash, key, &decider.rule, job.cost);
            new = new.saturating_add(usize::from(is_new));
            let mut wait = at.saturating_sub(now);
            if let Retry::After(more) = verdict.retry {
                wait = wait.saturating_add(more);
            }
            retry_after = retry_after.max(wait);
            if wait > ahead {
                refusing.push(index);
            }
            steps.push(Step { rule: &decider.rule, key, at, place, next });
        }
        let mut lease_wait = None;
        if let Some((concurrency, id)) = lease {
            found.leases.expire(now, Some(concurrency));
            if found.leases.expires(id).is_some() {
                let why = "lease @ is held already; every job takes one with an id of its own";
                return Err(Error::invalid_options(filled(why, &[id], &[])));
            }
            lease_wait = found.leases.free_at(concurrency.limit).map(|free| free.saturating_sub(now));
        }
        if (retry_after > 0 || lease_wait.is_some()) && (job.wait || job.reserve.is_some()) {
            for step in steps.iter() {
                self.keyspace.settle(step.at, step.key, step.rule)?;
            }
        }
        if !refusing.is_empty() || lease_wait.is_some() {
            let retry_after = retry_after.max(lease_wait.unwrap_or(0));
            return Ok(Admission::Refused { retry_after, rules: refusing, lease: lease_wait.is_some() });
        }
        if retry_after > 0 {
            return reserve(&mut self.keyspace, &steps, new, job.cost, retry_after);
        }
        if new > 0 {
            self.keyspace.ensure_room(new)?;
        }
        for step in steps.iter() {
            self.keyspace.store_next(step.place, step.key, step.at, step.next)?;
        }
        if let Some((Concurrency { lease, .. }, id)) = lease {
            found.leases.hold(id, now.saturating_add(lease.get()));
            self.keyspace.note(|| Change::Lease(namespace.into(), id.into()));
        }
        Ok(Admission::Admitted)
    }

    /// The records that admitting `job` would read, for a store to bring up first.
    pub(crate) fn policy_keys<'a>(&'a self, namespace: &[u8], job: &'a Job<'_>) -> Vec<(Space, &'a [u8])> {
        let Some((found, policy)) =
            self.policies.get(namespace).and_then(|found| Some((found, found.policy.as_ref()?)))
        else {
            return Vec::new();
        };
        let mut keys = Vec::new();
        for (index, space) in found.spaces.iter().copied().enumerate() {
            let Ok(name) = identity(policy, index, job) else { continue };
            if self.keyspace.any_reserved() {
                keys.push((space.reservations(), name));
            }
            keys.push((space, name));
        }
        keys
    }

    /// `VALVE.SHOW`: the policy in force and the live states of its rules.
    ///
    /// # Errors
    /// [`ErrorKind::NoPolicy`].
    pub fn policy_show(&mut self, now: u64, namespace: &[u8]) -> Result<Shown<'_>, Error> {
        self.advance(now);
        let found = self.policies.get_mut(namespace).ok_or(ErrorKind::NoPolicy)?;
        let concurrency = found.policy()?.concurrency;
        found.leases.expire(now, concurrency);
        let policy = found.policy()?;
        let mut states = Vec::new();
        let mut more = 0_usize;
        self.keyspace.for_each(|key, _| {
            let Some(rule) = found.spaces.iter().position(|space| *space == key.space) else { return };
            if states.len() == Shown::MOST_STATES {
                more = more.saturating_add(1);
                return;
            }
            if let (Some(stated), Some(decider)) = (policy.rules.get(rule), policy.deciders.get(rule)) {
                // A job that costs the most is refused while anything is in use, and a refusal tells what is.
                let at = self.keyspace.starts(key);
                let verdict = self.keyspace.decide_at(at, key, &decider.rule, stated.most()).verdict;
                let state = shown(rule, key.name, stated.most().get(), &verdict, at.saturating_sub(now));
                let at = states.partition_point(|before: &RuleState| {
                    (before.rule, &before.identity) < (state.rule, &state.identity)
                });
                insert(&mut states, at, state);
            }
        });
        let leases = found.leases.len();
        Ok(Shown { policy, states, more, leases })
    }

    /// `VALVE.FORGET`: resets the fingerprint, so that another policy can be defined. All that was spent stays spent.
    ///
    /// # Errors
    /// [`ErrorKind::NoPolicy`].
    pub fn policy_forget(&mut self, now: u64, namespace: &[u8]) -> Result<super::Fingerprint, Error> {
        self.advance(now);
        let found = self.policies.get_mut(namespace).ok_or(ErrorKind::NoPolicy)?;
        let policy = found.policy.take().ok_or(ErrorKind::NoPolicy)?;
        found.spaces.clear();
        self.keyspace.note(|| Change::Policy(namespace.into()));
        Ok(policy.fingerprint)
    }

    /// `VALVE.RENEW`: lets the leases run for a whole lease from now; how many of them were held.
    ///
    /// # Errors
    /// [`ErrorKind::NoPolicy`]: nothing says then how long a lease is.
    pub fn policy_renew(&mut self, now: u64, namespace: &[u8], ids: &[&[u8]]) -> Result<usize, Error> {
        self.each_lease(now, namespace, ids, false)
    }

    /// `VALVE.RELEASE`: gives the leases back; how many of them were held. A job may end after its policy was forgotten or
    /// changed: its lease is given back all the same.
    ///
    /// # Errors
    /// [`ErrorKind::NoPolicy`] when there never was one.
    pub fn policy_release(&mut self, now: u64, namespace: &[u8], ids: &[&[u8]]) -> Result<usize, Error> {
        self.each_lease(now, namespace, ids, true)
    }

    /// Renews or releases each lease; how many of them were held.
    fn each_lease(&mut self, now: u64, namespace: &[u8], ids: &[&[u8]], release: bool) -> Result<usize, Error> {
        self.advance(now);
        let found = self.policies.get_mut(namespace).ok_or(ErrorKind::NoPolicy)?;
        let concurrency = match found.policy() {
            Ok(policy) => policy.concurrency,
            Err(_) if release => None,
            Err(error) => return Err(error),
        };
        found.leases.expire(now, concurrency);
        let mut changed = 0_usize;
        for id in ids {
            let held = match concurrency {
                _ if release => found.leases.release(id),
                Some(Concurrency { lease, .. }) => found.leases.renew(id, now.saturating_add(lease.get())),
                None => false,
            };
            if held {
                changed = changed.saturating_add(1);
                self.keyspace.note(|| Change::Lease(namespace.into(), (*id).into()));
            }
        }
        Ok(changed)
    }
}

/// The steps of one admission. The first few rules need no allocation.
#[derive(Default)]
struct Steps<'a> {
    first: [Option<Step<'a>>; 4],
    used: usize,
    rest: Vec<Step<'a>>,
}

impl<'a> Steps<'a> {
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn push(&mut self, step: Step<'a>) {
        match self.first.get_mut(self.used) {
            Some(free) => {
                *free = Some(step);
                self.used = self.used.saturating_add(1);
            }
            None => self.rest.push(step),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Step<'a>> {
        (0..).map_while(|at| self.get(at))
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    fn get(&self, at: usize) -> Option<&Step<'a>> {
        match self.first.get(at) {
            Some(step) => step.as_ref(),
            None => self.rest.get(at.wrapping_sub(self.first.len())),
        }
    }
}

/// The job's identity under the rule at `index`: empty where the rule has no scope.
fn identity<'a>(policy: &Policy, index: usize, job: &Job<'a>) -> Result<&'a [u8], Error> {
    let Some(rule) = policy.rules.get(index) else { return Ok(&[]) };
    let Some(scope) = &rule.scope else { return Ok(&[]) };
    let (mut identity, mut times) = ([].as_slice(), 0_usize);
    for (dimension, given) in job.scope {
        if *dimension == scope.as_bytes() {
            (identity, times) = (*given, times.saturating_add(1));
        }
    }
    if times == 1 {
        return checked_name("identity", identity);
    }
    let once = if times == 0 { "" } else { " once" };
    let words = [scope, once, rule.name.as_deref().unwrap_or_default()].map(str::as_bytes);
    let why = "scope.@ must be given@, since rate[%] (@) counts each one by itself";
    Err(Error::invalid_options(filled(why, &words, &[index as u64])))
}

fn check_fingerprint(policy: &Policy, given: &[u8]) -> Result<(), Error> {
    let in_force = policy.fingerprint.as_bytes();
    if in_force == given {
        return Ok(());
    }
    let why = "fingerprint must be @, that of the policy in force, not @; stop every worker of the other policy, let its budgets \
               recover and reset the fingerprint before changing a policy";
    Err(Error::invalid_options(filled(why, &[in_force, given.get(..64).unwrap_or(given)], &[])))
}

/// Spends every rule as of the instant at which all of them admit.
#[cold]
#[inline(never)]
fn reserve(
    keyspace: &mut Keyspace,
    steps: &Steps<'_>,
    new: usize,
    cost: Positive,
    starts_in: u64,
) -> Result<Admission, Error> {
    let now = keyspace.now();
    let starts = now.saturating_add(starts_in);
    let first = steps.iter().filter(|step| step.at == now).count();
    keyspace.ensure_room(new.saturating_add(first))?;
    for step in steps.iter() {
        // Every rule admits from its own earliest instant on.
        let decision = keyspace.decide_at(starts, step.key, step.rule, cost);
        keyspace.commit(step.key, &decision)?;
        keyspace.reserve(step.key, starts)?;
    }
    Ok(Admission::Reserved { starts_in })
}

/// What is in use once the reservations have started, `ahead` ms from now; until then nothing is free.
fn shown(rule: usize, identity: &[u8], most: u64, verdict: &Verdict, ahead: u64) -> RuleState {
    let (free, reset_after) = if verdict.allowed { (most, 0) } else { (verdict.remaining, verdict.reset_after) };
    let (remaining, reset_after) = (if ahead > 0 { 0 } else { free }, reset_after.saturating_add(ahead));
    RuleState { rule, identity: identity.into(), used: most.saturating_sub(remaining), remaining, reset_after }
}
