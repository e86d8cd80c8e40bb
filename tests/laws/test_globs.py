"""Globs of loaders: which paths they match, and that each is compared in linear time."""

from __future__ import annotations

import re
import warnings
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube_stages.loaders.markdown_files.globs import matcher


@given(
    st.lists(st.sampled_from([*"**?ab", "[ab]", "[!a]"]), max_size=9).map("".join),
    st.text("abc", max_size=9),
)
def test_names_match_as_in_a_shell(glob: str, name: str) -> None:
    # Two stars also match folders, which a name has none of.
    assert matcher((glob,))(name) == fnmatchcase(name, glob)


parts = st.sampled_from(["*", "*", "a", "b", "/", "**", "**/", "?", "{a,*b}", "{*,b/}", "[!a]"])


@given(st.lists(parts, max_size=9).map("".join), st.text("aab/", max_size=9))
def test_a_star_matches_all_within_a_folder(glob: str, path: str) -> None:
    simple = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]", "[!a]": "[^/a]"}
    simple |= {"{": "(?:", ",": "|", "}": ")"}
    pattern = re.sub(r"\*\*/|\*\*|[*?{,}]|\[!a\]", lambda match: simple[match[0]], glob)
    assert matcher((glob,))(path) == (re.fullmatch(pattern, path) is not None)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "glob", ["*a" * 30 + "b", "x/" + "*a?" * 30 + "b", "{*a*a*a*a*a*a*a*a*ab,c}"]
)
def test_many_stars_are_compared_without_trying_all_their_ends(glob: str) -> None:
    assert not matcher((glob,))("x/" + "a" * 200 + ".md")
    assert not matcher((glob,))("a" * 200)


@pytest.mark.parametrize(
    ("glob", "matched"),
    [("[+--]", "+,-"), ("[a&&b]", "a&b"), ("[~~]", "~"), ("[a||]", "a|"), ("[[a]", "[a")],
)
def test_signs_in_a_set_stand_for_themselves(glob: str, matched: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matches = matcher((glob,))
    assert "".join(sign for sign in "+,-[a&b|~" if matches(sign)) == "".join(
        sign for sign in "+,-[a&b|~" if sign in matched
    )


@pytest.mark.parametrize("glob", ["[a--b]", "{a", "[b-a]"])
def test_what_is_no_glob_is_refused(glob: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="the glob"):
            matcher((glob,))
