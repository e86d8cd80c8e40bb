"""``list_manuals``: lists the manuals."""

from __future__ import annotations

from fumishirube import Answer, Call, Params, Tool
from fumishirube_chapters.failures import refused
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
        refused=refused,
        pages="manuals",
        http=("GET", "/list_manuals"),
        http_body="manuals",
    )
