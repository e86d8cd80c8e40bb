"""The name of the surface, and its extras."""

from __future__ import annotations

from typing import Literal, get_args

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
