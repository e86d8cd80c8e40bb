"""The built-in stages. A process that reads files for an index imports only some of them."""
