"""Parsers of other people's files: run in a process apart, with limits, and what they give back."""

from fumishirube.parsing.idle_processes import IdleProcesses, WorkerProcess
from fumishirube.parsing.isolated_loader import IsolatedLoader, ParsedLoader
from fumishirube.places import Place, PlaceRange, lines_of, place_at, place_range

__all__ = [
    "IdleProcesses",
    "IsolatedLoader",
    "ParsedLoader",
    "Place",
    "PlaceRange",
    "WorkerProcess",
    "lines_of",
    "place_at",
    "place_range",
]
