import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundle, Workerd } from "../workerd/workerd.ts";
import { root } from "./install.ts";
import type { Place } from "./runtime.ts";

/** What clients over the network talk to: the built Worker, and the server of the package that is installed. */
export interface Services extends Required<Pick<Place, "worker" | "server">> {
  close(): Promise<void>;
}

/** Starts both; pages of `origin` may call the Worker. */
export async function startServices(temporary: string, folder: string, origin: string): Promise<Services> {
  const token = "matrix-token";
  const password = "matrix-password";
  const workerd = await Workerd.start({
    folder: await bundle(join(root, "build/worker/index.js"), join(temporary, "worker")),
    storage: join(temporary, "worker-storage"),
    classes: { TIDEGATE: "TidegateObject" },
    variables: { TIDEGATE_TOKEN: token, TIDEGATE_ALLOWED_ORIGIN: origin, TIDEGATE_MAX_LIMITERS: "10000" },
  });
  const installed = pathToFileURL(join(folder, "node_modules/tidegate/dist/server/index.js")).href;
  const { openHost, serve }: typeof import("tidegate/server") = await import(installed);
  const server = await serve(openHost({}), { port: 0, password });
  return {
    worker: { url: workerd.url, token },
    server: { url: `hotkv://127.0.0.1:${server.port}`, password },
    async close() {
      // First, since it would outlive this process.
      await workerd.remove();
      await server.close();
    },
  };
}
