//! Every command: its name, how many arguments it takes, and what clients are told of it.

/// One command.
pub(super) struct Entry {
    /// In lower case.
    pub name: &'static str,
    pub kind: Kind,
    /// The fewest arguments after the name.
    pub least: u8,
    /// The most arguments after the name; [`ANY`] means as many as one likes.
    pub most: u8,
    /// What `COMMAND` says of it: its flag, and its first and last key.
    pub flag: Flag,
    pub keys: (i8, i8),
}

/// Which command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    GcraLimit,
    Throttle,
    LimiterCreate,
    LimiterCheck,
    LimiterPeek,
    LimiterReset,
    LimiterStats,
    LimiterDrop,
    LimiterList,
    Define,
    Admit,
    Show,
    Forget,
    Renew,
    Release,
    Set,
    Get,
    Delete,
    Exists,
    Type,
    Ttl,
    Pttl,
    Expire,
    Pexpire,
    Persist,
    Keys,
    Scan,
    DbSize,
    FlushAll,
    Ping,
    Echo,
    Hello,
    Auth,
    Select,
    Client,
    Describe,
    Info,
    Time,
    Quit,
    Reset,
    Multi,
    Exec,
    Discard,
}

/// What `COMMAND` says that a command does.
#[derive(Clone, Copy)]
pub(super) enum Flag {
    Write,
    Read,
    Fast,
}

impl Flag {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "readonly",
            Self::Fast => "fast",
        }
    }
}

/// As many arguments as one likes.
pub(super) const ANY: u8 = u8::MAX;
const ONE_KEY: (i8, i8) = (1, 1);
const ALL_KEYS: (i8, i8) = (1, -1);
const NO_KEY: (i8, i8) = (0, 0);

const fn entry(name: &'static str, kind: Kind, least: u8, most: u8, flag: Flag, keys: (i8, i8)) -> Entry {
    Entry { name, kind, least, most, flag, keys }
}

/// The hot ones first, since names are looked for in this order.
pub(super) const COMMANDS: &[Entry] = &[
    entry("gcra.limit", Kind::GcraLimit, 3, 4, Flag::Write, ONE_KEY),
    entry("ratelimit.check", Kind::LimiterCheck, 2, 4, Flag::Write, ONE_KEY),
    entry("valve.admit", Kind::Admit, 3, ANY, Flag::Write, ONE_KEY),
    entry("cl.throttle", Kind::Throttle, 4, 5, Flag::Write, ONE_KEY),
    entry("ratelimit.peek", Kind::LimiterPeek, 2, 2, Flag::Read, ONE_KEY),
    entry("ratelimit.create", Kind::LimiterCreate, 3, ANY, Flag::Write, ONE_KEY),
    entry("ratelimit.drop", Kind::LimiterDrop, 1, 1, Flag::Write, ONE_KEY),
    entry("ratelimit.list", Kind::LimiterList, 0, 0, Flag::Read, NO_KEY),
    entry("ratelimit.reset", Kind::LimiterReset, 2, 2, Flag::Write, ONE_KEY),
    entry("ratelimit.stats", Kind::LimiterStats, 1, 1, Flag::Read, ONE_KEY),
    entry("gcra.reset", Kind::Delete, 1, ANY, Flag::Write, ALL_KEYS),
    entry("get", Kind::Get, 1, 1, Flag::Read, ONE_KEY),
    entry("set", Kind::Set, 2, ANY, Flag::Write, ONE_KEY),
    entry("del", Kind::Delete, 1, ANY, Flag::Write, ALL_KEYS),
    entry("unlink", Kind::Delete, 1, ANY, Flag::Write, ALL_KEYS),
    entry("exists", Kind::Exists, 1, ANY, Flag::Read, ALL_KEYS),
    entry("type", Kind::Type, 1, 1, Flag::Read, ONE_KEY),
    entry("ttl", Kind::Ttl, 1, 1, Flag::Read, ONE_KEY),
    entry("pttl", Kind::Pttl, 1, 1, Flag::Read, ONE_KEY),
    entry("expire", Kind::Expire, 2, 4, Flag::Write, ONE_KEY),
    entry("pexpire", Kind::Pexpire, 2, 4, Flag::Write, ONE_KEY),
    entry("persist", Kind::Persist, 1, 1, Flag::Write, ONE_KEY),
    entry("keys", Kind::Keys, 1, 1, Flag::Read, NO_KEY),
    entry("scan", Kind::Scan, 1, ANY, Flag::Read, NO_KEY),
    entry("dbsize", Kind::DbSize, 0, 0, Flag::Read, NO_KEY),
    entry("flushall", Kind::FlushAll, 0, 1, Flag::Write, NO_KEY),
    entry("flushdb", Kind::FlushAll, 0, 1, Flag::Write, NO_KEY),
    entry("valve.define", Kind::Define, 2, 2, Flag::Write, ONE_KEY),
    entry("valve.forget", Kind::Forget, 1, 1, Flag::Write, ONE_KEY),
    entry("valve.release", Kind::Release, 2, ANY, Flag::Write, ONE_KEY),
    entry("valve.renew", Kind::Renew, 2, ANY, Flag::Write, ONE_KEY),
    entry("valve.show", Kind::Show, 1, 1, Flag::Read, ONE_KEY),
    entry("ping", Kind::Ping, 0, 1, Flag::Fast, NO_KEY),
    entry("echo", Kind::Echo, 1, 1, Flag::Fast, NO_KEY),
    entry("hello", Kind::Hello, 0, ANY, Flag::Fast, NO_KEY),
    entry("auth", Kind::Auth, 1, 2, Flag::Fast, NO_KEY),
    entry("select", Kind::Select, 1, 1, Flag::Fast, NO_KEY),
    entry("client", Kind::Client, 1, ANY, Flag::Fast, NO_KEY),
    entry("command", Kind::Describe, 0, ANY, Flag::Read, NO_KEY),
    entry("info", Kind::Info, 0, ANY, Flag::Read, NO_KEY),
    entry("time", Kind::Time, 0, 0, Flag::Fast, NO_KEY),
    entry("quit", Kind::Quit, 0, ANY, Flag::Fast, NO_KEY),
    entry("reset", Kind::Reset, 0, 0, Flag::Fast, NO_KEY),
    entry("multi", Kind::Multi, 0, 0, Flag::Fast, NO_KEY),
    entry("exec", Kind::Exec, 0, 0, Flag::Fast, NO_KEY),
    entry("discard", Kind::Discard, 0, 0, Flag::Fast, NO_KEY),
];

/// The command called `name`, in any case.
#[inline(never)]
pub(super) fn find(name: &[u8]) -> Option<&'static Entry> {
    let wanted = lower_case(name)?;
    COMMANDS.iter().find(|entry| entry.name.len() == name.len() && lower_case(entry.name.as_bytes()) == Some(wanted))
}

/// Up to 16 bytes as one number, which no name has that differs in more than its case.
#[inline]
fn lower_case(name: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..name.len())?.copy_from_slice(name);
    let word = u128::from_ne_bytes(bytes);
    // Letters are what has bit 6, and lower case is bit 5. Whatever else this changes becomes no letter and no point.
    Some(word | ((word & 0x4040_4040_4040_4040_4040_4040_4040_4040) >> 1))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{COMMANDS, find};

    #[test]
    fn a_name_is_found_in_any_case_and_nothing_else_is() {
        for entry in COMMANDS {
            let name = entry.name.as_bytes();
            assert_eq!(find(name).map(|found| found.name), Some(entry.name));
            assert_eq!(find(&name.to_ascii_uppercase()).map(|found| found.name), Some(entry.name));
            for at in 0..name.len() {
                for byte in 0..=u8::MAX {
                    let mut other = name.to_vec();
                    other[at] = byte;
                    let expected = COMMANDS.iter().find(|entry| other.eq_ignore_ascii_case(entry.name.as_bytes()));
                    assert_eq!(find(&other).map(|found| found.name), expected.map(|entry| entry.name), "{other:?}");
                }
            }
            let padded: Vec<u8> = name.iter().copied().chain([0]).collect();
            assert!(find(&padded).is_none());
        }
        assert!(find(b"").is_none() && find(&[b'a'; 17]).is_none());
    }
}
