import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Desk } from "../page/desk.ts";
import { intervalFields, numberField } from "../page/rule_form.ts";
import { promisedBound } from "../rule/bound.ts";
import { type Choice, type Counting, choose, type Quota, readQuotas } from "../rule/choose.ts";
import { duration, number, title } from "../rule/words.ts";
import { lane, MOST_LANES, MOST_RULES } from "../scenario/scenario.ts";
import { codeBlocks } from "./code_panel.ts";

const COUNTINGS: readonly (readonly [Counting, string])[] = [
  ["evenly", "spaced evenly, or it does not say"],
  ["calendar", "in windows that start on the clock"],
  ["rolling", "over any such stretch of time"],
  ["token-bucket", "tokens that refill"],
  ["leaky-bucket", "a bucket that drains"],
];

/** From what a provider documents to the rule, its code and its lane. */
export function choosePanel(desk: Desk): TemplateResult {
  const { quotas } = desk;
  const choices = quotas.map(choose);
  const rules = choices.map(({ rule }) => rule);
  const sound = choices.every(({ fault }) => fault === undefined);
  const { lanes } = desk.playground.scenario;
  return html`
    <section class="panel" aria-labelledby="choose-title">
      <h2 id="choose-title">Choose a rule</h2>
      <p class="note">Read your provider’s rate limit documentation first, then pick the rule that describes it.</p>
      <label class="stack">
        <span>What the documentation says</span>
        <textarea
          rows="2"
          placeholder="10 requests per second with bursts of 5, and 5,000 per day reset at midnight UTC"
          .value=${live(desk.described)}
          @input=${(event: Event) => describe(desk, (event.target as HTMLTextAreaElement).value)}
        ></textarea>
      </label>
      <p class="note" role="status" ?hidden=${desk.described.trim() === "" || readQuotas(desk.described).length > 0}>
        No quota found in this text: say it as “10 requests per second”, or fill in the fields.
      </p>
      ${quotas.map((quota, index) => quotaFields(desk, quota, index))}
      <div class="tools-line">
        <button type="button" ?disabled=${quotas.length >= MOST_RULES} @click=${() => setQuotas(desk, [...quotas, { ...(quotas.at(-1) as Quota), interval: 86_400_000 }])}>
          Add another quota
        </button>
      </div>
      <div class="choice" aria-live="polite">${choices.map(choiceText)}</div>
      ${sound && rules.length > 0 ? codeBlocks(desk, rules, "chosen") : nothing}
      <div class="tools-line">
        <button
          type="button"
          class="primary"
          ?disabled=${!sound}
          @click=${() => {
            desk.playground.update({ lanes: [lane(...rules)] }, { undoable: true });
            document.getElementById("stage")?.scrollIntoView();
          }}
        >
          Show it
        </button>
        <button
          type="button"
          ?disabled=${!sound || lanes.length >= MOST_LANES}
          @click=${() => desk.playground.update({ lanes: [...lanes, lane(...rules)] }, { undoable: true })}
        >
          Add it to the comparison
        </button>
      </div>
    </section>
  `;
}

function describe(desk: Desk, text: string): void {
  desk.described = text;
  const found = readQuotas(text);
  if (found.length > 0) desk.quotas = found;
  desk.refresh();
}

function setQuotas(desk: Desk, quotas: readonly Quota[]): void {
  desk.quotas = quotas;
  desk.refresh();
}

function quotaFields(desk: Desk, quota: Quota, index: number): TemplateResult {
  const { quotas } = desk;
  const change = (changed: Partial<Quota>) =>
    setQuotas(
      desk,
      quotas.map((each, at) => (at === index ? { ...each, ...changed } : each)),
    );
  const label = quotas.length === 1 ? "Quota" : `Quota ${index + 1}`;
  const bursts = quota.counting !== "calendar" && quota.counting !== "rolling";
  return html`
    <fieldset class="quota">
      <legend>${label}</legend>
      ${numberField("units", label, quota.limit, (limit) => change({ limit }))}
      ${intervalFields(quota.interval, label, (interval) => change({ interval }))}
      <label>
        <span>counted</span>
        <select
          aria-label="${label}, counted"
          .value=${live(quota.counting)}
          @change=${(event: Event) => change({ counting: (event.target as HTMLSelectElement).value as Counting })}
        >
          ${COUNTINGS.map(
            ([kind, words]) => html`<option value=${kind} ?selected=${kind === quota.counting}>${words}</option>`,
          )}
        </select>
      </label>
      ${bursts ? numberField("at once", label, quota.burst, (burst) => change({ burst })) : nothing}
      ${numberField("largest cost", label, quota.cost, (cost) => change({ cost }))}
      ${
        quotas.length > 1
          ? html`<button type="button" @click=${(event: Event) => {
              setQuotas(desk, quotas.toSpliced(index, 1));
              // This button may be gone, and the keyboard would start over at the top.
              const panel = (event.target as HTMLElement).closest(".panel") ?? document;
              panel.querySelector("textarea")?.focus({ preventScroll: true });
            }}>Remove</button>`
          : nothing
      }
    </fieldset>
  `;
}

function choiceText({ rule, advice, fault }: Choice): TemplateResult {
  if (fault !== undefined) return html`<p class="fault">${fault}</p>`;
  return html`
    <p>
      <strong>${title(rule)}</strong>: at most ${number(promisedBound(rule))} units in any ${duration(rule.interval)}.
      ${advice.join(" ")}
    </p>
  `;
}
