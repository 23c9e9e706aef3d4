import { clientClosed, HotKVError } from "../errors.ts";
import type { Command, Reply } from "../reply.ts";
import { decodeReplies } from "../resp/decode.ts";
import { encodeWire } from "../resp/encode.ts";
import type { Transport } from "../transport.ts";

/** How a Worker is asked. */
export interface HttpOptions {
  /** The Worker's token. */
  readonly token?: string | undefined;
  /** Milliseconds to wait for an answer; 5,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** `https://HOST`: a Tidegate Worker, asked with `fetch`. The commands of one call travel as one request. */
export class HttpTransport implements Transport {
  readonly #endpoint: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #closed = new AbortController();

  constructor(url: string, { token, timeoutMs = 5000 }: HttpOptions = {}) {
    this.#endpoint = new URL("v1/resp", url.endsWith("/") ? url : `${url}/`).href;
    this.#headers = {
      "content-type": "application/octet-stream",
      ...(token && { authorization: `Bearer ${token}` }),
    };
    this.#timeoutMs = timeoutMs;
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const body = encodeWire(commands) as string | Uint8Array<ArrayBuffer>;
    let response: Response;
    let bytes: Uint8Array;
    try {
      const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#timeoutMs)]);
      response = await fetch(this.#endpoint, { method: "POST", headers: this.#headers, body, signal });
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (cause) {
      if (this.#closed.signal.aborted) throw clientClosed();
      const { name, cause: below } = cause as Error & { readonly cause?: NodeJS.ErrnoException };
      // Node says "fetch failed", and below it why.
      const why = name === "TimeoutError" ? `none within ${this.#timeoutMs} ms` : (below?.code ?? cause);
      throw new HotKVError("STORE_UNAVAILABLE", `no answer from ${this.#endpoint}: ${why}`, { cause, retryable: true });
    }
    if (!response.ok) throw refusal(response, bytes);
    const replies = decodeReplies(bytes);
    if (replies.length === commands.length) return replies;
    throw new HotKVError("STORE_UNAVAILABLE", `${replies.length} replies came to ${commands.length} commands`);
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }
}

/** What an HTTP error says, which is a problem document. */
function refusal(response: Response, body: Uint8Array): HotKVError {
  const { status } = response;
  let detail = response.statusText;
  try {
    const problem: { readonly detail?: unknown } | null = JSON.parse(new TextDecoder().decode(body));
    detail = String(problem?.detail ?? detail);
  } catch {
    // Not from a Worker of ours; the status has to do.
  }
  if (status === 401 || status === 403) return new HotKVError("NOAUTH", `NOAUTH ${detail}`);
  const retryable = status >= 500 || status === 429;
  return new HotKVError("STORE_UNAVAILABLE", `the Worker answered ${status}: ${detail}`, { retryable });
}
