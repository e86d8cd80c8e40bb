"""Traces of past searches: stored, exported, compared, and explained."""
