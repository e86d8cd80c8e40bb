"""The answers of the tools without extras: the keys of the contract alone, in their schemas too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pydantic import create_model

from fumishirube import Answer, Call, Params, Tool
from fumishirube_manual.tools.find_answers import FindAnswer, InlinePage
from fumishirube_manual.tools.ls import ManualLsAnswer
from fumishirube_manual.tools.read import ManualReadAnswer
from fumishirube_manual.tools.scan import ManualScanAnswer
from fumishirube_manual.tools.toc import TocAnswer, TocHeading, TocItem


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
