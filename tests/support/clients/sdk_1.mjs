// The official TypeScript SDK, version 1: node sdk_1.mjs http URL | stdio COMMAND ARGUMENT...
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { journey } from "./journey.mjs";

const [kind, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "journey", version: "1" });
await client.connect(
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args, stderr: "ignore" }),
);
await journey(client, (name, given) => client.callTool({ name, arguments: given }));
await client.close();
