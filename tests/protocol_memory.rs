//! What a client sends decides what a session holds: never more than in proportion to what has arrived.
#![allow(missing_docs, unsafe_code, reason = "a test that counts every allocation")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tidegate::{Engine, Flow, Options, Session};

struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` held at once beyond what was held before it.
fn most(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    MOST.set(before);
    work();
    (MOST.get() - before).unsigned_abs()
}

#[test]
fn announcing_much_takes_no_memory() {
    let mut engine = Engine::new(&Options::default());
    for announced in [
        "*1024\r\n$1048576\r\n",
        "*1024\r\n",
        "*1048576\r\n",
        "*2\r\n$1048576\r\nx",
        "*1\r\n$1073741824\r\n",
        "*1\r\n$-1\r\n",
    ] {
        let mut session = Session::new(1);
        let mut output = Vec::new();
        let held = most(|| {
            for byte in announced.bytes() {
                session.feed(&mut engine, 0, &[byte], &mut output);
            }
        });
        assert!(held < 512, "{announced:?} takes {held} bytes");
    }
}

#[test]
fn a_command_takes_what_arrived_of_it_and_leaves_little() {
    let mut engine = Engine::new(&Options::default());
    let mut session = Session::new(1);
    let mut output = Vec::with_capacity(1 << 10);
    let kept = HELD.get();
    let piece = vec![b'v'; 1 << 14];
    let held = most(|| {
        session.feed(&mut engine, 0, b"*2\r\n$4\r\nECHO\r\n$1048576\r\n", &mut output);
        for _ in 0..63 {
            session.feed(&mut engine, 0, &piece, &mut output);
        }
    });
    assert!(held <= (63 << 14) * 3, "{held} bytes for {}: the buffer and the one it grew out of", 63 << 14);
    assert!(output.is_empty());
    session.feed(&mut engine, 0, &piece, &mut output);
    session.feed(&mut engine, 0, b"\r\n", &mut output);
    assert_eq!(output.len(), "$1048576\r\n\r\n".len() + (1 << 20));
    drop((output, piece));
    let left = HELD.get() - kept;
    assert!(left <= 1 << 16, "{left} bytes stay with the session");
}

#[test]
fn short_commands_between_multi_and_exec_take_what_they_are_long() {
    let mut engine = Engine::new(&Options::default());
    let mut session = Session::new(1);
    let mut output = Vec::new();
    session.feed(&mut engine, 0, b"MULTI\r\n", &mut output);
    let commands = b"GET k\r\n".repeat(9000);
    let mut replies = Vec::with_capacity(1 << 17);
    let held = most(|| {
        for _ in 0..100 {
            replies.clear();
            assert_eq!(session.feed(&mut engine, 0, &commands, &mut replies), Flow::Continue);
        }
    });
    assert!(held <= 3 * 100 * commands.len(), "{held} bytes for {} of commands", 100 * commands.len());
}

#[test]
fn any_bytes_take_memory_in_proportion_to_them() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let parts: [&[u8]; 14] = [
        b"*3\r\n",
        b"*1024\r\n",
        b"$4\r\n",
        b"$1048576\r\n",
        b"PING\r\n",
        b"MULTI\r\n",
        b"EXEC\r\n",
        b"SET k v\r\n",
        b"GET k\r\n",
        b"\r\n",
        b"ECHO ",
        b"KEYS *\r\n",
        b"SCAN 0 COUNT 99999999\r\n",
        b"\0\xff ",
    ];
    for _ in 0..300 {
        let mut engine = Engine::new(&Options::default());
        engine.keyspace().advance(1);
        let mut session = Session::new(1);
        let mut sent = 0;
        let mut output = Vec::with_capacity(1 << 16);
        let held = most(|| {
            for _ in 0..next() % 100 {
                let part = parts[usize::try_from(next() % 14).expect("small")];
                sent += part.len();
                output.clear();
                if session.feed(&mut engine, 2, part, &mut output) == Flow::Close {
                    break;
                }
            }
        });
        assert!(held <= 16 * sent + 16_384, "{held} bytes for {sent}");
    }
}
