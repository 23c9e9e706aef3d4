//! Policies.

/// Every namespace's policy.
#[derive(Debug, Default)]
pub struct Policies;
