//! The commands of policies.

use super::parse::PolicyCommand;
use super::resp::Reply;
use crate::{Engine, Error};

pub(super) fn run(engine: &mut Engine, now: u64, command: &PolicyCommand<'_>) -> Result<Reply, Error> {
    let _ = (engine, now, command);
    Err(Error::NoPolicy)
}
