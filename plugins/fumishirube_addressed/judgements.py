"""How likely a passage addresses the agent, judged sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from fumishirube.agreed_names import AddressReason
from fumishirube.text import fold, without_unseen
from fumishirube_addressed.cues import CUES, HIDING, JAPANESE, LATIN, REPORTING, Cue

_REPORTING_FACTOR = 0.4
_LEFT = 6
_READ_AS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)} | {0x2028: "\n", 0x2029: "\n"}
"""Tags, which hide letters, and separators of lines."""
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|「[^「」]*」|『[^『』]*』|`[^`]*`")
_SENTENCE = re.compile(r"(?:[^.!?。]|[.!?](?!\s|$|[^\x00-\x7f]))+(?:[.!?。]+|$)")
_LATIN = re.compile("[a-z]{2}")


def judged(passage: str) -> tuple[float, frozenset[AddressReason]]:
    """Return the score of a short passage, from 0 to 1, and the reasons.

    Takes time linear in its length.
    """
    weights = {cue: cue.weight for cue in HIDING if cue.pattern.search(passage)}
    plain = without_unseen(passage.translate(_READ_AS))
    for sentence in _sentences(plain):
        doubt = _REPORTING_FACTOR if REPORTING.search(sentence) else 1.0
        for cue in _fitting(sentence):
            if weights.get(cue, 0.0) < cue.weight * doubt and cue.pattern.search(sentence):
                weights[cue] = cue.weight * doubt
    # Weights are combined as independent evidence: one minus the product of their complements.
    score = round(1.0 - prod(1.0 - weight for weight in weights.values()), 2)
    return score, frozenset(cue.reason for cue in weights)


def _fitting(sentence: str) -> Sequence[Cue]:
    if sentence.isascii():
        return LATIN
    return CUES if _LATIN.search(sentence) else JAPANESE


def _sentences(plain: str) -> Iterator[str]:
    """Yield the folded sentences, without quoted parts."""
    folded = fold(plain)
    unquoted = _QUOTED.sub(" … ", folded)
    if len(re.sub(r"\W", "", unquoted)) < _LEFT:
        unquoted = folded  # a text that is only a quotation is judged itself
    yield from filter(None, (match.group().strip() for match in _SENTENCE.finditer(unquoted)))
