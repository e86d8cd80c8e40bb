"""The graph of claims, as the tools answer it and as a trace keeps it."""

from __future__ import annotations

from typing import Literal

from fumishirube import Answer, Trace
from fumishirube_manual.facets import Facet

ANNOTATION = "claim_graph"
"""The name under which a trace keeps its graph."""

Relation = Literal["supports", "contradicts", "requires_followup"]
ClaimStatus = Literal["supported", "conflicted", "unresolved"]


class Claim(Answer):
    """A sentence that stands in a hit; ``confidence`` is its share of what was asked."""

    claim_id: str
    facet: Facet
    text: str
    status: ClaimStatus
    confidence: float


class EvidenceRef(Answer):
    """The section that is the evidence."""

    target: Literal["manual"]
    manual_id: str
    path: str
    start_line: int


class Evidence(Answer):
    """A hit that bears on a claim, with the start of the SHA-256 of its own text."""

    evidence_id: str
    ref: EvidenceRef
    signals: tuple[str, ...]
    score: float
    snippet_digest: str


class ClaimEdge(Answer):
    """How evidence bears on a claim; ``confidence`` is how much of the claim it speaks of."""

    from_claim_id: str
    to_evidence_id: str
    relation: Relation
    confidence: float


class FacetRow(Answer):
    """How well the claims of one facet are borne out."""

    facet: Facet
    claim_count: int
    supported_count: int
    conflicted_count: int
    unresolved_count: int
    coverage_status: Literal["covered", "partial", "missing"]


class ClaimGraph(Answer):
    """Claims, the evidence for and against them, and how they are related; empty by default."""

    claims: tuple[Claim, ...] = ()
    evidences: tuple[Evidence, ...] = ()
    edges: tuple[ClaimEdge, ...] = ()
    facets: tuple[FacetRow, ...] = ()


def graph_of(trace: Trace) -> ClaimGraph:
    """Return the graph that a trace keeps; an empty one when none was drawn."""
    return ClaimGraph.model_validate(trace.annotations.get(ANNOTATION, {}))
