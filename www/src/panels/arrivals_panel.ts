import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { readTimes } from "../arrivals/paste.ts";
import type { Desk } from "../page/desk.ts";
import { counted } from "../rule/words.ts";

/** Requests of one's own: from a log, or from nothing. */
export function arrivalsPanel(desk: Desk): TemplateResult {
  const { playground } = desk;
  const { source } = playground.scenario;
  const seeded = source.kind === "preset" && (source.preset === "poisson" || source.preset === "retries");
  return html`
    <section class="panel" aria-labelledby="arrivals-title">
      <h2 id="arrivals-title">Your own requests</h2>
      <p class="note">
        Press Paint above and drag over the arrivals; or move there with the arrow keys and press Enter. Or paste a log:
      </p>
      <label class="stack">
        <span>One ISO time or epoch a line; a CSV or an access log will do</span>
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
      <div class="tools-line">
        <button type="button" @click=${() => takePasted(desk)}>Use these times</button>
        <button type="button" @click=${() => clear(desk)}>Clear all requests</button>
        ${
          seeded
            ? html`<button
                type="button"
                @click=${() => playground.update({ source: { ...source, seed: source.seed + 1 } })}
              >
                Shuffle
              </button>`
            : nothing
        }
      </div>
    </section>
  `;
}

function clear({ playground }: Desk): void {
  playground.stop();
  playground.update({ source: { kind: "own", arrivals: { times: new Float64Array(0) } } }, { undoable: true });
}

function takePasted(desk: Desk): void {
  const { arrivals, skipped, firstSkipped } = readTimes(desk.pasted);
  const found = arrivals.times.length;
  if (found === 0) {
    desk.playground.say("No times found: a line needs an ISO time such as 2026-12-01T12:00:00Z, or an epoch.");
    return;
  }
  desk.playground.take(arrivals);
  const missed = skipped === 0 ? "" : ` Without a time: ${counted(skipped, "line")}, the first: ${firstSkipped ?? ""}`;
  desk.playground.say(`${counted(found, "request")} read.${missed}`);
}
