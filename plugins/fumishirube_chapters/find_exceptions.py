"""``find_exceptions``: lists lines with exceptions and exclusions."""

from itertools import islice
from typing import Annotated

from pydantic import Field

from fumishirube import Answer, Call, Query, Scorer, Tool
from fumishirube_chapters.arguments import (
    ManualNameParams,
    OptionalSection,
    SparseAnswer,
    Unsearched,
)
from fumishirube_chapters.reader import ChapterReader


class FindExceptionsParams(ManualNameParams):
    """The scope and the limit."""

    section_id: OptionalSection = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ExceptionHit(Answer):
    """A line with an exception, and its neighbouring lines."""

    section_id: str
    text: str


class FindExceptionsAnswer(SparseAnswer):
    """The lines; their total if some were left out; and what was not searched."""

    results: tuple[ExceptionHit, ...]
    total: int = 0
    skipped: tuple[Unsearched, ...] = ()
    skipped_total: int = 0


def find_exceptions_tool(
    reader: ChapterReader, scorer: Scorer
) -> Tool[FindExceptionsParams, FindExceptionsAnswer]:
    """Return the tool; ``scorer`` has the vocabulary of exceptions."""

    def run(params: FindExceptionsParams, call: Call) -> FindExceptionsAnswer:
        manual = reader.library.manual(params.manual_name)
        query = Query("", budget=call.budget)
        scanned = reader.scan(manual, params.section_id, query, scorer)
        results = (
            ExceptionHit(section_id=chapter.id, text=place.shown(opened.own))
            for chapter, opened, hit in scanned.hits
            for place in hit.places
        )
        total = sum(len(hit.places) for _, _, hit in scanned.hits)
        omissions = scanned.omissions(total, params.limit)
        return FindExceptionsAnswer(results=tuple(islice(results, params.limit)), **omissions)

    return Tool(
        name="find_exceptions",
        title="Find exceptions",
        summary=(
            "Collect the lines of one manual, or of one chapter, that speak of exceptions, "
            "exclusions, prohibitions and cautions, each with the lines around it. Use it before "
            "saying that something applies. Costs about 150 tokens a result."
        ),
        params=FindExceptionsParams,
        answer=FindExceptionsAnswer,
        run=run,
        pages="results",
        http=("POST", "/find_exceptions"),
        examples=({"manual_name": "給付金編", "section_id": "03"},),
    )
