import { isPositive } from "../arguments.ts";
import { clientClosed, HotKVError } from "../errors.ts";
import type { Command, Reply } from "../reply.ts";
import { decodeReplies, decodeText } from "../resp/decode.ts";
import { encodeWire } from "../resp/encode.ts";
import { unended } from "../transaction.ts";
import type { Transport } from "../transport.ts";
import { DenialCache } from "./denials.ts";
import { createLimiter, dropLimiter } from "./directory.ts";
import type { Unavailable, Wire } from "./object.ts";
import { directoryObject, keyObject, type Placement, shortened } from "./placement.ts";
import { nameOf, routeOf } from "./route.ts";

/** A Durable Object namespace, as `env` holds it. */
export interface ObjectNamespace {
  /** The id of the object called `name`. */
  idFromName(name: string): ObjectId;
  /** The object of that id, made on first use. */
  get(id: ObjectId, options?: { locationHint?: string }): object;
  /** The object called `name`, made on first use. */
  getByName?(name: string, options?: { locationHint?: string }): object;
  /** The objects that stay in a jurisdiction. */
  jurisdiction?(jurisdiction: string): ObjectNamespace;
}

/** An object's id. */
export interface ObjectId {
  /** The id as text. */
  toString(): string;
}

/** How objects are found and asked. */
export interface ObjectsOptions {
  /** The Durable Object binding, such as `env.TIDEGATE`. */
  readonly binding: ObjectNamespace;
  /** Keeps the budgets of several applications or stages apart; `"default"` when left out. */
  readonly namespace?: string;
  /** `"tag"` (the default): one object for each hash tag. `"slot"`: one for each of 16,384 slots, for many cold keys. */
  readonly placement?: Placement;
  /** Where new objects should be, such as `"weur"`; near their first caller without it. */
  readonly locationHint?: string;
  /** The jurisdiction that objects must stay in, such as `"eu"`. */
  readonly jurisdiction?: string;
  /** Milliseconds to wait for an object; as long as the platform does when left out. */
  readonly timeoutMs?: number;
  /**
   * How long, at most, a refusal by `GCRA.LIMIT` is answered from this isolate without asking again; 1,000 by default, 0 asks every
   * time. A reset by this isolate counts at once, one from elsewhere after this time.
   */
  readonly denyCacheMs?: number;
}

interface Stub {
  execute(commands: Wire): Promise<Wire | Unavailable>;
  gcraLimit(ask: string): Promise<string | Unavailable>;
  rateLimitCheck(name: string, ask: string): Promise<string | Unavailable>;
}

/** Commands for one object, gathered until the present turn ends. */
interface Call {
  readonly object: string;
  readonly commands: Command[];
  reads: boolean;
  /** What those who joined the first wait for; most often nobody does. */
  joined: PromiseWithResolvers<readonly Reply[]> | undefined;
}

/** What requests share of a namespace: plain data only. */
interface Shared {
  /** The namespace as objects' names have it. */
  readonly namespace: string;
  readonly denials: DenialCache;
}

/** A binding is the same object for every request of an isolate. */
const sharedOf = new WeakMap<object, Map<string, Shared>>();

function shared(binding: object, namespace: string, placement: Placement, jurisdiction = ""): Shared {
  let scopes = sharedOf.get(binding);
  if (scopes === undefined) {
    scopes = new Map();
    sharedOf.set(binding, scopes);
  }
  const scope = `${jurisdiction} ${placement} ${namespace}`;
  let known = scopes.get(scope);
  if (known === undefined) {
    known = { namespace: encodeURIComponent(namespace), denials: new DenialCache() };
    scopes.set(scope, known);
  }
  return known;
}

/** Durable Objects: each command goes to the object that holds its key. What goes to one object in one turn is one call. */
export class ObjectsTransport implements Transport {
  readonly #objects: ObjectNamespace;
  /** As objects' names have it. */
  readonly #namespace: string;
  readonly #placement: Placement;
  readonly #options: ObjectsOptions;
  readonly #timeoutMs: number | undefined;
  readonly #denyCacheMs: number;
  readonly #denials: DenialCache;
  /** The calls of this turn: one, most often. */
  #calls: readonly Call[] = [];
  #closed = false;

  constructor(options: ObjectsOptions) {
    const { binding, namespace = "default", placement = "tag", jurisdiction } = options;
    this.#objects = jurisdiction === undefined ? binding : (binding.jurisdiction?.(jurisdiction) ?? binding);
    const { namespace: named, denials } = shared(binding, namespace, placement, jurisdiction);
    this.#namespace = named;
    this.#placement = placement;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs;
    this.#denyCacheMs = options.denyCacheMs ?? 1000;
    this.#denials = denials;
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#closed) throw clientClosed();
    const replies: (Reply | Promise<Reply>)[] = [];
    for (let index = 0; index < commands.length; index++) {
      const command = commands[index] as Command;
      switch (nameOf(command)) {
        case "MULTI": {
          const transaction = commands.slice(index, endOfTransaction(commands, index));
          replies.push(...this.#transaction(transaction));
          index += transaction.length - 1;
          break;
        }
        case "RATELIMIT.CREATE":
        case "RATELIMIT.DROP":
        case "RATELIMIT.LIST":
          // These see what the commands before them did, and those after see what these did.
          await Promise.allSettled(replies);
          replies.push(await settled(this.#one(command)));
          break;
        default:
          replies.push(this.#one(command));
      }
    }
    return Promise.all(replies.map((reply) => settled(reply)));
  }

  /** One command, in as few turns and calls as there can be: most requests ask one thing. */
  ask(command: Command): Reply | Promise<Reply> {
    if (this.#closed || nameOf(command) === "MULTI") return this.send([command]).then(([reply = null]) => reply);
    return this.#one(command);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #one(command: Command): Reply | Promise<Reply> {
    if (nameOf(command) === "QUIT") return "OK";
    const asked = Date.now();
    if (this.#denyCacheMs > 0) {
      const denial = this.#denials.answer(command, asked);
      if (denial !== undefined) return denial;
    }
    const route = routeOf(command, this.#namespace, this.#placement);
    switch (route.to) {
      case "nobody":
        return route.error;
      case "keys":
        return this.#eachKey(command, route.reads);
      case "both": {
        const steps = {
          object: (commands: readonly Command[]) => this.#ask(route.object, commands, false),
          directory: (commands: readonly Command[]) => this.#ask(directoryObject(this.#namespace), commands, false),
        };
        return route.step === "create" ? createLimiter(command, steps) : dropLimiter(command, steps);
      }
      case "object":
        return this.#gather(route.object, command, route.reads);
    }
  }

  /** Sends each object its keys, and adds up what they reply. */
  async #eachKey(command: Command, reads: boolean): Promise<Reply> {
    const [name, ...keys] = command;
    const byObject = new Map<string, Command[1][]>();
    for (const key of keys) {
      const object = keyObject(this.#namespace, key, this.#placement);
      const others = byObject.get(object);
      if (others === undefined) byObject.set(object, [key]);
      else others.push(key);
    }
    const parts = [...byObject].map(([object, keys]) => this.#ask(object, [[name, ...keys]], reads));
    let sum = 0;
    for (const [reply = null] of await Promise.all(parts)) {
      if (reply instanceof Error) return reply;
      sum += Number(reply);
    }
    return sum;
  }

  /** `MULTI` to `EXEC`: all of it goes to one object, or nothing does. */
  #transaction(commands: readonly Command[]): (Reply | Promise<Reply>)[] {
    const end = nameOf(commands.at(-1) ?? ["EXEC"]);
    if (end !== "EXEC" && end !== "DISCARD") {
      const error = unended();
      return commands.map(() => error);
    }
    const inner = commands.slice(1, -1);
    const objects = new Set<string>();
    for (const command of inner) {
      const route = routeOf(command, this.#namespace, this.#placement);
      if (route.to === "object") {
        objects.add(route.object);
      } else if (route.to === "keys") {
        for (const key of command.slice(1)) objects.add(keyObject(this.#namespace, key, this.#placement));
      } else {
        const why = `ERR ${nameOf(command)} is not offered in a transaction over Durable Objects`;
        return refused(commands, HotKVError.fromReply(why));
      }
    }
    if (objects.size > 1) {
      const why = "CROSSSLOT Keys in request don't hash to the same slot: give them one hash tag, such as {user:42}";
      return refused(commands, HotKVError.fromReply(why));
    }
    const [object = directoryObject(this.#namespace)] = objects;
    for (const command of inner) this.#denials.answer(command, Date.now());
    return commands.map((command) => this.#gather(object, command, false));
  }

  /** Commands that go to `object` one after the other. */
  #ask(object: string, commands: readonly Command[], reads: boolean): Promise<readonly Reply[]> {
    return Promise.all(commands.map((command) => this.#gather(object, command, reads)));
  }

  /** The reply to a command, which goes to `object` when this turn ends, with all others of the turn. */
  #gather(object: string, command: Command, reads: boolean): Promise<Reply> {
    const call = this.#calls.find((call) => call.object === object);
    if (call === undefined) return this.#callSoon({ object, commands: [command], reads, joined: undefined });
    call.reads &&= reads;
    call.joined ??= Promise.withResolvers();
    const index = call.commands.push(command) - 1;
    return call.joined.promise.then((replies) => replies[index] ?? null);
  }

  /** Sends a call when this turn ends; the reply to its first command. */
  async #callSoon(call: Call): Promise<Reply> {
    this.#calls = [...this.#calls, call];
    const asked = Date.now();
    const { epoch } = this.#denials;
    try {
      const name = await shortened(call.object);
      this.#calls = this.#calls.filter((other) => other !== call);
      const { commands } = call;
      const alone = commands.length === 1 ? decisionOf(commands[0] as Command) : undefined;
      const ask: (stub: Stub) => Promise<Wire | Unavailable> = alone ?? executing(encodeWire(commands));
      let answer: Wire | Unavailable;
      try {
        answer = await this.#call(name, ask);
      } catch (error) {
        // Only what changes nothing can be asked twice: the platform never says that a call did not run.
        if (!call.reads || !isRetryable(error)) throw error;
        answer = await this.#call(name, ask);
      }
      const replies = alone !== undefined && typeof answer === "string" ? [readDecision(answer)] : repliesOf(answer);
      if (replies.length !== commands.length) {
        throw new HotKVError("STORE_UNAVAILABLE", `${replies.length} replies came to ${commands.length} commands`);
      }
      if (this.#denyCacheMs > 0) {
        for (const [index, command] of commands.entries()) {
          this.#denials.note(command, replies[index] ?? null, asked, epoch, this.#denyCacheMs);
        }
      }
      call.joined?.resolve(replies);
      return replies[0] ?? null;
    } catch (cause) {
      const error = unavailable(cause);
      call.joined?.reject(error);
      throw error;
    }
  }

  #call(name: string, ask: (stub: Stub) => Promise<Wire | Unavailable>): Promise<Wire | Unavailable> {
    const answering = ask(this.#stub(name));
    return this.#timeoutMs === undefined ? answering : this.#within(answering, this.#timeoutMs);
  }

  #stub(name: string): Stub {
    const { locationHint } = this.#options;
    const options = locationHint === undefined ? undefined : { locationHint };
    const objects = this.#objects;
    if (objects.getByName !== undefined) return objects.getByName(name, options) as Stub;
    return objects.get(objects.idFromName(name), options) as Stub;
  }

  /** The answer, unless it takes too long. */
  async #within<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const give = () =>
        reject(
          new HotKVError("STORE_UNAVAILABLE", `the Durable Object did not answer within ${timeoutMs} ms`, {
            retryable: true,
          }),
        );
      timer = setTimeout(give, timeoutMs);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function executing(asked: Wire): (stub: Stub) => Promise<Wire | Unavailable> {
  return (stub) => stub.execute(asked);
}

/** How to ask a decision that goes without the protocol; `undefined` for any other command. */
function decisionOf(command: Command): ((stub: Stub) => Promise<string | Unavailable>) | undefined {
  if (command.length !== 5) return undefined;
  const [name, first, second, third, count] = command;
  if (typeof first !== "string" || !first.isWellFormed() || !isPositive(count)) return undefined;
  if (name === "GCRA.LIMIT" && isPositive(second) && isPositive(third)) {
    return (stub) => stub.gcraLimit(`${second} ${third} ${count} ${first}`);
  }
  if (name === "RATELIMIT.CHECK" && typeof second === "string" && second.isWellFormed() && third === "COST") {
    return (stub) => stub.rateLimitCheck(first, `${count} ${second}`);
  }
  return undefined;
}

/** The replies that an object gave in the protocol. */
function repliesOf(answer: Wire | Unavailable): readonly Reply[] {
  if (typeof answer === "string") return decodeText(answer);
  if (answer instanceof Uint8Array) return decodeReplies(answer);
  throw new HotKVError("STORE_UNAVAILABLE", answer.unavailable, { retryable: true });
}

/** What a call that failed rejects with. */
function unavailable(cause: unknown): HotKVError {
  if (cause instanceof HotKVError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const details = { cause, retryable: isRetryable(cause) };
  return new HotKVError("STORE_UNAVAILABLE", `the Durable Object did not answer: ${why}`, details);
}

/** The reply that an object gave as text: what JSON is, an array; digits with commas in between; or an error. */
function readDecision(text: string): Reply {
  if (text[0] === "[") return JSON.parse(text);
  if (text >= "A") return HotKVError.fromReply(text);
  return text.split(",").map((digits) => {
    const integer = Number(digits);
    return Number.isSafeInteger(integer) ? integer : BigInt(digits);
  });
}

/** An unavailable store in the place of the reply that is missing. */
async function settled(reply: Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof HotKVError) return error;
    throw error;
  }
}

/** Where the transaction that begins at `start` ends. */
function endOfTransaction(commands: readonly Command[], start: number): number {
  const ends = commands.findIndex((command, index) => index > start && /^(EXEC|DISCARD)$/.test(nameOf(command)));
  return ends < 0 ? commands.length : ends + 1;
}

/** The replies to a transaction of which nothing runs. */
function refused(commands: readonly Command[], error: HotKVError): Reply[] {
  const aborted = HotKVError.fromReply("EXECABORT Transaction discarded because of previous errors.");
  return commands.map((command, index) => {
    if (index === 0) return "OK";
    if (index < commands.length - 1) return error;
    return nameOf(command) === "DISCARD" ? "OK" : aborted;
  });
}

/** Whether the platform says that trying again may help. An overloaded object only gets worse by it. */
function isRetryable(error: unknown): boolean {
  if (error === null || typeof error !== "object") return false;
  const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
  return retryable === true && overloaded !== true;
}
