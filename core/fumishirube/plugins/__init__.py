"""Plugins: the hooks, the registry, and how installed plugins are discovered."""
