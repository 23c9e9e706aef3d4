//! What a client says about its own connection.

use super::parse::Arguments;
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

impl<'a> ConnectionCommand<'a> {
    /// `HELLO [version [AUTH user password] [SETNAME name]]`.
    pub(super) fn hello(arguments: Arguments<'a>) -> Result<Self, Error> {
        let (version, mut options) = match arguments {
            [version, options @ ..] => (Some(*version), options),
            [] => (None, arguments),
        };
        let (mut password, mut name) = (None, None);
        loop {
            options = match *options {
                [] => return Ok(Self::Hello { version, password, name }),
                // The user's name does not matter: there is only one user.
                [option, _, given, ref rest @ ..] if option.eq_ignore_ascii_case(b"AUTH") => {
                    password = Some(given);
                    rest
                }
                [option, given, ref rest @ ..] if option.eq_ignore_ascii_case(b"SETNAME") => {
                    name = Some(given);
                    rest
                }
                _ => return Err(Error::Syntax),
            };
        }
    }

    /// `CLIENT SETNAME`, `GETNAME`, `ID` and `SETINFO`.
    pub(super) fn client(subcommand: &[u8], rest: Arguments<'a>) -> Result<Self, Error> {
        let is = |name: &[u8]| subcommand.eq_ignore_ascii_case(name);
        match *rest {
            [name] if is(b"SETNAME") => Ok(Self::SetName { name }),
            [] if is(b"GETNAME") => Ok(Self::GetName),
            [] if is(b"ID") => Ok(Self::Id),
            [_, _] if is(b"SETINFO") => Ok(Self::SetInfo),
            _ => Err(Error::Syntax),
        }
    }
}
