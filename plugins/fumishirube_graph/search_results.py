"""The results of ``ubp_search``: a document's best sections, shortened to fit the answer."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from fumishirube import Answer, Hit, LinkKind
from fumishirube.tools import ANSWER_CHARS, OrAbsent, fitting, json_chars
from fumishirube_graph.arguments import GraphRuntime, NamedPage
from fumishirube_graph.records import Doc
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.staleness import Level
from fumishirube_graph.traversal import WalkStep

WINDOW = 2_000
"""The most characters of a section in an answer."""
LINKED = 10
"""The most linked pages of a document in an answer."""

_SECTIONS = 3
_LEAST = 100
_SUMMARY = 500


class SearchSection(Answer):
    """One of the best sections of a document."""

    section_id: str
    heading: str | None
    content: str
    score: float
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    truncated: bool = False


class SearchBreakdown(Answer):
    """The parts of a score, before weighting."""

    vector_similarity: float
    graph_proximity: float
    fulltext: float


class SearchLinked(NamedPage):
    """A page linked to a result."""

    link_type: LinkKind
    summary: str


class DocumentResult(NamedPage):
    """A document."""

    sections: tuple[SearchSection, ...]
    score: float
    score_breakdown: SearchBreakdown
    relevance_reason: str
    staleness: Level
    linked_pages: OrAbsent[tuple[SearchLinked, ...]] = None
    linked_omitted: OrAbsent[int] = None


def document_result(
    runtime: GraphRuntime,
    snapshot: GraphSnapshot,
    path: str,
    hits: Sequence[Hit],
    match_start: Callable[[str], int],
    chars: int,
) -> DocumentResult:
    """Return the result for a document, with up to ``chars`` characters of each section.

    ``match_start`` returns the offset to show a text from. It should cache: results are built at
    several lengths until they fit.
    """
    doc = snapshot.docs[path]
    names, signals = ("vector", "graph", "fulltext"), hits[0].signals
    vector, graph, text = (round(signals.get(name, 0.0), 6) for name in names)
    own = [hit for hit in hits if hit.signals.get("section", 0.0) > 0][:_SECTIONS]
    shown = (own or hits[:1]) if doc.record.parts else ()
    return DocumentResult(
        **doc.named,
        sections=tuple(_section(snapshot, doc, hit, match_start, chars) for hit in shown),
        score=hits[0].score,
        score_breakdown=SearchBreakdown(
            vector_similarity=vector, graph_proximity=graph, fulltext=text
        ),
        relevance_reason=_reason(vector, graph, text, own),
        staleness=runtime.staleness(doc).level,
    )


def _section(
    snapshot: GraphSnapshot, doc: Doc, hit: Hit, match_start: Callable[[str], int], chars: int
) -> SearchSection:
    number = snapshot.number_of(doc, hit.passage.start_line)
    part = doc.record.parts[number]
    score = hit.signals.get("section", 0.0)
    text = doc.text(part)
    shown = _window(text, match_start, chars) if score else text[: min(_SUMMARY, chars)]
    return SearchSection(
        section_id=doc.section_ids[number],
        heading=part.heading,
        content=shown,
        score=score,
        heading_path=part.heading_path,
        line_start=part.line_start,
        line_end=part.line_end,
        truncated=len(shown) < len(text),
    )


def _window(text: str, match_start: Callable[[str], int], chars: int) -> str:
    """Return the text, or ``chars`` characters of it around its match."""
    if len(text) <= chars:
        return text
    start = max(0, min(match_start(text) - chars // 4, len(text) - chars))
    return text[start : start + chars]


def bounded(
    whole: list[DocumentResult], results: Callable[[int, int], list[DocumentResult]]
) -> list[DocumentResult]:
    """Return results whose texts fit the answer; if none do, fewer linked pages too."""
    if _fits(whole):
        return whole
    chars = bisect_left(range(_LEAST, WINDOW), 1, key=lambda n: not _fits(results(n, LINKED)))
    if chars:
        return results(_LEAST + chars - 1, LINKED)
    linked = bisect_left(range(LINKED), 1, key=lambda n: not _fits(results(_LEAST, n)))
    return list(fitting(results(_LEAST, max(linked - 1, 0)), ANSWER_CHARS))


def _fits(results: Sequence[DocumentResult]) -> bool:
    return sum(map(json_chars, results)) <= ANSWER_CHARS


def _reason(vector: float, graph: float, text: float, own: Sequence[Hit]) -> str:
    reasons = [f"vector {vector:.3f}"] if vector else []
    if graph:
        hops = round(1 / graph) - 1
        reasons.append(f"graph {graph:.3f} ({hops} {'hop' if hops == 1 else 'hops'})")
    if text:
        matched = max(own, key=lambda hit: hit.signals.get("matched", 0.0), default=None)
        title = matched.passage.title if matched else ""
        reasons.append(f"fulltext {text:.3f}" + (f" in '{title}'" if title else ""))
    return "; ".join(reasons)


def with_linked(
    snapshot: GraphSnapshot,
    result: DocumentResult,
    steps: Sequence[WalkStep],
    chars: int,
    most: int,
) -> DocumentResult:
    """Return a result with its nearest linked pages, up to ``chars`` characters of each."""
    pages = tuple(
        SearchLinked(**doc.named, link_type=step.kind, summary=doc.summary[:chars])
        for step in steps[:most]
        for doc in [snapshot.docs[step.path]]
    )
    omitted = len(steps) - len(pages) or None
    return result.model_copy(update={"linked_pages": pages, "linked_omitted": omitted})
