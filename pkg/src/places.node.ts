import { invalidArgument } from "./arguments.ts";
import { setPlaces } from "./places.ts";
import { FileTransport, filePath } from "./transports/file.ts";
import { SocketTransport } from "./transports/socket.ts";

// Node, and the runtimes that have its modules.
setPlaces({
  file: (url, options) => {
    const path = filePath(url);
    if (options.maxKeys !== undefined) throw invalidArgument("maxKeys", options.maxKeys, "left out with file:");
    return () => ({ transport: new FileTransport(path, options) });
  },
  socket: (url, options) => () => ({ transport: new SocketTransport(url, options) }),
});
