"""The detector of text that addresses the agent: a scorer, and the cues that it knows."""

from fumishirube import Register, Scorer, hook
from fumishirube_addressed.addressed import AddressedScorer


@hook
def register_scorers(register: Register[Scorer]) -> None:
    """Register the scorer ``addressed``, by which the surface ``manual`` tags lines."""
    register("addressed", AddressedScorer)
