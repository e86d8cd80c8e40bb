"""Places of lines such as pages, their pictures, and processes in which files are parsed."""

from fumishirube.parsing.idle_processes import IdleProcesses, WorkerProcess
from fumishirube.parsing.loading import TextCache, report_pages
from fumishirube.parsing.pictures import PagePictures, PageView, Picture, PictureLoader
from fumishirube.parsing.records import document_of, document_record
from fumishirube.parsing.worker import Channel
from fumishirube.places import Place, PlaceRange, lines_of, place_at, place_range

__all__ = [
    "Channel",
    "IdleProcesses",
    "PagePictures",
    "PageView",
    "Picture",
    "PictureLoader",
    "Place",
    "PlaceRange",
    "TextCache",
    "WorkerProcess",
    "document_of",
    "document_record",
    "lines_of",
    "place_at",
    "place_range",
    "report_pages",
]
