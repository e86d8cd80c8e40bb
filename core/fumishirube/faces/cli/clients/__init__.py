"""The configuration files of MCP clients: where they are, and how a server is named in them."""
