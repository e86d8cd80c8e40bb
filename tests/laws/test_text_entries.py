"""Entries of references in reStructuredText and AsciiDoc: each describes a name, as a section."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fumishirube import Document, Root, Source
from fumishirube_stages.loaders.text import Text

RST = """\
Valves
======

.. module:: valves
   :synopsis: All valves.

They close a pipe.

.. index:: pair: valve; torque
.. _torque:

.. option:: -t torque
            --torque torque

   The torque in newton metres.

   .. versionadded:: 2.0

.. class:: Valve(size)

   A valve.

   .. code-block:: rst

      .. option:: --no-option

   .. method:: open(speed=3)

      Open it.

   Close it by hand.

.. py:function:: opened() -> list

.. class:: wide

Text goes on here.

Pumps
-----

.. envvar:: PUMP_HOME

   The folder of the pumps.
"""
RST_OUTLINE = [
    ("Valves", 1, 1),
    ("-t torque, --torque torque", 9, 2),
    ("Valve(size)", 19, 2),
    ("open(speed=3)", 27, 3),
    ("Valve(size)", 31, 3),
    ("opened() -> list", 33, 2),
    ("Valves", 37, 2),
    ("Pumps", 39, 2),
    ("PUMP_HOME", 42, 3),
]
ADOC = """\
valve(1)
========

NAME
----
valve - close a pipe

OPTIONS
-------
These are all.

-t::
--torque::
	The torque. See also::
+
With a second paragraph.
+
----
no term::
----

[[speed]]
--speed:: How fast it turns.

* an item::

Then wait, as in Valve::open.

== Files

.valverc:: Settings.
"""
ADOC_OUTLINE = [
    ("valve(1)", 1, 1),
    ("NAME", 4, 2),
    ("OPTIONS", 8, 2),
    ("-t, --torque", 12, 3),
    ("--speed", 22, 3),
    ("OPTIONS", 27, 3),
    ("Files", 29, 2),
    (".valverc", 31, 3),
]


def load(folder: Path, name: str, content: str) -> Document:
    (folder / name).write_text(content, encoding="utf-8")
    return Text().load(Root(folder), Source(name))


@pytest.mark.parametrize(
    ("name", "text", "outline"),
    [
        ("a.rst", RST, RST_OUTLINE),
        ("a.txt", RST, RST_OUTLINE),
        ("README", RST, RST_OUTLINE),
        ("a.adoc", ADOC, ADOC_OUTLINE),
        ("a.asciidoc", ADOC, ADOC_OUTLINE),
    ],
)
def test_entries_are_sections_below_their_heading(
    tmp_path: Path, name: str, text: str, outline: list[tuple[str, int, int]]
) -> None:
    document = load(tmp_path, name, text)
    assert [(each.title, each.start_line, each.level) for each in document.sections] == outline


def test_an_entry_is_searched_with_its_own_line(tmp_path: Path) -> None:
    document = load(tmp_path, "a.rst", RST)
    torque = next(each for each in document.sections if each.title.startswith("-t"))
    body = document.text[torque.body : torque.end]
    assert body.startswith(
        ".. index:: pair: valve; torque\n.. _torque:\n\n"
        ".. option:: -t torque\n            --torque torque\n"
    )
    assert body.rstrip().endswith(".. versionadded:: 2.0")


def test_a_file_of_entries_alone_needs_no_heading(tmp_path: Path) -> None:
    speed = "valve.speed::\n\tThe speed.\n\n"
    torque = "valve.torque::\nvalve.<n>.torque::\n\tThe torque.\n\n"
    document = load(tmp_path, "valve.adoc", f"{speed}{torque}The end.\n")
    assert [(each.title, each.start_line, each.level) for each in document.sections] == [
        ("valve.speed", 1, 1),
        ("valve.torque, valve.<n>.torque", 4, 1),
        ("valve", 8, 1),
    ]


@pytest.mark.parametrize(
    ("text", "outline"),
    [
        ("a::\n\nIts text.\n\nb::\n\nMore.\n\nAfter it.\n", "a@1 b@5 valve@9"),
        ("CPU:: The brain.\nDisk:: The store.\nRAM:: Both.\n", "CPU@1 Disk@2 RAM@3"),
        ("[[def_a]]a::\n  Text.\n[[b]]\nb::\n  Text.\n", "a@1 b@3"),
        ("a::\n  Text.\n\n----\ncode::\n----\n\nText.\n", "a@1 valve@4"),
        ("a::\n  Text.\n+\n----\ncode::\n----\nb::\n  Text.\n", "a@1 b@7"),
        ("a::\n  Text.\n\nquick;;\n  Fast.\n\nslow:::\n  No.\n", "a@1"),
        ("a::\n  Text.\n\na. one\nb. two\n", "a@1"),
        ("== T\na::\n  Text.\n", "T@1 a@2"),
        ("Text.\n\n----\nx\n----\na::\n  Text.\n", "valve@1 a@6"),
        ("a::\nText goes\n// todo\non here.\n", "a@1"),
        ("Made of\nseveral parts::\nfirst this.\n", ""),
        ("a::\n  Text.\n\n```ruby\nputs\n```\n\nb::\n  Text.\n", "a@1 valve@4 b@8"),
    ],
)
def test_lists_of_terms_are_read_as_asciidoctor_does(
    tmp_path: Path, text: str, outline: str
) -> None:
    document = load(tmp_path, "valve.adoc", text)
    assert [f"{each.title}@{each.start_line}" for each in document.sections] == (
        outline.split() or ["valve@1"]
    )


def test_a_line_within_a_paragraph_is_no_title(tmp_path: Path) -> None:
    code = "Put this in the\nfile\n----\nmake\n----\n"
    text = f"= R\n\n{code}\n== Next\n\nA.\n\n----\nx\n----\n\n== Last\n"
    document = load(tmp_path, "a.adoc", text)
    assert [each.title for each in document.sections] == ["R", "Next", "Last"]


def test_a_class_without_text_is_an_object_unless_it_is_a_style(tmp_path: Path) -> None:
    classes = ".. class:: Foo\n\n   Text.\n\n.. class:: Empty\n\n.. class:: wide\n\n"
    text = f"Ab\n==\n\n{classes}.. [1] A note.\n"
    document = load(tmp_path, "a.rst", text)
    assert [each.title for each in document.sections] == ["Ab", "Foo", "Empty", "Ab"]
    assert document.sections[-1].start_line == 12


def test_an_object_above_a_heading_is_a_target(tmp_path: Path) -> None:
    text = (
        "Ab\n==\n\n.. setting:: DEBUG\n\nDEBUG\n-----\n\nText.\n\n.. setting:: PORT\n\nPORT\n----\n"
    )
    document = load(tmp_path, "a.rst", text)
    assert [(each.title, each.start_line) for each in document.sections] == [
        ("Ab", 1),
        ("DEBUG", 4),
        ("PORT", 11),
    ]


def test_objects_without_text_between_them_are_one_entry(tmp_path: Path) -> None:
    stacked = ".. option:: -a\n\n.. option:: --all\n.. option:: --every\n\n   All of them.\n\n"
    text = f"Ab\n==\n\n{stacked}.. py:method:: draw(x, \\\n      y)\n\n   Draw.\n\n.. option:: -b\n"
    document = load(tmp_path, "a.rst", text)
    assert [(each.title, each.start_line) for each in document.sections] == [
        ("Ab", 1),
        ("-a, --all, --every", 4),
        ("draw(x, y)", 11),
        ("-b", 16),
    ]


@pytest.mark.parametrize(
    ("directive", "title"),
    [
        (
            ".. function:: range(stop)\n              range(start, stop)\n",
            "range(stop), range(start, stop)",
        ),
        (".. data:: A\n          B\n   :no-index:\n", "A, B"),
        (
            ".. py:function:: send( \\\n      text: str, \\\n      to) -> None\n",
            "send(text: str, to) -> None",
        ),
        (".. option:: -a\nText.\n", "-a"),
        (f".. data:: {'x' * 90}\n   {'y' * 90}\n", "x" * 90),
    ],
)
def test_an_entry_has_all_signatures_of_its_object(
    tmp_path: Path, directive: str, title: str
) -> None:
    document = load(tmp_path, "a.rst", f"Ab\n==\n\n{directive}\n   What it is.\n")
    assert document.sections[1].title == title


def test_terms_of_a_glossary_are_entries(tmp_path: Path) -> None:
    terms = (
        "   a valve\n   a tap : T\n      Closes a pipe.\n\n      .. note:: Or not.\n\n   .. rem\n\n"
    )
    text = f"Ab\n==\n\n.. glossary::\n   :sorted:\n\n{terms}   pump\n     Moves water.\n\nText.\n"
    document = load(tmp_path, "a.rst", text)
    assert [(each.title, each.start_line, each.level) for each in document.sections] == [
        ("Ab", 1, 1),
        ("a valve, a tap", 4, 2),
        ("pump", 15, 2),
        ("Ab", 18, 2),
    ]


def test_a_long_entry_is_cut_between_its_paragraphs(tmp_path: Path) -> None:
    paragraph = "\tThe valve turns.\n" * 9
    document = load(tmp_path, "valve.adoc", "--turn::\n" + "+\n".join([paragraph] * 4))
    starts = [each.start_line for each in document.sections]
    assert starts == [1, 22]
    assert {each.title for each in document.sections} == {"--turn"}


lines = st.sampled_from(
    [*RST.split("\n"), *ADOC.split("\n"), "   text", "|===", "--", ".. glossary::"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(lines, max_size=40), st.sampled_from([".rst", ".adoc"]))
def test_each_character_is_in_one_section(tmp_path: Path, chosen: list[str], suffix: str) -> None:
    document = load(tmp_path, f"a{suffix}", "\n".join(chosen))
    ends = [each.end for each in document.sections]
    starts = [each.start for each in document.sections]
    assert starts[1:] == ends[:-1]
    assert not document.text[: starts[0]].strip()
    assert ends[-1] == len(document.text)
    assert all(each.start <= each.body <= each.end for each in document.sections)
