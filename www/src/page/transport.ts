import { html, type TemplateResult } from "lit-html";
import { duration } from "../rule/words.ts";
import type { Desk } from "./desk.ts";

/** Steps of the slider that is the present; {@link Stage} moves it. */
export const SCRUB_STEPS = 1000;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];

/** Play, pause, step, speed, zoom, and the moment that is the present. */
export function transport({ playground }: Desk): TemplateResult {
  const { scenario, extent, playing, live: sending, speed } = playground;
  const { view } = scenario;
  const label = playing || sending ? "Pause" : "Play";
  return html`
    <div class="transport" role="group" aria-label="Time">
      <button type="button" class="icon" aria-label="To the start" @click=${() => playground.scrub(extent.from)}>
        ${icon("M4 3v10M13 3L6 8l7 5z")}
      </button>
      <button type="button" class="icon" aria-label="To the request before" @click=${() => playground.step(-1)}>
        ${icon("M11 3L4 8l7 5z")}
      </button>
      <button
        type="button"
        class="icon play"
        aria-label=${label}
        @click=${() => (playing || sending ? playground.stop() : playground.play())}
      >
        ${icon(playing || sending ? "M5 3v10M11 3v10" : "M4 2.500l9 5.500-9 5.500z")}
      </button>
      <button type="button" class="icon" aria-label="To the next request" @click=${() => playground.step(1)}>
        ${icon("M5 3l7 5-7 5z")}
      </button>
      <input
        class="scrub"
        type="range"
        min="0"
        max=${SCRUB_STEPS}
        step="1"
        aria-label="The present"
        ?disabled=${sending}
        @input=${(event: Event) => {
          playground.pause();
          const at = Number((event.target as HTMLInputElement).value) / SCRUB_STEPS;
          playground.scrub(Math.round(extent.from + at * (extent.to - extent.from)));
        }}
      />
      <output class="clock" aria-label="Time, UTC"></output>
      <label class="inline">
        <span>Speed</span>
        <select @change=${(event: Event) => {
          playground.speed = Number((event.target as HTMLSelectElement).value);
        }}>
          ${SPEEDS.map((each) => html`<option value=${each} ?selected=${each === speed}>${each}×</option>`)}
        </select>
      </label>
      <span class="zoom" role="group" aria-label="Zoom">
        <button type="button" class="icon" aria-label="Zoom out" @click=${() => playground.zoom(2)}>${icon("M3 8h10")}</button>
        <button type="button" class="icon" aria-label="Zoom in" @click=${() => playground.zoom(0.5)}>
          ${icon("M3 8h10M8 3v10")}
        </button>
        <button type="button" @click=${() => playground.fit()}>Fit</button>
        <span class="span">${duration(Math.round(view.to - view.from))} in view</span>
      </span>
      <button type="button" class="primary send" @click=${() => playground.send()}>Send a request <kbd>Space</kbd></button>
    </div>
  `;
}

function icon(path: string): TemplateResult {
  return html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d=${path} /></svg>`;
}
