//! The commands of ordinary keys.

use crate::client::{Client, request};

#[test]
fn set_and_get_hold_any_bytes() {
    let mut client = Client::new();
    client.expect(&[
        ("GET k", "$-1|"),
        ("TYPE k", "+none|"),
        ("SET k value", "+OK|"),
        ("GET k", "$5|value|"),
        ("TYPE k", "+string|"),
        ("SET k other GET", "$5|value|"),
        ("SET new v GET", "$-1|"),
        ("GET new", "$1|v|"),
    ]);
    let key: Vec<u8> = (0..=255).collect();
    let value = vec![b'\n'; 1 << 20];
    assert_eq!(client.words(&[b"SET".as_slice(), &key, &value]), "+OK|");
    let mut replies = Vec::new();
    client.session.feed(&mut client.engine, client.now, &request(&[b"GET".as_slice(), &key]), &mut replies);
    assert_eq!(replies, [b"$1048576\r\n".as_slice(), &value, b"\r\n"].concat());
}

#[test]
fn set_stores_only_when_its_conditions_hold() {
    Client::new().expect(&[
        ("SET k 1 XX", "$-1|"),
        ("SET k 1 NX", "+OK|"),
        ("SET k 2 nx", "$-1|"),
        ("GET k", "$1|1|"),
        ("SET k 2 xx", "+OK|"),
        ("SET k 3 NX GET", "$1|2|"),
        ("GET k", "$1|2|"),
        ("SET k 3 XX GET", "$1|2|"),
        ("GET k", "$1|3|"),
        ("SET fresh 1 NX GET", "$-1|"),
        ("GET fresh", "$1|1|"),
        ("SET missing 1 XX GET", "$-1|"),
        ("EXISTS missing", ":0|"),
        ("HELLO 3", HELLO_3),
        ("SET k 4 NX", "_|"),
        ("GET missing", "_|"),
        ("HELLO 2", HELLO_2),
        ("GET missing", "$-1|"),
    ]);
}

const HELLO_2: &str = "*14|$6|server|$8|tidegate|$7|version|$5|0.1.0|$5|proto|:2|$2|id|:7|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|";
const HELLO_3: &str = "%7|$6|server|$8|tidegate|$7|version|$5|0.1.0|$5|proto|:3|$2|id|:7|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|";

#[test]
fn a_key_lives_as_long_as_it_is_told_to() {
    Client::new().expect(&[
        ("SET k v EX 2", "+OK|"),
        ("TTL k", ":2|"),
        ("PTTL k", ":2000|"),
        ("+1", ""),
        ("TTL k", ":2|"),
        ("SET k w KEEPTTL", "+OK|"),
        ("PTTL k", ":1999|"),
        ("+1998", ""),
        ("GET k", "$1|w|"),
        ("+1", ""),
        ("GET k", "$-1|"),
        ("TTL k", ":-2|"),
        ("SET k v PX 5", "+OK|"),
        ("SET k v", "+OK|"),
        ("TTL k", ":-1|"),
        ("PTTL k", ":-1|"),
        ("SET none v KEEPTTL", "+OK|"),
        ("TTL none", ":-1|"),
        // 5 seconds after the clock's 1764547202000.
        ("SET k v EXAT 1764547207", "+OK|"),
        ("PTTL k", ":5000|"),
        ("SET k v pxat 1764547202001", "+OK|"),
        ("PTTL k", ":1|"),
        ("SET k v PXAT 1764547202000", "+OK|"),
        ("EXISTS k", ":0|"),
        ("SET k v", "+OK|"),
        ("SET k w EXAT 1 GET", "$1|v|"),
        ("EXISTS k", ":0|"),
    ]);
}

#[test]
fn expire_and_persist_say_whether_they_changed_something() {
    Client::new().expect(&[
        ("EXPIRE k 5", ":0|"),
        ("PERSIST k", ":0|"),
        ("SET k v", "+OK|"),
        ("PERSIST k", ":0|"),
        ("EXPIRE k 5", ":1|"),
        ("PTTL k", ":5000|"),
        ("PEXPIRE k 7", ":1|"),
        ("PTTL k", ":7|"),
        ("PERSIST k", ":1|"),
        ("TTL k", ":-1|"),
        ("EXPIRE k 0", ":1|"),
        ("EXISTS k", ":0|"),
        ("SET k v", "+OK|"),
        ("PEXPIRE k -9007199254740991", ":1|"),
        ("EXISTS k", ":0|"),
        ("SET k v", "+OK|"),
        ("PEXPIRE k 9007199254740991", ":1|"),
        ("PTTL k", ":9007199254740991|"),
    ]);
}

#[test]
fn expire_looks_at_the_expiry_that_is_there() {
    Client::new().expect(&[
        ("SET k v", "+OK|"),
        ("EXPIRE k 10 XX", ":0|"),
        ("EXPIRE k 10 GT", ":0|"),
        ("TTL k", ":-1|"),
        ("EXPIRE k 10 NX", ":1|"),
        ("EXPIRE k 20 NX", ":0|"),
        ("EXPIRE k 20 LT", ":0|"),
        ("EXPIRE k 10 GT", ":0|"),
        ("EXPIRE k 10 LT", ":0|"),
        ("TTL k", ":10|"),
        ("EXPIRE k 20 gt", ":1|"),
        ("TTL k", ":20|"),
        ("PEXPIRE k 5 XX LT", ":1|"),
        ("PTTL k", ":5|"),
        ("PERSIST k", ":1|"),
        ("EXPIRE k 10 LT", ":1|"),
        ("TTL k", ":10|"),
    ]);
}

#[test]
fn deleting_and_counting_take_several_keys() {
    Client::new().expect(&[
        ("SET a 1", "+OK|"),
        ("SET b 1", "+OK|"),
        ("SET c 1", "+OK|"),
        ("EXISTS a b a none", ":3|"),
        ("DEL a none a", ":1|"),
        ("UNLINK b c", ":2|"),
        ("EXISTS a b c", ":0|"),
        ("DBSIZE", ":0|"),
    ]);
}

#[test]
fn expired_keys_are_neither_counted_nor_listed() {
    Client::new().expect(&[
        ("SET a 1 PX 10", "+OK|"),
        ("SET b 1", "+OK|"),
        ("DBSIZE", ":2|"),
        ("+10", ""),
        ("DBSIZE", ":1|"),
        ("KEYS *", "*1|$1|b|"),
        ("SCAN 0", "*2|$1|0|*1|$1|b|"),
        ("SET a 1 NX", "+OK|"),
    ]);
}

#[test]
fn keys_of_limiters_and_policies_are_no_ordinary_keys() {
    Client::new().expect(&[
        ("RATELIMIT.CREATE l 5 1000", "+OK|"),
        ("RATELIMIT.CHECK l u", "*5|:1|:4|:0|:5|:0|"),
        ("KEYS *", "*0|"),
        ("SCAN 0", "*2|$1|0|*0|"),
        ("DBSIZE", ":0|"),
        ("EXISTS u l", ":0|"),
        ("DEL u l", ":0|"),
        ("RATELIMIT.PEEK l u", "*5|:1|:4|:0|:5|:1|"),
    ]);
}
