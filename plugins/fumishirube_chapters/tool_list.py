"""The tools of the surface ``chapters``, and the reader that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import Any

from fumishirube import ConfigError, ContentsLoader, SurfaceContext, Tool
from fumishirube_chapters.cache import ChapterCache
from fumishirube_chapters.contents import get_toc_tool, list_manuals_tool, list_sections_tool
from fumishirube_chapters.failures import refused
from fumishirube_chapters.find_exceptions import find_exceptions_tool
from fumishirube_chapters.get_section import get_section_tool
from fumishirube_chapters.library import ChapterLibrary
from fumishirube_chapters.projection_store import ProjectionStore
from fumishirube_chapters.reader import ChapterReader
from fumishirube_chapters.resolve_reference import resolve_reference_tool
from fumishirube_chapters.search_text import search_text_tool
from fumishirube_chapters.surface import EXCEPTIONS, MODES, ChaptersSurface


def tools(context: SurfaceContext, surface: ChaptersSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools, in the order in which clients list them."""
    shared = reader(context, surface)
    scorers = {mode: context.scorer(mode) for mode in MODES}
    made: tuple[Tool[Any, Any], ...] = (
        list_manuals_tool(shared.library),
        get_toc_tool(shared.library),
        list_sections_tool(shared.library),
        get_section_tool(shared),
        search_text_tool(shared, scorers, surface.max_results),
        find_exceptions_tool(shared, context.scorer(EXCEPTIONS)),
        resolve_reference_tool(shared, mcp=surface.resolve_reference),
    )
    return [replace(tool, refused=refused) for tool in made]


@contextmanager
def validated(reader: ChapterReader) -> Iterator[None]:
    """Validate all manuals once, in a thread, and log what is wrong."""
    Thread(target=reader.validate, name="fumishirube validation", daemon=True).start()
    yield


def reader(context: SurfaceContext, surface: ChaptersSurface) -> ChapterReader:
    """Return the one reader of a context, shared by its tools and the validation."""

    def made() -> ChapterReader:
        loader = _contents_loader(context)
        library = ChapterLibrary(context.root, loader, surface.locations(context))
        folder, name = surface.projections_file(context)
        store = ProjectionStore(folder, name, named=surface.cache_file is not None)
        chapters, seconds = surface.max_sections_in_memory, surface.section_ttl_seconds
        return ChapterReader(library, ChapterCache(loader, store, chapters, seconds))

    return context.keep("reader", made)


def _contents_loader(context: SurfaceContext) -> ContentsLoader:
    for loader in context.loaders():
        if isinstance(loader, ContentsLoader):
            return loader
    raise ConfigError("add a loader that reads tables of contents", at="pipelines.chapters.loaders")
