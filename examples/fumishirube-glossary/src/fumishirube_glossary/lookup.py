"""``glossary_lookup``: quotes definitions of a term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from fumishirube import (
    Answer,
    Call,
    Citation,
    InvalidParameter,
    NotFound,
    Params,
    Query,
    SurfaceContext,
    Tool,
    Unreadable,
)
from fumishirube.text import fold
from fumishirube_glossary.definitions import Form, definitions

_BEST_FIRST: tuple[Form, ...] = ("entry", "sentence", "heading")


class LookupParams(Params):
    """The term, and the scope."""

    term: Annotated[str, Field(min_length=1, max_length=100, description="For example 有給休暇.")]
    manual_id: Annotated[
        str | None, Field(description="The manual to look in; all of them if it is left out.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=20, description="How many definitions at most.")] = 5


class Defined(Answer):
    """A definition, verbatim, and its place."""

    manual_id: str
    path: str
    start_line: int
    end_line: int
    section: str
    form: Form
    text: str
    cite: str


class LookupAnswer(Answer):
    """The definitions, the clearest form first."""

    term: str
    manuals: tuple[str, ...]
    definitions: tuple[Defined, ...]


def lookup_tool(context: SurfaceContext, looked_at: int) -> Tool[LookupParams, LookupAnswer]:
    """Return the tool."""

    def run(params: LookupParams, call: Call) -> LookupAnswer:
        if not fold(params.term):
            raise InvalidParameter("term is blank; name what is to be looked up", parameter="term")
        manuals = [params.manual_id] if params.manual_id is not None else [*context.manuals()]
        query = Query(params.term, (params.term,), limit=looked_at, budget=call.budget)
        results = [
            definition
            for manual in manuals
            for definition in _defined(context, manual, replace(query))
        ]
        results.sort(key=lambda definition: _BEST_FIRST.index(definition.form))
        return LookupAnswer(
            term=params.term,
            manuals=tuple(manuals),
            definitions=tuple(results[: params.limit]),
        )

    return Tool(
        name="glossary_lookup",
        title="Look up a term",
        summary=(
            "Quote what the manuals say that a term means: entries of glossaries, sentences such "
            "as 「XとはYをいう」 or 'X is a Y', sections headed by the term. Each comes word for "
            "word, with a citation. An empty answer means that no such form was found, not that "
            "the term is not used: then search for it."
        ),
        params=LookupParams,
        answer=LookupAnswer,
        run=run,
        http=("GET", "/glossary"),
        examples=({"term": "有給休暇"}, {"term": "API", "manual_id": "field-guide", "limit": 1}),
    )


def _defined(context: SurfaceContext, manual_id: str, query: Query) -> Iterator[Defined]:
    """Yield the definitions in the best sections of one manual, each line once."""
    manual = context.manual(manual_id)
    yielded: set[tuple[str, int]] = set()
    for hit in context.find(manual_id, query).ranking.hits:
        passage = hit.passage
        try:
            lines = manual.document(passage.path).text.split("\n")
        except (NotFound, Unreadable):
            continue  # deleted since the search
        own = lines[passage.start_line - 1 : passage.end_line]
        for definition in definitions(own, passage.title, query.text):
            start, end = passage.start_line + definition.first, passage.start_line + definition.last
            if (passage.path, start) in yielded:
                continue
            yielded.add((passage.path, start))
            yield Defined(
                manual_id=manual.id,
                path=passage.path,
                start_line=start,
                end_line=end,
                section=passage.title,
                form=definition.form,
                text="\n".join(own[definition.first : definition.last + 1]).strip(),
                cite=str(Citation(manual.id, passage.path, start, end)),
            )
