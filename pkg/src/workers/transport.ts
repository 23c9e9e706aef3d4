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
  readonly commands: Command[];
  reads: boolean;
  readonly replies: Promise<readonly Reply[]>;
}

/** Refusals by binding and namespace. A binding is the same object for every request of an isolate. */
const denialsOf = new WeakMap<object, Map<string, DenialCache>>();

/** The refusals that are known of a binding's objects in a scope. */
function denialsIn(binding: object, scope: string): DenialCache {
  let scopes = denialsOf.get(binding);
  if (scopes === undefined) {
    scopes = new Map();
    denialsOf.set(binding, scopes);
  }
  let denials = scopes.get(scope);
  if (denials === undefined) {
    denials = new DenialCache();
    scopes.set(scope, denials);
  }
  return denials;
}

/** Durable Objects: each command goes to the object that holds its key. What goes to one object in one turn is one call. */
export class ObjectsTransport implements Transport {
  readonly #objects: ObjectNamespace;
  readonly #namespace: string;
  readonly #placement: Placement;
  readonly #options: ObjectsOptions;
  readonly #timeoutMs: number | undefined;
  readonly #denyCacheMs: number;
  readonly #denials: DenialCache;
  readonly #calls = new Map<string, Call>();
  #closed = false;

  constructor(options: ObjectsOptions) {
    const { binding, namespace = "default", placement = "tag", jurisdiction } = options;
    this.#objects = jurisdiction === undefined ? binding : (binding.jurisdiction?.(jurisdiction) ?? binding);
    this.#namespace = namespace;
    this.#placement = placement;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs;
    this.#denyCacheMs = options.denyCacheMs ?? 1000;
    this.#denials = denialsIn(binding, `${jurisdiction ?? ""} ${placement} ${namespace}`);
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
  ask(command: Command): Promise<Reply> {
    if (this.#closed || nameOf(command) === "MULTI") return this.send([command]).then(([reply = null]) => reply);
    return this.#one(command);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #one(command: Command): Promise<Reply> {
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
      case "object": {
        const { epoch } = this.#denials;
        const call = this.#callTo(route.object, route.reads);
        const index = call.commands.push(command) - 1;
        const reply = (await call.replies)[index] ?? null;
        if (this.#denyCacheMs > 0) this.#denials.note(command, reply, asked, epoch, this.#denyCacheMs);
        return reply;
      }
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
    const replies = this.#ask(object, commands, false);
    return commands.map((_, index) => replies.then((replies) => replies[index] ?? null));
  }

  /** Adds commands to the call that goes to `object` when this turn ends. */
  async #ask(object: string, commands: readonly Command[], reads: boolean): Promise<readonly Reply[]> {
    const call = this.#callTo(object, reads);
    const from = call.commands.length;
    call.commands.push(...commands);
    return (await call.replies).slice(from, from + commands.length);
  }

  /** The call that goes to `object` when this turn ends. */
  #callTo(object: string, reads: boolean): Call {
    let call = this.#calls.get(object);
    if (call === undefined) {
      const commands: Command[] = [];
      call = { commands, reads, replies: this.#callSoon(object, commands) };
      this.#calls.set(object, call);
    }
    call.reads &&= reads;
    return call;
  }

  async #callSoon(object: string, commands: readonly Command[]): Promise<readonly Reply[]> {
    const name = await shortened(object);
    const reads = this.#calls.get(object)?.reads ?? false;
    this.#calls.delete(object);
    const alone = commands.length === 1 ? decisionOf(commands[0] as Command) : undefined;
    const ask: (stub: Stub) => Promise<Wire | Unavailable> = alone ?? executing(encodeWire(commands));
    let answer: Wire | Unavailable;
    try {
      try {
        answer = await this.#call(name, ask);
      } catch (error) {
        // Only what changes nothing can be asked twice: the platform never says that a call did not run.
        if (!reads || !isRetryable(error)) throw error;
        answer = await this.#call(name, ask);
      }
    } catch (cause) {
      if (cause instanceof HotKVError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      const details = { cause, retryable: isRetryable(cause) };
      throw new HotKVError("STORE_UNAVAILABLE", `the Durable Object did not answer: ${why}`, details);
    }
    if (typeof answer === "object" && "unavailable" in answer) {
      throw new HotKVError("STORE_UNAVAILABLE", answer.unavailable, { retryable: true });
    }
    if (alone !== undefined && typeof answer === "string") return [readDecision(answer)];
    const replies = typeof answer === "string" ? decodeText(answer) : decodeReplies(answer);
    if (replies.length === commands.length) return replies;
    throw new HotKVError("STORE_UNAVAILABLE", `${replies.length} replies came to ${commands.length} commands`);
  }

  #call(name: string, ask: (stub: Stub) => Promise<Wire | Unavailable>): Promise<Wire | Unavailable> {
    const answering = ask(this.#stub(name));
    return this.#timeoutMs === undefined ? answering : this.#within(answering, this.#timeoutMs);
  }

  #stub(name: string): Stub {
    const { locationHint } = this.#options;
    const options = locationHint ? { locationHint } : undefined;
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

/** The reply that an object gave as text: what JSON is, an array; digits with commas in between; or an error. */
function readDecision(text: string): Reply {
  if (text.startsWith("[")) return JSON.parse(text);
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
  const { retryable, overloaded } = Object(error) as { retryable?: unknown; overloaded?: unknown };
  return retryable === true && overloaded !== true;
}
