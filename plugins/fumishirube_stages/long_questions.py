"""What a detail of a long English question is worth."""

from __future__ import annotations

from fumishirube.text import concepts


def share_of_words(text: str, enough: int) -> float:
    """Return the worth of a detail of a query: 1 up to ``enough`` English words, then less.

    It is ``enough`` divided by the number of words that are no function words. The more words a
    question has, the less two of them beside each other, or one that is required, say about it.
    Runs of kanji or katakana are not counted: one of them has as much meaning as several words.
    """
    words = sum(concept.text.isascii() and concept.text.isalpha() for concept in concepts(text))
    return min(1.0, enough / max(1, words))
