import { render } from "lit-html";
import { init } from "tidegate/web";
import "./style/index.css";
import { registerOffline } from "./offline/register.ts";
import { Desk } from "./page/desk.ts";
import { page } from "./page/page.ts";
import { frontDoor, Playground } from "./page/playground.ts";
import { Stage } from "./page/stage.ts";
import { isDark, isThemeChosen, recallTheme } from "./page/theme.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { fromFragment, LinkError, toFragment } from "./scenario/share.ts";

const root = document.getElementById("page") as HTMLElement;
await init().catch((error: unknown) => {
  const told = root.querySelector("p") as HTMLElement;
  told.setAttribute("role", "alert");
  told.textContent = `The engine could not start: ${error instanceof Error ? error.message : String(error)}. Load the page again, or try another browser.`;
  throw error;
});
root.replaceChildren();

recallTheme();
const { scenario, trouble } = scenarioOfLink();
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let pageIsStale = true;
let framePending = false;
let still: ReturnType<typeof setTimeout> | undefined;

const playground = new Playground(scenario, (what) => {
  if (what === "everything") pageIsStale = true;
  request();
});
const stage = new Stage(playground, document.documentElement);
const desk = new Desk(playground, stage, isDark(), () => {
  pageIsStale = true;
  request();
});

playground.decide();
if (trouble !== undefined) playground.say(trouble);

window.addEventListener("keydown", (event) => desk.pageKey(event));
window.addEventListener("hashchange", () => {
  if (location.hash.slice(1) === written) return;
  const linked = scenarioOfLink();
  playground.stop();
  playground.update(linked.scenario);
  if (linked.trouble !== undefined) playground.say(linked.trouble);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (isThemeChosen()) return;
  desk.dark = isDark();
  stage.retheme();
  desk.refresh();
});
new ResizeObserver(() => {
  stage.measure();
  request();
}).observe(root);
void document.fonts.ready.then(request);
registerOffline();

/** At most one frame is asked for, and it draws everything that changed since the last. */
function request(): void {
  if (framePending) return;
  framePending = true;
  requestAnimationFrame((now) => {
    // What advancing changes is drawn right here, and asks for no frame of its own.
    // For who asked for less motion it waits for the next still picture, whatever else asks for a frame.
    if (playground.moving && still === undefined) playground.advance(now);
    framePending = false;
    if (pageIsStale) {
      pageIsStale = false;
      render(page(desk), root);
    } else if (!playground.moving) {
      later();
    }
    stage.draw();
    remember();
    if (!playground.moving) return;
    // Who asked for less motion gets a few still pictures a second.
    if (calm.matches) {
      still ??= setTimeout(() => {
        still = undefined;
        request();
      }, 500);
    } else {
      request();
    }
  });
}

let late: ReturnType<typeof setTimeout> | undefined;

/** While something is dragged only the canvases and their counts follow; the rest of the page does when it rests. */
function later(): void {
  clearTimeout(late);
  late = setTimeout(() => {
    pageIsStale = true;
    request();
  }, 120);
}

let written = location.hash.slice(1);
let remembering: ReturnType<typeof setTimeout> | undefined;

/** Keeps the address up to date, soon. */
function remember(): void {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    if (playground.moving || playground.busy) return;
    const fragment = toFragment(playground.scenario);
    if (fragment === undefined || fragment === written) return;
    written = fragment;
    history.replaceState(null, "", `#${fragment}`);
  }, 250);
}

function scenarioOfLink(): { scenario: Scenario; trouble?: string } {
  const fragment = location.hash.slice(1);
  if (fragment === "") return { scenario: frontDoor() };
  try {
    return { scenario: fromFragment(fragment) };
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    return { scenario: frontDoor(), trouble: `This link can’t be read: ${error.message}.` };
  }
}
