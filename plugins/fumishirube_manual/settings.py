"""Settings that the manual tools share."""

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
    "names",
    "alternatives",
    "everywhere",
    "path_prefix",
    "refs",
    "grep",
    "batch",
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
"""Keys, parameters and tools beyond the contract."""

DEFAULT_EXTRAS: tuple[Extra, ...] = tuple(
    extra
    for extra in get_args(Extra)
    if extra not in ("coverage", "est_tokens", "refers_to", "addressed")
)


class VocabularySettings(NamedTuple):
    """How the manual's own words are chosen.

    Up to ``words`` are suggested, from the headings of the best ``hits``. A word is assumed to
    occur once among ``section_words`` words of each section that contains it.
    """

    words: int = 8
    hits: int = 20
    section_words: int = 100


class ManualSettings(NamedTuple):
    """The settings of the surface that its tools share.

    ``coverage_min`` is the coverage that an answering section needs. When a follow-up brings less
    than ``marginal_gain_min``, no further one is proposed. ``extras`` are the keys, parameters and
    tools beyond the contract. Without ``claim_graph`` the graph of claims stays empty.
    """

    coverage_min: float
    marginal_gain_min: float
    extras: tuple[Extra, ...]
    claim_graph: bool
    vocabulary: VocabularySettings = VocabularySettings()
