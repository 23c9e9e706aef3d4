// Starts the Worker's WebAssembly, and starts it anew when it fails.
//
// A trap, such as running out of memory, leaves an instance that must not be called again, and a promise that never settles.
// So every way into the module is watched: a trap ends the instance, every request that waits for it gets an answer that says so,
// and the next request finds a new instance. Budgets are in storage, so none is lost.

import * as glue from "./tidegate.js";
import wasmModule from "./tidegate_bg.wasm";

/** Which instance is alive. */
let instance = 0;
let started = false;
/** How to end each request that waits. */
const waiting = new Set();

/** Runs `start` while every instance that it makes is watched. */
function watched(start) {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function WatchedInstance(compiled, imports) {
    return { exports: watch(new Instance(compiled, imports).exports, instance) };
  };
  try {
    start();
  } finally {
    WebAssembly.Instance = Instance;
  }
}

function watch(exports, mine) {
  const watched = {};
  for (const [name, value] of Object.entries(exports)) {
    watched[name] =
      typeof value !== "function"
        ? value
        : (...args) => {
            try {
              return value(...args);
            } catch (error) {
              if (error instanceof WebAssembly.RuntimeError) failed(error, mine);
              throw error;
            }
          };
  }
  return watched;
}

function failed(error, mine) {
  if (mine !== instance) return;
  instance++;
  watched(() => glue.__wbg_reset_state());
  for (const end of waiting) end(error);
  waiting.clear();
}

function start() {
  if (started) return;
  started = true;
  watched(() => glue.initSync({ module: wasmModule }));
}

/** What `call` promises, or a failure when the instance is lost meanwhile. */
function guarded(call) {
  start();
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    const done = () => waiting.delete(reject);
    try {
      call().then(
        (value) => {
          done();
          resolve(value);
        },
        (error) => {
          done();
          reject(error);
        },
      );
    } catch (error) {
      done();
      reject(error);
    }
  });
}

function unavailable(error) {
  const detail = `the engine failed and is started anew by the next call: ${error?.message ?? error}`;
  const body = JSON.stringify({ type: "about:blank", title: "Service Unavailable", status: 503, detail });
  return new Response(body, { status: 503, headers: { "content-type": "application/problem+json" } });
}

export class TidegateObject {
  #state;
  #env;
  #object;
  #instance = -1;

  constructor(state, env) {
    this.#state = state;
    this.#env = env;
  }

  async fetch(request) {
    try {
      return await guarded(() => this.#live().fetch(request));
    } catch (error) {
      return unavailable(error);
    }
  }

  async alarm() {
    await guarded(() => this.#live().alarm());
  }

  /** The object in the instance that is alive. */
  #live() {
    if (this.#instance !== instance) {
      this.#instance = instance;
      this.#object = new glue.TidegateObject(this.#state, this.#env);
    }
    return this.#object;
  }
}

export default {
  async fetch(request, env, context) {
    try {
      return await guarded(() => glue.fetch(request, env, context));
    } catch (error) {
      return unavailable(error);
    }
  },
};
