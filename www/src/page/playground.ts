import { type Arrivals, lowerBound, upperBound, withMore, without } from "../arrivals/arrivals.ts";
import { showing, zoomed } from "../draw/timescale.ts";
import { type LaneOutcome, runLane } from "../outcome/simulator.ts";
import { summary, type Track } from "../outcome/track.ts";
import { duration } from "../rule/words.ts";
import { arrivalsOf, begin, PRESETS, type Preset, presetOf } from "../scenario/presets.ts";
import type { Lane, Scenario, View } from "../scenario/scenario.ts";
import { StoreLane } from "../store/store_lane.ts";

/** Decisions in one go that are made at once; more are made lane by lane, so that the page stays alive. */
const AT_ONCE = 200_000;
/** Seconds in which the view's time passes at speed 1. */
const PACE = 8;
/** What is on screen while requests are sent by hand, in milliseconds. */
const LIVE_SPAN = 10_000;

/** The page's state: the scenario, what the engine made of it, and what moves. */
export class Playground {
  scenario: Scenario;
  arrivals: Arrivals;
  outcomes: readonly LaneOutcome[] = [];
  speed = 1;
  playing = false;
  /** Requests are sent by hand and time is the clock's. */
  live = false;
  /** A large run is being decided. */
  busy = false;
  painting: "off" | "add" | "erase" = "off";
  brush = 1;
  /** The request that is looked at: its row and its index there. */
  cursor: { readonly row: number; readonly index: number } | undefined;
  /** What was last said to people, on screen and to screen readers. */
  notice = "";
  readonly store: StoreLane;
  readonly #changed: (what: "everything" | "frame") => void;
  readonly #undo: Scenario[] = [];
  #run = 0;
  #last = 0;

  constructor(scenario: Scenario, changed: (what: "everything" | "frame") => void) {
    this.scenario = scenario;
    this.#changed = changed;
    this.arrivals = arrivalsOf(scenario.source);
    this.store = new StoreLane(() => this.#changed("everything"));
  }

  /** The rows on screen, from the top. */
  get tracks(): readonly Track[] {
    const decided = this.outcomes.flatMap(({ tracks }) => tracks);
    const real = this.live ? this.store.track : undefined;
    return real === undefined ? decided : [...decided, real];
  }

  /** The stretch of time in which the present can be: all requests, retries included, and what is around them. */
  get extent(): View {
    const { from, to } = this.preset?.view ?? this.scenario.view;
    return { from: Math.min(from, this.arrivals.times[0] ?? from), to: Math.max(to, this.#lastRequest + 1) };
  }

  /** When the last request of any lane comes; 0 when there is none. */
  get #lastRequest(): number {
    return Math.max(0, ...this.outcomes.map(({ tracks }) => tracks[0]?.arrivals.times.at(-1) ?? 0));
  }

  /** The preset, as long as its own requests are on screen. */
  get preset(): Preset | undefined {
    const { source } = this.scenario;
    return source.kind === "preset" ? presetOf(source.preset) : undefined;
  }

  /** Shows another scenario, or a part of it changed; decides what has to be decided again. */
  update(change: Partial<Scenario>, { undoable = false } = {}): void {
    const before = this.scenario;
    if (undoable) this.#remember();
    this.scenario = { ...before, ...change };
    if (this.scenario.source !== before.source) this.arrivals = arrivalsOf(this.scenario.source);
    const decides = this.scenario.source !== before.source || this.scenario.lanes !== before.lanes;
    if (decides) this.decide();
    else this.#changed("frame");
  }

  /** Starts a preset. */
  begin(preset: Preset): void {
    this.stop();
    this.cursor = undefined;
    this.update(begin(preset));
    this.say(`${preset.title}: ${preset.lesson}`);
  }

  /** Decides every lane that changed. */
  decide(): void {
    const { lanes, source } = this.scenario;
    const seed = source.kind === "preset" ? source.seed : 1;
    const known = new Map(this.outcomes.map((outcome) => [outcome.lane, outcome]));
    const fresh = (lane: Lane) => {
      const before = known.get(lane);
      return before !== undefined && this.#decidedFor === this.arrivals ? before : runLane(lane, this.arrivals, seed);
    };
    const run = ++this.#run;
    performance.mark("decide");
    if (lanes.length * this.arrivals.times.length <= AT_ONCE) {
      this.#settle(lanes.map(fresh));
      return;
    }
    this.busy = true;
    this.#changed("everything");
    void (async () => {
      const outcomes: LaneOutcome[] = [];
      for (const lane of lanes) {
        await painted();
        if (run !== this.#run) return;
        outcomes.push(fresh(lane));
      }
      this.#settle(outcomes);
    })();
  }

  #decidedFor: Arrivals | undefined;

  #settle(outcomes: readonly LaneOutcome[]): void {
    performance.measure("decided", "decide");
    this.outcomes = outcomes;
    this.#decidedFor = this.arrivals;
    this.busy = false;
    const { cursor } = this;
    const total = cursor === undefined ? 0 : (this.tracks[cursor.row]?.arrivals.times.length ?? 0);
    if (cursor !== undefined && cursor.index >= total) this.cursor = undefined;
    this.#changed("everything");
  }

  /** Moves the present to `time`, and the view with it when it would leave it. */
  scrub(time: number): void {
    const playhead = clamped(time, this.extent);
    this.update({ playhead, view: showing(this.scenario.view, playhead) });
  }

  /** Moves the present to the next request, or to the one before. */
  step(direction: 1 | -1): void {
    this.pause();
    const { times } = this.arrivals;
    const { playhead } = this.scenario;
    const index = direction === 1 ? upperBound(times, playhead) : lowerBound(times, playhead) - 1;
    const time = times[index];
    if (time !== undefined) this.scrub(time);
  }

  zoom(factor: number, center = this.#center()): void {
    this.update({ view: zoomed(this.scenario.view, factor, center) });
  }

  /** Shows every request. */
  fit(): void {
    const first = this.arrivals.times[0];
    const view = this.preset !== undefined || first === undefined ? this.extent : around(first, this.#lastRequest);
    this.update({ view, playhead: clamped(this.scenario.playhead, view) });
  }

  /** Lets time pass; from the start when it has run out. */
  play(): void {
    const { from, to } = this.extent;
    const { playhead, view } = this.scenario;
    if (playhead >= to) this.update({ playhead: from, view: showing(view, from) });
    this.playing = true;
    this.#last = 0;
    this.#changed("everything");
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.#changed("everything");
  }

  /** Stops whatever moves. */
  stop(): void {
    this.pause();
    if (!this.live) return;
    this.live = false;
    this.update({ view: this.extent });
    this.#changed("everything");
  }

  /** Whether something moves by itself. */
  get moving(): boolean {
    return this.playing || this.live;
  }

  /** Moves what moves to where it is at `now`, a time of the display. */
  advance(now: number): void {
    const passed = this.#last === 0 ? 0 : now - this.#last;
    this.#last = now;
    if (this.live) {
      const time = Date.now();
      this.update({ playhead: time, view: { from: time - LIVE_SPAN * 0.85, to: time + LIVE_SPAN * 0.15 } });
      return;
    }
    if (!this.playing) return;
    const { view, playhead } = this.scenario;
    const { to } = this.extent;
    const next = playhead + ((view.to - view.from) / (PACE * 1000)) * passed * this.speed;
    this.scrub(next);
    if (next >= to) this.pause();
  }

  /** Sends one request now, to every lane and to the store when one is connected. */
  send(): void {
    if (!this.live) this.#goLive();
    // The clock may step back; requests here are in order.
    const time = Math.max(Date.now(), this.arrivals.times.at(-1) ?? 0);
    this.update({ source: { kind: "own", arrivals: withMore(this.arrivals, time, 1) }, playhead: time });
    const answers = this.outcomes.map(({ tracks: [track] }) => (track === undefined ? "" : latestAnswer(track)));
    this.say(answers.join(" "));
    void this.store.send(time);
  }

  #goLive(): void {
    this.pause();
    this.#remember();
    this.live = true;
    this.#last = 0;
    this.cursor = undefined;
    this.store.clear();
    this.update({ source: { kind: "own", arrivals: { times: new Float64Array(0) } } });
  }

  /** Adds as many requests as the brush has at each of `times`, or takes away what is within `reach` of them. */
  paint(times: readonly number[], reach: number): void {
    let { arrivals } = this;
    for (const time of times) {
      const at = Math.max(0, Math.round(time));
      arrivals =
        this.painting === "erase" ? without(arrivals, at - reach, at + reach) : withMore(arrivals, at, this.brush);
    }
    if (arrivals !== this.arrivals) this.update({ source: { kind: "own", arrivals } });
  }

  /** Takes requests of one's own, and shows all of them. */
  take(arrivals: Arrivals): void {
    this.stop();
    this.cursor = undefined;
    const first = arrivals.times[0] ?? 0;
    const view = around(first, arrivals.times.at(-1) ?? first);
    this.update({ source: { kind: "own", arrivals }, view, playhead: view.to }, { undoable: true });
  }

  /** Remembers the scenario for {@link undo}, before something is painted. */
  remember(): void {
    this.#remember();
  }

  #remember(): void {
    this.#undo.push(this.scenario);
    if (this.#undo.length > 50) this.#undo.shift();
  }

  get undoable(): boolean {
    return this.#undo.length > 0;
  }

  undo(): void {
    const before = this.#undo.pop();
    if (before === undefined) return;
    this.stop();
    this.update(before);
  }

  /** Looks at a request of a row. */
  look(row: number, index: number): void {
    const time = this.tracks[row]?.arrivals.times[index];
    if (time === undefined) return;
    this.cursor = { row, index };
    this.update({ view: showing(this.scenario.view, time) });
  }

  unlook(): void {
    if (this.cursor === undefined) return;
    this.cursor = undefined;
    this.#changed("frame");
  }

  /** Tells people something. */
  say(notice: string): void {
    this.notice = notice;
    this.#changed("everything");
  }

  #center(): number {
    const { view, playhead } = this.scenario;
    return playhead >= view.from && playhead < view.to ? playhead : (view.from + view.to) / 2;
  }
}

/** The front door. */
export function frontDoor(): Scenario {
  return begin(PRESETS[0] as Preset);
}

/** A view of all that comes from `first` to `last`, with some room at both ends. */
function around(first: number, last: number): View {
  const margin = Math.max(5, Math.round((last - first) * 0.04));
  return { from: Math.max(0, first - margin), to: last + margin };
}

function clamped(time: number, { from, to }: View): number {
  return Math.min(Math.max(time, from), to);
}

/** What a row did with its last request, in a sentence. */
function latestAnswer(track: Track): string {
  const index = track.arrivals.times.length - 1;
  if (index < 0) return summary(track);
  if (track.fate[index] === 1) return `${track.name} admitted it.`;
  const wait = track.retryAfterMs[index] ?? 0;
  return `${track.name} refused it${wait < 0 ? " for good" : `, retry in ${duration(wait)}`}.`;
}

function painted(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done, 0));
  });
}
