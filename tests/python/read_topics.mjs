// Topics of an MCAP file as @mcap/core reads them: {topic: [type, messages, first, last log time]}.
import { open } from "node:fs/promises";
import { McapIndexedReader } from "@mcap/core";
import { decompress } from "fzstd";

const file = await open(process.argv[2]);
const readable = {
  size: async () => BigInt((await file.stat()).size),
  read: async (offset, size) => {
    const data = new Uint8Array(Number(size));
    await file.read(data, 0, data.length, Number(offset));
    return data;
  },
};
const decompressHandlers = { zstd: (data) => decompress(data) };
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
const topics = {};
for (const channel of reader.channelsById.values()) {
  topics[channel.topic] = [reader.schemasById.get(channel.schemaId).name, 0, "0", "0"];
}
for await (const message of reader.readMessages({ validateCrcs: true })) {
  const topic = topics[reader.channelsById.get(message.channelId).topic];
  if (topic[1]++ === 0) {
    topic[2] = String(message.logTime);
  }
  topic[3] = String(message.logTime);
}
console.log(JSON.stringify(topics));
