"""The tools over manuals, a module a tool."""
