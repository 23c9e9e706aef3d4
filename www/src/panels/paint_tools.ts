import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Desk } from "../page/desk.ts";

const BRUSHES = [1, 5, 25, 100];

/** What changes the arrivals where they are shown: the preset's rate, and the brush. */
export function paintTools(desk: Desk): TemplateResult {
  const { playground } = desk;
  const { painting, brush, undoable } = playground;
  const tool = (kind: typeof painting, words: string) => html`
    <button
      type="button"
      aria-pressed=${painting === kind}
      @click=${() => {
        playground.painting = painting === kind ? "off" : kind;
        desk.refresh();
      }}
    >
      ${words}
    </button>
  `;
  return html`
    ${rateSlider(desk)}
    <div class="tools-line small" role="group" aria-label="Paint arrivals">
      ${tool("add", "Paint")} ${tool("erase", "Erase")}
      <select
        aria-label="Requests at once"
        @change=${(event: Event) => {
          playground.brush = Number((event.target as HTMLSelectElement).value);
        }}
      >
        ${BRUSHES.map((each) => html`<option value=${each} ?selected=${each === brush}>×${each}</option>`)}
      </select>
      <button type="button" ?disabled=${!undoable} @click=${() => playground.undo()}>Undo</button>
    </div>
  `;
}

function rateSlider({ playground }: Desk): TemplateResult | typeof nothing {
  const { preset, scenario } = playground;
  const { source } = scenario;
  if (source.kind !== "preset" || preset?.rate === undefined) return nothing;
  return html`
    <label class="slider">
      <span>Rate</span>
      <input
        type="range"
        min=${preset.rate.least}
        max=${preset.rate.most}
        step=${preset.rate.step}
        aria-label="Rate"
        aria-valuetext="${source.rate} a second"
        .value=${live(String(source.rate))}
        @input=${(event: Event) => {
          playground.update({ source: { ...source, rate: Number((event.target as HTMLInputElement).value) } });
        }}
      />
      <output>${source.rate}/s</output>
    </label>
  `;
}
