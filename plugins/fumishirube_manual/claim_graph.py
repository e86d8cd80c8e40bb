"""The graph of claims, in the tools' format and as stored in a trace."""

from __future__ import annotations

from typing import Literal

from fumishirube import Answer, Trace
from fumishirube_manual.sentences import Facet

ANNOTATION = "claim_graph"
"""The name of the graph in a trace."""

Relation = Literal["supports", "contradicts", "requires_followup"]
ClaimStatus = Literal["supported", "conflicted", "unresolved"]


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
