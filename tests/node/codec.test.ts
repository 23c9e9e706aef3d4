import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine, HotKVError } from "tidegate";
import { decodeReplies } from "../../pkg/dist/resp/decode.js";
import { encodeCommands } from "../../pkg/dist/resp/encode.js";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe("commands are written as RESP arrays of bulk strings", () => {
  it("text in any script, numbers, bigints and bytes", () => {
    const bytes = encodeCommands([
      ["GET", "ключ 🌊"],
      ["SET", "k", 1.5, 10n, new Uint8Array([0, 255])],
    ]);
    assert.deepEqual(
      Buffer.from(bytes),
      Buffer.concat([
        Buffer.from(
          "*2\r\n$3\r\nGET\r\n$13\r\nключ 🌊\r\n*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n1.5\r\n$2\r\n10\r\n$2\r\n",
        ),
        Buffer.from([0, 255]),
        Buffer.from("\r\n"),
      ]),
    );
  });

  it("a number is never written with an exponent that it need not have", () => {
    assert.equal(text(encodeCommands([["N", 1e21]])), "*2\r\n$1\r\nN\r\n$22\r\n1000000000000000000000\r\n");
  });

  it("what has no one spelling is refused", () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, {}, [], Symbol("s"), "\ud800"]) {
      assert.throws(() => encodeCommands([["GET", wrong as never]]), {
        code: "INVALID_ARGUMENT",
        argument: "argument 1",
      });
    }
  });
});

describe("replies are read", () => {
  const wire = Buffer.from(
    "+OK\r\n:42\r\n:-1\r\n:9007199254740993\r\n$6\r\nнет\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n:1\r\n*1\r\n+x\r\n-WRONGTYPE no\r\n" +
      "_\r\n#t\r\n#f\r\n,1.5\r\n,-inf\r\n(12345678901234567890\r\n%1\r\n+a\r\n:1\r\n~1\r\n:7\r\n=7\r\ntxt:abc\r\n!5\r\nERR x\r\n$5\r\n\ufeffab\r\n",
  );
  const expected = [
    "OK",
    42,
    -1,
    9007199254740993n,
    "нет",
    "",
    null,
    null,
    [],
    [1, ["x"]],
    new HotKVError("WRONGTYPE", "WRONGTYPE no"),
    null,
    true,
    false,
    1.5,
    Number.NEGATIVE_INFINITY,
    12345678901234567890n,
    new Map([["a", 1]]),
    [7],
    "abc",
    new HotKVError("ERR", "ERR x"),
    "\ufeffab",
  ];

  it("whole", () => assert.deepEqual(decodeReplies(wire), expected));

  it("cut off anywhere is an error or fewer replies, never a wrong one", () => {
    for (let cut = 0; cut < wire.length; cut++) {
      let replies: readonly unknown[];
      try {
        replies = decodeReplies(wire.subarray(0, cut));
      } catch (error) {
        assert.equal((error as HotKVError).code, "STORE_UNAVAILABLE", `cut at ${cut}`);
        continue;
      }
      assert.ok(replies.length < expected.length, `cut at ${cut}`);
      assert.deepEqual(replies, expected.slice(0, replies.length), `cut at ${cut}`);
    }
  });

  it("what is not RESP is an error, never a wrong value", () => {
    for (const wrong of ["hello\r\n", ":x\r\n", "$-5\r\n", "*1e9x\r\n", "$abc\r\n", `${"*1\r\n".repeat(100)}:1\r\n`]) {
      assert.throws(() => decodeReplies(Buffer.from(wrong)), { code: "STORE_UNAVAILABLE" }, JSON.stringify(wrong));
    }
    assert.throws(() => decodeReplies(Buffer.from("$5\r\nab")), { code: "STORE_UNAVAILABLE" });
  });
});

describe("pipelines", () => {
  it("a command's error is in its place, and the others go on", () => {
    using engine = new Engine();
    const [first, second, third] = engine.pipeline([
      ["SET", "a", "text"],
      ["GCRA.LIMIT", "a", 1000, 10],
      ["GET", "a"],
    ]);
    assert.equal(first, "OK");
    assert.ok(second instanceof HotKVError && second.code === "WRONGTYPE");
    assert.equal(third, "text");
  });

  it("execute takes commands cut anywhere and answers what is complete", () => {
    const wire = encodeCommands([
      ["SET", "a", "text"],
      ["GET", "a"],
      ["DEL", "a", "b"],
    ]);
    for (let cut = 0; cut <= wire.length; cut++) {
      using engine = new Engine();
      const replies = text(engine.execute(wire.subarray(0, cut))) + text(engine.execute(wire.subarray(cut)));
      assert.equal(replies, "+OK\r\n$4\r\ntext\r\n:1\r\n", `cut at ${cut}`);
    }
  });

  it("command leaves a stream begun with execute alone", () => {
    using engine = new Engine();
    engine.execute(Buffer.from("*2\r\n$3\r\nGET"));
    assert.equal(engine.command("SET", "a", "1"), "OK");
    assert.equal(text(engine.execute(Buffer.from("\r\n$1\r\na\r\n"))), "$1\r\n1\r\n");
  });
});
