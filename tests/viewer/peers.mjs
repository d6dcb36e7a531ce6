// peers.mjs PORT EVERY TICK: the session at that port as @foxglove/ws-protocol receives it, up to that tick:
// {topics: {topic: type}, messages: {topic: [[log time, message as @foxglove/rosmsg2-serialization decodes it], ...]}}.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { FoxgloveClient } = require("@foxglove/ws-protocol");
const { parse } = require("@foxglove/rosmsg");
const { MessageReader } = require("@foxglove/rosmsg2-serialization");
const { WebSocket } = require("ws");

const [port, every, last] = process.argv.slice(2);
const client = new FoxgloveClient({ ws: new WebSocket(`ws://127.0.0.1:${port}/?every=${every}`, ["foxglove.sdk.v1"]) });
const topics = {}, messages = {}, channels = new Map();

function plain(_, value) {
  return typeof value === "bigint" ? Number(value) : ArrayBuffer.isView(value) ? [...value] : value;
}

function end() {
  process.stdout.write(JSON.stringify({ topics, messages }, plain), () => process.exit(0));
}

client.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
client.on("advertise", (list) => {
  for (const channel of list) {
    const reader = new MessageReader(parse(channel.schema, { ros2: true }));
    topics[channel.topic] = channel.schemaName;
    messages[channel.topic] = [];
    channels.set(client.subscribe(channel.id), { topic: channel.topic, reader });
  }
});
let ended = false;
client.on("message", (event) => {
  if (ended) {
    return;
  }
  const { topic, reader } = channels.get(event.subscriptionId);
  const message = reader.readMessage(event.data);
  messages[topic].push([String(event.timestamp), message]);
  if (topic === "/tact/tick" && message.tick >= BigInt(last)) {
    ended = true;
    end();
  }
});
