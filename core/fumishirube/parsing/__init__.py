"""Parsers of foreign file formats, isolated in limited processes, and their results."""

from fumishirube.parsing.idle_processes import IdleProcesses, WorkerProcess
from fumishirube.parsing.isolated_loader import IsolatedLoader, ParsedLoader
from fumishirube.parsing.part_texts import TextCache, cached_text, report_pages
from fumishirube.parsing.pictures import PagePictures, PageView, Picture, PictureLoader
from fumishirube.parsing.processes import ParseRequest
from fumishirube.places import Place, PlaceRange, lines_of, place_at, place_range

__all__ = [
    "IdleProcesses",
    "IsolatedLoader",
    "PagePictures",
    "PageView",
    "ParseRequest",
    "ParsedLoader",
    "Picture",
    "PictureLoader",
    "Place",
    "PlaceRange",
    "TextCache",
    "WorkerProcess",
    "cached_text",
    "lines_of",
    "place_at",
    "place_range",
    "report_pages",
]
