import type { Retry } from "../arrivals/retry.ts";
import { zoomed } from "../draw/timescale.ts";
import type { Track } from "../outcome/track.ts";
import type { Quota } from "../rule/choose.ts";
import { ALGORITHMS, fault, type Rule, rule } from "../rule/rule.ts";
import { type Lane, lane, MOST_LANES, MOST_RULES } from "../scenario/scenario.ts";
import type { Playground } from "./playground.ts";
import { describe } from "./rows.ts";
import type { Stage } from "./stage.ts";
import { chooseTheme } from "./theme.ts";

/** What is shown beside the pointer or the keyboard's cursor. */
export interface Hint {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

/** What people do with the page, and what of it only the page remembers. */
export class Desk {
  readonly playground: Playground;
  readonly stage: Stage;
  hint: Hint | undefined;
  dark: boolean;
  /** What the panels hold. */
  pasted = "";
  described = "";
  quotas: readonly Quota[] = [{ limit: 10, interval: 1000, counting: "evenly", burst: 1, cost: 1 }];
  codeLane = 0;
  storeUrl = "";
  storeToken = "";
  readonly #refresh: () => void;
  #painted: number | undefined;
  #scrubbing = false;

  constructor(playground: Playground, stage: Stage, dark: boolean, refresh: () => void) {
    this.playground = playground;
    this.stage = stage;
    this.dark = dark;
    this.#refresh = refresh;
  }

  refresh(): void {
    this.#refresh();
  }

  toggleTheme(): void {
    this.dark = !this.dark;
    chooseTheme(this.dark ? "dark" : "light");
    this.stage.retheme();
    this.#refresh();
  }

  // Lanes

  addLane(): void {
    const { lanes } = this.playground.scenario;
    const last = lanes.at(-1)?.rules[0] ?? rule("gcra", 10, 1000);
    if (lanes.length >= MOST_LANES) return;
    const used = new Set(lanes.map(({ rules: [first] }) => first?.algorithm));
    const algorithm = ALGORITHMS.find((each) => !used.has(each)) ?? "gcra";
    this.#lanes([...lanes, lane({ ...last, algorithm, rate: "" })]);
  }

  removeLane(index: number): void {
    this.playground.cursor = undefined;
    this.#lanes(this.playground.scenario.lanes.filter((_, at) => at !== index));
  }

  changeRule(index: number, part: number, changed: Rule): void {
    const wrong = fault(changed);
    // What was wrong before is so no longer.
    this.playground.say(wrong ?? "");
    if (wrong !== undefined) return;
    this.#change(index, (old) => ({ ...old, rules: old.rules.map((each, at) => (at === part ? changed : each)) }));
  }

  addRule(index: number): void {
    const rules = this.playground.scenario.lanes[index]?.rules ?? [];
    const [first] = rules;
    if (first === undefined || rules.length >= MOST_RULES) return;
    const added = rule("fixed-window", first.limit * 5, first.interval * 10);
    const wrong = fault(added);
    if (wrong === undefined) this.#change(index, (old) => ({ ...old, rules: [...old.rules, added] }));
    else this.playground.say(wrong);
  }

  removeRule(index: number, part: number): void {
    this.playground.cursor = undefined;
    this.#change(index, (old) => ({ ...old, rules: old.rules.filter((_, at) => at !== part) }));
  }

  changeRetry(index: number, kind: string): void {
    const retries: Readonly<Record<string, Retry>> = {
      never: { kind: "never" },
      hammer: { kind: "hammer", every: 100 },
      polite: { kind: "polite" },
      queue: { kind: "queue" },
    };
    const retry = retries[kind];
    if (retry !== undefined) this.#change(index, (old) => ({ ...old, retry }));
  }

  #change(index: number, change: (lane: Lane) => Lane): void {
    this.#lanes(this.playground.scenario.lanes.map((each, at) => (at === index ? change(each) : each)));
  }

  #lanes(lanes: readonly Lane[]): void {
    this.playground.update({ lanes }, { undoable: true });
  }

  // Rows

  rowMove(event: PointerEvent, row: number): void {
    if (this.#scrubbing) {
      this.playground.scrub(Math.round(this.stage.scale.time(offset(event))));
      return;
    }
    const track = this.playground.tracks[row];
    const index = track === undefined ? undefined : this.stage.requestAt(track, offset(event));
    if (track === undefined || index === undefined) {
      this.rowLeave();
      return;
    }
    this.playground.cursor = { row, index };
    this.#showHint(event.currentTarget as HTMLElement, track, index);
  }

  rowLeave(): void {
    this.hint = undefined;
    this.playground.unlook();
    this.#refresh();
  }

  rowDown(event: PointerEvent): void {
    if (event.button !== 0 || this.playground.live) return;
    const target = event.currentTarget as HTMLElement;
    // A finger scrolls the page; only a mouse or a pen drags the present.
    if (event.pointerType !== "touch") {
      target.setPointerCapture(event.pointerId);
      this.#scrubbing = true;
      target.addEventListener("pointerup", () => this.#endScrub(), { once: true });
    }
    this.playground.pause();
    this.playground.scrub(Math.round(this.stage.scale.time(offset(event))));
  }

  #endScrub(): void {
    this.#scrubbing = false;
  }

  rowFocus(row: number): void {
    const { cursor, tracks } = this.playground;
    const track = tracks[row];
    if (cursor?.row !== row || track === undefined) return;
    this.#showHint(this.#chart(row), track, cursor.index);
  }

  wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const center = this.stage.scale.time(offset(event));
    this.playground.update({ view: zoomed(this.playground.scenario.view, event.deltaY > 0 ? 1.25 : 0.8, center) });
  }

  rowKey(event: KeyboardEvent, row: number): void {
    const track = this.playground.tracks[row];
    if (track === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = track.arrivals.times.length - 1;
    const { cursor } = this.playground;
    const at = cursor?.row === row ? cursor.index : -1;
    const leap = Math.max(1, Math.ceil(last / 20));
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      ArrowLeft: at < 0 ? last : at - 1,
      ArrowDown: at < 0 ? last : at - 1,
      PageUp: at + leap,
      PageDown: at - leap,
      Home: 0,
      End: last,
    };
    const to = moves[event.key];
    if (to !== undefined && last >= 0) {
      event.preventDefault();
      const index = Math.min(Math.max(to, 0), last);
      this.playground.look(row, index);
      this.#showHint(this.#chart(row), track, index);
    } else if (event.key === "Enter" && at >= 0) {
      event.preventDefault();
      this.playground.pause();
      this.playground.scrub(track.arrivals.times[at] ?? 0);
    } else if (event.key === "Escape") {
      this.rowLeave();
    } else {
      this.#zoomKey(event);
    }
  }

  #zoomKey(event: KeyboardEvent): void {
    if (event.key !== "+" && event.key !== "=" && event.key !== "-") return;
    event.preventDefault();
    this.playground.zoom(event.key === "-" ? 2 : 0.5);
  }

  #chart(row: number): HTMLElement {
    return document.querySelector(`[data-row="${row}"] .chart`) as HTMLElement;
  }

  #showHint(chart: HTMLElement, track: Track, index: number): void {
    const stage = chart.closest(".stage") as HTMLElement;
    const [outer, inner] = [stage.getBoundingClientRect(), chart.getBoundingClientRect()];
    const x = inner.left - outer.left + this.stage.scale.x(track.arrivals.times[index] ?? 0);
    this.hint = {
      x: Math.min(Math.max(x, 130), outer.width - 130),
      y: inner.bottom - outer.top + 4,
      lines: describe(track, index),
    };
    this.#refresh();
  }

  // Arrivals

  axisDown(event: PointerEvent): void {
    if (event.button !== 0 || this.playground.live) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    this.playground.pause();
    this.#painted = offset(event);
    if (this.playground.painting !== "off") this.playground.remember();
    this.axisMove(event);
  }

  axisMove(event: PointerEvent): void {
    if (this.#painted === undefined) return;
    const { playground, stage } = this;
    const to = offset(event);
    if (playground.painting === "off") {
      playground.scrub(Math.round(stage.scale.time(to)));
      return;
    }
    const apart = 6;
    const from = this.#painted;
    const first = event.type === "pointerdown";
    const steps = first ? 1 : Math.floor(Math.abs(to - from) / apart);
    const xs = Array.from({ length: steps }, (_, step) =>
      first ? to : from + Math.sign(to - from) * apart * (step + 1),
    );
    if (xs.length === 0) return;
    this.#painted = xs.at(-1);
    playground.paint(
      xs.map((x) => stage.scale.time(x)),
      Math.max(1, apart * stage.scale.perPixel),
    );
  }

  axisUp(): void {
    this.#painted = undefined;
  }

  axisKey(event: KeyboardEvent): void {
    const { playground } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || playground.live) return;
    const { view, playhead } = playground.scenario;
    const { from, to } = playground.extent;
    const step = Math.max(1, Math.round((view.to - view.from) / 100));
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: playhead + step,
      ArrowUp: playhead + step,
      ArrowLeft: playhead - step,
      ArrowDown: playhead - step,
      PageUp: playhead + 10 * step,
      PageDown: playhead - 10 * step,
      Home: from,
      End: to,
    };
    const moved = moves[event.key];
    if (moved !== undefined) {
      playground.pause();
      playground.scrub(Math.round(moved));
    } else if (event.key === "Enter" || event.key === "Delete" || event.key === "Backspace") {
      const before = playground.painting;
      playground.remember();
      playground.painting = event.key === "Enter" ? "add" : "erase";
      playground.paint([playhead], step);
      playground.painting = before;
    } else {
      this.#zoomKey(event);
      return;
    }
    event.preventDefault();
  }

  // Everywhere

  /** Keys that work wherever the focus is. */
  pageKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    // With Shift it means the opposite everywhere else, which is not undoing more.
    const undoes = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (undoes && !target.matches("input, textarea")) {
      event.preventDefault();
      this.playground.undo();
    }
    const own = "button, input, select, textarea, summary, a, [contenteditable]";
    if (event.key !== " " || event.repeat || event.ctrlKey || event.metaKey || event.altKey || target.closest(own))
      return;
    event.preventDefault();
    this.playground.send();
  }
}

function offset(event: MouseEvent): number {
  return event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
}
