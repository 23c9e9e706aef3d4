//! What a client says about its own connection.

use super::parse::{Arguments, Wrong, is};

/// A command about the connection, or about the server as a whole.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are the commands' own arguments")]
pub enum ConnectionCommand<'a> {
    Ping {
        message: Option<&'a [u8]>,
    },
    Echo {
        message: &'a [u8],
    },
    Hello {
        version: Option<&'a [u8]>,
        password: Option<&'a [u8]>,
        name: Option<&'a [u8]>,
    },
    Auth {
        password: &'a [u8],
    },
    Select {
        database: &'a [u8],
    },
    SetName {
        name: &'a [u8],
    },
    GetName,
    Id,
    /// `CLIENT SETINFO` and other settings that change nothing here.
    SetInfo,
    Describe(Describe<'a>),
    Info,
    Time,
    Quit,
    Reset,
    Multi,
    Exec,
    Discard,
}

/// `COMMAND`, and what of it is asked.
#[derive(Clone, Copy, Debug)]
pub enum Describe<'a> {
    /// Every command.
    All,
    /// `INFO`: those commands.
    Named(Arguments<'a>),
    /// `LIST`: every command's name.
    Names,
    /// `COUNT`: how many there are.
    Count,
    /// `DOCS`: nothing beyond what documentation says.
    Documents,
}

impl<'a> ConnectionCommand<'a> {
    /// Whether a client that has still to say its password may send it.
    pub(super) const fn is_for_strangers(&self) -> bool {
        matches!(self, Self::Hello { .. } | Self::Auth { .. } | Self::Quit)
    }

    /// Whether it is done at once between `MULTI` and `EXEC` too.
    pub(super) const fn ends_transaction(&self) -> bool {
        matches!(self, Self::Multi | Self::Exec | Self::Discard | Self::Quit | Self::Reset)
    }

    /// Whether `EXEC` may do it: what changes how replies are written has no place among them.
    pub(super) const fn may_wait(&self) -> bool {
        !matches!(self, Self::Hello { .. } | Self::Auth { .. })
    }

    /// `HELLO [version [AUTH user password] [SETNAME name]]`.
    pub(super) fn hello(arguments: Arguments<'a>) -> Result<Self, Wrong> {
        let (version, mut options) = match arguments {
            [version, options @ ..] => (Some(*version), options),
            [] => (None, arguments),
        };
        let (mut password, mut name) = (None, None);
        loop {
            options = match *options {
                [] => return Ok(Self::Hello { version, password, name }),
                // The user's name does not matter: there is only one user.
                [option, _, given, ref rest @ ..] if is(option, b"AUTH") => {
                    password = Some(given);
                    rest
                }
                [option, given, ref rest @ ..] if is(option, b"SETNAME") => {
                    name = Some(given);
                    rest
                }
                _ => return Err(Wrong::Syntax),
            };
        }
    }

    /// `COMMAND [INFO name ... | LIST | COUNT | DOCS name ...]`.
    pub(super) fn describe(arguments: Arguments<'a>) -> Result<Self, Wrong> {
        Ok(Self::Describe(match *arguments {
            [] => Describe::All,
            [info] if is(info, b"INFO") => Describe::All,
            [info, ref names @ ..] if is(info, b"INFO") => Describe::Named(names),
            [list] if is(list, b"LIST") => Describe::Names,
            [count] if is(count, b"COUNT") => Describe::Count,
            [docs, ..] if is(docs, b"DOCS") => Describe::Documents,
            _ => return Err(Wrong::Syntax),
        }))
    }

    /// `CLIENT SETNAME`, `GETNAME`, `ID` and `SETINFO`.
    pub(super) fn client(subcommand: &[u8], rest: Arguments<'a>) -> Result<Self, Wrong> {
        let is = |name: &[u8]| is(subcommand, name);
        match *rest {
            [name] if is(b"SETNAME") => Ok(Self::SetName { name }),
            [] if is(b"GETNAME") => Ok(Self::GetName),
            [] if is(b"ID") => Ok(Self::Id),
            [_, _] if is(b"SETINFO") => Ok(Self::SetInfo),
            _ => Err(Wrong::Syntax),
        }
    }
}
