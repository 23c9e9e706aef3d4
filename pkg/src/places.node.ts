import { invalidArgument } from "./arguments.ts";
import { places } from "./places.ts";
import "./socket.node.ts";
import { FileTransport, filePath } from "./transports/file.ts";

// Node, and the runtimes that have its modules.
places.file = (url, options) => {
  const path = filePath(url);
  if (options.maxKeys !== undefined) throw invalidArgument("maxKeys", options.maxKeys, "left out with file:");
  return () => ({ transport: new FileTransport(path, options) });
};
