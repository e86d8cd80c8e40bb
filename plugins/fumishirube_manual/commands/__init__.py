"""The commands over manuals."""
