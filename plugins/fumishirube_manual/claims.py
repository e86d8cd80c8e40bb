"""The graph of claims: sentences of the hits of a search, verbatim, and the evidence about them."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Literal, NamedTuple

from fumishirube import Answer, Budget, SurfaceContext, Trace, TraceRow
from fumishirube.commands import digest
from fumishirube.text import concepts, fold, occurs
from fumishirube_manual.citations import section_at
from fumishirube_manual.rows import SCORE_DIGITS, signals
from fumishirube_manual.scopes import document_of
from fumishirube_manual.sentences import FACETS, Facet, defers, denies, facet_of, sentences

ANNOTATION = "claim_graph"

Relation = Literal["supports", "contradicts", "requires_followup"]
ClaimStatus = Literal["supported", "conflicted", "unresolved"]
CLAIM_CHARS = 200
CLAIMS_PER_FACET = 3

_THRESHOLDS: Mapping[Relation, float] = {
    "supports": 0.6,
    "contradicts": 0.8,
    "requires_followup": 0.8,
}
"""The least share of a claim's concepts that a sentence must contain for each relation."""
_DIGEST_DIGITS = 16
_COMPARABLE = 2


class Claim(Answer):
    """A sentence of a hit; ``confidence`` is the share of the query that it covers."""

    claim_id: str
    facet: Facet
    text: str
    status: ClaimStatus
    confidence: float


class EvidenceRef(Answer):
    """The section of the evidence."""

    target: Literal["manual"]
    manual_id: str
    path: str
    start_line: int


class Evidence(Answer):
    """A hit related to a claim, with the start of the SHA-256 of its own text."""

    evidence_id: str
    ref: EvidenceRef
    signals: tuple[str, ...]
    score: float
    snippet_digest: str


class ClaimEdge(Answer):
    """A relation of evidence to a claim; ``confidence`` is the share of the claim covered."""

    from_claim_id: str
    to_evidence_id: str
    relation: Relation
    confidence: float


class FacetRow(Answer):
    """How well the claims of one facet are supported."""

    facet: Facet
    claim_count: int
    supported_count: int
    conflicted_count: int
    unresolved_count: int
    coverage_status: Literal["covered", "partial", "missing"]


class ClaimGraph(Answer):
    """Claims, the evidence for and against them, and their relations; empty by default."""

    claims: tuple[Claim, ...] = ()
    evidences: tuple[Evidence, ...] = ()
    edges: tuple[ClaimEdge, ...] = ()
    facets: tuple[FacetRow, ...] = ()


def graph_of(trace: Trace) -> ClaimGraph:
    """Return the graph in a trace; an empty one if it has none."""
    return ClaimGraph.model_validate(trace.annotations.get(ANNOTATION, {}))


class _Statement(NamedTuple):
    """A sentence, as written and folded."""

    text: str
    folded: str
    facet: Facet
    denies: bool
    defers: bool


class _HitStatements(NamedTuple):
    """A hit, the sentences of its own text, and the hash of that text."""

    row: TraceRow
    digest: str
    statements: tuple[_Statement, ...]


class _RankedStatement(NamedTuple):
    """A sentence chosen as a claim, the share of the query that it covers, and its concepts."""

    statement: _Statement
    share: float
    concepts: tuple[str, ...]


def with_claim_graph(context: SurfaceContext, trace: Trace, budget: Budget) -> Trace:
    """Build the graph of a search from its hits, and return the trace with it."""
    hits = list(_hit_statements(context, trace, budget))
    graph = _graph(trace, hits, _chosen(hits, _query_spans(trace)))
    return context.annotate(trace, ANNOTATION, graph.model_dump(mode="json"))


def _hit_statements(
    context: SurfaceContext, trace: Trace, budget: Budget
) -> Iterator[_HitStatements]:
    """Read the hits, best first, if unchanged since the search; without time only the first."""
    document_at = cache(partial(document_of, context, trace))
    for place, row in enumerate(trace.search.rows):
        budget.check()
        if place and budget.spent:
            return
        document = document_at(row.path)
        if document is None or document.scan_only:
            continue
        if section := section_at(document, row.start_line, row.digest):
            own = document.text[section.start : section.end]
            body = document.text[section.body : section.end]
            statements = tuple(_statement(text, section.title) for text in sentences(body))
            yield _HitStatements(row, digest(own, _DIGEST_DIGITS), statements)


def _statement(text: str, title: str) -> _Statement:
    folded = fold(text)
    return _Statement(text, folded, facet_of(folded, title), denies(folded), defers(folded))


def _query_spans(trace: Trace) -> frozenset[str]:
    """Return the folded query concepts, and their forms in the hits."""
    spans = {concept.text for concept in concepts(trace.text)}
    spans |= {fold(span) for row in trace.search.rows for span in row.matched}
    return frozenset(spans | {fold(term) for term in trace.required})


def _chosen(hits: Sequence[_HitStatements], spans: frozenset[str]) -> list[_RankedStatement]:
    """Return the claims by facet: the sentences that cover most of the query, best hit first.

    Equal sentences of several sections are one claim.
    """
    best: dict[str, tuple[_Statement, float]] = {}
    for statement in (item for hit in hits for item in hit.statements):
        if len(statement.text) <= CLAIM_CHARS and statement.folded not in best:
            share = sum(occurs(statement.folded, item) for item in spans) / max(1, len(spans))
            if share:
                best[statement.folded] = statement, share
    ranked = sorted(best.values(), key=lambda item: -item[1])
    by_facet = ([item for item in ranked if item[0].facet == facet] for facet in FACETS)
    return [
        _RankedStatement(statement, share, tuple(c.text for c in concepts(statement.text)))
        for best_of_facet in by_facet
        for statement, share in best_of_facet[:CLAIMS_PER_FACET]
    ]


def _relations(claim: _RankedStatement, hit: _HitStatements) -> dict[Relation, float]:
    """Return the relations of a hit to a claim, with the share of the claim covered."""
    relations: dict[Relation, float] = {}
    for statement in hit.statements:
        relation, share = _relation(claim.statement, statement), _shared(claim, statement)
        if relation is not None and share >= _THRESHOLDS[relation]:
            relations[relation] = max(share, relations.get(relation, 0.0))
    return relations


def _relation(claim: _Statement, other: _Statement) -> Relation | None:
    """Return the relation of another sentence to a claim; an exception does not deny the rule."""
    if other.denies != claim.denies:
        return "contradicts" if other.facet == claim.facet else None
    return "requires_followup" if other.defers else "supports"


def _shared(claim: _RankedStatement, other: _Statement) -> float:
    if other.folded == claim.statement.folded:
        return 1.0
    if len(claim.concepts) < _COMPARABLE:
        return 0.0
    return sum(occurs(other.folded, concept) for concept in claim.concepts) / len(claim.concepts)


def _graph(
    trace: Trace, hits: Sequence[_HitStatements], chosen: Sequence[_RankedStatement]
) -> ClaimGraph:
    related = [[_relations(claim, hit) for hit in hits] for claim in chosen]
    cited = [place for place, _ in enumerate(hits) if any(of_hits[place] for of_hits in related)]
    evidence = {place: f"ev:{number}" for number, place in enumerate(cited, start=1)}
    claims: list[Claim] = []
    edges: list[ClaimEdge] = []
    counts: Counter[Facet] = Counter()
    for (statement, share, _), of_hits in zip(chosen, related, strict=True):
        counts[statement.facet] += 1
        claim = Claim(
            claim_id=f"claim:{statement.facet}:{counts[statement.facet]}",
            facet=statement.facet,
            text=statement.text,
            status=_status({*chain.from_iterable(of_hits)}),
            confidence=round(share, SCORE_DIGITS),
        )
        claims.append(claim)
        edges += (
            ClaimEdge(
                from_claim_id=claim.claim_id,
                to_evidence_id=evidence[place],
                relation=relation,
                confidence=round(covered, SCORE_DIGITS),
            )
            for place, relations in enumerate(of_hits)
            for relation, covered in sorted(relations.items())
        )
    return ClaimGraph(
        claims=tuple(claims),
        evidences=tuple(_evidence(trace, hits[place], evidence[place]) for place in cited),
        edges=tuple(edges),
        facets=tuple(_facet(facet, claims) for facet in FACETS),
    )


def _status(relations: Collection[Relation]) -> ClaimStatus:
    if "supports" not in relations:
        return "unresolved"
    return "conflicted" if "contradicts" in relations else "supported"


def _evidence(trace: Trace, hit: _HitStatements, evidence_id: str) -> Evidence:
    row = hit.row
    manual_id, path = trace.file(row.path)
    return Evidence(
        evidence_id=evidence_id,
        ref=EvidenceRef(target="manual", manual_id=manual_id, path=path, start_line=row.start_line),
        signals=tuple(signals(trace, row)),
        score=round(row.score, SCORE_DIGITS),
        snippet_digest=hit.digest,
    )


def _facet(facet: Facet, claims: Sequence[Claim]) -> FacetRow:
    statuses = Counter(claim.status for claim in claims if claim.facet == facet)
    total, supported = statuses.total(), statuses["supported"]
    return FacetRow(
        facet=facet,
        claim_count=total,
        supported_count=supported,
        conflicted_count=statuses["conflicted"],
        unresolved_count=statuses["unresolved"],
        coverage_status=("covered" if supported == total else "partial") if total else "missing",
    )
