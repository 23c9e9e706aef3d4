import { html, noChange, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { ALGORITHMS, type Algorithm, isBucket, type Rule } from "../rule/rule.ts";
import { NAMES } from "../rule/words.ts";

const UNITS: readonly (readonly [string, number])[] = [
  ["ms", 1],
  ["s", 1000],
  ["min", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
];

/** The largest unit that an interval is a whole number of. */
function unitOf(interval: number): number {
  return UNITS.reduce((found, [, size]) => (interval % size === 0 ? size : found), 1);
}

/** Fields for an interval. */
export function intervalFields(interval: number, label: string, changed: (interval: number) => void): TemplateResult {
  const unit = unitOf(interval);
  // Nothing is a whole number of every unit: the one that was chosen stays.
  const selected = interval === 0 ? noChange : live(String(unit));
  const read = (event: Event) => {
    const fields = (event.target as HTMLElement).closest(".interval") as HTMLElement;
    const count = Number((fields.querySelector("input") as HTMLInputElement).value);
    changed(count * Number((fields.querySelector("select") as HTMLSelectElement).value));
  };
  return html`
    <span class="interval">
      <label>
        <span>per</span>
        <input
          type="number"
          min="1"
          step="1"
          aria-label="${label}, interval"
          .value=${live(String(interval / unit))}
          @change=${read}
        />
      </label>
      <select aria-label="${label}, unit of the interval" .value=${selected} @change=${read}>
        ${UNITS.map(([name, size]) => html`<option value=${size} ?selected=${interval === 0 ? noChange : size === unit}>${name}</option>`)}
      </select>
    </span>
  `;
}

/** A field for a whole number. */
export function numberField(
  words: string,
  label: string,
  value: number,
  changed: (value: number) => void,
): TemplateResult {
  return html`
    <label>
      <span>${words}</span>
      <input
        type="number"
        min="1"
        step="1"
        aria-label="${label}, ${words}"
        .value=${live(String(value))}
        @change=${(event: Event) => changed(Number((event.target as HTMLInputElement).value))}
      />
    </label>
  `;
}

/** Fields for a rule. */
export function ruleForm(rule: Rule, label: string, changed: (rule: Rule) => void): TemplateResult {
  const { algorithm, limit, interval, burst, rate } = rule;
  return html`
    <label>
      <span>rule</span>
      <select
        aria-label="${label}, rule"
        .value=${live(algorithm)}
        @change=${(event: Event) => changed({ ...rule, algorithm: (event.target as HTMLSelectElement).value as Algorithm })}
      >
        ${ALGORITHMS.map((each) => html`<option value=${each} ?selected=${each === algorithm}>${NAMES[each]}</option>`)}
      </select>
    </label>
    ${numberField(isBucket(algorithm) ? "size" : "limit", label, limit, (value) => changed({ ...rule, limit: value }))}
    ${intervalFields(interval, label, (value) => changed({ ...rule, interval: value }))}
    ${algorithm === "gcra" ? numberField("burst", label, burst, (value) => changed({ ...rule, burst: value })) : nothing}
    ${
      isBucket(algorithm)
        ? html`<label>
            <span>${algorithm === "token-bucket" ? "refill" : "drain"} a second</span>
            <input
              type="text"
              inputmode="decimal"
              placeholder="size per interval"
              aria-label="${label}, units a second"
              .value=${live(rate)}
              @change=${(event: Event) => changed({ ...rule, rate: (event.target as HTMLInputElement).value.trim() })}
            />
          </label>`
        : nothing
    }
  `;
}
