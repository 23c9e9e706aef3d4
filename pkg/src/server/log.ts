/**
 * The server's log: one JSON object a line for machines, or one sentence a line for people.
 */
export interface Log {
  /** Something that is as it should be. */
  info(event: string, fields?: LogFields): void;
  /** Something that a person should look at. */
  warn(event: string, fields?: LogFields): void;
}

/** What a log line says beside its event. */
export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** How lines are written. */
export type LogFormat = "json" | "text";

/** A log that writes to `write`, stamped by `clock`. */
export function createLog(format: LogFormat, write: (line: string) => void, clock: () => number = Date.now): Log {
  const line = (level: "info" | "warn", event: string, fields: LogFields = {}) => {
    const time = new Date(clock()).toISOString();
    if (format === "json") {
      write(`${JSON.stringify({ time, level, event, ...fields })}\n`);
      return;
    }
    const details = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`);
    write(`${time} ${level === "warn" ? "warning: " : ""}${event}${details.join("")}\n`);
  };
  return {
    info: (event, fields) => line("info", event, fields),
    warn: (event, fields) => line("warn", event, fields),
  };
}

/** A log that says nothing. */
export const silent: Log = { info() {}, warn() {} };
