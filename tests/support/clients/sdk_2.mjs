// The official TypeScript client, version 2: node sdk_2.mjs http URL | stdio COMMAND ARGUMENT...
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { journey } from "./journey.mjs";

const [kind, command, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "journey", version: "1" },
  { versionNegotiation: { mode: "auto" } },
);
await client.connect(
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args, stderr: "ignore" }),
);
await journey(client, (name, given) => client.callTool({ name, arguments: given }));
await client.close();
