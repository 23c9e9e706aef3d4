//! What a client says about its own connection.

use super::parse::{Arguments, integer};
use crate::Error;

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
    /// `COMMAND` with whatever it is asked; the subcommand.
    Describe {
        subcommand: Option<&'a [u8]>,
    },
    Info,
    Time,
    Quit,
    Reset,
    Multi,
    Exec,
    Discard,
}

/// Why a command of a known name is wrong; `None` is its number of arguments.
type Wrong = Option<Error>;

impl<'a> ConnectionCommand<'a> {
    /// Reads the command called `upper`, when it is one of these.
    pub(super) fn parse(upper: &[u8], rest: Arguments<'a>) -> Option<Result<Self, Wrong>> {
        let bare = |command: Self| if rest.is_empty() { Ok(command) } else { Err(None) };
        Some(match upper {
            b"PING" => match *rest {
                [] => Ok(Self::Ping { message: None }),
                [message] => Ok(Self::Ping { message: Some(message) }),
                _ => Err(None),
            },
            b"ECHO" => match *rest {
                [message] => Ok(Self::Echo { message }),
                _ => Err(None),
            },
            b"HELLO" => hello(rest),
            b"AUTH" => match *rest {
                [password] | [_, password] => Ok(Self::Auth { password }),
                _ => Err(None),
            },
            b"SELECT" => match *rest {
                [database] => Ok(Self::Select { database }),
                _ => Err(None),
            },
            b"CLIENT" => client(rest),
            b"COMMAND" => Ok(Self::Describe { subcommand: rest.first().copied() }),
            b"INFO" => Ok(Self::Info),
            b"TIME" => bare(Self::Time),
            b"QUIT" => Ok(Self::Quit),
            b"RESET" => bare(Self::Reset),
            b"MULTI" => bare(Self::Multi),
            b"EXEC" => bare(Self::Exec),
            b"DISCARD" => bare(Self::Discard),
            _ => return None,
        })
    }
}

fn hello(rest: Arguments<'_>) -> Result<ConnectionCommand<'_>, Wrong> {
    let (version, options) = match rest.split_first() {
        Some((version, options)) => (Some(*version), options),
        None => (None, rest),
    };
    let mut password = None;
    let mut name = None;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || options.next().copied().ok_or(Some(Error::Syntax));
        if option.eq_ignore_ascii_case(b"AUTH") {
            // The user's name: there is only one user.
            value()?;
            password = Some(value()?);
        } else if option.eq_ignore_ascii_case(b"SETNAME") {
            name = Some(value()?);
        } else {
            return Err(Some(Error::Syntax));
        }
    }
    Ok(ConnectionCommand::Hello { version, password, name })
}

fn client(rest: Arguments<'_>) -> Result<ConnectionCommand<'_>, Wrong> {
    let Some((subcommand, rest)) = rest.split_first() else { return Err(None) };
    let is = |name: &[u8]| subcommand.eq_ignore_ascii_case(name);
    match *rest {
        [name] if is(b"SETNAME") => Ok(ConnectionCommand::SetName { name }),
        [] if is(b"GETNAME") => Ok(ConnectionCommand::GetName),
        [] if is(b"ID") => Ok(ConnectionCommand::Id),
        [_, _] if is(b"SETINFO") => Ok(ConnectionCommand::SetInfo),
        _ if is(b"SETNAME") || is(b"GETNAME") || is(b"ID") || is(b"SETINFO") => Err(None),
        _ => Err(Some(Error::Syntax)),
    }
}

/// The database that `SELECT` names, when there is one: only 0.
pub(super) fn is_database_zero(text: &[u8]) -> bool {
    text == b"0" && integer(text).is_err()
}
