"""A plugin that registers nothing: its author forgot the hook."""
