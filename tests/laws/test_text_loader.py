"""Plain text, marked-up text, tables and long JSON: which files are read, and divided where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from manuals import ask, opened, write

from fumishirube import Document, Loader, Root, Source, Unreadable
from fumishirube.host.application import Application
from fumishirube_stages.loaders import Json, Text

LONG = "\n".join("" if number % 7 == 0 else f"line {number} of a log" for number in range(1, 201))
RST = (
    "=======\nManual\n=======\n\nIntro.\n\nInstalling\n----------\n\nLike so::\n\n"
    "   not a title\n   -----------\n\nUsing\n-----\nx\n\n設定\n~~~~\ny\n"
)
ADOC = "= Manual\n\nIntro.\n\n== Installing\n----\n== no title\n----\n\n=== Windows ===\nx\n"
ADOC_RULES = (
    "git-tag(1)\n==========\n\nNAME\n----\nx\n\n--\nab\n--\n\n"
    "Run it now\n----\nNo title\n--------\n----\n\n"
    "== Ab\n-----\ncode\n-----\n\nDeeper still\n~~~~~~~~~~~\ny\n\n設定\n^^^^\nz\n\nOdd\n+++\n"
)
ADOC_TEXT = (
    "---\nlayout: x\n---\n= A\n:toc:\n== B\nText\n= no title\n# nor this\n\n"
    "ifdef::x[]\nCee\n---\n<<<\n== D\n"
)
ORG = "* TODO [#A] Installing  :new:\nx\n** Windows\n#+BEGIN_SRC\n,* none\n* Using\n"
RST_BELOW = (
    "A\n==\nBee\n---\n.. _target:\nC\n==\n.. comment\nDee\n---\n  in\nE\n==\n- item\nEff\n---\n"
    "| verse\n:orphan:\nG\n==\n\ntext\n.. _target:\n- item\nNone\n----\n"
)
RST_MARKED = "- a\n===\n\n:a: b\n=====\n\n>>> x\n=====\nb\n=\n\n| a\n===\n\n.. a\n====\n"
TABLE = "品番,品名,単価\n" + "".join(f"A-{n},部品{n},{n * 10}\n" for n in range(100))


def load(folder: Path, name: str, content: str | bytes, stage: Loader | None = None) -> Document:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return (stage or Text()).load(Root(folder), Source(name))


def outline(document: Document) -> list[tuple[str, int, int]]:
    return [(each.title, each.start_line, each.level) for each in document.sections]


# --- which files ----------------------------------------------------------------------------


def test_it_reads_what_people_write_and_no_logs(tmp_path: Path) -> None:
    names = ["a.txt", "b.RST", "c.csv", "LICENSE", "d.log", "e.png", "f.tar.gz", "00_目次.txt"]
    for name in [*names, "00_目次.json"]:
        (tmp_path / name).write_text("x\n")
    read = {source.path for source in Text().sources(Root(tmp_path))}
    assert read == {"a.txt", "b.RST", "c.csv", "LICENSE"}
    logs = Text(suffixes=(".log",), extensionless=False)
    assert {source.path for source in logs.sources(Root(tmp_path))} == {"d.log"}
    logs = Text(suffixes=(".LOG", ".tar.gz"), extensionless=False)
    assert {source.path for source in logs.sources(Root(tmp_path))} == {"d.log", "f.tar.gz"}
    (tmp_path / "00_目次.json").unlink()
    assert "00_目次.txt" in {source.path for source in Text().sources(Root(tmp_path))}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("program", b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe\x80\0" * 50, "binary"),
        ("codes.txt", bytes(range(1, 9)) * 40, "binary"),
        ("noise.txt", b"abc \xff\xff \x80\x80 \xe3", "undecodable"),
        ("packed.txt", "var a=b(c){d}" * 2_000, "minified"),
        ("large.txt", "x\n" * 600, "too_large"),
    ],
)
def test_what_nobody_reads_is_skipped_with_its_reason(
    tmp_path: Path, name: str, content: str | bytes, reason: str
) -> None:
    with pytest.raises(Unreadable) as skipped:
        load(tmp_path, name, content, Text(most_bytes=30_000 if reason != "too_large" else 1_000))
    assert skipped.value.reason == reason


@pytest.mark.parametrize(
    "line", ["words with spaces between them " * 500, "日本語の文章には空白がない。" * 1_000]
)
def test_a_long_line_of_prose_is_read(tmp_path: Path, line: str) -> None:
    (section,) = load(tmp_path, "a.txt", line).sections
    assert (section.start_line, section.end_line) == (1, 1)


# --- how it is divided ----------------------------------------------------------------------


def test_passages_are_short_and_end_at_blank_lines(tmp_path: Path) -> None:
    document = load(tmp_path, "a.txt", LONG)
    sections = document.sections
    assert len(sections) > 5
    assert all(each.end_line - each.start_line < 30 for each in sections)
    assert all(each.end - each.start <= 1_500 for each in sections)
    for section in sections[:-1]:
        assert document.text[section.start : section.end].endswith("\n\n")
    assert {each.title for each in sections} == {"a"}


def test_a_paragraph_that_is_too_long_is_cut_between_lines(tmp_path: Path) -> None:
    document = load(tmp_path, "a.txt", "eighty characters of text\n" * 100)
    assert [each.start_line for each in document.sections] == [1, 31, 61, 91]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.rst", RST, [("Manual", 1, 1), ("Installing", 7, 2), ("Using", 15, 2), ("設定", 19, 3)]),
        (
            "a.rst",
            RST_BELOW,
            [
                *(("A", 1, 1), ("Bee", 3, 2), ("C", 5, 1), ("Dee", 9, 2), ("E", 12, 1)),
                *(("Eff", 15, 2), ("G", 19, 1)),
            ],
        ),
        (
            "a.rst",
            "Letters\n=======\n\nA\n-\na\n\nB\n-\n",
            [("Letters", 1, 1), ("A", 4, 2), ("B", 8, 2)],
        ),
        ("a.rst", f"{RST_MARKED}\nAb\n-\n", [("a", 1, 1)]),
        ("a.adoc", ADOC, [("Manual", 1, 1), ("Installing", 5, 2), ("Windows", 10, 3)]),
        (
            "rules.adoc",
            ADOC_RULES,
            [
                ("git-tag(1)", 1, 1),
                ("NAME", 4, 2),
                ("Ab", 18, 2),
                ("Deeper still", 23, 3),
                ("設定", 27, 4),
                ("Odd", 31, 5),
            ],
        ),
        (
            "signs.adoc",
            "== A\n\n....and so on\n\n```js\n== b\n```\n== C\n",
            [("A", 1, 2), ("C", 8, 2)],
        ),
        (
            "text.adoc",
            ADOC_TEXT,
            [("text", 1, 1), ("A", 4, 1), ("B", 6, 2), ("Cee", 12, 2), ("D", 15, 2)],
        ),
        (
            "example.adoc",
            "= A\n\n== B\n\n[TIP]\n====\nFirst.\n\n必須\n====\n\nMore.\n\n=== C\n\nLast\n====\n",
            [("A", 1, 1), ("B", 3, 2), ("C", 14, 3), ("Last", 16, 1)],
        ),
        (
            "inner.adoc",
            "= A\n\n.Out\n=====\n[TIP]\n====\n\nEnd.\n====\n\nEnd.\n=====\n\n== B\n",
            [("A", 1, 1), ("B", 14, 2)],
        ),
        ("a.org", ORG, [("Installing", 1, 1), ("Windows", 3, 2), ("Using", 6, 1)]),
        (
            "a.org",
            "* UNDONE\n* How to write NEXT actions [#A] now\n* [#B] TODO\n",
            [("UNDONE", 1, 1), ("How to write NEXT actions [#A] now", 2, 1), ("TODO", 3, 1)],
        ),
        ("a.rst", "no titles\nhere\n", [("a", 1, 1)]),
        ("a.txt", RST, [("a", 1, 1)]),
    ],
)
def test_headings_open_sections(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, int, int]]
) -> None:
    assert outline(load(tmp_path, name, text)) == expected


def test_a_long_section_goes_on_in_passages_inside_it(tmp_path: Path) -> None:
    text = f"Short\n=====\nx\n\nLong\n====\n{LONG}\nEnd\n===\ny\n".replace("\nEnd", "\n\nEnd")
    document = load(tmp_path, "a.rst", text)
    long, *others = (each for each in document.sections if each.title == "Long")
    assert long.level == 1
    assert others
    assert {(each.level, each.ancestors) for each in others} == {(2, ("Long",))}
    assert long.extent == document.sections[-1].start == others[-1].end
    assert document.sections[-1].title == "End"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.rst", ".. _top:\n\n.. highlight:: c\n\nA\n==\nx\n", "A@1"),
        ("a.rst", ":orphan:\n\n..\n   A license.\n\n.. meta::\n   :x: y\n\n==\nA\n==\nx\n", "A@1"),
        ("a.rst", ":Author: Ada\n\n.. _top:\n\nA\n==\n", "a@1 A@3"),
        ("a.rst", "   A quotation.\n\nA\n==\n", "a@1 A@3"),
        ("a.rst", "A\n==\nx\n\n.. _b:\n.. index:: bees\n   pair: b; c\n\nB\n==\n", "A@1 B@5"),
        ("a.rst", "A\n==\nx\n\n.. _b: https://x.org\n.. a comment\n\nB\n==\n", "A@1 B@8"),
        ("a.rst", "A\n==\n\n.. _b:\n\n   A quotation.\n\nB\n==\n", "A@1 B@8"),
        ("a.rst", "A\n==\n\n.. image:: x\n   :alt: y\n\nB\n==\n", "A@1 B@7"),
        ("a.rst", "A\n==\n\n.. option:: -a\n\n   x\n\nB\n==\n", "A@1 -a@4 B@8"),
        ("a.adoc", "// License\n:toc:\n\n////\nA comment\n////\n[[a]]\n= A\n", "A@1"),
        ("a.adoc", "Text.\n\n[[a]]\n= A\n", "a@1 A@3"),
        ("a.adoc", '= A\nx\n\n[[b]]\n// note\n[role="x"]\n\n== B\n', "A@1 B@4"),
        ("a.adoc", "= A\nx\n\n// note\n\n== B\n\n----\n[c]\n----\n== C\n", "A@1 B@6 C@11"),
    ],
)
def test_a_section_begins_with_the_lines_that_name_it(
    tmp_path: Path, name: str, text: str, expected: str
) -> None:
    document = load(tmp_path, name, text)
    assert [f"{each.title}@{each.start_line}" for each in document.sections] == expected.split()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["", "x.", "x.\n\n  y"]), st.booleans()), min_size=1),
    st.sampled_from([".rst", ".adoc"]),
)
def test_an_anchor_is_searched_with_the_text_that_it_names(
    tmp_path: Path, chapters: list[tuple[str, bool]], suffix: str
) -> None:
    target = ".. _a{}:\n\n" if suffix == ".rst" else "[[a{}]]\n"
    text = "".join(
        f"{target.format(n) if named else ''}Chapter {n:04}\n============\n{body}\n\n"
        for n, (body, named) in enumerate(chapters)
    )
    sections = load(tmp_path, f"a{suffix}", text).sections
    assert [each.title for each in sections] == [f"Chapter {n:04}" for n in range(len(chapters))]
    for section, (body, named), n in zip(sections, chapters, range(len(chapters)), strict=True):
        own = text[section.start : section.body]
        assert own.startswith(target.format(n) if named else "Chapter")
        searched = f"{target.format(n)}{body}\n\n" if named and body else None
        assert section.searched == searched


def test_a_long_title_between_long_rules_is_not_cut(tmp_path: Path) -> None:
    rule = "=" * 900
    document = load(tmp_path, "a.rst", f"{rule}\n{'t' * 900}\n{rule}\n\ntext\n")
    for section in document.sections:
        assert section.start <= section.body <= section.end
    assert document.text[document.sections[0].body :].strip() == "text"


# --- tables ---------------------------------------------------------------------------------


def test_rows_stand_under_the_header_of_their_table(tmp_path: Path) -> None:
    document = load(tmp_path, "部品.csv", TABLE)
    assert len(document.sections) == 4
    assert {(each.ancestors, each.title) for each in document.sections} == {
        (("部品",), "品番 | 品名 | 単価")
    }
    assert all(each.end_line - each.start_line < 30 for each in document.sections)


@pytest.mark.parametrize(
    ("name", "text", "header"),
    [
        ("a.csv", "a;b\n1,5;2\n", ("a", "a | b")),
        ("a.tsv", "a\tb\n1\t2\n", ("a", "a | b")),
        ("a.csv", "1,2\n3,4\n", ("a",)),
        ("a.csv", "only\none\n", ("a",)),
        ("a.csv", "\n\na,b\n1,2\n", ("a", "a | b")),
        ("a.csv", "Account\nNo,4711\n\nday,text,sum\n1,x,2\n3,y,4\n", ("a", "day | text | sum")),
        ("a.csv", "Account\n\nday;text\n1,5;x\n3;y\n", ("a", "day | text")),
        ("a.csv", "a,b\n1,2,\n3,4,\n", ("a", "a | b")),
        (
            "a.csv",
            "Account: 12345, Savings\nday;text;sum\n1.1.;rent, and more;1,5\n2.1.;x;2,5\n",
            ("a", "day | text | sum"),
        ),
        ("a.csv", 'name,place\nA,"x, y; z"\nB,"x, y, z; q"\nC,"u; v"\n', ("a", "name | place")),
        ("a.csv", "Region,2023,2024\nNorth,5,7\nSouth,3,2\n", ("a", "Region | 2023 | 2024")),
        ("a.csv", "Ada,1815\nAlan,1912\n", ("a",)),
        ("a.csv", "2023,2024\n1,2\n", ("a",)),
        ("a.csv", "sep=;\nName;Preis\nA;1,5\nB;2,5\n", ("a", "Name | Preis")),
        ("a.csv", '"sep=|"\r\nx,y|b\r\n1|2\r\n', ("a", "x,y | b")),
        ("a.csv", "", ("a",)),
    ],
)
def test_a_header_names_columns(tmp_path: Path, name: str, text: str, header: tuple[str]) -> None:
    (section,) = load(tmp_path, name, text).sections
    assert (*section.ancestors, section.title) == header


def test_a_row_of_several_lines_is_not_cut(tmp_path: Path) -> None:
    text = "id,text\n" + "".join(f'{n},"one\ntwo\nthree"\n' for n in range(40))
    document = load(tmp_path, "a.csv", text)
    assert len(document.sections) > 1
    for section in document.sections[1:]:
        assert document.text[section.start : section.end].split(",")[0].isdecimal()


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize("wide", [1, 1_000])
def test_a_quotation_mark_that_nothing_closes_is_a_character(
    tmp_path: Path, name: str, wide: int
) -> None:
    comma = "\t" if name == "a.tsv" else ","
    rows = [["name", "size"], ["bolt", '"5 inch'], *([f"n{n}", "x" * wide] for n in range(1_000))]
    document = load(tmp_path, name, "".join(f"{comma.join(row)}\n" for row in rows))
    assert {each.title for each in document.sections} == {"name | size"}
    assert all(each.end_line - each.start_line < 30 for each in document.sections)


@pytest.mark.property
@given(
    delimiter=st.sampled_from(",;\t|"),
    columns=st.integers(2, 5),
    above=st.lists(st.sampled_from(["Account: 1, 2", "a;b;c", "From | to", "Savings"]), max_size=2),
)
def test_the_delimiter_is_that_of_most_lines(
    tmp_path_factory: pytest.TempPathFactory, delimiter: str, columns: int, above: list[str]
) -> None:
    assume(all(line.count(delimiter) < columns - 1 for line in above))  # else one is a header
    header = [f"name{n}" for n in range(columns)]
    rows = [header, *([str(n)] * columns for n in range(5))]
    text = "\n".join([*above, *(delimiter.join(row) for row in rows)])
    document = load(tmp_path_factory.mktemp("table"), "a.csv", text)
    assert {each.title for each in document.sections} == {" | ".join(header)}


# --- JSON -----------------------------------------------------------------------------------

CONFIG = {
    "name": "shop",
    "servers": [{"host": f"h{n}", "note": "some words " * 8} for n in range(20)],
    "limits": {"最大": 5},
}


@pytest.mark.parametrize("indent", [1, 2, 4])
def test_long_json_is_divided_at_keys_and_items(tmp_path: Path, indent: int) -> None:
    text = json.dumps(CONFIG, indent=indent, ensure_ascii=False)
    document = load(tmp_path, "shop.json", text, Json())
    titles = [each.title for each in document.sections]
    assert titles[0] == "name"
    assert titles[1].startswith("servers[0] … [")
    assert titles[-1] == "limits"
    last = document.sections[-1]
    assert last.searched == "limits\n最大\n5"
    assert last.ancestors == ("shop.json",)
    assert document.text[last.start : last.end].lstrip().startswith('"limits"')
    assert all(each.end - each.start <= 1_700 for each in document.sections)
    (whole,) = load(tmp_path, "shop.json", text, Json(section_chars=None)).sections
    assert whole.title == "shop.json"
    assert whole.searched == "\n".join(each.searched or "" for each in document.sections)


def test_brackets_that_share_lines_divide_too(tmp_path: Path) -> None:
    items = (f'{{\n"id": {n}, "text": "{"w " * 200}"\n}}' for n in range(20))
    document = load(tmp_path, "a.json", f"[{', '.join(items)}]\n", Json())
    assert len(document.sections) > 3


@pytest.mark.slow
def test_many_values_on_a_line_are_divided_in_linear_time(tmp_path: Path) -> None:
    text = f"[\n{'1,' * 1_000_000}1]\n"  # a square took minutes
    assert len(load(tmp_path, "a.json", text, Json()).sections) == 1


def test_a_long_path_is_shortened_at_its_beginning(tmp_path: Path) -> None:
    text = json.dumps(CONFIG, indent=1)
    for _ in range(100):
        text = f'{{"{"k" * 60}": {text}}}'
    titles = [each.title for each in load(tmp_path, "a.json", text, Json()).sections]
    assert titles[-1].endswith(".limits")
    assert titles[-1].startswith("…")
    assert len(titles) > 3
    assert all(len(title) <= 1_000 for title in titles)


@pytest.mark.parametrize("text", [json.dumps(CONFIG), json.dumps("x" * 5_000), "[" * 2_000])
def test_json_on_one_line_or_with_one_value_is_one_section(tmp_path: Path, text: str) -> None:
    (section,) = load(tmp_path, "a.json", text, Json()).sections
    assert section.title == "a.json"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=10), inner),
    max_leaves=60,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values)
def test_divided_or_not_the_same_is_searched(tmp_path: Path, value: object) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    parts = load(tmp_path, "a.json", text, Json(section_chars=40)).sections
    (whole,) = load(tmp_path, "a.json", text, Json(section_chars=None)).sections
    assert (
        "\n".join(filter(None, (each.searched for each in parts)))
        == "\n".join(filter(None, (whole.searched or "").split("\n")))
        or "\n\n" in f"\n{whole.searched}\n"
    )
    assert parts[0].start == 0
    assert parts[-1].end == len(text)


# --- as it is served ------------------------------------------------------------------------

FILES: Mapping[str, str | bytes] = {
    "m/notes.txt": LONG + "\n\nThe brass key opens the cellar.\n",
    "m/部品.csv": TABLE,
    "m/shop.json": json.dumps(CONFIG, indent=2, ensure_ascii=False),
    "m/program": b"\x7fELF\0\0\xff\xfe\x80" * 50,
    "m/a.md": "# A\nx\n",
    "m/herd.rst": (
        ".. _herd:\n\nHerds\n=====\n\nOf animals.\n\nPride\n-----\n\nOf lions.\n\n"
        ".. _dazzle-of-zebras:\n\nDazzle\n------\n\nA dazzle is a herd.\n"
    ),
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    application = opened(write(tmp_path_factory.mktemp("text"), FILES))
    yield application
    application.close()


def best(application: Application, query: str) -> dict[str, Any]:
    terms = query.split()
    answer = ask(application, "manual_find", manual_id="m", query=query, required_terms=terms)
    return dict(answer["inline_hits"]["items"][0])


def test_a_passage_of_a_long_text_is_a_hit_of_its_own(application: Application) -> None:
    hit = best(application, "brass cellar")
    assert hit["ref"]["path"] == "notes.txt"
    assert hit["ref"]["start_line"] > 150


def test_a_row_is_found_with_its_header(application: Application) -> None:
    hit = best(application, "部品77 単価")
    assert (hit["ref"]["path"], hit["ref"]["start_line"]) == ("部品.csv", 61)
    assert "品番 | 品名 | 単価" in json.dumps(hit, ensure_ascii=False)
    assert any("A-77,部品77,770" in line for _, line in hit["lines"])


def test_a_value_of_json_is_found_by_its_path(application: Application) -> None:
    hit = best(application, "limits 最大")
    assert hit["ref"]["path"] == "shop.json"
    assert hit["ref"]["start_line"] > 80


def test_the_anchor_of_a_section_leads_to_its_text(application: Application) -> None:
    hit = best(application, "dazzle-of-zebras")
    assert (hit["ref"]["path"], hit["ref"]["start_line"]) == ("herd.rst", 13)
    assert [line for _, line in hit["lines"]] == ["A dazzle is a herd."]


def test_without_the_extra_only_the_contracts_files_are_read(tmp_path: Path) -> None:
    application = opened(write(tmp_path, FILES), FUMISHIRUBE_SURFACE_EXTRAS="none")
    listed = ask(application, "manual_ls", id="m")["items"]
    assert [item["name"] for item in listed] == ["a.md", "shop.json"]
    assert best(application, "limits 最大")["ref"]["start_line"] == 1
    application.close()


def test_the_configuration_may_say_otherwise(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "fumishirube.yaml").write_text(
        "pipelines: {manual: {loaders: [{use: markdown}]}}\n"
    )
    application = opened(tmp_path)
    listed = ask(application, "manual_ls", id="m")["items"]
    assert [item["name"] for item in listed] == ["a.md"]
    application.close()
