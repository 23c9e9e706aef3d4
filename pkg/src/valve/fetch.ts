import { parseRateLimit } from "../http/headers.ts";
import type { Rate } from "./policy.ts";
import type { FetchInit, JobContext, RunOptions, ValveEvents } from "./types.ts";

type Scope = { readonly scope?: Readonly<Record<string, string>> };

/** What a paced `fetch` needs of its valve. */
export interface Turns {
  /** Runs a job in its turn; one that comes back has the place that it had. */
  run<T>(job: (context: JobContext) => Promise<T>, options: RunOptions<Rate>): Promise<T>;
  pause(ms: number, options: Scope): void;
  tell(event: ValveEvents["pushedBack"]): void;
}

/** Sends a request in its turn, and again when the server asks for that. */
export async function pacedFetch<R extends Rate>(
  turns: Turns,
  input: RequestInfo | URL,
  init: FetchInit<R> & { readonly retries: number },
): Promise<Response> {
  const {
    cost,
    scope,
    priority,
    maxWaitMs,
    retries,
    signal = of(input)?.signal,
    ...rest
  } = init as FetchInit<Rate> & { readonly retries: number };
  const hint = typeof priority === "string" ? { priority } : {};
  const job = {
    ...(cost === undefined ? {} : { cost }),
    ...(scope && { scope }),
    ...(typeof priority === "number" ? { priority } : {}),
    ...(signal && { signal }),
  };
  let waited = 0;
  for (let attempt = 0; ; attempt++) {
    // What is no number is for `run` to refuse.
    const stays = typeof maxWaitMs === "number" ? Math.max(0, maxWaitMs - waited) : maxWaitMs;
    const left = stays === undefined ? {} : { maxWaitMs: stays };
    let response: Response;
    try {
      response = await turns.run(
        ({ signal, waitedMs }) => {
          waited += waitedMs;
          return fetch(input, { ...rest, ...hint, signal });
        },
        { ...job, ...left },
      );
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
    const { status } = response;
    const pushedBack = status === 429 || status === 503;
    const retryAfterMs = asked(response, pushedBack) ?? (pushedBack ? 1000 * 2 ** attempt : 0);
    // A server may ask for longer than there are numbers; it gets what there is.
    if (retryAfterMs > 0) turns.pause(Math.min(retryAfterMs, Number.MAX_SAFE_INTEGER), scope ? { scope } : {});
    if (!pushedBack) return response;
    const stopped =
      attempt >= retries
        ? "retries"
        : isStream(init.body ?? of(input)?.body)
          ? "body"
          : maxWaitMs !== undefined && retryAfterMs > maxWaitMs - waited
            ? "maxWaitMs"
            : undefined;
    turns.tell({ status, retryAfterMs, ...(stopped && { stopped }) });
    if (stopped) return response;
    // What nobody reads would keep its connection.
    await response.body?.cancel().catch(() => {});
  }
}

/** How long the server asks to be left alone: until what is used up comes back, and as long as `Retry-After` says. */
function asked(response: Response, pushedBack: boolean): number | undefined {
  // A date is told by the server's own clock, which may not be ours.
  const sent = Date.parse(response.headers.get("Date") ?? "");
  const { states, retryAfterMs } = parseRateLimit(response, Number.isNaN(sent) ? Date.now() : sent);
  // A quota that is used up and does not say when it comes back is no reason to come back at once.
  const waits = states.flatMap(({ remaining, resetSeconds }) =>
    remaining === 0 && resetSeconds !== undefined ? [resetSeconds * 1000] : [],
  );
  if (pushedBack && retryAfterMs !== undefined) waits.push(retryAfterMs);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function of(input: RequestInfo | URL): Request | undefined {
  return typeof input === "object" && "body" in input ? input : undefined;
}

/** Whether a body can be read only once. */
function isStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && (body instanceof ReadableStream || Symbol.asyncIterator in body);
}
