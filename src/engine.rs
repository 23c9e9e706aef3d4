//! The engine: every decision as a typed call, each of which takes the time.

use core::fmt;
use core::time::Duration;

use crate::algorithm::{Outcome, Retry, Schedule, Tat, Verdict};
use crate::command::Counters;
use crate::error::{MAX_NAME_BYTES, checked_name};
use crate::keyspace::{Change, Key, Keyspace, State};
use crate::limiter::{Limiter, Limiters, Settings};
use crate::policy::Policies;
use crate::{Error, ErrorKind, Positive};

/// How an engine is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most records it holds; a new key beyond that is refused with [`ErrorKind::OutOfMemory`].
    pub max_keys: usize,
    /// The most named limiters it holds.
    pub max_limiters: usize,
    /// The seed of the keys' hash; take it from the system's random source, so that nobody can choose colliding keys.
    pub seed: [u64; 2],
}

impl Default for Options {
    fn default() -> Self {
        Self { max_keys: usize::MAX, max_limiters: 10_000, seed: [0; 2] }
    }
}

/// The answer of [`Engine::gcra_limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcraDecision {
    /// Whether the request is refused.
    pub denied: bool,
    /// The burst that was passed.
    pub limit: u64,
    /// Units still allowed right now.
    pub remaining: u64,
    /// When the request would be allowed.
    pub retry: Retry,
    /// Milliseconds until the key is back to a full burst.
    pub reset_after: u64,
}

impl GcraDecision {
    /// Whether the request may go on.
    pub const fn allowed(&self) -> bool {
        !self.denied
    }

    /// How long until the key is back to a full burst.
    pub const fn reset_in(&self) -> Duration {
        Duration::from_millis(self.reset_after)
    }

    #[inline]
    const fn new(rule: &Schedule, verdict: &Verdict) -> Self {
        Self {
            denied: !verdict.allowed,
            limit: rule.burst(),
            remaining: verdict.remaining,
            retry: verdict.retry,
            reset_after: verdict.reset_after,
        }
    }
}

/// The answer of [`Engine::rate_limit_check`] and [`Engine::rate_limit_peek`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckDecision {
    /// Whether the request is admitted.
    pub allowed: bool,
    /// Units still free.
    pub remaining: u64,
    /// When the request would be admitted.
    pub retry: Retry,
    /// The limiter's limit.
    pub limit: u64,
    /// Units in use before this request, rounded up.
    pub current: u64,
}

/// Keys, limiters and policies, and the decisions over them.
pub struct Engine {
    pub(crate) keyspace: Keyspace,
    pub(crate) limiters: Limiters,
    pub(crate) policies: Policies,
    pub(crate) max_limiters: usize,
    /// The rule that [`Engine::gcra_limit`] was last asked for: most ask for the same one again.
    rule: Schedule,
    /// Commands so far, by what they asked and how they ended.
    pub(crate) counters: Counters,
}

/// Says how much is held, not what.
impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("records", &self.keyspace.len())
            .field("limiters", &self.limiters.len())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An empty engine.
    pub fn new(options: &Options) -> Self {
        Self {
            keyspace: Keyspace::new(options.seed, options.max_keys),
            limiters: Limiters::default(),
            policies: Policies::default(),
            max_limiters: options.max_limiters,
            rule: Schedule::per_period(Positive::ONE, Positive::ONE),
            counters: Counters::default(),
        }
    }

    /// How many commands there were, by what they asked and how they ended.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Sets the clock to `now`, milliseconds since 1970, for everything that is held. Every other call does that first.
    ///
    /// A clock that steps back loses nothing that was spent, and nothing comes back that had expired by then.
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline)]
    pub fn advance(&mut self, now: u64) {
        let latest = self.keyspace.now();
        if now < latest {
            self.policies.step_back(latest);
        }
        self.keyspace.advance(now);
    }

    /// The records; for stores.
    #[doc(hidden)]
    pub fn keyspace(&mut self) -> &mut Keyspace {
        &mut self.keyspace
    }

    /// `GCRA.LIMIT`: at most `burst` units at once on `key`, and `burst` every `period` milliseconds.
    ///
    /// ```
    /// use core::time::Duration;
    /// use tidegate::{Engine, Options, Positive};
    ///
    /// let mut engine = Engine::new(&Options::default());
    /// let (minute, ten) = (Positive::new(60_000).unwrap(), Positive::new(10).unwrap());
    /// let now = 1_764_547_200_000;
    /// assert!(engine.gcra_limit(now, b"api:user:42", minute, ten, ten)?.allowed());
    /// let refused = engine.gcra_limit(now + 1000, b"api:user:42", minute, ten, Positive::ONE)?;
    /// assert_eq!(refused.retry.wait(), Some(Duration::from_secs(5)));
    /// # Ok::<(), tidegate::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`], [`ErrorKind::KeyTooLong`], [`ErrorKind::OutOfMemory`]; nothing is spent then.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub fn gcra_limit(
        &mut self,
        now: u64,
        key: &[u8],
        period: Positive,
        burst: Positive,
        count: Positive,
    ) -> Result<GcraDecision, Error> {
        match self.gcra_outcome(now, key, period, burst, count) {
            Some(outcome) => Ok(GcraDecision::new(&self.rule, &self.rule.verdict(&outcome))),
            None => self.gcra(now, key, &Schedule::per_period(period, burst), Some(count)),
        }
    }

    /// What `self.rule`, which is then the rule asked for, decides on a key that has a state of its kind. Apart from the
    /// figures, so that a caller who wants none of them pays for none.
    #[inline(never)]
    fn gcra_outcome(
        &mut self,
        now: u64,
        key: &[u8],
        period: Positive,
        burst: Positive,
        count: Positive,
    ) -> Option<Outcome> {
        if !self.rule.is_per_period(period, burst) {
            self.rule = Schedule::per_period(period, burst);
        }
        if key.len() > MAX_NAME_BYTES {
            return None;
        }
        self.advance(now);
        let rule = &self.rule;
        self.keyspace.update_tat(Key::ordinary(key), |tat| {
            let outcome = rule.outcome(Some(tat), now, count);
            (outcome, rule.tat(&outcome, now))
        })
    }

    /// One decision of a schedule on an ordinary key, which keeps its tat; without a count it only looks.
    pub(crate) fn gcra(
        &mut self,
        now: u64,
        key: &[u8],
        rule: &Schedule,
        count: Option<Positive>,
    ) -> Result<GcraDecision, Error> {
        let key = Key::ordinary(checked_name("key", key)?);
        self.advance(now);
        let place = self.keyspace.locate(key);
        let tat = match self.keyspace.state(place, key) {
            None => None,
            Some(State::Tat { tat, .. }) => Some(tat),
            Some(State::Text { bytes, .. }) => Some(Tat::parse(bytes).ok_or(ErrorKind::WrongType)?),
            Some(State::Count(_) | State::Log { .. }) => return Err(ErrorKind::WrongType.into()),
        };
        let (verdict, next) = rule.decide(tat, now, count.unwrap_or(Positive::ONE));
        let denied = !verdict.allowed;
        if let (Some(tat), Some(_)) = (next, count) {
            self.keyspace.put_tat(place, key, tat)?;
        }
        if count.is_none() && verdict.allowed {
            let used = rule.used(tat, now);
            // One more unit fits, so the tat is not further ahead than a full recovery.
            let reset_after = tat.map_or(0, |tat| tat.ceil().saturating_sub(now));
            let remaining = rule.burst().saturating_sub(used);
            return Ok(GcraDecision { denied, limit: rule.burst(), remaining, retry: verdict.retry, reset_after });
        }
        Ok(GcraDecision::new(rule, &verdict))
    }

    /// `DEL` and `GCRA.RESET` for one key: whether it existed.
    pub fn delete(&mut self, now: u64, key: &[u8]) -> bool {
        self.advance(now);
        let key = Key::ordinary(key);
        let place = self.keyspace.locate(key);
        self.keyspace.remove(place, key)
    }

    /// `RATELIMIT.CREATE`.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterExists`] when the name is taken or there are too many; [`ErrorKind::InvalidRate`];
    /// [`ErrorKind::KeyTooLong`].
    pub fn rate_limit_create(&mut self, now: u64, name: &[u8], settings: Settings) -> Result<(), Error> {
        let rule = settings.rule()?;
        checked_name("name", name)?;
        self.advance(now);
        if self.limiters.contains(name) || self.limiters.len() >= self.max_limiters {
            return Err(ErrorKind::LimiterExists.into());
        }
        let space = self.keyspace.new_space();
        self.limiters.insert(name, Limiter { settings, rule, space, total_allowed: 0, total_denied: 0 });
        self.keyspace.note(|| Change::Limiter(name.into()));
        Ok(())
    }

    /// `RATELIMIT.CHECK`: decides one request and counts it when it is admitted.
    ///
    /// ```
    /// use tidegate::{Engine, Options, Positive, algorithm::Retry, limiter::{Algorithm, Settings}};
    ///
    /// let mut engine = Engine::new(&Options::default());
    /// let (limit, window) = (Positive::new(100).unwrap(), Positive::new(60_000).unwrap());
    /// let settings = Settings { algorithm: Algorithm::SlidingWindow, limit, window, rate: None };
    /// let now = 1_764_547_200_000;
    /// engine.rate_limit_create(now, b"api", settings)?;
    /// let all = engine.rate_limit_check(now, b"api", b"user:42", limit)?;
    /// assert_eq!((all.allowed, all.remaining, all.current), (true, 0, 0));
    /// let one_more = engine.rate_limit_check(now + 1_000, b"api", b"user:42", Positive::ONE)?;
    /// assert_eq!((one_more.allowed, one_more.retry), (false, Retry::After(59_000)));
    /// # Ok::<(), tidegate::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`], [`ErrorKind::KeyTooLong`], [`ErrorKind::OutOfMemory`]; nothing is spent then.
    #[inline]
    pub fn rate_limit_check(
        &mut self,
        now: u64,
        name: &[u8],
        key: &[u8],
        cost: Positive,
    ) -> Result<CheckDecision, Error> {
        checked_name("key", key)?;
        self.advance(now);
        let limiter = self.limiters.get_mut(name)?;
        let key = Key { space: limiter.space, name: key };
        let decision = self.keyspace.decide(key, &limiter.rule, cost);
        self.keyspace.commit(key, &decision)?;
        let limit = limiter.settings.limit.get();
        let verdict = decision.verdict;
        let spent = if verdict.allowed { cost.get() } else { 0 };
        if verdict.allowed {
            limiter.total_allowed = limiter.total_allowed.saturating_add(cost.get());
            self.keyspace.note(|| Change::Limiter(name.into()));
        } else {
            limiter.total_denied = limiter.total_denied.saturating_add(cost.get());
        }
        let current = limit.saturating_sub(verdict.remaining).saturating_sub(spent);
        Ok(CheckDecision {
            allowed: verdict.allowed,
            remaining: verdict.remaining,
            retry: verdict.retry,
            limit,
            current,
        })
    }

    /// `RATELIMIT.PEEK`: what a check of cost 1 would decide; nothing is counted.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`], [`ErrorKind::KeyTooLong`].
    pub fn rate_limit_peek(&mut self, now: u64, name: &[u8], key: &[u8]) -> Result<CheckDecision, Error> {
        checked_name("key", key)?;
        self.advance(now);
        let limiter = self.limiters.get(name)?;
        let key = Key { space: limiter.space, name: key };
        let verdict = self.keyspace.decide(key, &limiter.rule, Positive::ONE).verdict;
        let limit = limiter.settings.limit.get();
        let remaining = verdict.remaining.saturating_add(u64::from(verdict.allowed));
        let current = limit.saturating_sub(remaining);
        Ok(CheckDecision { allowed: verdict.allowed, remaining, retry: verdict.retry, limit, current })
    }

    /// `RATELIMIT.RESET`: forgets one key's state.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`].
    pub fn rate_limit_reset(&mut self, now: u64, name: &[u8], key: &[u8]) -> Result<(), Error> {
        self.advance(now);
        let key = Key { space: self.limiters.get(name)?.space, name: key };
        let place = self.keyspace.locate(key);
        self.keyspace.remove(place, key);
        Ok(())
    }

    /// `RATELIMIT.DROP`: deletes the limiter and all its state.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`].
    pub fn rate_limit_drop(&mut self, now: u64, name: &[u8]) -> Result<(), Error> {
        self.advance(now);
        let limiter = self.limiters.remove(name)?;
        self.keyspace.clear(limiter.space);
        self.keyspace.note(|| Change::Limiter(name.into()));
        Ok(())
    }

    /// `RATELIMIT.STATS`: the limiter, and how many of its keys have live state.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`].
    pub fn rate_limit_stats(&mut self, now: u64, name: &[u8]) -> Result<(&Limiter, usize), Error> {
        self.advance(now);
        let limiter = self.limiters.get(name)?;
        Ok((limiter, self.keyspace.count(limiter.space)))
    }

    /// `RATELIMIT.LIST`: every limiter's name, sorted by bytes.
    pub fn rate_limit_list(&self) -> impl Iterator<Item = &[u8]> {
        self.limiters.names()
    }
}
