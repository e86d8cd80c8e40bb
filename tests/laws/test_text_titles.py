"""Titles of reStructuredText, AsciiDoc and Org are those that a reader sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fumishirube import Document, Root, Source
from fumishirube_stages.loaders.text import Text

ATTRIBUTES = ":prod: Fumi\n:full-name: {prod} Desk\n:url: https://x.org\n"


def load(folder: Path, name: str, content: str) -> Document:
    (folder / name).write_text(content, encoding="utf-8")
    return Text().load(Root(folder), Source(name))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (":mod:`!os` --- Files", "os --- Files"),
        (":py:mod:`~a.b` and ``code``", "a.b and ``code``"),
        ("The :doc:`guide </usage/guide>`, and `home <https://x.org>`__", "The guide, and home"),
        ("Time is 10:30:`", "Time is 10:30:`"),
        (":sup:`<x>`", "<x>"),
    ],
)
def test_roles_and_targets_are_no_part_of_titles(tmp_path: Path, written: str, shown: str) -> None:
    text = f"{written}\n{'=' * len(written)}\n\nx\n\n.. option:: -a\n\n   x\n\nMore.\n\nB\n-\n"
    titles = [each.title for each in load(tmp_path, "a.rst", text).sections]
    assert titles == [shown, "-a", shown, "B"]
    assert load(tmp_path, "a.rst", text).sections[-1].ancestors == (shown,)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Install {prod}", "Install Fumi"),
        ("{Full-Name}, \\{prod} and {other}", "Fumi Desk, \\{prod} and {other}"),
        ("[[s2]]Sub <<install,Link>> [[x,y]]", "Sub Link"),
        ("Help at https://x.org/#a[#a] and link:b.html[B^]", "Help at #a and B"),
        ("https://x.org[] and <<x>>", "https://x.org[] and <<x>>"),
        ("cat <<EOF, or <file>", "cat <<EOF, or <file>"),
        ("[[only]]", "[[only]]"),
    ],
)
def test_attributes_of_the_file_and_links_are_shown_in_titles(
    tmp_path: Path, written: str, shown: str
) -> None:
    document = load(tmp_path, "a.adoc", f"= A\n{ATTRIBUTES}\n== {written}\n\n=== B\nx\n")
    assert [each.title for each in document.sections] == ["A", shown, "B"]
    assert document.sections[-1].ancestors == ("A", shown)


def test_a_title_may_have_an_attribute_that_is_defined_below_it(tmp_path: Path) -> None:
    document = load(tmp_path, "a.adoc", "= {prod} Guide\n:prod: Fumi\n\nx\n")
    assert [each.title for each in document.sections] == ["Fumi Guide"]


def test_an_attribute_that_grows_is_not_a_title_without_end(tmp_path: Path) -> None:
    laughs = "".join(f":a{n + 1}: {{a{n}}}{{a{n}}}\n" for n in range(60))
    document = load(tmp_path, "a.adoc", f"= A\n:a0: ha\n{laughs}\n== {{a60}}\n")
    titles = {each.title for each in document.sections}
    assert max(map(len, titles)) == 200


pieces = st.sampled_from(
    ["[[", "]]", "<<", ">>", ",", "{a}", ":x:`", "`", "link:", "https://", "["]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(pieces | st.sampled_from("a ^"), min_size=1), st.sampled_from([".rst", ".adoc"]))
def test_each_title_has_text(tmp_path: Path, chosen: list[str], suffix: str) -> None:
    title = f"A{''.join(chosen)}a"
    text = f"{title}\n{'-' * len(title)}\n" if suffix == ".rst" else f"== {title}\n"
    (section,) = load(tmp_path, f"a{suffix}", text).sections
    assert section.title.strip()
    assert len(section.title) <= len(title)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("OPEN [2/3] Install   :setup:", "Install"),
        ("CLOSED [#A] Update [50%]", "Update"),
        ("TODO\tCheck", "Check"),
        ("OPEN", "OPEN"),
        ("How to be OPEN", "How to be OPEN"),
        ("[[https://x.org][The site]] and [[./b.org]]", "The site and ./b.org"),
        ("Arrays [[1]", "Arrays [[1]"),
        ("[1/2]", "[1/2]"),
    ],
)
def test_states_counts_and_links_of_org_are_no_part_of_titles(
    tmp_path: Path, written: str, shown: str
) -> None:
    document = load(tmp_path, "a.org", f"#+TODO: OPEN(o) | CLOSED(c)\n\n* {written}\nx\n** B\n")
    assert [(each.title, each.ancestors) for each in document.sections] == [
        (shown, ()),
        ("B", (shown,)),
    ]


@pytest.mark.parametrize(
    ("above", "starts"), [("", [("A", 1)]), ("A preface.\n", [("The Manual", 1), ("A", 5)])]
)
def test_the_title_of_an_org_file_is_that_of_the_page(
    tmp_path: Path, above: str, starts: list[tuple[str, int]]
) -> None:
    head = "#+title: The Manual\n#+AUTHOR: Ada\n"
    document = load(tmp_path, "a.org", f"{head}{above}\n* A\nx\n")
    assert document.title == "The Manual"
    assert [(each.title, each.start_line) for each in document.sections] == starts
