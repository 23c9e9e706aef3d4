import { html, type TemplateResult } from "lit-html";
import { Engine } from "tidegate/web";
import type { Desk } from "../page/desk.ts";
import { callsFor } from "../rule/calls.ts";
import { commands, typescript } from "../rule/code.ts";
import type { Rule } from "../rule/rule.ts";
import { title } from "../rule/words.ts";

/** The code for a lane. */
export function codePanel(desk: Desk): TemplateResult {
  const { lanes } = desk.playground.scenario;
  const chosen = lanes[desk.codeLane] ?? lanes[0];
  const rules = chosen?.rules ?? [];
  return html`
    <section class="panel" aria-labelledby="code-title">
      <h2 id="code-title">Code</h2>
      <label class="inline">
        <span>for</span>
        <select @change=${(event: Event) => {
          desk.codeLane = Number((event.target as HTMLSelectElement).value);
          desk.refresh();
        }}>
          ${lanes.map(
            (each, index) =>
              html`<option value=${index} ?selected=${each === chosen}>${each.rules.map(title).join(" and ")}</option>`,
          )}
        </select>
      </label>
      ${codeBlocks(desk, rules, "lane")}
    </section>
  `;
}

/** A lane's rules as a program and as commands, each with a button that copies it. */
export function codeBlocks(desk: Desk, rules: readonly Rule[], id: string): TemplateResult {
  const blocks = [
    ["TypeScript", typescript(rules)],
    ["Commands", commands(rules, fingerprintOf(rules))],
  ] as const;
  return html`
    <div class="code">
      ${blocks.map(
        ([name, code]) => html`
          <figure>
            <figcaption>
              ${name}
              <button type="button" aria-label="Copy ${name}, ${id}" @click=${(event: Event) => void copy(desk, event, code)}>Copy</button>
            </figcaption>
            <pre tabindex="0" aria-label="${name}, ${id}"><code>${code}</code></pre>
          </figure>
        `,
      )}
    </div>
  `;
}

/** The fingerprint that the engine gives the policy; none when the rules need no policy. */
function fingerprintOf(rules: readonly Rule[]): string {
  const policy = callsFor(rules, "api").setUp.find(([name]) => name === "VALVE.DEFINE");
  if (policy === undefined) return "";
  const engine = new Engine();
  try {
    return String(engine.command(...policy));
  } finally {
    engine.close();
  }
}

/** Copies text, and says on the button for a while, and to screen readers, whether that worked. */
export async function copy({ playground }: Desk, event: Event, text: string): Promise<void> {
  const button = event.target as HTMLButtonElement;
  // Kept at the first press: at a second one soon after, the button still says what became of the first.
  button.dataset["words"] ??= button.textContent;
  const words = button.dataset["words"];
  const copied = await toClipboard(text);
  playground.say(
    copied ? "Copied." : "The browser doesn’t let this page copy. Select the code, or the page’s address, and copy it.",
  );
  button.textContent = copied ? "Copied" : "Can’t copy";
  setTimeout(() => {
    button.textContent = words;
  }, 1200);
}

/** Whether the browser took the text: there is no clipboard on plain `http:`, and people may have denied it. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
