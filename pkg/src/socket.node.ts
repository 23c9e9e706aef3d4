import { places } from "./places.ts";
import { SocketTransport } from "./transports/socket.ts";

// Node, and the runtimes that have its modules.
places.socket = (url, options) => () => ({ transport: new SocketTransport(url, options) });
