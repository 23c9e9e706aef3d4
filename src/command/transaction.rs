//! Commands that wait between `MULTI` and `EXEC`.

use alloc::vec::Vec;

/// The most that the commands of a transaction may take as they were sent, and that their replies may take.
pub(super) const MAX_TRANSACTION_BYTES: usize = 1 << 24;

/// The commands so far, one after the other as the client sent them.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub bytes: Vec<u8>,
    pub commands: usize,
    /// Whether one of them was wrong, so that `EXEC` will do none of them.
    pub refused: bool,
}

impl Transaction {
    /// Adds a command as it was sent; `false` when they would be too long together, which refuses them all.
    pub fn add(&mut self, request: &[u8]) -> bool {
        if self.refused {
            return true;
        }
        let fits = self.bytes.len().saturating_add(request.len()) <= MAX_TRANSACTION_BYTES;
        if fits {
            self.bytes.extend_from_slice(request);
            self.commands = self.commands.saturating_add(1);
        } else {
            self.refuse();
        }
        fits
    }

    /// None of the commands will be done, so none of them is kept.
    pub fn refuse(&mut self) {
        *self = Self { refused: true, ..Self::default() };
    }
}
