"""``resolve_reference``: resolves a reference such as 「第3章を参照」 to a chapter."""

from collections.abc import Collection
from functools import lru_cache, partial
from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, Tool, ToolError
from fumishirube.text import NORMAL, References
from fumishirube_chapters.arguments import EMPTY_IS_MISSING, ManualNameParams
from fumishirube_chapters.cache import OpenChapter
from fumishirube_chapters.library import ChapterManual
from fumishirube_chapters.reader import ChapterReader


class ResolveReferenceParams(ManualNameParams):
    """The text of the reference, and its chapter."""

    ref_text: Annotated[
        str, Field(max_length=2000, description="For example 第3章を参照."), EMPTY_IS_MISSING
    ]
    section_id: Annotated[
        str | None, Field(description="The chapter where the reference stands, for 前章 and such.")
    ] = None


class ReferenceCandidate(Answer):
    """A possible target, and the rule that found it."""

    section_id: str
    title: str
    rule: Literal["number", "id", "child", "parent", "heading", "label", "relative", "title"]


class ResolveReferenceAnswer(Answer):
    """The target, if there is exactly one, and all candidates."""

    manual: str
    ref_text: str
    target_section: str | None
    candidates: tuple[ReferenceCandidate, ...]


def resolve_reference_tool(
    reader: ChapterReader, *, mcp: bool
) -> Tool[ResolveReferenceParams, ResolveReferenceAnswer]:
    """Return the tool, which ``mcp`` clients see too."""

    def run(params: ResolveReferenceParams, _call: Call) -> ResolveReferenceAnswer:
        manual = reader.library.manual(params.manual_name)
        if params.section_id is not None:
            manual.chapter(params.section_id)
        references = References((item.id, item.title) for item in manual.by_id.values())
        opened: list[OpenChapter] = []
        sections = lru_cache(maxsize=None)(partial(_sections, reader, manual, opened))
        resolved = references.resolve(params.ref_text, params.section_id, sections)
        reader.save(manual, opened)
        return ResolveReferenceAnswer(
            manual=params.manual_name,
            ref_text=params.ref_text,
            target_section=resolved.target,
            candidates=tuple(
                ReferenceCandidate(section_id=item.id, title=item.title, rule=item.rule)
                for item in resolved.candidates
            ),
        )

    return Tool(
        name="resolve_reference",
        title="Follow a reference",
        summary=(
            "Tell which chapter a reference such as 第3章を参照 or 別表1 points to. Pass "
            "section_id for 前章 and 次章. Next: get_section with target_section. Costs about 100 "
            "tokens."
        ),
        params=ResolveReferenceParams,
        answer=ResolveReferenceAnswer,
        run=run,
        http=("POST", "/resolve_reference"),
        mcp=mcp,
        examples=({"manual_name": "給付金編", "ref_text": "第3章を参照"},),
    )


def _sections(
    reader: ChapterReader, manual: ChapterManual, opened: list[OpenChapter], section_id: str
) -> Collection[str]:
    """Return the section numbers of a chapter, added to ``opened``; empty if it is unreadable."""
    try:
        chapter = reader.open(manual, manual.chapter(section_id))
    except ToolError:
        return ()
    opened.append(chapter)
    return References.section_numbers(chapter.form(NORMAL).text)
