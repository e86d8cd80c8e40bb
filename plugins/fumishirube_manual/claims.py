"""What the hits of a search say, word for word, and what bears it out: the graph is drawn."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from fumishirube import (
    Budget,
    Desk,
    Document,
    Row,
    Shelved,
    ToolError,
    Trace,
    concepts,
    fold,
    occurs,
)
from fumishirube_manual.claim_graph import (
    ANNOTATION,
    Claim,
    ClaimGraph,
    ClaimStatus,
    Edge,
    Evidence,
    EvidenceRef,
    FacetRow,
    Relation,
)
from fumishirube_manual.cues import FACETS, Facet, defers, denies, facet_of
from fumishirube_manual.rows import SCORE_DIGITS, signals
from fumishirube_manual.sentences import sentences

CLAIM_CHARS = 200
CLAIMS_PER_FACET = 3

_THRESHOLDS: Mapping[Relation, float] = {
    "supports": 0.6,
    "contradicts": 0.8,
    "requires_followup": 0.8,
}
"""The least share of a claim's concepts that a sentence holds which bears on it so."""
_DIGEST_DIGITS = 16
_COMPARABLE = 2


class _Statement(NamedTuple):
    """A sentence, as it stands and as it is compared."""

    text: str
    folded: str
    facet: Facet
    denies: bool
    defers: bool


class _Told(NamedTuple):
    """A hit, what its own text says, and the hash of that text."""

    row: Row
    digest: str
    statements: tuple[_Statement, ...]


class _Chosen(NamedTuple):
    """A statement that became a claim, its share of what was asked, and its own concepts."""

    statement: _Statement
    share: float
    concepts: tuple[str, ...]


class _Bearing(NamedTuple):
    """A claim and a hit, by their places, and how the one bears on the other."""

    claim: int
    hit: int
    relation: Relation
    share: float


def with_claim_graph(desk: Desk, trace: Trace, budget: Budget) -> Trace:
    """Draw the graph of a search from its hits, and return the trace that keeps it."""
    told = list(_told(desk, trace, budget))
    claims = _chosen(told, _asked(trace))
    bearings = [
        _Bearing(number, place, relation, share)
        for number, claim in enumerate(claims)
        for place, hit in enumerate(told)
        for relation, share in sorted(_relations(claim, hit).items())
    ]
    graph = _graph(trace, told, claims, bearings)
    return desk.annotate(trace, ANNOTATION, graph.model_dump(mode="json"))


def _told(desk: Desk, trace: Trace, budget: Budget) -> Iterator[_Told]:
    """Read the hits, best first, as they were when they were found; without time only the first."""
    manual, documents = desk.manual(trace.manual_id), dict[str, Document | None]()
    for place, row in enumerate(trace.search.rows):
        budget.check()
        if place and budget.spent:
            return
        if row.path not in documents:
            documents[row.path] = _document(manual, row.path)
        document = documents[row.path]
        if document is not None:
            yield from _statements(document, row)


def _document(manual: Shelved, path: str) -> Document | None:
    try:
        document = manual.document(path)
    except ToolError:  # it has gone since it was found
        return None
    return None if document.file_type == "json" else document


def _statements(document: Document, row: Row) -> Iterator[_Told]:
    for section in document.sections:
        if section.start_line == row.start_line:
            own = document.text[section.start : section.end]
            digest = hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()
            if digest.startswith(row.digest):
                body = document.text[section.body : section.end]
                said = tuple(_statement(one, section.title) for one in sentences(body))
                yield _Told(row, digest[:_DIGEST_DIGITS], said)


def _statement(sentence: str, title: str) -> _Statement:
    folded = fold(sentence)
    facet = facet_of(folded, title)
    return _Statement(sentence, folded, facet, denies(folded), defers(folded))


def _asked(trace: Trace) -> frozenset[str]:
    """Return, folded, what was asked and what of that stands in the hits."""
    asked = {concept.text for concept in concepts(trace.text)}
    asked |= {fold(span) for row in trace.search.rows for span in row.matched}
    return frozenset(asked | {fold(term) for term in trace.required})


def _chosen(told: Sequence[_Told], asked: frozenset[str]) -> list[_Chosen]:
    """Return the claims by facet: the sentences that hold most of what was asked, best hit first.

    What two sections say in the same words is one claim.
    """
    found: dict[str, tuple[_Statement, float]] = {}
    for statement in (one for hit in told for one in hit.statements):
        if len(statement.text) <= CLAIM_CHARS and statement.folded not in found:
            share = sum(occurs(statement.folded, one) for one in asked) / max(1, len(asked))
            if share:
                found[statement.folded] = statement, share
    ranked = sorted(found.values(), key=lambda one: -one[1])
    return [
        _Chosen(statement, share, tuple(concept.text for concept in concepts(statement.text)))
        for facet in FACETS
        for statement, share in [one for one in ranked if one[0].facet == facet][:CLAIMS_PER_FACET]
    ]


def _relations(claim: _Chosen, hit: _Told) -> dict[Relation, float]:
    """Return how a hit bears on a claim, and of how much of the claim its sentence speaks."""
    found: dict[Relation, float] = {}
    for one in hit.statements:
        relation, share = _relation(claim.statement, one), _shared(claim, one)
        if relation is not None and share >= _THRESHOLDS[relation]:
            found[relation] = max(share, found.get(relation, 0.0))
    return found


def _relation(claim: _Statement, other: _Statement) -> Relation | None:
    """Return what another sentence would be to a claim; an exception does not deny the rule."""
    if other.denies != claim.denies:
        return "contradicts" if other.facet == claim.facet else None
    return "requires_followup" if other.defers else "supports"


def _shared(claim: _Chosen, other: _Statement) -> float:
    if other.folded == claim.statement.folded:
        return 1.0
    if len(claim.concepts) < _COMPARABLE:
        return 0.0
    return sum(occurs(other.folded, one) for one in claim.concepts) / len(claim.concepts)


def _graph(
    trace: Trace,
    told: Sequence[_Told],
    chosen: Sequence[_Chosen],
    bearings: Sequence[_Bearing],
) -> ClaimGraph:
    bears = sorted({one.hit for one in bearings})
    evidence = {place: f"ev:{number}" for number, place in enumerate(bears, start=1)}
    claims: list[Claim] = []
    counts: Counter[Facet] = Counter()
    for number, (statement, share, _) in enumerate(chosen):
        counts[statement.facet] += 1
        claims.append(
            Claim(
                claim_id=f"claim:{statement.facet}:{counts[statement.facet]}",
                facet=statement.facet,
                text=statement.text,
                status=_status({one.relation for one in bearings if one.claim == number}),
                confidence=round(share, SCORE_DIGITS),
            )
        )
    return ClaimGraph(
        claims=tuple(claims),
        evidences=tuple(_evidence(trace, told[place], evidence[place]) for place in bears),
        edges=tuple(
            Edge(
                from_claim_id=claims[one.claim].claim_id,
                to_evidence_id=evidence[one.hit],
                relation=one.relation,
                confidence=round(one.share, SCORE_DIGITS),
            )
            for one in bearings
        ),
        facets=tuple(_facet(facet, claims) for facet in FACETS),
    )


def _status(relations: Collection[Relation]) -> ClaimStatus:
    if "supports" not in relations:
        return "unresolved"
    return "conflicted" if "contradicts" in relations else "supported"


def _evidence(trace: Trace, hit: _Told, evidence_id: str) -> Evidence:
    row = hit.row
    return Evidence(
        evidence_id=evidence_id,
        ref=EvidenceRef(
            target="manual",
            manual_id=trace.manual_id,
            path=row.path,
            start_line=row.start_line,
        ),
        signals=tuple(signals(row)),
        score=round(row.score, SCORE_DIGITS),
        snippet_digest=hit.digest,
    )


def _facet(facet: Facet, claims: Sequence[Claim]) -> FacetRow:
    statuses = Counter(claim.status for claim in claims if claim.facet == facet)
    total, supported = statuses.total(), statuses["supported"]
    some: Literal["covered", "partial"] = "covered" if supported == total else "partial"
    return FacetRow(
        facet=facet,
        claim_count=total,
        supported_count=supported,
        conflicted_count=statuses["conflicted"],
        unresolved_count=statuses["unresolved"],
        coverage_status=some if total else "missing",
    )
