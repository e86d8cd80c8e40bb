"""Indexes: they keep sections and answer weighted-term queries."""
