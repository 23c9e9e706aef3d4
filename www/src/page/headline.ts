import { html, type TemplateResult } from "lit-html";
import { countsAt, isOver, overBy, type Track } from "../outcome/track.ts";
import { perInterval } from "../rule/bound.ts";
import { counted, duration, number } from "../rule/words.ts";
import type { Playground } from "./playground.ts";

/** What happened, in one sentence whose numbers are the outcome's. */
export function headline({ outcomes, arrivals, live }: Playground): TemplateResult {
  const tracks = outcomes.flatMap(({ tracks: [first] }) => (first === undefined ? [] : [first]));
  const total = counted(arrivals.times.length, "request");
  // The rules of a policy too: each has a limit of its own.
  const worst = outcomes
    .flatMap((outcome) => outcome.tracks)
    .filter(isOver)
    .sort((a, b) => overBy(b) - overBy(a))[0];
  if (arrivals.times.length === 0) {
    return live
      ? html`Press <kbd>Space</kbd> to send a request to every rule.`
      : html`Paint some requests, and see what each rule admits.`;
  }
  const [first] = outcomes;
  if (first !== undefined && first.tracks.length > 1) {
    const passed = countsAt(first.tracks[0] as Track, Number.POSITIVE_INFINITY).admitted;
    return html`This policy admits <em>${number(passed)} of ${total}</em>, by all its rules at once.`;
  }
  if (outcomes.some(({ lane }) => lane.retry.kind !== "never")) {
    const sent = tracks.map((track) => number(track.arrivals.times.length));
    const last = sent.pop();
    const each = sent.length > 0 ? `${sent.join(", ")} or ${last}` : last;
    return html`For ${counted(arrivals.times.length, "thing")} to do, clients send <em>${each} requests</em>.`;
  }
  if (worst?.rule !== undefined) {
    return html`A ${worst.name.toLowerCase() === "gcra" ? "GCRA" : worst.name.toLowerCase()} of
      ${number(perInterval(worst.rule))} per ${tight(worst.rule.interval)} let
      <em>${number(worst.most)} through ${span(worst)}</em>.`;
  }
  const admitted = tracks.map((track) => countsAt(track, Number.POSITIVE_INFINITY).admitted);
  const [least, most] = [Math.min(...admitted), Math.max(...admitted)];
  const range = least === most ? number(most) : `${number(least)}\u00a0to\u00a0${number(most)}`;
  return html`Of ${total} these rules admit <em>${range}</em>, and none goes over its limit.`;
}

/** A duration that no line break splits. */
function tight(ms: number): string {
  return duration(ms).replaceAll(" ", "\u00a0");
}

/** How soon that was; just the interval when it took most of it. */
function span(track: Track): string {
  const took = stretch(track);
  return took * 2 > track.window && took > 60_000 ? `within ${tight(track.window)}` : `in ${tight(took)}`;
}

/** The shortest time that saw the most units of any window, at least a millisecond. */
function stretch({ inWindow, most, arrivals, unitsBefore, fate }: Track): number {
  const { times } = arrivals;
  const end = inWindow.indexOf(most);
  let first = end;
  const until = unitsBefore[end + 1] as number;
  while (first > 0 && until - (unitsBefore[first] as number) < most) first--;
  while (first < end && fate[first] !== 1) first++;
  return Math.max(1, (times[end] as number) - (times[first] as number));
}
