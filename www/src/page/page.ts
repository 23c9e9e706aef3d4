import { html, nothing, type TemplateResult } from "lit-html";
import { arrivalsPanel } from "../panels/arrivals_panel.ts";
import { choosePanel } from "../panels/choose_panel.ts";
import { codePanel } from "../panels/code_panel.ts";
import { sharePanel } from "../panels/share_panel.ts";
import { storePanel } from "../panels/store_panel.ts";
import { PRESETS } from "../scenario/presets.ts";
import type { Desk } from "./desk.ts";
import { headline } from "./headline.ts";
import { axisRow, laneRows } from "./rows.ts";
import { transport } from "./transport.ts";

/** The whole page. */
export function page(desk: Desk): TemplateResult {
  const { playground } = desk;
  const { preset, busy, notice } = playground;
  return html`
    <a class="skip" href="#stage" @click=${skip}>Skip to the chart</a>
    <header class="top">
      <p class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M4 4v24M11.5 4v24M20.5 4v24M28 4v24" />
          <path class="tide" d="M2 19c3.5-4 6.5-4 9.5 0s6 4 9 0 6-4 9.500 0" />
        </svg>
        Tidegate <span>playground</span>
      </p>
      <button type="button" class="quiet" @click=${() => desk.toggleTheme()}>
        ${desk.dark ? "Light" : "Dark"} theme
      </button>
    </header>
    <main>
      <section class="hero" aria-labelledby="headline">
        <h1 id="headline">${headline(playground)}</h1>
        <p class="lesson">${preset?.lesson ?? OWN}</p>
      </section>
      <nav class="presets" aria-label="Situations">
        ${PRESETS.map(
          (each) => html`
            <button type="button" aria-pressed=${each === preset} @click=${() => playground.begin(each)}>
              ${each.title}
            </button>
          `,
        )}
      </nav>
      <section id="stage" class="stage" tabindex="-1" aria-label="Chart" aria-busy=${busy}>
        ${transport(desk)} ${axisRow(desk)} ${laneRows(desk)}
        <div class="under">
          ${legend()}
          <button
            type="button"
            class="quiet"
            ?disabled=${playground.scenario.lanes.length >= 8}
            @click=${() => desk.addLane()}
          >
            Add a rule to compare
          </button>
        </div>
        ${
          desk.hint === undefined
            ? nothing
            : html`<div class="hint" role="tooltip" style="left:${desk.hint.x}px;top:${desk.hint.y}px">
                ${desk.hint.lines.map((line) => html`<span>${line}</span>`)}
              </div>`
        }
      </section>
      <p class="notice" role="status" aria-live="polite">${busy ? "Deciding …" : notice}</p>
      <div class="panels">
        <div>${choosePanel(desk)} ${codePanel(desk)}</div>
        <div>${arrivalsPanel(desk)} ${sharePanel(desk)} ${storePanel(desk)} ${keysPanel()}</div>
      </div>
    </main>
    <footer>
      Every decision and number on this page comes from Tidegate's engine, running as WebAssembly in this tab. Nothing you
      paste leaves it.
    </footer>
  `;
}

/** Moves on without a new address: what follows its `#` is the scenario. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("stage")?.focus();
}

const OWN =
  "Requests of your own. Paint more with the pointer, change the rules, and watch the line that each rule promises never to cross.";

function legend(): TemplateResult {
  return html`
    <ul class="legend" aria-label="Legend">
      <li><svg viewBox="0 0 14 14" class="admitted"><circle cx="7" cy="7" r="4" /></svg> admitted, above the line</li>
      <li><svg viewBox="0 0 14 14" class="refused"><path d="M3 3l8 8M3 11l8-8" /></svg> refused, below it</li>
      <li><svg viewBox="0 0 14 14" class="spared"><circle cx="7" cy="7" r="4" /></svg> refused by another rule</li>
      <li><svg viewBox="0 0 14 14" class="over"><rect x="1" y="2" width="12" height="10" /></svg> over the limit</li>
      <li><svg viewBox="0 0 22 14" class="bound"><path d="M0 7h22" /></svg> what the rule promises</li>
      <li><svg viewBox="0 0 14 14" class="level"><path d="M1 12V3l12 9z" /></svg> how full the rule is</li>
    </ul>
  `;
}

function keysPanel(): TemplateResult {
  return html`
    <details class="panel">
      <summary><h2>Keyboard</h2></summary>
      <dl class="keys">
        <div><dt>Space</dt><dd>on the page or a row: send a request now</dd></div>
        <div><dt>← →</dt><dd>on a row: from request to request; on the arrivals: move the present</dd></div>
        <div><dt>Home End</dt><dd>first and last request</dd></div>
        <div><dt>Page Up, Page Down</dt><dd>a twentieth of all requests on</dd></div>
        <div><dt>Enter</dt><dd>on a row: make that request the present; on the arrivals: add requests there</dd></div>
        <div><dt>Delete</dt><dd>on the arrivals: take requests away at the present</dd></div>
        <div><dt>+ −</dt><dd>on a row or the arrivals: zoom in, zoom out</dd></div>
        <div><dt>Ctrl Z</dt><dd>undo</dd></div>
      </dl>
    </details>
  `;
}
