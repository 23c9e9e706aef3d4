import { html, type TemplateResult } from "lit-html";
import { type Picture, toPng, toSvg } from "../draw/picture.ts";
import { summary } from "../outcome/track.ts";
import type { Desk } from "../page/desk.ts";
import { number } from "../rule/words.ts";
import { fitsInLink, MOST_SHARED, toFragment } from "../scenario/share.ts";
import { copy } from "./code_panel.ts";

/** A link to what is on screen, and files of it. */
export function sharePanel(desk: Desk): TemplateResult {
  const { playground } = desk;
  const shareable = !playground.live && fitsInLink(playground.scenario);
  return html`
    <section class="panel" aria-labelledby="share-title">
      <h2 id="share-title">Share</h2>
      <p class="note">
        ${
          shareable
            ? "The address of this page holds everything: rules, requests, the moment and the view."
            : playground.live
              ? "Stop sending to get a link."
              : `A link holds up to ${number(MOST_SHARED)} requests of your own; export these as JSON.`
        }
      </p>
      <div class="tools-line">
        <button
          type="button"
          ?disabled=${!shareable}
          @click=${(event: Event) => void copy(desk, event, `${location.href.split("#")[0]}#${toFragment(playground.scenario)}`)}
        >
          Copy link
        </button>
        <button type="button" @click=${() => void savePng(desk)}>PNG</button>
        <button type="button" @click=${() => save("tidegate.svg", new Blob([toSvg(pictureOf(desk))], { type: "image/svg+xml" }))}>
          SVG
        </button>
        <button type="button" @click=${() => save("tidegate.json", new Blob([toJson(desk)], { type: "application/json" }))}>
          JSON
        </button>
      </div>
    </section>
  `;
}

function pictureOf({ playground, stage }: Desk): Picture {
  const { tracks, arrivals, scenario } = playground;
  return { tracks, arrivals, view: scenario.view, playhead: scenario.playhead, inks: stage.inks };
}

/** The scenario and every decision, for other programs. */
export function toJson({ playground }: Desk): string {
  const { scenario, outcomes } = playground;
  const lanes = outcomes.map(({ lane, tracks }) => ({
    ...lane,
    tracks: tracks.map((track) => ({
      ...(track.rule === undefined ? {} : { rule: track.rule }),
      summary: summary(track),
      window: track.window,
      most: track.most,
      bound: track.rule === undefined ? null : track.bound,
      times: [...track.arrivals.times],
      costs: [...(track.arrivals.costs ?? [])],
      fate: [...track.fate],
      retryAfterMs: [...track.retryAfterMs],
      inWindow: [...track.inWindow],
    })),
  }));
  return JSON.stringify({ version: 1, view: scenario.view, playhead: scenario.playhead, lanes });
}

async function savePng(desk: Desk): Promise<void> {
  save("tidegate.png", await toPng(pictureOf(desk)));
}

function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
