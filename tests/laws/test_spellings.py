"""Near spellings are those of all parts of a text, although only few parts are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from fumishirube.corpus import SequenceCorpus
from fumishirube.engine.spellings import near_spellings
from fumishirube.model import Passage
from fumishirube.text import fold
from fumishirube.text.folding import is_cjk, is_worded, runs

TERMS = ["承諾", "認証者", "ブラウサー", "toolbox", "Tolkit", "too", "のう", "ツール kit", "を。"]
WORDS = ["承認", "承認者", "証認", "ブラウザー", "ブラウザ", "tool", "Toolkit", "toolkits", "の"]
MARKS = ["", " ", "。", "、", "-", "'", "\n", "・"]
texts = st.lists(st.sampled_from([*WORDS, *MARKS, *TERMS]), max_size=24).map("".join)


def by_definition(wanted: str, folded_texts: Iterable[str]) -> list[str]:
    """Compare a folded term with every part of some texts."""
    slack, least = 1 + (len(wanted) > 3), 0.5 if len(wanted) < 3 else 0.6
    seen = Counter[str]()
    for text in folded_texts:
        edges = {edge for _, run, at in runs(text) for edge in (at, at + len(run))}
        for start in range(len(text)):
            for end in range(start + 2, len(text) + 1):
                begins = start in edges or (is_cjk(wanted[0]) and text[start] == wanted[0])
                ends = end in edges or (is_cjk(wanted[-1]) and text[end - 1] == wanted[-1])
                if begins and ends and abs(end - start - len(wanted)) <= slack:
                    seen[text[start:end]] += 1
    near = [
        (-Levenshtein.normalized_similarity(wanted, text), -number, text)
        for text, number in seen.items()
        if text[0].isalnum() and is_worded(text[-1])
    ]
    kept = [row for row in near if _is_hiragana(wanted[0]) or not _is_hiragana(row[2][0])]
    return [text for likeness, _, text in sorted(kept) if -likeness >= least][:3]


def _is_hiragana(character: str) -> bool:
    return "\u3041" <= character <= "\u309f"


@given(texts, st.sampled_from(TERMS))
@example("承認者の証認、承認", "承諾")
@example("the toolkits and tools of a kit", "Tolkit")
def test_the_near_spellings_are_the_nearest_of_all_parts(text: str, term: str) -> None:
    # The first field has a term of each, so that the section is searched for all of them.
    fields = {"title": fold(" ".join(TERMS)), "body": fold(text) or "空"}
    corpus = SequenceCorpus([Passage("a.md", 1, 2, "", (), 1, "", fields)])
    assert near_spellings(term, corpus) == by_definition(fold(term), fields.values())
