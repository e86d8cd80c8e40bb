"""``get_toc``: returns the table of contents of a manual."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from fumishirube import Answer, Call, Chapter, Tool
from fumishirube_chapters.arguments import ManualNameParams, SparseAnswer
from fumishirube_chapters.failures import refused
from fumishirube_chapters.library import ChapterLibrary


class GetTocParams(ManualNameParams):
    """The manual, and whether to give what its table of contents has inside chapters."""

    hierarchical: Annotated[
        bool,
        Field(description="Add the 'children' that 00_目次.json lists for a chapter, else null."),
    ] = False


class TocEntry(SparseAnswer):
    """A chapter."""

    id: str
    title: str
    file: str
    children: list[JsonValue] | None = None


class GetTocAnswer(Answer):
    """The chapters of a manual in order."""

    manual: str
    toc: tuple[TocEntry, ...]


def get_toc_tool(library: ChapterLibrary) -> Tool[GetTocParams, GetTocAnswer]:
    """Return the tool."""

    def run(params: GetTocParams, _call: Call) -> GetTocAnswer:
        contents = library.manual(params.manual_name).contents
        entries = (_entry(chapter, deep=params.hierarchical) for chapter in contents.chapters)
        return GetTocAnswer(manual=params.manual_name, toc=tuple(entries))

    return Tool(
        name="get_toc",
        title="Table of contents",
        summary=(
            "Give the table of contents of one manual: id, title and file of every chapter. Next: "
            "get_section with an id, or search_text. Costs about 40 tokens a chapter."
        ),
        params=GetTocParams,
        answer=GetTocAnswer,
        run=run,
        refused=refused,
        pages="toc",
        http=("GET", "/get_toc"),
        examples=({"manual_name": "給付金編"},),
    )


def _entry(chapter: Chapter, *, deep: bool) -> TocEntry:
    if deep:
        children = chapter.children
        return TocEntry(id=chapter.id, title=chapter.title, file=chapter.file, children=children)
    return TocEntry(id=chapter.id, title=chapter.title, file=chapter.file)
