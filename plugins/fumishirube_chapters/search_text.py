"""``search_text``: finds the chapters that contain a text or match a pattern."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fumishirube import Answer, Call, Hit, Query, Scorer, Tool
from fumishirube.text import LOOSE, TextRange, form_of
from fumishirube_chapters.arguments import (
    EMPTY_IS_MISSING,
    ManualNameParams,
    OptionalSection,
    SparseAnswer,
    Unsearched,
)
from fumishirube_chapters.reader import ChapterReader
from fumishirube_chapters.surface import MOST_RESULTS

Mode = Literal["plain", "regex", "loose"]

_AROUND = 80
_MATCH_SHOWN = 200


class SearchTextParams(ManualNameParams):
    """The query, the scope and the mode."""

    query: Annotated[str, Field(max_length=1000, description="What to look for."), EMPTY_IS_MISSING]
    section_id: OptionalSection = None
    mode: Annotated[
        Mode,
        Field(
            description="plain: as it is; regex: a regular expression; loose: whatever blanks, "
            "middle dots, slashes and hyphens stand between the characters."
        ),
    ] = "regex"
    limit: Annotated[
        int, Field(ge=1, le=MOST_RESULTS, description="Default: what the server is set to.")
    ] = 10
    case_sensitive: bool = False

    @model_validator(mode="before")
    @classmethod
    def _separators_alone_are_missing(cls, values: dict[str, Any]) -> dict[str, Any]:
        query = values.get("query")
        if values.get("mode") == "loose" and isinstance(query, str) and not form_of(query, LOOSE):
            return {**values, "query": ""}
        return values


class SearchTextHit(Answer):
    """A chapter, and the text around its first match."""

    section_id: str
    snippet: str


class SearchTextAnswer(SparseAnswer):
    """The matching chapters; their total if some were left out; and what was not searched."""

    results: tuple[SearchTextHit, ...]
    total: int = 0
    skipped: tuple[Unsearched, ...] = ()
    skipped_total: int = 0


def search_text_tool(
    reader: ChapterReader, scorers: Mapping[str, Scorer], max_results: int
) -> Tool[SearchTextParams, SearchTextAnswer]:
    """Return the tool; ``max_results`` is the default limit."""

    def run(params: SearchTextParams, call: Call) -> SearchTextAnswer:
        limit = params.limit if "limit" in params.model_fields_set else max_results
        manual = reader.library.manual(params.manual_name)
        query = Query(params.query, case_sensitive=params.case_sensitive, budget=call.budget)
        scanned = reader.scan(manual, params.section_id, query, scorers[params.mode])
        results = tuple(
            SearchTextHit(section_id=chapter.id, snippet=snippet(opened.own, _first(hit)))
            for chapter, opened, hit in scanned.hits[:limit]
        )
        return SearchTextAnswer(results=results, **scanned.omissions(len(scanned.hits), limit))

    return Tool(
        name="search_text",
        title="Search the chapters",
        summary=(
            "Find the chapters of one manual that hold a text or a regular expression; each comes "
            "once, with the text around its first match. Use mode='loose' for scanned text. Next: "
            "get_section. Costs about 150 tokens a hit."
        ),
        params=SearchTextParams,
        answer=SearchTextAnswer,
        run=run,
        pages="results",
        http=("POST", "/search_text"),
        examples=({"manual_name": "給付金編", "query": "帝王切開", "mode": "loose"},),
    )


def _first(hit: Hit) -> TextRange:
    """Return the span of a hit; the beginning of the chapter when the scorer set none."""
    return hit.places[0] if hit.places else TextRange(0, 0)


def snippet(text: str, match: TextRange) -> str:
    """Return a match, up to 200 characters of it, with 80 characters on either side."""
    start = max(0, match.start - _AROUND)
    end = min(len(text), match.start + min(match.end - match.start, _MATCH_SHOWN) + _AROUND)
    return TextRange(start, end, start > 0, end < len(text)).shown(text)
