import { assertFields, assertInteger, assertName, assertOneOf, MAX_INTEGER } from "../arguments.ts";
import type { Reply } from "../reply.ts";
import { invalidOption, ValveError } from "./errors.ts";
import { Leases } from "./leases.ts";
import { Namespace, type Refusal } from "./namespace.ts";
import { type Asked, type Policy, type Rate, type RateRule, readJob, readPolicy } from "./policy.ts";
import { Alarm, NEVER, systemTimers, type Timers } from "./timers.ts";
import type {
  AdmitOptions,
  AdmitResult,
  FetchInit,
  JobContext,
  OptionsArgument,
  ReserveOptions,
  ReserveResult,
  RunOptions,
  Scoped,
  Store,
  ValveEvents,
  ValveOptions,
  ValveStats,
} from "./types.ts";
import { comesFirst, Heap, Line, type Place } from "./waiting.ts";

/** The most jobs that are asked for in one call of the store; and where no other line waits meanwhile. */
const MOST_AT_ONCE = 64;
const MOST_ALONE = 256;
/** While every lease is held, it is looked again this many times in a lease, since another worker may give one back. */
const LOOKS_A_LEASE = 30;
const OPTIONS = ["store", "namespace", "rate", "concurrency", "queue", "spreadMs", "seed", "timers"];

/** A job that waits: all that is kept of it is here, since thousands may wait for long. */
interface Waiting extends Place, Asked {
  readonly line: Line;
  readonly since: number;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly work: (context: JobContext) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  heapIndex: number;
  last: Refusal | undefined;
  /** Where there is a signal, what listens to it. */
  abort: (() => void) | undefined;
}

/**
 * Paces jobs against a policy that every worker of a namespace shares.
 *
 * ```ts
 * import { Valve } from "tidegate";
 *
 * const valve = new Valve({ namespace: "provider", rate: { limit: 10, interval: "1s" } });
 * const response = await valve.run(({ signal }) => fetch("data:,hello", { signal }));
 * console.log(await response.text()); // hello
 * ```
 *
 * Jobs start in the order they came, higher priorities first. A job that was refused at its turn keeps the turn: nobody
 * overtakes it where it is held up, so the costliest job waits no longer than the policy takes to recover. Jobs that only a
 * scoped rule holds up never wait in the way of other identities.
 */
export class ValveBase<const R extends Rate> {
  readonly #namespace: Namespace;
  readonly #policy: Policy;
  readonly #maxWaiting: number;
  readonly #spreadMs: number;
  readonly #timers: Timers;
  readonly #alarm: Alarm;
  readonly #leases: Leases | undefined;
  readonly #lines = new Map<string, Line>();
  readonly #ready = new Heap<Line>(comesFirst);
  readonly #blocked = new Heap<Line>((a, b) => a.blockedUntil < b.blockedUntil);
  readonly #deadlines = new Heap<Waiting>((a, b) => a.deadline < b.deadline);
  /** Until when nobody of a line is asked for, because whoever the jobs call said so. */
  readonly #pauses = new Map<string, number>();
  readonly #listeners: Readonly<Record<keyof ValveEvents, Set<(event: never) => void>>> = {
    admitted: new Set(),
    refused: new Set(),
    waiting: new Set(),
    pushedBack: new Set(),
    leaseLost: new Set(),
  };
  #random: number;
  #order = 0;
  #waiting = 0;
  #running = 0;
  #admitted = 0;
  #refused = 0;
  /** The line whose head a rule of all lines refused, and until when nobody is asked for. */
  #turn: Line | undefined;
  #heldUntil = 0;
  /** How many jobs with leases are asked for at once: those after a refused one were asked for in vain. */
  #atOnce = 1;
  #pumping = false;
  /** Whether something changed since the pump looked. */
  #again = false;
  #renewing = false;
  #closing = false;
  #idle: (() => void)[] = [];

  constructor(options: ValveOptions<R>, defaultStore: () => Store) {
    assertFields(options, OPTIONS, "", invalidOption);
    const {
      store = defaultStore(),
      namespace,
      rate,
      concurrency,
      queue = {},
      spreadMs = 10,
      seed = Math.random() * 2 ** 32,
      timers = systemTimers,
    } = options;
    assertName("namespace", namespace, invalidOption);
    this.#policy = readPolicy(rate, concurrency);
    assertFields(queue, ["maxWaiting"], "queue", invalidOption);
    const { maxWaiting = MAX_INTEGER } = queue;
    assertInteger("queue.maxWaiting", maxWaiting, invalidOption);
    assertNumber("spreadMs", spreadMs, 60_000);
    assertNumber("seed", seed);
    assertMethods("timers", timers, ["now", "set", "clear"], "an object with now, set, clear");
    assertMethods("store", store, ["pipeline"], "a HotKV client");
    this.#namespace = new Namespace(store, namespace, this.#policy);
    this.#maxWaiting = maxWaiting;
    this.#spreadMs = spreadMs;
    this.#timers = timers;
    this.#random = seed >>> 0;
    this.#alarm = new Alarm(timers, () => this.#wake());
    const { concurrency: limited } = this.#policy;
    if (limited) {
      this.#leases = new Leases(limited.lease, (ids) => this.#namespace.command("VALVE.RENEW", ...ids));
    }
  }

  /** Asks for one job without waiting. What it is allowed is spent; a lease, where there is one, runs out by itself. */
  async admit(...[options]: OptionsArgument<R, AdmitOptions<R>>): Promise<AdmitResult> {
    return this.#askAtOnce(options);
  }

  /** Asks for one job that does not wait in line; for a start that lies ahead, where it may be reserved. */
  async #askAtOnce<A>(options: AdmitOptions<RateRule> | undefined, maxStartInMs?: number): Promise<A> {
    if (this.#closing) throw closed();
    const asked = readJob(this.#policy, options);
    const paused = this.#pausedFor(JSON.stringify(asked.scope));
    if (paused > 0) return { allowed: false, retryAfterMs: Math.ceil(paused), blockedBy: [] } as A;
    const reserve = maxStartInMs ? ["RESERVE", maxStartInMs] : [];
    const [reply] = await this.#namespace.admit(asked, [this.#leases && crypto.randomUUID()], ...reserve);
    const refusal = this.#namespace.refusalIn(reply);
    if (refusal) {
      this.#refused++;
      return { allowed: false, ...refusal } as A;
    }
    this.#admitted++;
    const starts = maxStartInMs && { startsInMs: (reply as readonly number[])[1] };
    return { allowed: true, ...starts, retryAfterMs: 0, blockedBy: [] } as A;
  }

  /**
   * Takes the budget of one job now, for a start that is at most `maxStartInMs` ahead, and tells when that is; or refuses, and
   * takes nothing. The caller starts the job then: it may sleep, schedule it elsewhere, or tell a user when to come back. What
   * is reserved can't be given back.
   *
   * Whatever asks later on the same rules starts no earlier. A job that waits for a scoped rule holds up every identity on the
   * rules without a scope, so let it be no further ahead than others can wait. While the valve is paused nothing is reserved. Not
   * for a policy with `concurrency`.
   *
   * ```ts
   * import { Valve } from "tidegate";
   *
   * const valve = new Valve({ namespace: "mail", rate: { limit: 1, interval: "1h" } });
   * console.log(await valve.reserve({ maxStartInMs: 5000 })); // { allowed: true, startsInMs: 0, retryAfterMs: 0, blockedBy: [] }
   * console.log((await valve.reserve({ maxStartInMs: 5000 })).allowed); // false
   * ```
   */
  async reserve(options: ReserveOptions<R>): Promise<ReserveResult> {
    const { maxStartInMs, ...rest } = Object(options) as ReserveOptions<R>;
    assertInteger("maxStartInMs", maxStartInMs, invalidOption);
    return this.#askAtOnce(rest as AdmitOptions<RateRule>, maxStartInMs);
  }

  /** Waits for the job's turn, runs it, and returns or throws what it does. */
  run<T>(
    job: (context: JobContext) => T | PromiseLike<T>,
    ...[options]: OptionsArgument<R, RunOptions<R>>
  ): Promise<T> {
    return this.#run(job, options);
  }

  /**
   * `fetch` in its turn, each attempt a job. What is answered 429 or 503 is sent again when the server said, at most `retries`
   * times, and jobs of the same identities wait until then too; so they do when `RateLimit` says that nothing is left. The
   * response that is not sent again is the caller's, whatever its status; an abort rejects with the signal's reason.
   *
   * ```ts
   * import { Valve } from "tidegate";
   *
   * const valve = new Valve({ namespace: "provider", rate: { limit: 10, interval: "1s", burst: 2 } });
   * const response = await valve.fetch("data:,hello", { cost: 2, signal: AbortSignal.timeout(5000) });
   * console.log(await response.text()); // hello
   * ```
   */
  async fetch(input: RequestInfo | URL, ...[init]: OptionsArgument<R, FetchInit<R>>): Promise<Response> {
    const retries = init?.retries ?? 3;
    assertInteger("retries", retries, invalidOption, 0);
    const order = this.#order++;
    // It brings a parser of its own, so it is loaded by those who call it.
    const { pacedFetch } = await import("./fetch.ts");
    return pacedFetch(
      {
        run: (job, options) => this.#run(job, options as RunOptions<R>, order),
        pause: (ms, options) => this.pause(ms, ...([options] as OptionsArgument<R, Scoped<R>>)),
        tell: (event) => this.#emit("pushedBack", event),
      },
      input,
      { ...(init as FetchInit<R>), retries },
    );
  }

  /**
   * Starts no job of these identities for `ms` milliseconds, because whoever the jobs call asked for it; `parseRateLimit` reads
   * what a response asks for. A longer pause that is in force stays. Only this valve pauses, not its namespace.
   */
  pause(ms: number, ...[options]: OptionsArgument<R, Scoped<R>>): void {
    assertNumber("ms", ms);
    const key = JSON.stringify(readJob(this.#policy, options).scope);
    const now = this.#timers.now();
    for (const [key, until] of this.#pauses) if (until <= now) this.#pauses.delete(key);
    this.#pauses.set(key, Math.max(this.#pauses.get(key) ?? 0, now + ms));
  }

  /** One promise is all that a job costs beside its place in line. What is thrown in here rejects it. */
  #run<T>(
    work: (context: JobContext) => T | PromiseLike<T>,
    options: RunOptions<R> | undefined,
    place?: number,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (typeof work !== "function") throw invalidOption("job", work, "a function");
      if (this.#closing) throw closed();
      const { signal, maxWaitMs, priority = 0 }: RunOptions<RateRule> = options ?? {};
      const { cost, scope } = readJob(this.#policy, options);
      if (maxWaitMs !== undefined) assertNumber("maxWaitMs", maxWaitMs);
      if (!Number.isSafeInteger(priority)) throw invalidOption("priority", priority, "an integer");
      if (signal) {
        assertMethods("signal", signal, ["addEventListener"], "an AbortSignal");
        if (signal.aborted) throw aborted(signal);
      }
      if (this.#waiting >= this.#maxWaiting) {
        throw new ValveError("QUEUE_FULL", `${this.#waiting} jobs wait already, as many as queue.maxWaiting allows`);
      }
      const since = this.#timers.now();
      this.#wait({
        before: undefined,
        after: undefined,
        row: undefined,
        last: undefined,
        abort: undefined,
        heapIndex: -1,
        priority,
        order: place ?? this.#order++,
        line: this.#lineOf(scope),
        cost,
        scope,
        since,
        deadline: since + (maxWaitMs ?? NEVER),
        signal,
        work,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
    });
  }

  /** A function that runs `job` in its turn, with the arguments it is called with. */
  wrap<A extends readonly unknown[], T>(
    job: (...args: A) => T | PromiseLike<T>,
    ...options: OptionsArgument<R, RunOptions<R>>
  ): (...args: A) => Promise<T> {
    return (...args) => this.run(() => job(...args), ...options);
  }

  /**
   * Calls `listener` with each event of that name; what is returned stops it. An error that it throws changes nothing here: the
   * runtime is told of it, as of any that nobody caught.
   */
  on<E extends keyof ValveEvents>(name: E, listener: (event: ValveEvents[E]) => void): () => void {
    if (typeof listener !== "function") throw invalidOption("listener", listener, "a function");
    assertOneOf("name", name, Object.keys(this.#listeners), invalidOption);
    const listeners = this.#listeners[name].add(listener as (event: never) => void);
    return () => listeners.delete(listener as (event: never) => void);
  }

  /** How things stand. */
  stats(): ValveStats {
    return { waiting: this.#waiting, running: this.#running, admitted: this.#admitted, refused: this.#refused };
  }

  /** Refuses new jobs and rejects those that wait, with `CLOSED`. Jobs that run go on. */
  close(): void {
    this.#closing = true;
    for (const line of this.#lines.values()) {
      while (line.head) this.#reject(line.head as Waiting, closed());
    }
  }

  /** Refuses new jobs, and resolves when those that wait and run are done. */
  async drain(): Promise<void> {
    this.#closing = true;
    if (this.#waiting + this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * Forgets the fingerprint of the namespace, so that another policy can start. What was spent stays spent: drain every worker
   * and let the budgets recover first.
   */
  async resetFingerprint(): Promise<void> {
    await this.#namespace.forget();
  }

  #lineOf(scope: readonly string[]): Line {
    const key = scope.length > 0 ? JSON.stringify(scope) : "[]";
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = new Line(key);
      this.#lines.set(key, line);
    }
    return line;
  }

  /** Puts a job at the end of its line. */
  #wait(job: Waiting): void {
    const { line, signal } = job;
    if (signal) {
      job.abort = () => this.#reject(job, aborted(signal));
      signal.addEventListener("abort", job.abort, { once: true });
    }
    line.add(job);
    this.#waiting++;
    this.#deadlines.put(job);
    if (!this.#blocked.has(line)) this.#ready.put(line);
    if (this.#listeners.waiting.size > 0) this.#emit("waiting", { cost: job.cost, ahead: this.#waiting - 1 });
    this.#pump();
  }

  /** Takes a job out of its line. */
  #leave(job: Waiting): boolean {
    const { line } = job;
    if (job.row === undefined) return false;
    const wasHead = line.head === job;
    line.remove(job);
    this.#waiting--;
    if (job.abort) job.signal?.removeEventListener("abort", job.abort);
    this.#deadlines.remove(job);
    if (line.head === undefined) {
      this.#ready.remove(line);
      this.#blocked.remove(line);
      this.#lines.delete(line.key);
    } else if (!this.#blocked.has(line)) {
      this.#ready.put(line);
    }
    if (wasHead && this.#turn === line) {
      // Whoever is next is asked for anew: it may cost less.
      this.#turn = undefined;
      this.#heldUntil = 0;
    }
    return true;
  }

  #reject(job: Waiting, error: unknown): void {
    if (!this.#leave(job)) return;
    job.reject(error);
    this.#finish();
    this.#pump();
  }

  /** Asks for jobs while any could pass, then sets the alarm for the next one. */
  #pump(): void {
    this.#again = true;
    if (!this.#pumping) {
      this.#pumping = true;
      void this.#pumpOn().finally(() => {
        this.#pumping = false;
        if (this.#again) this.#pump();
        else this.#arm();
      });
    }
    this.#arm();
  }

  async #pumpOn(): Promise<void> {
    // One turn of the microtask queue gathers the jobs that are added together.
    await undefined;
    for (;;) {
      this.#again = false;
      const now = this.#timers.now();
      for (let line = this.#blocked.first; line && line.blockedUntil <= now; line = this.#blocked.first) {
        this.#blocked.remove(line);
        this.#ready.put(line);
      }
      const line = this.#turn ?? this.#ready.first;
      if (line === undefined) return;
      const paused = this.#pausedFor(line.key);
      if (paused > 0) {
        this.#block(line, now + paused);
        continue;
      }
      if (this.#heldUntil > now) return;
      await this.#askFor(this.#nextJobs(line));
    }
  }

  /** Asks for all of the jobs, which are equal: in one command, unless each takes a lease of its own. */
  async #askFor(jobs: readonly Waiting[]): Promise<void> {
    const leases = this.#leases ? jobs.map(() => crypto.randomUUID()) : [undefined];
    const times = jobs.length > leases.length ? ["TIMES", jobs.length] : [];
    const [asked] = jobs as [Waiting];
    this.#arm();
    let replies: readonly Reply[];
    try {
      replies = await this.#namespace.admit(asked, leases, "WAIT", ...times);
    } catch (error) {
      for (const job of jobs) this.#reject(job, error);
      return;
    }
    let refused = false;
    const now = this.#timers.now();
    const admitted: [Waiting, string | undefined][] = [];
    for (const [at, lease] of leases.entries()) {
      const asked = lease ? jobs.slice(at, at + 1) : jobs;
      const reply = replies[at];
      let refusal: Refusal | undefined;
      try {
        refusal = this.#namespace.refusalIn(reply);
      } catch (error) {
        for (const job of asked) this.#reject(job, error);
        continue;
      }
      let [left] = reply as [number];
      for (const job of asked) {
        if (left-- > 0) {
          if (this.#admit(job, lease, now)) admitted.push([job, lease]);
        } else {
          if (refusal && !refused) this.#hold(job, refusal);
          refused = true;
          break;
        }
      }
    }
    for (const job of jobs) if (job.row) this.#deadlines.put(job);
    this.#atOnce = refused ? 1 : Math.min(MOST_AT_ONCE, this.#atOnce * 2);
    // What the store said is all settled before any of them can do something.
    for (const [job, lease] of admitted) this.#start(job, lease, now);
  }

  /** The head of the line, and the jobs behind it that cost the same: one refused means all after it are. */
  #nextJobs(line: Line): Waiting[] {
    const jobs: Waiting[] = [];
    const most = this.#leases ? this.#atOnce : this.#lines.size === 1 ? MOST_ALONE : MOST_AT_ONCE;
    const { cost } = line.head as Waiting;
    for (let job = line.head as Waiting; job?.cost === cost && jobs.length < most; job = job.after as Waiting) {
      // What the store may have admitted is not given up; all others keep their time, however long it takes to answer.
      this.#deadlines.remove(job);
      jobs.push(job);
    }
    return jobs;
  }

  /** Counts an admission; whether the job still waits for it. */
  #admit(job: Waiting, lease: string | undefined, now: number): boolean {
    this.#admitted++;
    if (!this.#leave(job)) {
      // It was aborted while the store was asked. What it spent is spent; its lease can go.
      if (lease) void this.#release(lease);
      return false;
    }
    job.line.blockedUntil = 0;
    this.#running++;
    if (this.#listeners.admitted.size > 0) this.#emit("admitted", { cost: job.cost, waitedMs: now - job.since });
    return true;
  }

  /** Runs a job that was admitted. */
  #start(job: Waiting, lease: string | undefined, now: number): void {
    const { signal, work, resolve, reject } = job;
    const waitedMs = now - job.since;
    let result: unknown;
    try {
      result = work(lease ? this.#leased(lease, signal, waitedMs) : new Context(signal, waitedMs));
    } catch (error) {
      this.#end(lease, reject, error);
      return;
    }
    // What can't be a promise is not waited for.
    if (typeof result !== "object" && typeof result !== "function") this.#end(lease, resolve, result);
    else {
      Promise.resolve(result).then(
        (value) => this.#end(lease, resolve, value),
        (error) => this.#end(lease, reject, error),
      );
    }
  }

  /**
   * A job has ended, one way or the other. A lease that it still holds is given back first: a Worker's request or a process may
   * end with its result.
   */
  #end(lease: string | undefined, settle: (result: unknown) => void, result: unknown): void {
    const over = () => {
      this.#running--;
      this.#finish();
      settle(result);
    };
    if (lease && this.#leases?.drop(lease)) void this.#release(lease).then(over);
    else over();
  }

  /** Lets the refused head of a line wait: everybody, where a rule of all lines refuses, and else its line alone. */
  #hold(job: Waiting, refusal: Refusal): void {
    const { line } = job;
    this.#refused++;
    job.last = refusal;
    this.#emit("refused", { cost: job.cost, ...refusal });
    if (line.head !== job) return;
    const { rules, concurrency } = this.#policy;
    let wait = refusal.retryAfterMs;
    if (concurrency && refusal.blockedBy.some(({ index }) => index === -1)) {
      wait = Math.min(wait, Math.max(1, Math.floor(concurrency.lease / LOOKS_A_LEASE)));
    } else if (line.races++ > 0) {
      // A promise is kept to the millisecond; where somebody else took what was promised, workers spread out.
      wait += this.#nextRandom() * this.#spreadMs;
    }
    const until = this.#timers.now() + Math.max(1, wait);
    line.keepTurn();
    if (refusal.blockedBy.every(({ index }) => rules[index]?.scope === undefined)) {
      this.#turn = line;
      this.#heldUntil = until;
    } else {
      this.#block(line, until);
    }
  }

  /** Lets one line wait, and nobody else. */
  #block(line: Line, until: number): void {
    line.blockedUntil = until;
    this.#ready.remove(line);
    this.#blocked.put(line);
    if (this.#turn === line) this.#turn = undefined;
  }

  /** How long jobs of these identities are paused for yet: above 0, if they are. */
  #pausedFor(key: string): number {
    return (this.#pauses.get(key) ?? 0) - this.#timers.now();
  }

  /** Holds the lease of a job that starts; what the job is told. */
  #leased(lease: string, signal: AbortSignal | undefined, waitedMs: number): JobContext {
    const lost = new AbortController();
    this.#leases?.hold(lease, lost, this.#timers.now());
    return { signal: signal ? AbortSignal.any([signal, lost.signal]) : lost.signal, waitedMs, lease };
  }

  /** Gives a lease back, and asks for whoever waited for it. */
  #release(lease: string): Promise<void> {
    return (
      this.#namespace
        .command("VALVE.RELEASE", lease)
        // A lease that can't be given back runs out by itself.
        .catch(() => {})
        .then(() => {
          const { last } = (this.#turn?.head as Waiting | undefined) ?? {};
          if (last?.blockedBy.every(({ index }) => index === -1)) this.#heldUntil = 0;
          this.#pump();
        })
    );
  }

  /** What is due now: deadlines, renewals, jobs. */
  #wake(): void {
    const now = this.#timers.now();
    for (let job = this.#deadlines.first; job && job.deadline <= now; job = this.#deadlines.first) {
      this.#reject(job, timedOut(job, now));
    }
    if (this.#renewing) {
      this.#tellLost(this.#leases?.loseOverdue(now, []) ?? []);
    } else if (this.#leases && this.#leases.renewAt <= now) {
      this.#renewing = true;
      void this.#leases.renewAll(now).then((lost) => {
        this.#renewing = false;
        this.#tellLost(lost);
        this.#arm();
      });
    }
    this.#pump();
  }

  /** Sets the one alarm for whatever is due next. */
  #arm(): void {
    // While leases are being renewed there is nothing to do for them, until one runs out.
    const leases = this.#renewing ? this.#leases?.runsOutAt() : this.#leases?.renewAt;
    let due = Math.min(this.#deadlines.first?.deadline ?? NEVER, leases ?? NEVER);
    if (!this.#pumping && this.#waiting > 0) {
      due = Math.min(due, this.#blocked.first?.blockedUntil ?? NEVER);
      if (this.#turn ?? this.#ready.first) due = Math.min(due, this.#heldUntil);
    }
    this.#alarm.set(due);
  }

  #finish(): void {
    if (this.#waiting + this.#running > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #nextRandom(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#random / 2 ** 32;
  }

  #tellLost(leases: readonly string[]): void {
    for (const lease of leases) this.#emit("leaseLost", { lease });
  }

  #emit<E extends keyof ValveEvents>(name: E, event: ValveEvents[E]): void {
    for (const listener of this.#listeners[name]) {
      try {
        listener(event as never);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** What a job without a lease is told; its signal is made when it is asked for. */
class Context implements JobContext {
  readonly waitedMs: number;
  readonly #given: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined, waitedMs: number) {
    this.#given = signal;
    this.waitedMs = waitedMs;
  }

  get signal(): AbortSignal {
    return this.#given ?? new AbortController().signal;
  }
}

function aborted(signal: AbortSignal): ValveError {
  return new ValveError("ABORTED", "the job was aborted before it started", { cause: signal.reason });
}

function assertNumber(field: string, value: number, most = MAX_INTEGER): void {
  if (!Number.isFinite(value) || value < 0 || value > most) {
    throw invalidOption(field, value, `a number from 0 to ${most}`);
  }
}

function assertMethods<T>(field: string, value: T, methods: readonly (keyof T)[], allowed: string): void {
  if (!methods.every((name) => typeof value?.[name] === "function")) throw invalidOption(field, value, allowed);
}

function closed(): ValveError {
  return new ValveError("CLOSED", "this valve is closed");
}

function timedOut({ since, last }: Waiting, now: number): ValveError {
  return new ValveError("TIMEOUT", `the job waited ${Math.round(now - since)} ms, as long as maxWaitMs allows`, {
    ...last,
  });
}
