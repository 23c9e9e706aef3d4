//! A namespace: the policy in force, and where its rules keep their states.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::canonical::push_integer;
use super::json::push_quoted;
use super::lease::Leases;
use super::read::Policy;
use super::rule::PolicyRule;
use crate::keyspace::{Keyspace, Space};
use crate::sorted_map::SortedMap;
use crate::text::push;
use crate::{Error, ErrorKind};

/// One namespace. Forgetting its policy leaves the rest, so that what was spent stays spent.
#[derive(Clone, Debug, Default)]
pub struct Namespace {
    /// What guards every admission; none before the first definition and after it was forgotten.
    pub(super) policy: Option<Policy>,
    /// Where each rule of the policy keeps its states, in the rules' order.
    pub(super) spaces: Vec<Space>,
    /// Every rule that ever was, by what its state is kept under.
    pub(super) known: SortedMap<Space>,
    /// Jobs that run now.
    pub(super) leases: Leases,
}

impl Namespace {
    /// The policy in force.
    ///
    /// # Errors
    /// [`ErrorKind::NoPolicy`].
    pub fn policy(&self) -> Result<&Policy, Error> {
        self.policy.as_ref().ok_or_else(|| ErrorKind::NoPolicy.into())
    }

    /// Puts `policy` in force; its rules find the states that rules of the same name left.
    pub(super) fn define(&mut self, policy: Policy, keyspace: &mut Keyspace) {
        self.spaces.clear();
        for rule in &policy.rules {
            let key = state_key(rule);
            let space = match self.known.get(key.as_bytes()) {
                Some(space) => *space,
                None => keyspace.new_space(),
            };
            self.known.insert(key.as_bytes(), space);
            self.spaces.push(space);
        }
        self.policy = Some(policy);
    }

    /// Every rule that ever was: what its state is kept under, and where. For stores.
    pub fn known_rules(&self) -> impl Iterator<Item = (&str, Space)> {
        self.known.iter().map(|(key, space)| (core::str::from_utf8(key).unwrap_or_default(), *space))
    }

    /// The leases that are held. For stores.
    pub const fn leases(&self) -> &Leases {
        &self.leases
    }

    /// Brings back a rule that a store knew.
    pub fn restore_rule(&mut self, key: &str, space: Space) {
        self.known.insert(key.as_bytes(), space);
    }

    /// Brings back a lease that a store knew.
    pub fn restore_lease(&mut self, id: &[u8], expires: u64) {
        self.leases.hold(id, expires);
    }
}

/// What a rule's state is kept under. Being JSON, no two different rules ever spell the same.
fn state_key(rule: &PolicyRule) -> String {
    let mut key = String::new();
    match &rule.name {
        None => {
            push(&mut key, "[");
            push_quoted(&mut key, rule.algorithm.name());
            push_integer(&mut key, ",", rule.interval);
            push(&mut key, "]");
        }
        Some(name) => {
            push(&mut key, "{");
            push_quoted(&mut key, name);
            push(&mut key, ":");
            match &rule.scope {
                Some(scope) => push_quoted(&mut key, scope),
                None => push(&mut key, "0"),
            }
            push(&mut key, "}");
        }
    }
    key
}

/// Every namespace.
#[derive(Debug, Default)]
pub struct Policies {
    namespaces: SortedMap<Box<Namespace>>,
}

impl Policies {
    /// The namespace of that name, when a policy was ever defined in it.
    pub fn get(&self, namespace: &[u8]) -> Option<&Namespace> {
        self.namespaces.get(namespace).map(AsRef::as_ref)
    }

    /// As [`Policies::get`], to change.
    pub fn get_mut(&mut self, namespace: &[u8]) -> Option<&mut Namespace> {
        self.namespaces.get_mut(namespace).map(AsMut::as_mut)
    }

    /// The clock steps back from `latest`: a lease that had run out by then stays free.
    #[cold]
    #[inline(never)]
    pub(crate) fn step_back(&mut self, latest: u64) {
        for namespace in self.namespaces.values_mut() {
            namespace.leases.run_out(latest);
        }
    }

    /// The namespace of that name, made when it is new.
    pub fn entry(&mut self, namespace: &[u8]) -> &mut Namespace {
        self.namespaces.get_or_insert_default(namespace)
    }
}
