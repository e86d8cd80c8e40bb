"""What the surface ``chapters`` offers, and does when it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

from fumishirube import ConfigError, Contented, Desk, Tool
from fumishirube_chapters.find_exceptions import find_exceptions_tool
from fumishirube_chapters.get_section import get_section_tool
from fumishirube_chapters.get_toc import get_toc_tool
from fumishirube_chapters.library import Library
from fumishirube_chapters.list_manuals import list_manuals_tool
from fumishirube_chapters.list_sections import list_sections_tool
from fumishirube_chapters.resolve_reference import resolve_reference_tool
from fumishirube_chapters.scope import Reader
from fumishirube_chapters.search_text import search_text_tool
from fumishirube_chapters.settings import EXCEPTIONS, MODES, Keeping, Reading
from fumishirube_chapters.shelf import Shelf


def tools(
    desk: Desk, reader: Reader, *, max_results: int, resolve_reference: bool
) -> Sequence[Tool[Any, Any]]:
    """Return the tools, in the order in which a client meets them."""
    scorers = {mode: desk.scorer(mode) for mode in MODES}
    further = (resolve_reference_tool(reader),) if resolve_reference else ()
    return (
        list_manuals_tool(reader.library),
        get_toc_tool(reader.library),
        list_sections_tool(reader.library),
        get_section_tool(reader),
        search_text_tool(reader, scorers, max_results),
        find_exceptions_tool(reader, desk.scorer(EXCEPTIONS)),
        *further,
    )


@contextmanager
def validated(reader: Reader) -> Iterator[None]:
    """Look through all manuals once, beside the calls, and log what is wrong."""
    Thread(target=reader.validate, name="fumishirube validation", daemon=True).start()
    yield


def reader(desk: Desk, reading: Callable[[], Reading], keeping: Keeping) -> Reader:
    """Return the one reader of a desk, which the tools and what goes on beside them share."""

    def made() -> Reader:
        loader = _contented(desk)
        library = Library(desk.root, loader, reading())
        return Reader(library, Shelf(loader, keeping))

    return desk.keep("reader", made)


def _contented(desk: Desk) -> Contented:
    for loader in desk.loaders():
        if isinstance(loader, Contented):
            return loader
    raise ConfigError("pipelines.chapters.loaders: one that reads tables of contents is needed")
