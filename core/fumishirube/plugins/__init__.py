"""Plugins: hooks, discovery and registry."""
