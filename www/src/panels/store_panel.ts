import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { Desk } from "../page/desk.ts";
import { duration, number } from "../rule/words.ts";
import type { Answered, StoreLane } from "../store/store_lane.ts";

/** The same button against a real store, with what the way there costs. */
export function storePanel(desk: Desk): TemplateResult {
  const { store, scenario } = desk.playground;
  const rules = scenario.lanes[0]?.rules ?? [];
  return html`
    <section class="panel" aria-labelledby="store-title">
      <h2 id="store-title">Against the real store</h2>
      <p class="note">
        Send the first rule’s requests to a Tidegate Worker too, and see what the Durable Object says. A Worker on another
        host must allow this page: set its TIDEGATE_ALLOWED_ORIGIN to ${location.origin}.
      </p>
      <form
        class="store"
        @submit=${(event: Event) => {
          event.preventDefault();
          void store.connect(desk.storeUrl || location.origin, desk.storeToken, rules);
        }}
      >
        <label>
          <span>URL</span>
          <input
            type="url"
            placeholder=${location.origin}
            @input=${(event: Event) => {
              desk.storeUrl = (event.target as HTMLInputElement).value;
            }}
          />
        </label>
        <label>
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            @input=${(event: Event) => {
              desk.storeToken = (event.target as HTMLInputElement).value;
            }}
          />
        </label>
        <span class="tools-line">
          <button type="submit">Connect</button>
          ${
            store.connected
              ? html`<button type="button" @click=${() => store.disconnect()}>Disconnect</button>
                  <button type="button" class="primary" @click=${() => desk.playground.send()}>Send a request</button>`
              : nothing
          }
        </span>
      </form>
      <p role="status" class="store-status">${store.status}</p>
      ${latencies(store)}
    </section>
  `;
}

function latencies({ latency, answers }: StoreLane): TemplateResult | typeof nothing {
  if (latency === undefined) return nothing;
  const slowest = Math.max(...answers.map((answer) => answer.latency), 1);
  const recent = answers.slice(-40);
  const ms = (value: number) => duration(Number(value.toFixed(1)));
  return html`
    <p>${number(answers.length)} answers; half within <b>${ms(latency.median)}</b>, 95 of 100 within <b>${ms(latency.p95)}</b></p>
    <svg class="latencies" viewBox="0 0 160 32" preserveAspectRatio="none" aria-hidden="true">
      ${recent.map((answer, index) => bar(answer, index, slowest))}
    </svg>
    <ol class="answers" reversed start=${answers.length} tabindex="0" aria-label="Answers of the store, latest first">
      ${answers
        .toReversed()
        .slice(0, 50)
        .map(
          ({ allowed, retryAfterMs, latency: took }) => html`<li>
            ${allowed ? "admitted" : retryAfterMs < 0 ? "refused for good" : `refused, retry in ${duration(retryAfterMs)}`},
            ${ms(took)}
          </li>`,
        )}
    </ol>
  `;
}

function bar({ allowed, latency }: Answered, index: number, slowest: number): TemplateResult<2> {
  const height = Math.max(1, (latency / slowest) * 30);
  return svg`<rect class=${allowed ? "admitted" : "refused"} x=${index * 4} y=${32 - height} width="3" height=${height} />`;
}
