"""``ubp_fulltext_search``: the sections that contain the words of a query, letter by letter."""

from typing import Annotated

from pydantic import Field

from fumishirube import Call, Tool
from fumishirube.tools import ANSWER_CHARS, fitting
from fumishirube_graph.arguments import (
    DATA,
    GraphRuntime,
    NamedPage,
    NonNullParams,
    NotNull,
    OptionalDocType,
    UntrustedAnswer,
)
from fumishirube_graph.records import Doc
from fumishirube_graph.section_texts import ScoredSection
from fumishirube_graph.texts import beginning, snippet, units

_CUT = "the headings are so long that only {} results fit into the answer"


class FulltextParams(NonNullParams):
    """The query, and how many sections to return."""

    query: Annotated[
        str, Field(description='Words that must all stand in a section; "a phrase" in quotes.')
    ]
    limit: Annotated[
        Annotated[int, Field(ge=1, le=50)] | None,
        NotNull,
        Field(description="How many. Default: set by the server, usually 10."),
    ] = None
    doc_type: OptionalDocType = None


class FulltextHit(NamedPage):
    """A section; a lower rank is better."""

    section_heading: str | None
    snippet: str
    rank: float
    section_id: str
    line_start: int


class FulltextAnswer(UntrustedAnswer):
    """The best sections, and the total."""

    results: tuple[FulltextHit, ...]
    total_found: int


def fulltext_tool(runtime: GraphRuntime) -> Tool[FulltextParams, FulltextAnswer]:
    """Return the tool."""

    def run(params: FulltextParams, _: Call) -> FulltextAnswer:
        snapshot = runtime.view()
        query_units = units(params.query)
        within = runtime.within(snapshot, params.doc_type)
        matches = snapshot.section_texts.search_texts(query_units.units, within, 1.0)
        chosen = matches.best(params.limit or runtime.settings.default_limit)
        each = (_hit(scored, query_units.units) for scored in chosen)
        shown = tuple(fitting(each, ANSWER_CHARS))
        cut = [_CUT.format(len(shown))] if len(shown) < len(chosen) else []
        return FulltextAnswer(
            results=shown,
            total_found=matches.total,
            warnings=runtime.warned_of(snapshot, *query_units.warnings, *cut),
        )

    return Tool(
        name="ubp_fulltext_search",
        title="Search the text",
        summary=(
            "Find the sections in which every word of the query stands, letter by letter: Japanese "
            "text and parts of words too, case and width aside. Use it for names, codes and exact "
            "phrases, or when there are no embeddings; for questions use ubp_search. Then read the "
            f"page with ubp_get_page. {DATA}"
        ),
        params=FulltextParams,
        answer=FulltextAnswer,
        run=run,
        examples=({"query": "設計"}, {"query": '"access token" refresh', "doc_type": "api"}),
    )


def _hit(scored: ScoredSection, query_units: tuple[str, ...]) -> FulltextHit:
    doc, number = scored.place
    heading, text, section_id, line = _section(doc, number)
    shown = snippet(text, query_units)
    if shown is None:
        shown = beginning(text or heading or doc.title)
    return FulltextHit(
        **doc.named,
        section_heading=heading,
        snippet=shown,
        rank=-max(round(scored.score, 6), 0.000001),
        section_id=section_id,
        line_start=line,
    )


def _section(doc: Doc, number: int) -> tuple[str | None, str, str, int]:
    """Return heading, content, id and first line of a section, or of an empty document."""
    if not doc.record.parts:
        return None, "", f"{doc.id}.e3b0c442", 1
    part = doc.record.parts[number]
    return part.heading, doc.text(part), doc.section_ids[number], part.line_start
