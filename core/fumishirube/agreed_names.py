"""What stages and surfaces agree on: labels of hits, runs, all manuals, and a constant."""

from __future__ import annotations

from typing import Final, Literal

EVERY_MANUAL: Final = "*"
"""The id under which all manuals are searched as one."""

FREE: Final = "g0"
"""The run of a query without its required terms."""
REQUIRED: Final = "g_req"
"""The runs with required terms; a colon and which of them may follow."""
SIDE: Final = "side:"
"""The beginning of the name of a run for one side of a comparison, which follows."""
ALTERNATIVE: Final = "alternative-"
"""The beginning of the name of a run for another wording, whose number from 1 follows.

It is also the label of the hits that this run ranks best.
"""

PINNED: Final = "pinned"
"""The label of a hit that stays in the ranking whatever its score."""
PINNED_TOP: Final = "pinned_top"
"""The label of the best hits of one side, or of one wording, of a query."""
SECOND: Final = "second"
"""A further label of such a hit if the same side or wording has a better one."""

RRF_K: Final = 60
"""The constant of reciprocal rank fusion, that of the paper; the engine uses no other."""

AddressReason = Literal["override", "address", "persona", "role", "tool", "conceal", "hidden"]
"""Labels of passages that address the agent: why they do, in the order of the answers."""

__all__ = [
    "ALTERNATIVE",
    "EVERY_MANUAL",
    "FREE",
    "PINNED",
    "PINNED_TOP",
    "REQUIRED",
    "RRF_K",
    "SECOND",
    "SIDE",
    "AddressReason",
]
