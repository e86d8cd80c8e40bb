"""The built-in stages, offered through the same entry point and hooks as anybody else's."""
