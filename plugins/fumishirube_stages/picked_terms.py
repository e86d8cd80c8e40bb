"""Picks required terms for a query that has none: its rarest content words."""

from __future__ import annotations

import re

from fumishirube import Corpus, Holds
from fumishirube.text import concepts, fold, is_function, runs

_PICKED = 2
_LONGEST = 24
_SEARCHED = 100
"""The most characters of a run of kanji whose parts are searched: each asks for up to 24 counts."""
_GLUE = re.compile(
    r"\b\w+n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|又は|及び|並びに|若しくは|頃|何[年月日人回時個]?"
    "|(?<=[0-9])(?:世紀|年度|年間|年|[かヶ箇]?月|日|時間|時|分|秒|回|条|項|号|章|節|歳|人|名|件|円|度|番|倍)"
)
"""What belongs to no word beside it: contractions, conjunctions, and what counts a number."""
_AROUND = "\"'“”‘’()[]{}<>.,;:!?*_`"
_CODE = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-_.][a-z0-9]++)+")
"""Searched from the first letter of a word only: a long word would take quadratic time."""

_GENERAL = frozenset(
    """
    about above across after again all almost along already also although always am among
    another anybody anyone anything around away because before behind below beside best better
    between beyond both during each either else enough especially ever every everything explain
    few find first follow following get give given go good happen happens help here however
    instead interested just keep know last late later least less let like long look made make
    many may maybe mean means might more most much must near need needed needs never new next
    none nor nothing now off often old once one only onto other others out over own particular
    particularly per please possible put rather really regarding related relating right same
    second see several shall show since some someone something soon still such sure take tell
    thing things think those though three through together too toward two under unless until up
    upon use used uses using very via want wanted wants way ways well went whatever whether
    whole within without work works yet
    一般 一部 以上 以下 以内 以前 以外 以後 全部 内容 可能 各種 場合 必要 方法 最初 最後 理由 自分
    """.split()  # noqa: SIM905 - a list of two hundred quoted words is harder to read
)
"""Words that are never picked as required terms, however rare they are in a manual."""


def rarest_words(text: str, corpus: Corpus) -> tuple[str, ...]:
    """Pick the rarest content words of a query that occur in the corpus."""
    counts: dict[str, int] = {}
    for part in text.split():
        folded = _GLUE.sub(" ", fold(part))
        words = _CODE.findall(folded)
        rest = _CODE.sub(" ", folded)
        words += [concept.text for concept in concepts(rest)] if rest.strip() else []
        for word in (word.strip(_AROUND) for word in words):
            longest = _longest_present(word, corpus)
            general = longest.isdigit() or is_function(longest) or longest in _GENERAL
            if len(longest) > 1 and not general:
                counts[longest] = corpus.count(Holds(longest)).number
    rarest = sorted((count, word) for word, count in counts.items())
    return tuple(word for _, word in rarest[:_PICKED])


def _longest_present(word: str, corpus: Corpus) -> str:
    """Return the longest part of a kanji compound that occurs in the corpus.

    Words of letters or katakana are never divided: a part of one is another word. Parts are
    searched in the first hundred characters, so that a long run takes no long time.
    """
    divided = [script for script, _, _ in runs(word)] == ["han"]
    word = word[:_SEARCHED] if divided else word
    shortest = 2 if divided else len(word)
    for length in range(min(len(word), _LONGEST) if divided else len(word), shortest - 1, -1):
        for start in range(len(word) - length + 1):
            part = word[start : start + length]
            if corpus.count(Holds(part), 1).number:
                return part
    return ""
