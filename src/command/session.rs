//! One client's side of the protocol: bytes in, replies out, and what the connection remembers between them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::execute::{Backend, execute, signed};
use super::parse::Command;
use super::resp::{Protocol, Request, Writer};
use super::table::{Kind, Word};
use super::transaction::{MAX_TRANSACTION_BYTES, Transaction};
use crate::Error;
use crate::text::filled;

/// What the host should do after a [`Session`] took bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// Go on reading.
    #[default]
    Continue,
    /// Send the replies, then close: the client said `QUIT`, or something that is no request.
    Close,
    /// Send the replies, wait so many milliseconds, then feed nothing to go on: a password was wrong.
    Delay(u64),
    /// Send the replies, then feed nothing to go on: there are so many of them that the rest of the commands waits.
    More,
}

/// Replies that may be made before they are sent. A short command can ask for a long reply, and thousands of them fit in
/// one read from a socket.
const MAX_REPLY_BYTES: usize = 1 << 20;

/// A wrong password costs 100 ms, and twice that for each further one, up to about 13 s.
const FIRST_DELAY_MS: u64 = 100;
const MOST_DOUBLINGS: u32 = 7;

/// One client.
///
/// ```
/// use tidegate::{Engine, Flow, Options, Session};
///
/// let mut engine = Engine::new(&Options::default());
/// let mut session = Session::new(1);
/// let mut replies = Vec::new();
/// let flow = session.feed(&mut engine, 1_764_547_200_000, b"GCRA.LIMIT api:user:42 60000 10\r\n", &mut replies);
/// assert_eq!(flow, Flow::Continue);
/// assert_eq!(replies, b"*5\r\n:0\r\n:10\r\n:9\r\n:-1\r\n:6000\r\n");
/// ```
#[derive(Debug, Default)]
pub struct Session {
    id: u64,
    protocol: Protocol,
    name: Box<[u8]>,
    /// Bytes of a request that is not complete yet.
    pending: Vec<u8>,
    request: Request,
    password: Option<Box<[u8]>>,
    authenticated: bool,
    failures: u32,
    transaction: Option<Transaction>,
    flow: Flow,
}

impl Session {
    /// A client that may use every command. `id` is what `CLIENT ID` replies.
    pub fn new(id: u64) -> Self {
        Self::of(id, None)
    }

    /// A client that must first send `password` with `AUTH` or `HELLO … AUTH`.
    pub fn with_password(id: u64, password: &[u8]) -> Self {
        Self::of(id, Some(password.into()))
    }

    /// A client that must first send the password, where there is one.
    pub(crate) fn of(id: u64, password: Option<Box<[u8]>>) -> Self {
        Self { id, authenticated: password.is_none(), password, ..Self::default() }
    }

    /// Takes bytes, whole commands or cut anywhere, runs what they complete on `backend`, an [`Engine`](crate::Engine), at
    /// `now`, milliseconds since 1970, and appends the replies to `output`, which should be empty. Commands after a
    /// [`Flow::Delay`] or [`Flow::More`] wait for the next call.
    pub fn feed<B: Backend>(&mut self, backend: &mut B, now: u64, input: &[u8], output: &mut Vec<u8>) -> Flow {
        self.flow = Flow::Continue;
        // The time counts as served even when nothing but a wrong command came at it.
        backend.engine().advance(now);
        let mut request = core::mem::take(&mut self.request);
        if self.pending.is_empty() {
            let used = self.run(backend, now, &mut request, input, output);
            self.pending.extend_from_slice(input.get(used..).unwrap_or_default());
        } else {
            let mut pending = core::mem::take(&mut self.pending);
            pending.extend_from_slice(input);
            let used = self.run(backend, now, &mut request, &pending, output);
            pending.drain(..used.min(pending.len()));
            if pending.is_empty() && pending.capacity() > 1 << 16 {
                pending = Vec::new();
            }
            self.pending = pending;
        }
        self.request = request;
        self.flow
    }

    /// Runs every complete request at the start of `bytes`; how many bytes they were.
    fn run<B: Backend>(
        &mut self,
        backend: &mut B,
        now: u64,
        request: &mut Request,
        bytes: &[u8],
        output: &mut Vec<u8>,
    ) -> usize {
        let mut used = 0_usize;
        let mut arguments: Vec<&[u8]> = Vec::new();
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            request.set_stranger(!self.authenticated);
            match request.take(rest, &mut arguments) {
                Ok(None) => break,
                Ok(Some(length)) => {
                    if !arguments.is_empty() {
                        self.command(backend, now, rest.get(..length).unwrap_or_default(), &arguments, output);
                    }
                    used = used.saturating_add(length);
                }
                Err(error) => {
                    self.error(output, &filled("ERR Protocol error: @", &[error.0.as_bytes()], &[]));
                    self.flow = Flow::Close;
                }
            }
            match self.flow {
                Flow::Close => {
                    // Whatever follows is not looked at.
                    request.clear();
                    return bytes.len();
                }
                Flow::Continue if output.len() > MAX_REPLY_BYTES && used < bytes.len() => self.flow = Flow::More,
                Flow::Continue => continue,
                Flow::Delay(_) | Flow::More => {}
            }
            break;
        }
        used
    }

    /// Does one command, or keeps it for `EXEC`; `request` is the command as it was sent.
    fn command<B: Backend>(
        &mut self,
        backend: &mut B,
        now: u64,
        request: &[u8],
        arguments: &[&[u8]],
        output: &mut Vec<u8>,
    ) {
        let mut command = Command::of(arguments);
        let read = command.read(arguments);
        let kind = if read.is_ok() { command.entry.kind } else { Kind::Unknown };
        if !self.authenticated && !matches!(kind, Kind::Hello | Kind::Auth | Kind::Quit) {
            return self.error(output, "NOAUTH Authentication required.");
        }
        if let Some(transaction) = &mut self.transaction
            && !matches!(kind, Kind::Multi | Kind::Exec | Kind::Discard | Kind::Quit | Kind::Reset)
        {
            let mut writer = Writer::new(output, self.protocol);
            match read {
                Err(error) => writer.error(&error),
                // What changes how replies are written has no place among them.
                Ok(()) if matches!(kind, Kind::Hello | Kind::Auth) => {
                    writer.error_text("ERR Command not allowed inside a transaction");
                }
                Ok(()) if transaction.add(request) => return writer.status("QUEUED"),
                Ok(()) => writer.error_text("ERR the transaction is over 16 MiB"),
            }
            return transaction.refuse();
        }
        self.run_one(backend, now, &command, read, output);
    }

    fn run_one<B: Backend>(
        &mut self,
        backend: &mut B,
        now: u64,
        command: &Command<'_>,
        read: Result<(), Error>,
        output: &mut Vec<u8>,
    ) {
        match read {
            Ok(()) if command.entry.kind >= Kind::Ping => self.connection(backend, now, command, output),
            Ok(()) => execute(backend, now, command, &mut Writer::new(output, self.protocol)),
            Err(error) => Writer::new(output, self.protocol).error(&error),
        }
    }

    /// Does what a command asks for about the connection or the server.
    fn connection<B: Backend>(&mut self, backend: &mut B, now: u64, command: &Command<'_>, output: &mut Vec<u8>) {
        let mut writer = Writer::new(output, self.protocol);
        let first = command.arguments.first().copied();
        match command.entry.kind {
            Kind::Ping | Kind::Echo => match first {
                Some(message) => writer.bulk(message),
                None => writer.status("PONG"),
            },
            Kind::Hello => {
                if let Err(text) = self.hello(command) {
                    writer.error_text(text);
                } else {
                    self.greet(&mut Writer::new(output, self.protocol));
                }
            }
            Kind::Auth => {
                let password = command.arguments.last().copied().unwrap_or_default();
                status(&mut writer, self.authenticate(password));
            }
            Kind::Select if first == Some(b"0") => writer.ok(),
            Kind::Select => writer.error_text("ERR DB index is out of range"),
            Kind::Client => {
                let [name, _] = command.texts;
                if command.has(Word::SetName) {
                    status(&mut writer, self.set_name(name));
                } else if command.has(Word::Id) {
                    writer.integer(signed(self.id));
                } else if command.has(Word::SetInfo) {
                    // It and other settings change nothing here.
                    writer.ok();
                } else if self.name.is_empty() {
                    writer.null();
                } else {
                    writer.bulk(&self.name);
                }
            }
            Kind::Describe => super::describe::describe(command, &mut writer),
            Kind::Info => super::describe::info(backend, now, &mut writer),
            Kind::Time => {
                let (seconds, ms) = (now / 1000, now % 1000);
                writer.array(2);
                writer.digits(seconds);
                writer.digits(ms.saturating_mul(1000));
            }
            Kind::Quit => {
                self.flow = Flow::Close;
                writer.ok();
            }
            Kind::Reset => {
                self.transaction = None;
                self.protocol = Protocol::Resp2;
                self.name = Box::default();
                self.authenticated = self.password.is_none();
                writer.status("RESET");
            }
            Kind::Multi if self.transaction.is_some() => writer.error_text("ERR MULTI calls can not be nested"),
            Kind::Multi => {
                self.transaction = Some(Transaction::default());
                writer.ok();
            }
            Kind::Discard if self.transaction.take().is_some() => writer.ok(),
            Kind::Discard => writer.error_text("ERR DISCARD without MULTI"),
            // `EXEC`: the rest are elsewhere.
            _ => self.exec(backend, now, output),
        }
    }

    fn exec<B: Backend>(&mut self, backend: &mut B, now: u64, output: &mut Vec<u8>) {
        let Some(transaction) = self.transaction.take() else { return self.error(output, "ERR EXEC without MULTI") };
        if transaction.refused {
            return self.error(output, "EXECABORT Transaction discarded because of previous errors.");
        }
        Writer::new(output, self.protocol).array(transaction.commands);
        let most = output.len().saturating_add(MAX_TRANSACTION_BYTES);
        let mut request = Request::default();
        let mut rest = transaction.bytes.as_slice();
        let mut arguments: Vec<&[u8]> = Vec::new();
        while let Ok(Some(length)) = request.take(rest, &mut arguments) {
            let before = output.len();
            let mut command = Command::of(&arguments);
            let read = command.read(&arguments);
            self.run_one(backend, now, &command, read, output);
            if output.len() > most {
                output.truncate(before);
                self.error(output, "ERR the command was done, but the transaction's replies are over 16 MiB");
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    /// Does what `HELLO [version [AUTH user password] [SETNAME name]]` asks for, or says why not.
    fn hello(&mut self, command: &Command<'_>) -> Result<(), &'static str> {
        let protocol = match command.arguments.first() {
            None => self.protocol,
            Some(&b"2") => Protocol::Resp2,
            Some(&b"3") => Protocol::Resp3,
            Some(_) => return Err("NOPROTO unsupported protocol version"),
        };
        // The user's name does not matter: there is only one user.
        if let Some((_, password)) = command.pairs.last() {
            self.authenticate(password)?;
        }
        if !self.authenticated {
            return Err("NOAUTH HELLO needs the password here: HELLO 3 AUTH default PASSWORD");
        }
        if command.has(Word::SetName) {
            let [name, _] = command.texts;
            self.set_name(name)?;
        }
        self.protocol = protocol;
        Ok(())
    }

    /// What `HELLO` replies.
    fn greet(&self, writer: &mut Writer<'_>) {
        writer.map(7);
        writer.text_entry("server", b"tidegate");
        writer.text_entry("version", env!("CARGO_PKG_VERSION").as_bytes());
        writer.integer_entry("proto", if self.protocol == Protocol::Resp3 { 3 } else { 2 });
        writer.integer_entry("id", self.id);
        writer.text_entry("mode", b"standalone");
        writer.text_entry("role", b"master");
        writer.text("modules");
        writer.array(0);
    }

    fn authenticate(&mut self, given: &[u8]) -> Result<(), &'static str> {
        let Some(password) = &self.password else { return Err("ERR Client sent AUTH, but no password is set") };
        if equal_in_constant_time(password, given) {
            self.authenticated = true;
            self.failures = 0;
            return Ok(());
        }
        self.flow = Flow::Delay(FIRST_DELAY_MS.wrapping_shl(self.failures.min(MOST_DOUBLINGS)));
        self.failures = self.failures.saturating_add(1);
        Err("WRONGPASS invalid username-password pair or user is disabled.")
    }

    fn set_name(&mut self, name: &[u8]) -> Result<(), &'static str> {
        if name.len() > 256 || !name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
            return Err("ERR Client names cannot contain spaces, newlines or special characters.");
        }
        self.name = name.into();
        Ok(())
    }

    fn error(&self, output: &mut Vec<u8>, text: &str) {
        Writer::new(output, self.protocol).error_text(text);
    }
}

impl Writer<'_> {
    /// An error as commands reply it.
    pub fn error(&mut self, error: &Error) {
        self.error_text(&error.reply());
    }
}

/// `OK`, or why not.
fn status(writer: &mut Writer<'_>, done: Result<(), &'static str>) {
    match done {
        Ok(()) => writer.ok(),
        Err(text) => writer.error_text(text),
    }
}

/// Whether two texts are equal, in a time that depends on the length of what was given alone.
pub(crate) fn equal_in_constant_time(secret: &[u8], given: &[u8]) -> bool {
    let mut difference = u8::from(secret.len() != given.len());
    for (at, byte) in given.iter().enumerate() {
        // Past the secret's end the byte is compared with itself turned over, which always differs.
        difference |= byte ^ secret.get(at).copied().unwrap_or(!byte);
    }
    core::hint::black_box(difference) == 0
}
