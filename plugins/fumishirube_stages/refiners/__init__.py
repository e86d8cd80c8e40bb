"""Refiners: reorder or shorten a ranking."""
