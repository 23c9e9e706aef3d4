//! Every command: its name, what arguments it takes, and what clients are told of it.

/// One command.
pub(crate) struct Entry {
    /// In lower case.
    pub name: &'static str,
    pub kind: Kind,
    pub names: Names,
    pub flag: Flag,
    /// The fewest arguments after the name.
    pub least: u8,
    /// The most arguments after the name; [`ANY`] means as many as one likes.
    pub most: u8,
    /// From which to which argument there are positive integers.
    pub integers: (u8, u8),
    /// The options it takes after its `least` arguments, as a set.
    pub options: u32,
}

/// Which command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Kind {
    /// No command has that name.
    Unknown,
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
    /// `DEL`, `UNLINK` and `GCRA.RESET`.
    Delete,
    Exists,
    Type,
    Ttl,
    Pttl,
    /// A time that is not positive deletes the key.
    Expire,
    Pexpire,
    Persist,
    Keys,
    Scan,
    DbSize,
    FlushAll,
    // From here on they are about the connection or the server, and a client's session does them.
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

/// What a command's first arguments are names of: what it looks at, and which of them have a limited length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Nothing,
    Key,
    Keys,
    /// A limiter and a key of it.
    KeyOfLimiter,
    Limiter,
    NewLimiter,
    AllLimiters,
    Namespace,
    /// A namespace that need not have been heard of.
    NewNamespace,
    /// All ordinary keys that it matches.
    Pattern,
    AllKeys,
}

/// What `COMMAND` says that a command does.
#[derive(Clone, Copy)]
pub(crate) enum Flag {
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

/// A word that says what the arguments after it mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Cost,
    Algo,
    Refill,
    Drain,
    Scope,
    Lease,
    Reserve,
    Times,
    Wait,
    Ex,
    Px,
    ExAt,
    PxAt,
    KeepTtl,
    Nx,
    Xx,
    Get,
    Gt,
    Lt,
    Match,
    Count,
    Type,
    Auth,
    SetName,
    GetName,
    Id,
    SetInfo,
    Info,
    List,
    HowMany,
    Docs,
}

/// What follows a word.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Nothing,
    /// A positive integer, and which of the command's integers it is.
    Integer(u8),
    /// A text, and which of the command's texts it is.
    Text(u8),
    Pair,
    /// Everything else.
    Rest,
}

/// How a word is written, what follows it, and the words that can't be before it.
pub(super) struct Spelling {
    pub name: &'static str,
    pub takes: Takes,
    pub excludes: u32,
}

/// Several words as a set.
const fn set(words: &[Word]) -> u32 {
    let mut set = 0;
    let mut rest = words;
    while let [word, after @ ..] = rest {
        set |= 1 << *word as u32;
        rest = after;
    }
    set
}

const fn word(name: &'static str, takes: Takes, excludes: &[Word]) -> Spelling {
    Spelling { name, takes, excludes: set(excludes) }
}

const CLIENT: &[Word] = &[Word::SetName, Word::GetName, Word::Id, Word::SetInfo];
const COMMAND: &[Word] = &[Word::Info, Word::List, Word::HowMany, Word::Docs];
const EXPIRY: &[Word] = &[Word::Ex, Word::Px, Word::ExAt, Word::PxAt, Word::KeepTtl];

/// Every word, in the order of [`Word`].
pub(super) const WORDS: &[Spelling] = &[
    word("COST", Takes::Integer(0), &[Word::Cost]),
    word("ALGO", Takes::Text(0), &[Word::Algo]),
    word("REFILL", Takes::Text(1), &[Word::Refill, Word::Drain]),
    word("DRAIN", Takes::Text(1), &[Word::Refill, Word::Drain]),
    word("SCOPE", Takes::Pair, &[]),
    word("LEASE", Takes::Text(0), &[Word::Lease, Word::Times]),
    word("RESERVE", Takes::Integer(1), &[Word::Reserve, Word::Times]),
    word("TIMES", Takes::Integer(2), &[Word::Times, Word::Lease, Word::Reserve]),
    word("WAIT", Takes::Nothing, &[]),
    word("EX", Takes::Integer(0), EXPIRY),
    word("PX", Takes::Integer(0), EXPIRY),
    word("EXAT", Takes::Integer(0), EXPIRY),
    word("PXAT", Takes::Integer(0), EXPIRY),
    word("KEEPTTL", Takes::Nothing, &[Word::Ex, Word::Px, Word::ExAt, Word::PxAt]),
    word("NX", Takes::Nothing, &[Word::Nx, Word::Xx, Word::Gt, Word::Lt]),
    word("XX", Takes::Nothing, &[Word::Nx, Word::Xx]),
    word("GET", Takes::Nothing, &[]),
    word("GT", Takes::Nothing, &[Word::Nx, Word::Gt, Word::Lt]),
    word("LT", Takes::Nothing, &[Word::Nx, Word::Gt, Word::Lt]),
    word("MATCH", Takes::Text(0), &[]),
    word("COUNT", Takes::Integer(0), &[]),
    word("TYPE", Takes::Text(1), &[]),
    word("AUTH", Takes::Pair, &[]),
    word("SETNAME", Takes::Text(0), CLIENT),
    word("GETNAME", Takes::Nothing, CLIENT),
    word("ID", Takes::Nothing, CLIENT),
    word("SETINFO", Takes::Pair, CLIENT),
    word("INFO", Takes::Rest, COMMAND),
    word("LIST", Takes::Nothing, COMMAND),
    word("COUNT", Takes::Nothing, COMMAND),
    word("DOCS", Takes::Rest, COMMAND),
];

/// As many arguments as one likes.
pub(super) const ANY: u8 = u8::MAX;

const fn entry(name: &'static str, kind: Kind, names: Names, flag: Flag, least: u8, most: u8) -> Entry {
    Entry { name, kind, names, flag, least, most, integers: (0, 0), options: 0 }
}

impl Entry {
    const fn integers(mut self, from: u8, to: u8) -> Self {
        self.integers = (from, to);
        self
    }

    const fn options(mut self, words: &[Word]) -> Self {
        self.options = set(words);
        self
    }
}

/// What stands for a command that there isn't.
pub(super) const UNKNOWN: &Entry = &entry("", Kind::Unknown, Names::Nothing, Flag::Fast, 0, ANY);

/// The hot ones first, since names are looked for in this order.
pub(super) const COMMANDS: &[Entry] = &[
    entry("gcra.limit", Kind::GcraLimit, Names::Key, Flag::Write, 3, 4).integers(1, 4),
    entry("ratelimit.check", Kind::LimiterCheck, Names::KeyOfLimiter, Flag::Write, 2, 4).options(&[Word::Cost]),
    entry("valve.admit", Kind::Admit, Names::NewNamespace, Flag::Write, 3, ANY).integers(2, 3).options(&[
        Word::Scope,
        Word::Lease,
        Word::Reserve,
        Word::Times,
        Word::Wait,
    ]),
    entry("cl.throttle", Kind::Throttle, Names::Key, Flag::Write, 4, 5).integers(2, 4),
    entry("ratelimit.peek", Kind::LimiterPeek, Names::KeyOfLimiter, Flag::Read, 2, 2),
    entry("ratelimit.create", Kind::LimiterCreate, Names::NewLimiter, Flag::Write, 3, ANY).integers(1, 3).options(&[
        Word::Algo,
        Word::Refill,
        Word::Drain,
    ]),
    entry("ratelimit.drop", Kind::LimiterDrop, Names::Limiter, Flag::Write, 1, 1),
    entry("ratelimit.list", Kind::LimiterList, Names::AllLimiters, Flag::Read, 0, 0),
    entry("ratelimit.reset", Kind::LimiterReset, Names::KeyOfLimiter, Flag::Write, 2, 2),
    entry("ratelimit.stats", Kind::LimiterStats, Names::Limiter, Flag::Read, 1, 1),
    entry("gcra.reset", Kind::Delete, Names::Keys, Flag::Write, 1, ANY),
    entry("get", Kind::Get, Names::Key, Flag::Read, 1, 1),
    entry("set", Kind::Set, Names::Key, Flag::Write, 2, ANY).options(&[
        Word::Ex,
        Word::Px,
        Word::ExAt,
        Word::PxAt,
        Word::KeepTtl,
        Word::Nx,
        Word::Xx,
        Word::Get,
    ]),
    entry("del", Kind::Delete, Names::Keys, Flag::Write, 1, ANY),
    entry("unlink", Kind::Delete, Names::Keys, Flag::Write, 1, ANY),
    entry("exists", Kind::Exists, Names::Keys, Flag::Read, 1, ANY),
    entry("type", Kind::Type, Names::Key, Flag::Read, 1, 1),
    entry("ttl", Kind::Ttl, Names::Key, Flag::Read, 1, 1),
    entry("pttl", Kind::Pttl, Names::Key, Flag::Read, 1, 1),
    entry("expire", Kind::Expire, Names::Key, Flag::Write, 2, 4).options(&[Word::Nx, Word::Xx, Word::Gt, Word::Lt]),
    entry("pexpire", Kind::Pexpire, Names::Key, Flag::Write, 2, 4).options(&[Word::Nx, Word::Xx, Word::Gt, Word::Lt]),
    entry("persist", Kind::Persist, Names::Key, Flag::Write, 1, 1),
    entry("keys", Kind::Keys, Names::Pattern, Flag::Read, 1, 1),
    entry("scan", Kind::Scan, Names::AllKeys, Flag::Read, 1, ANY).options(&[Word::Match, Word::Count, Word::Type]),
    entry("dbsize", Kind::DbSize, Names::Nothing, Flag::Read, 0, 0),
    entry("flushall", Kind::FlushAll, Names::Nothing, Flag::Write, 0, 1),
    entry("flushdb", Kind::FlushAll, Names::Nothing, Flag::Write, 0, 1),
    entry("valve.define", Kind::Define, Names::NewNamespace, Flag::Write, 2, 2),
    entry("valve.forget", Kind::Forget, Names::Namespace, Flag::Write, 1, 1),
    entry("valve.release", Kind::Release, Names::Namespace, Flag::Write, 2, ANY),
    entry("valve.renew", Kind::Renew, Names::Namespace, Flag::Write, 2, ANY),
    entry("valve.show", Kind::Show, Names::Namespace, Flag::Read, 1, 1),
    entry("ping", Kind::Ping, Names::Nothing, Flag::Fast, 0, 1),
    entry("echo", Kind::Echo, Names::Nothing, Flag::Fast, 1, 1),
    entry("hello", Kind::Hello, Names::Nothing, Flag::Fast, 0, ANY).options(&[Word::Auth, Word::SetName]),
    entry("auth", Kind::Auth, Names::Nothing, Flag::Fast, 1, 2),
    entry("select", Kind::Select, Names::Nothing, Flag::Fast, 1, 1),
    entry("client", Kind::Client, Names::Nothing, Flag::Fast, 1, ANY).options(CLIENT),
    entry("command", Kind::Describe, Names::Nothing, Flag::Read, 0, ANY).options(COMMAND),
    entry("info", Kind::Info, Names::Nothing, Flag::Read, 0, ANY),
    entry("time", Kind::Time, Names::Nothing, Flag::Fast, 0, 0),
    entry("quit", Kind::Quit, Names::Nothing, Flag::Fast, 0, ANY),
    entry("reset", Kind::Reset, Names::Nothing, Flag::Fast, 0, 0),
    entry("multi", Kind::Multi, Names::Nothing, Flag::Fast, 0, 0),
    entry("exec", Kind::Exec, Names::Nothing, Flag::Fast, 0, 0),
    entry("discard", Kind::Discard, Names::Nothing, Flag::Fast, 0, 0),
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
