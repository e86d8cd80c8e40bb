"""Traces of past searches: how they are stored, and why a section is no hit."""
