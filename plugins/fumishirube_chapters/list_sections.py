"""``list_sections``: lists the ids of a manual's chapters."""

from __future__ import annotations

from fumishirube import Answer, Call, Tool
from fumishirube_chapters.arguments import ManualNameParams
from fumishirube_chapters.failures import refused
from fumishirube_chapters.library import ChapterLibrary


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
        refused=refused,
        pages="sections",
        http=("GET", "/list_sections"),
        examples=({"manual_name": "給付金編"},),
    )
