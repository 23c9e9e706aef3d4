import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { costOf } from "../arrivals/arrivals.ts";
import { MOST_RETRIES, type Retry } from "../arrivals/retry.ts";
import { TAT_LINE } from "../draw/row.ts";
import { fullAt, isOver, overBy, SPARED, summary, type Track } from "../outcome/track.ts";
import { paintTools } from "../panels/paint_tools.ts";
import { isSchedule } from "../rule/rule.ts";
import { counted, duration, moment, number } from "../rule/words.ts";
import { type Lane, MOST_RULES } from "../scenario/scenario.ts";
import type { Desk } from "./desk.ts";
import { ruleForm } from "./rule_form.ts";

/** The requests as they arrive, over the time; also where they are painted. */
export function axisRow(desk: Desk): TemplateResult {
  const { playground } = desk;
  const { from, to } = playground.extent;
  const { painting } = playground;
  return html`
    <div class="row axis-row">
      <div class="about">
        <h2>Arrivals</h2>
        <p>${counted(playground.arrivals.times.length, "request")} for each rule</p>
        ${paintTools(desk)}
      </div>
      <div
        class="axis"
        data-painting=${painting}
        role="slider"
        tabindex="0"
        aria-label="Arrivals: the present"
        aria-valuemin=${from}
        aria-valuemax=${to}
        aria-valuenow=${from}
        @keydown=${(event: KeyboardEvent) => desk.axisKey(event)}
        @pointerdown=${(event: PointerEvent) => desk.axisDown(event)}
        @pointermove=${(event: PointerEvent) => desk.axisMove(event)}
        @pointerup=${() => desk.axisUp()}
        @pointercancel=${() => desk.axisUp()}
      >
        <canvas data-axis aria-hidden="true"></canvas>
        <i class="present"></i>
      </div>
    </div>
  `;
}

/** Every lane's rows. */
export function laneRows(desk: Desk): TemplateResult {
  const { outcomes, tracks } = desk.playground;
  let row = 0;
  const lanes = outcomes.map(({ lane, tracks: own }, index) => {
    const rows = own.map((track, part) => {
      const retried = track.arrivals.times.length - desk.playground.arrivals.times.length;
      const told = part === 0 && lane.retry.kind !== "never" ? retryWords(lane.retry, retried) : undefined;
      return trackRow(desk, track, row++, laneTools(desk, lane, index, own, part), told);
    });
    return html`<div class="lane" data-policy=${own.length > 1 ? "" : nothing}>${rows}</div>`;
  });
  const real = tracks[row];
  return html`${lanes}${real === undefined ? nothing : trackRow(desk, real, row, nothing)}`;
}

function trackRow(desk: Desk, track: Track, row: number, tools: unknown, retries?: string): TemplateResult {
  const total = track.arrivals.times.length;
  const { cursor } = desk.playground;
  const index = cursor?.row === row ? cursor.index : undefined;
  return html`
    <div class="row" data-row=${row} data-outcome=${track.rule === undefined ? "" : nothing}>
      <div class="about">
        <h2>${track.name}</h2>
        <p>${track.terms}</p>
        ${retries === undefined ? nothing : html`<p>refused clients <b>${retries}</b></p>`}
        <p class="counts">
          <span class="admitted"><b data-count="admitted"></b> admitted</span>
          <span class="refused"><b data-count="refused"></b> refused</span>
          <span class="spared" ?hidden=${(track.sparedBefore.at(-1) ?? 0) === 0}><b data-count="spared"></b> by another</span>
        </p>
        ${verdict(track)} ${tools}
      </div>
      <div
        class="chart"
        role="slider"
        tabindex="0"
        aria-label="${summary(track)} Requests"
        aria-valuemin="0"
        aria-valuemax=${Math.max(0, total - 1)}
        aria-valuenow=${index ?? 0}
        aria-valuetext=${index === undefined ? counted(total, "request") : describe(track, index).join(", ")}
        @keydown=${(event: KeyboardEvent) => desk.rowKey(event, row)}
        @pointermove=${(event: PointerEvent) => desk.rowMove(event, row)}
        @pointerleave=${() => desk.rowLeave()}
        @pointerdown=${(event: PointerEvent) => desk.rowDown(event)}
        @focus=${() => desk.rowFocus(row)}
        @blur=${() => desk.rowLeave()}
        @wheel=${(event: WheelEvent) => desk.wheel(event)}
      >
        <canvas aria-hidden="true"></canvas>
        <i class="present"></i>
        ${track.rule !== undefined && isSchedule(track.rule) ? html`<i class="tat" style="bottom:${TAT_LINE}px" hidden>tat</i>` : nothing}
      </div>
      <p class="summary">${summary(track)}</p>
    </div>
  `;
}

/** Whether the rule's limit was kept in every window, in a few words. */
function verdict(track: Track): unknown {
  const { rule, most, window } = track;
  if (rule === undefined) return nothing;
  const over = isOver(track);
  const times = Number(overBy(track).toFixed(2));
  return html`<p class="verdict" data-over=${over ? "" : nothing}>
    at most <b>${number(most)}</b> in any ${duration(window)}${over ? html`, <b>${times}×</b> the limit` : nothing}
  </p>`;
}

/** What there is to know about one request. */
export function describe(track: Track, index: number): string[] {
  const { arrivals, fate, retryAfterMs, inWindow, window, rule, levels } = track;
  const time = arrivals.times[index] ?? 0;
  const cost = costOf(arrivals, index);
  const lines = [`Request ${number(index + 1)} of ${number(arrivals.times.length)}`, moment(time)];
  if (cost !== 1) lines.push(`costs ${number(cost)} units`);
  const wait = retryAfterMs[index] ?? 0;
  if (fate[index] === 1) lines.push("admitted");
  else if (fate[index] === SPARED) lines.push("refused by another rule, nothing spent here");
  else if (wait < 0) lines.push("refused for good: it costs more than the rule ever admits");
  else lines.push(`refused, may retry in ${duration(wait)}`, `at ${moment(time + wait)}`);
  if (rule === undefined) return lines;
  const level = levels?.[index];
  if (level !== undefined) lines.push(`${Number(level.toFixed(2))} of ${number(fullAt(rule))} in use after it`);
  lines.push(`${number(inWindow[index] ?? 0)} in the last ${duration(window)}`);
  return lines;
}

const RETRIES: readonly (readonly [Retry["kind"], string])[] = [
  ["never", "go away"],
  ["hammer", "try again every 100 ms"],
  ["polite", "wait as told, plus jitter"],
  ["queue", "stand in line"],
];

function retryWords({ kind }: Retry, retried: number): string {
  const words = RETRIES.find(([each]) => each === kind)?.[1] ?? "";
  return retried === MOST_RETRIES ? `${words}, and go away after ${number(MOST_RETRIES)} retries in all` : words;
}

/** Removes what holds the button that was pressed; the keyboard goes on from the stage, not from the top of the page. */
function leave(remove: () => void): void {
  document.getElementById("stage")?.focus({ preventScroll: true });
  remove();
}

function laneTools(desk: Desk, lane: Lane, index: number, tracks: readonly Track[], part: number): unknown {
  const isPolicy = tracks.length > 1;
  const ruleIndex = isPolicy ? part - 1 : 0;
  const rule = lane.rules[ruleIndex];
  const name = tracks[part]?.name ?? "";
  return html`
    <details class="tools">
      <summary>Change</summary>
      ${rule === undefined ? nothing : ruleForm(rule, name, (changed) => desk.changeRule(index, ruleIndex, changed))}
      ${
        part > 0
          ? html`<button type="button" @click=${() => leave(() => desk.removeRule(index, ruleIndex))}>Remove this rule</button>`
          : html`
              <label>
                <span>Refused clients</span>
                <select
                  .value=${live(lane.retry.kind)}
                  @change=${(event: Event) => desk.changeRetry(index, (event.target as HTMLSelectElement).value)}
                >
                  ${RETRIES.map(
                    ([kind, words]) =>
                      html`<option value=${kind} ?selected=${kind === lane.retry.kind}>${words}</option>`,
                  )}
                </select>
              </label>
              <button type="button" ?disabled=${lane.rules.length >= MOST_RULES} @click=${() => desk.addRule(index)}>
                Combine with another rule
              </button>
              <button
                type="button"
                ?disabled=${desk.playground.scenario.lanes.length === 1}
                @click=${() => leave(() => desk.removeLane(index))}
              >
                Remove
              </button>
            `
      }
    </details>
  `;
}
