import { invalidArgument, utf8Length } from "../arguments.ts";
import type { Command } from "../reply.ts";

const encoder = new TextEncoder();

/** Text in UTF-8. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Commands as RESP bytes: each an array of bulk strings, one after the other. */
export function encodeCommands(commands: readonly Command[]): Uint8Array {
  const wire = encodeWire(commands);
  return typeof wire === "string" ? encodeText(wire) : wire;
}

/** Commands as RESP: text, or bytes where an argument is bytes. */
export function encodeWire(commands: readonly Command[]): string | Uint8Array {
  const parts: (string | Uint8Array)[] = [];
  let text = "";
  for (const command of commands) {
    text += `*${command.length}\r\n`;
    for (let index = 0; index < command.length; index++) {
      const argument = command[index];
      const value = argumentText(index, argument);
      if (typeof value === "string") {
        // Each digit is one byte.
        const bytes = typeof argument === "number" ? value.length : utf8Length(value);
        text += `$${bytes}\r\n${value}\r\n`;
      } else {
        parts.push(`${text}$${value.length}\r\n`, value);
        text = "\r\n";
      }
    }
  }
  if (parts.length === 0) return text;
  parts.push(text);
  return concatenated(parts.map((part) => (typeof part === "string" ? encodeText(part) : part)));
}

/** An argument as it is sent. Throws for anything that has no one spelling. */
export function argumentText(index: number, argument: unknown): string | Uint8Array {
  if (typeof argument === "string" && argument.isWellFormed()) return argument;
  if (typeof argument === "number" && Number.isFinite(argument)) return decimal(argument);
  if (typeof argument === "bigint") return String(argument);
  if (argument instanceof Uint8Array) return argument;
  throw invalidArgument(
    `argument ${index}`,
    argument,
    "text without lone surrogates, a finite number, a bigint or bytes",
  );
}

/** A number without an exponent, as far as JavaScript shows it exactly; commands know no exponents. */
export function decimal(value: number): string {
  return String(Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value);
}

function concatenated(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
