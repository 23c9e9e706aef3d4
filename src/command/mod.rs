//! Commands.

/// What the host should do after a [`Session`] took bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
}

/// One client's side of the protocol.
#[derive(Debug, Default)]
pub struct Session;
