"""What a pattern needs stands in every text that it matches."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torture import examples

from fumishirube_manual.grep.pattern_literals import required_literals

PIECES = st.sampled_from(["a", "b", "ab", "料金", "[ab]", ".", r"\d", r"\b", "$", "^", "%", " "])


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        joined.map("".join),
        joined.map(lambda parts: f"(?:{'|'.join(parts)})"),
        joined.map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,1}", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda part: f"(?={part})"),
        inner.map(lambda part: f"(?!{part})"),
    )


@settings(max_examples=examples(300))
@given(st.recursive(PIECES, nested, max_leaves=8), st.text("abAB料金1 %", max_size=12))
def test_every_match_holds_one_of_them(pattern: str, text: str) -> None:
    literals = required_literals(pattern)
    if literals and re.search(pattern, text):
        assert any(literal in text for literal in literals)


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"dotnet tool install.*", ("dotnet tool install",)),
        (r"(?=.*2012年)(?=.*(世界遺産|ユネスコ)).*", ("2012年",)),
        (r"exempt|suspend(ed)?", ("exempt", "suspend")),
        (r"(a|bc|)x?", ()),
        (r"[0-9]+", ()),
        ("(", ()),
    ],
)
def test_the_longest_are_chosen(pattern: str, literals: tuple[str, ...]) -> None:
    assert required_literals(pattern) == literals
