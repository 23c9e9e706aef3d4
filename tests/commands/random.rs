//! Random bytes and random commands: nothing panics, and replies stay in step with requests.

use proptest::prelude::*;
use tidegate::Flow;

use crate::client::{Client, NOW, request};

const NAMES: [&str; 50] = [
    "GCRA.LIMIT",
    "GCRA.RESET",
    "RATELIMIT.CREATE",
    "RATELIMIT.CHECK",
    "RATELIMIT.PEEK",
    "RATELIMIT.RESET",
    "RATELIMIT.STATS",
    "RATELIMIT.DROP",
    "RATELIMIT.LIST",
    "CL.THROTTLE",
    "VALVE.DEFINE",
    "VALVE.ADMIT",
    "VALVE.SHOW",
    "VALVE.FORGET",
    "VALVE.RENEW",
    "VALVE.RELEASE",
    "SET",
    "GET",
    "DEL",
    "UNLINK",
    "EXISTS",
    "TYPE",
    "TTL",
    "PTTL",
    "EXPIRE",
    "PEXPIRE",
    "PERSIST",
    "KEYS",
    "SCAN",
    "DBSIZE",
    "FLUSHALL",
    "FLUSHDB",
    "PING",
    "ECHO",
    "HELLO",
    "AUTH",
    "SELECT",
    "CLIENT",
    "COMMAND",
    "INFO",
    "TIME",
    "RESET",
    "MULTI",
    "EXEC",
    "DISCARD",
    "gcra.limit",
    "Get",
    "NOPE",
    "",
    "GCRA.LIMIT",
];
const WORDS: [&str; 46] = [
    "k",
    "l",
    "ns",
    "0",
    "1",
    "2",
    "10",
    "1000",
    "60000",
    "9007199254740991",
    "9007199254740992",
    "-1",
    "1.5",
    "ALGO",
    "token_bucket",
    "leaky_bucket",
    "sliding_window",
    "fixed_window",
    "gcra",
    "REFILL",
    "DRAIN",
    "COST",
    "EX",
    "PX",
    "NX",
    "XX",
    "KEEPTTL",
    "GET",
    "EXAT",
    "PXAT",
    "GT",
    "LT",
    "MATCH",
    "COUNT",
    "TYPE",
    "*",
    "[a",
    "SCOPE",
    "LEASE",
    "WAIT",
    "RESERVE",
    "TIMES",
    "SETNAME",
    "3",
    "{\"limit\":1,\"interval\":5}",
    "\r\n",
];

/// How many replies the bytes hold, when they hold whole replies and nothing else.
fn replies(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while !bytes.is_empty() {
        bytes = one_reply(bytes)?;
        count += 1;
    }
    Some(count)
}

/// What follows the first reply.
fn one_reply(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, mut rest) = (std::str::from_utf8(&bytes[1..end]).ok(), &bytes[end + 2..]);
    match bytes[0] {
        b'+' | b'-' => Some(rest),
        b':' => line?.parse::<i64>().ok().map(|_| rest),
        b'_' => line?.is_empty().then_some(rest),
        b'$' if line? == "-1" => Some(rest),
        b'$' => {
            let length: usize = line?.parse().ok()?;
            (rest.get(length..length + 2)? == b"\r\n").then(|| &rest[length + 2..])
        }
        kind @ (b'*' | b'%') => {
            let length: usize = line?.parse().ok()?;
            for _ in 0..if kind == b'%' { 2 * length } else { length } {
                rest = one_reply(rest)?;
            }
            Some(rest)
        }
        _ => None,
    }
}

fn command() -> impl Strategy<Value = Vec<String>> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8);
    (prop::sample::select(&NAMES[..]), words)
        .prop_map(|(name, words)| std::iter::once(name).chain(words).map(str::to_owned).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_command_gets_exactly_one_whole_reply(
        commands in prop::collection::vec((command(), -3000_i64..3000), 1..60),
    ) {
        let mut client = Client::new();
        for (words, step) in &commands {
            client.now = client.now.saturating_add_signed(*step);
            let mut bytes = Vec::new();
            let flow = client.session.feed(&mut client.engine, client.now, &request(words), &mut bytes);
            prop_assert!(matches!(flow, Flow::Continue), "{:?}", words);
            prop_assert_eq!(replies(&bytes), Some(1), "{:?}: {:?}", words, String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_pipeline_replies_as_its_commands_do_one_by_one(
        commands in prop::collection::vec(command(), 1..40),
        size in 1_usize..200,
    ) {
        let (mut alone, mut piped) = (Client::new(), Client::new());
        let one_by_one: String = commands.iter().map(|words| alone.send(&request(words)).0).collect();
        let bytes: Vec<u8> = commands.iter().flat_map(|words| request(words)).collect();
        let together: String = bytes.chunks(size).map(|piece| piped.send(piece).0).collect();
        prop_assert_eq!(one_by_one, together);
    }

    #[test]
    fn any_bytes_get_whole_replies_and_at_most_one_protocol_error(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                prop::sample::select(&["*1\r\n", "*2\r\n", "$4\r\n", "$0\r\n\r\n", "PING\r\n", "\r\n", "*-1\r\n", "$3\r\nGET\r\n", "QUIT\r\n"][..])
                    .prop_map(|text| text.as_bytes().to_vec()),
            ],
            0..30,
        ),
        times in prop::collection::vec(any::<u64>(), 30),
    ) {
        let mut client = Client::new();
        let mut received = Vec::new();
        for (piece, now) in pieces.iter().zip(times) {
            let flow = client.session.feed(&mut client.engine, now, piece, &mut received);
            prop_assert!(replies(&received).is_some(), "{:?}", String::from_utf8_lossy(&received));
            if flow == Flow::Close {
                break;
            }
        }
        let errors = received.windows(21).filter(|text| text == b"-ERR Protocol error: ").count();
        prop_assert!(errors <= 1);
        // Others go on.
        let mut other = Client { session: tidegate::Session::new(2), now: NOW, ..client };
        prop_assert_eq!(other.run("PING"), "+PONG|");
    }
}
