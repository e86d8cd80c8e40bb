"""Scorers: query to hits."""
