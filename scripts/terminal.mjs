// How the scripts talk: plain lines, with color only where a person is looking.

const styled = process.stdout.isTTY === true && !process.env.NO_COLOR;
const style = (code) => (text) => (styled ? `\x1b[${code}m${text}\x1b[0m` : text);

export const bold = style(1);
export const dim = style(2);
export const red = style(31);
export const green = style(32);
export const cyan = style(36);

/** Says what happens next; on standard error, so that a pipe gets only what it asked for. */
export function say(text) {
  console.error(`${cyan("›")} ${text}`);
}

/** Ends the script with what is wrong and what to do about it. */
export function fail(text) {
  console.error(`${red("✗")} ${text}`);
  process.exit(1);
}

/** Milliseconds as people say them. */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
