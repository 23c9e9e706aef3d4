import type { Call } from "../rule/calls.ts";

/** A Tidegate Worker, asked with one request a command. */
export interface Remote {
  /** The reply, as JSON. Throws with the Worker's own words when it refuses. */
  send(call: Call): Promise<unknown>;
}

/** The Worker at `url`, with its token when it wants one. */
export function remote(url: string, token: string): Remote {
  const endpoint = new URL("v1/command", url.endsWith("/") ? url : `${url}/`);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== "") headers["authorization"] = `Bearer ${token}`;
  return {
    async send(call) {
      const body = JSON.stringify(call);
      const response = await fetch(endpoint, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
      const answer: unknown = await response.json().catch(() => ({}));
      const { result, error, detail } = answer as { result?: unknown; error?: unknown; detail?: unknown };
      if (result !== undefined) return result;
      throw new Error(String(error ?? detail ?? `the Worker answered ${response.status} ${response.statusText}`));
    },
  };
}
