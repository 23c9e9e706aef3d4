//! One client of a fresh engine, which writes commands as words and reads replies as text.

use tidegate::{Engine, Flow, Options, Session};

/// 2025-12-01T00:00:00Z.
pub const NOW: u64 = 1_764_547_200_000;

pub struct Client {
    pub engine: Engine,
    pub session: Session,
    pub now: u64,
}

impl Client {
    pub fn new() -> Self {
        Self::of(Session::new(7))
    }

    pub fn of(session: Session) -> Self {
        Self { engine: Engine::new(&Options::default()), session, now: NOW }
    }

    /// Sends bytes; everything that comes back, and what the session asks for last.
    pub fn send(&mut self, bytes: &[u8]) -> (String, Flow) {
        let mut replies = Vec::new();
        let mut flow = self.session.feed(&mut self.engine, self.now, bytes, &mut replies);
        while flow == Flow::More {
            let mut more = Vec::new();
            flow = self.session.feed(&mut self.engine, self.now, b"", &mut more);
            replies.extend(more);
        }
        (String::from_utf8_lossy(&replies).into_owned(), flow)
    }

    /// One command, words with single spaces between them; its reply with `|` for each end of a line.
    pub fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        self.words(&words)
    }

    /// One command of any words.
    pub fn words<W: AsRef<[u8]>>(&mut self, words: &[W]) -> String {
        let (reply, flow) = self.send(&request(words));
        assert_eq!(flow, Flow::Continue, "{reply}");
        reply.replace("\r\n", "|")
    }

    /// Runs each line and compares its reply. A line of digits with a `+` before them lets so many milliseconds pass.
    #[track_caller]
    pub fn expect(&mut self, lines: &[(&str, &str)]) {
        for (line, reply) in lines {
            if let Some(ms) = line.strip_prefix('+') {
                self.now += ms.parse::<u64>().expect("milliseconds");
                continue;
            }
            assert_eq!(self.run(line), *reply, "{line}");
        }
    }
}

/// The bytes of a command.
pub fn request<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend(format!("${}\r\n", word.len()).bytes());
        bytes.extend(word);
        bytes.extend(b"\r\n");
    }
    bytes
}
