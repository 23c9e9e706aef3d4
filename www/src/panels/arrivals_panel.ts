import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { readTimes } from "../arrivals/paste.ts";
import type { Desk } from "../page/desk.ts";
import { number } from "../rule/words.ts";

const BRUSHES = [1, 5, 25, 100];

/** Where requests come from: the preset's rate, the pointer, or a log. */
export function arrivalsPanel(desk: Desk): TemplateResult {
  const { playground } = desk;
  const { painting, brush, undoable, scenario, preset } = playground;
  const { source } = scenario;
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
    <section class="panel" aria-labelledby="arrivals-title">
      <h2 id="arrivals-title">Arrivals</h2>
      ${
        source.kind === "preset" && preset?.rate !== undefined
          ? html`<label class="slider">
              <span>Rate</span>
              <input
                type="range"
                min=${preset.rate.least}
                max=${preset.rate.most}
                step=${preset.rate.step}
                aria-valuetext="${source.rate} a second"
                .value=${live(String(source.rate))}
                @input=${(event: Event) => {
                  playground.update({ source: { ...source, rate: Number((event.target as HTMLInputElement).value) } });
                }}
              />
              <output>${source.rate}/s</output>
            </label>`
          : nothing
      }
      <div class="tools-line" role="group" aria-label="Paint">
        ${tool("add", "Paint")} ${tool("erase", "Erase")}
        <label class="inline">
          <span>at once</span>
          <select @change=${(event: Event) => {
            playground.brush = Number((event.target as HTMLSelectElement).value);
          }}>
            ${BRUSHES.map((each) => html`<option value=${each} ?selected=${each === brush}>${each}</option>`)}
          </select>
        </label>
        <button type="button" ?disabled=${!undoable} @click=${() => playground.undo()}>Undo</button>
        <button
          type="button"
          @click=${() => {
            playground.stop();
            playground.update(
              { source: { kind: "own", arrivals: { times: new Float64Array(0) } } },
              { undoable: true },
            );
          }}
        >
          Clear
        </button>
        ${
          source.kind === "preset" && (source.preset === "poisson" || source.preset === "retries")
            ? html`<button
                type="button"
                @click=${() => playground.update({ source: { ...source, seed: source.seed + 1 } })}
              >
                Shuffle
              </button>`
            : nothing
        }
      </div>
      <p class="note">Paint on the arrivals row above the chart: drag to add, or move there with the arrow keys and press Enter.</p>
      <label class="stack">
        <span>Your own log: one ISO time or epoch a line; a CSV or an access log will do</span>
        <textarea
          rows="4"
          spellcheck="false"
          placeholder="2026-12-01T23:59:59.999Z GET /v1/search 200"
          .value=${live(desk.pasted)}
          @input=${(event: Event) => {
            desk.pasted = (event.target as HTMLTextAreaElement).value;
          }}
        ></textarea>
      </label>
      <button type="button" @click=${() => takePasted(desk)}>Use these times</button>
    </section>
  `;
}

function takePasted(desk: Desk): void {
  const { arrivals, skipped, firstSkipped } = readTimes(desk.pasted);
  const found = arrivals.times.length;
  if (found === 0) {
    desk.playground.say("No times found: a line needs an ISO time such as 2026-12-01T12:00:00Z, or an epoch.");
    return;
  }
  desk.playground.take(arrivals);
  const missed = skipped === 0 ? "" : ` ${number(skipped)} lines hold none, the first: ${firstSkipped ?? ""}`;
  desk.playground.say(`${number(found)} requests read.${missed}`);
}
