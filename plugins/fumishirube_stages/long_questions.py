"""The English words of a question, and what a detail of a long one is worth."""

from __future__ import annotations

from fumishirube.text import concepts


def english_words(text: str, *, alone: bool = False) -> int:
    """Return the number of a query's English words that are no function words.

    With ``alone`` it is 0 if the query has words in other scripts too. Runs of kanji or katakana
    are not counted: one of them has as much meaning as several words.
    """
    words = [concept.text for concept in concepts(text)]
    if alone and not all(map(str.isascii, words)):
        return 0
    return sum(word.isascii() and word.isalpha() for word in words)


def share_of_words(text: str, enough: int) -> float:
    """Return the worth of a detail of a query: 1 up to ``enough`` English words, then less.

    It is ``enough`` divided by the number of words that are no function words. The more words a
    question has, the less two of them beside each other, or one that is required, say about it.
    """
    return min(1.0, enough / max(1, english_words(text)))
