"""Surfaces: what callers may use."""
