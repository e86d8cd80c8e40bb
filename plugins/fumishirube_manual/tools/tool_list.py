"""The tools of the surface ``manual``; without extras, with the keys of the contract alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import create_model

from fumishirube import Answer, Call, Params, SurfaceContext, Tool
from fumishirube.tools import listed
from fumishirube_manual.addressed_passages import detector_of
from fumishirube_manual.full_answer import full_tool
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.batch import batch_tool
from fumishirube_manual.tools.find import find_tool
from fumishirube_manual.tools.find_answers import FindAnswer, InlinePage
from fumishirube_manual.tools.grep import grep_tool
from fumishirube_manual.tools.hits import hits_tool
from fumishirube_manual.tools.ls import ManualLsAnswer, ls_tool
from fumishirube_manual.tools.read import ManualReadAnswer, read_tool
from fumishirube_manual.tools.scan import ManualScanAnswer, scan_tool
from fumishirube_manual.tools.toc import TocAnswer, TocHeading, TocItem, toc_tool


def tools(context: SurfaceContext, settings: ManualSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools, in the order in which clients list them."""
    if "addressed" in settings.extras:
        detector_of(context, settings)  # so that an unknown one stops the start
    every_place = (grep_tool(context, settings),) if "grep" in settings.extras else ()
    offered = listed(
        (
            ls_tool(context, settings),
            toc_tool(context, settings),
            find_tool(context, settings),
            *every_place,
            hits_tool(context, settings),
            read_tool(context, settings),
            scan_tool(context, settings),
        ),
        settings.extras,
    )
    if not settings.extras:
        return [by_contract(tool) for tool in offered]
    return [*offered, batch_tool(offered, settings)] if "batch" in settings.extras else offered


def commands(context: SurfaceContext, settings: ManualSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools for callers inside the process, independent of those offered to clients."""
    return full_tool(context, settings), grep_tool(context, settings)


def by_contract(tool: Tool[Any, Any]) -> Tool[Any, Any]:
    """Return a tool whose answers have no key of an extra."""
    answer = _answers().get(tool.answer)
    if answer is None:
        return tool

    def run(params: Params, call: Call) -> Answer:
        return answer.model_validate(tool.run(params, call).model_dump())

    return replace(tool, answer=answer, run=run)


def _answers() -> Mapping[type[Answer], type[Answer]]:
    page = _without(InlinePage, "The first page of ``integrated_top``.", ["next_offset"])
    heading: Any = _without(
        TocHeading, "One heading, and the first line of its section.", ["place"]
    )
    item: Any = _without(
        TocItem,
        "One file and its first headings; ``headings_total`` if there are more.",
        ["title", "next_cursor", "remarks"],
        headings=tuple[heading, ...],
    )
    keys = [*FindAnswer.model_fields]
    extra = keys[keys.index("answerable") :]
    return {
        ManualLsAnswer: _without(ManualLsAnswer, "The content of a folder.", ["unread_files"]),
        TocAnswer: _without(
            TocAnswer, "One page of files.", ["unread_files"], items=tuple[item, ...]
        ),
        FindAnswer: _without(FindAnswer, FindAnswer.__doc__, extra, inline_hits=page),
        ManualReadAnswer: _without(ManualReadAnswer, ManualReadAnswer.__doc__, ["addressed"]),
        ManualScanAnswer: _without(ManualScanAnswer, ManualScanAnswer.__doc__, ["addressed"]),
    }


def _without(
    answer: type[Answer], description: str | None, extra: Collection[str], **replaced: Any
) -> type[Answer]:
    """Return an answer without some keys; ``replaced`` gives other types to some that remain."""
    fields: dict[str, Any] = {
        name: (replaced.get(name, info.annotation), info)
        for name, info in answer.model_fields.items()
        if name not in extra
    }
    return create_model(answer.__name__, __base__=Answer, __doc__=description, **fields)
