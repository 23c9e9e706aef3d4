import { setSocket } from "./client.ts";
import { SocketTransport } from "./transports/socket.ts";

setSocket((url, options) => ({ transport: new SocketTransport(url, options) }));

export * from "./client.ts";
