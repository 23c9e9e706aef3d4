// The ceiling of Node's `net`: counts the commands that came, reads nothing in them, and answers all alike.

import { createServer } from "node:net";

/** As long as a decision's reply. */
const REPLY = "*5\r\n:0\r\n:1000000\r\n:999999\r\n:-1\r\n:1\r\n";
const replies: Buffer[] = [];
const STAR = 0x2a;

createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("data", (bytes) => {
    let commands = 0;
    for (let at = bytes.indexOf(STAR); at >= 0; at = bytes.indexOf(STAR, at + 1)) commands++;
    let reply = replies[commands];
    if (reply === undefined) {
      reply = Buffer.from(REPLY.repeat(commands));
      replies[commands] = reply;
    }
    socket.write(reply);
  });
  socket.on("error", () => socket.destroy());
}).listen(Number(process.argv[2]), "127.0.0.1");
