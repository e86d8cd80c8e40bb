"""What the manual tools have in common to go by."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

SURFACE = "manual"
"""The name under which the surface is registered."""

Extra = Literal[
    "plain",
    "lines",
    "also",
    "answerable",
    "vocabulary",
    "alternatives",
    "everywhere",
    "path_prefix",
    "refs",
    "grep",
    "cursor",
    "titles",
    "documents",
    "unread",
    "terms",
    "unsearched",
    "coverage",
    "cite",
    "est_tokens",
    "refers_to",
    "addressed",
]
"""What the contract of the tools does not name: keys, parameters, and a tool."""

DEFAULT_EXTRAS: tuple[Extra, ...] = tuple(
    extra
    for extra in get_args(Extra)
    if extra not in ("coverage", "est_tokens", "refers_to", "addressed")
)


class VocabularySettings(NamedTuple):
    """How the manual's own words are chosen.

    Up to ``words`` are offered, from the headings of the best ``hits``. A word is taken to stand
    once among ``section_words`` of each section that has it.
    """

    words: int = 8
    hits: int = 20
    section_words: int = 100


class ManualSettings(NamedTuple):
    """The settings of the surface that its tools share.

    ``coverage_min`` is the share of a query that an answering section covers; below
    ``marginal_gain_min`` a follow-up brought so little that no other is proposed. ``extras`` are
    the keys, parameters and tools that join those of the contract. Without ``claim_graph`` the
    graph of claims stays empty.
    """

    coverage_min: float
    marginal_gain_min: float
    extras: tuple[Extra, ...]
    claim_graph: bool
    vocabulary: VocabularySettings = VocabularySettings()
