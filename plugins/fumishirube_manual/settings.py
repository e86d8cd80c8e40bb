"""What the manual tools have in common to go by."""

from __future__ import annotations

from typing import Literal, NamedTuple

SURFACE = "manual"
"""The name under which the surface is registered."""

Extra = Literal["coverage", "cite", "est_tokens", "refers_to", "addressed", "titles"]


class ManualSettings(NamedTuple):
    """The settings of the surface that its tools share.

    ``coverage_min`` is the share of a query that an answering section covers; below
    ``marginal_gain_min`` a follow-up brought so little that no other is proposed. ``extras`` are
    the keys that join the answers. Without ``claim_graph`` the graph of claims stays empty.
    """

    coverage_min: float
    marginal_gain_min: float
    extras: tuple[Extra, ...]
    claim_graph: bool
