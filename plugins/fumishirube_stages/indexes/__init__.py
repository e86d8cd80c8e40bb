"""Indexes: they store sections and answer weighted-term queries."""
