"""Reload of configuration and plugins while tools are served, without ending a session."""
