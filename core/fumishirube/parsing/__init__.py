"""Parsers of other people's files: run in a process apart, with limits, and what they give back."""

from fumishirube.parsing.isolated_loader import IsolatedLoader, ParsedLoader
from fumishirube.places import Place, PlaceRange, lines_of, place_at, place_range

__all__ = [
    "IsolatedLoader",
    "ParsedLoader",
    "Place",
    "PlaceRange",
    "lines_of",
    "place_at",
    "place_range",
]
