"""Grep: the lines that contain a text or match a pattern, in pages, groups and counts."""
