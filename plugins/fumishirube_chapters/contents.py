"""``list_manuals``, ``get_toc`` and ``list_sections``: the manuals, and what each is made of."""

from typing import Annotated

from pydantic import Field, JsonValue

from fumishirube import Answer, Call, Chapter, Params, Tool
from fumishirube_chapters.arguments import ManualNameParams, SparseAnswer
from fumishirube_chapters.library import ChapterLibrary


class ListManualsParams(Params):
    """No arguments."""


class ListManualsAnswer(Answer):
    """The names of the manuals, sorted."""

    manuals: tuple[str, ...]


def list_manuals_tool(library: ChapterLibrary) -> Tool[ListManualsParams, ListManualsAnswer]:
    """Return the tool."""

    def run(_params: ListManualsParams, _call: Call) -> ListManualsAnswer:
        return ListManualsAnswer(manuals=tuple(library.manuals()))

    return Tool(
        name="list_manuals",
        title="List manuals",
        summary=(
            "List the names of all manuals. Call it first. Next: get_toc with one of the names. "
            "Costs a few tokens a manual."
        ),
        params=ListManualsParams,
        answer=ListManualsAnswer,
        run=run,
        pages="manuals",
        http=("GET", "/list_manuals"),
        http_body="manuals",
    )


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
        pages="toc",
        http=("GET", "/get_toc"),
        examples=({"manual_name": "給付金編"},),
    )


def _entry(chapter: Chapter, *, deep: bool) -> TocEntry:
    more = {"children": chapter.children} if deep else {}
    return TocEntry(id=chapter.id, title=chapter.title, file=chapter.file, **more)


class ListSectionsAnswer(Answer):
    """The ids in the order of the table of contents."""

    manual: str
    sections: tuple[str, ...]


def list_sections_tool(library: ChapterLibrary) -> Tool[ManualNameParams, ListSectionsAnswer]:
    """Return the tool."""

    def run(params: ManualNameParams, _call: Call) -> ListSectionsAnswer:
        contents = library.manual(params.manual_name).contents
        ids = tuple(chapter.id for chapter in contents.chapters)
        return ListSectionsAnswer(manual=params.manual_name, sections=ids)

    return Tool(
        name="list_sections",
        title="List chapters",
        summary=(
            "List the ids of all chapters of one manual, without their titles; get_toc tells "
            "those too. Costs a few tokens a chapter."
        ),
        params=ManualNameParams,
        answer=ListSectionsAnswer,
        run=run,
        pages="sections",
        http=("GET", "/list_sections"),
        examples=({"manual_name": "給付金編"},),
    )
