"""The configuration files of MCP clients, and the entry of a server in them."""
