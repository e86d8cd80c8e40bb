"""Chapters of text: which files a table of contents names, and how they are called."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from typing import TYPE_CHECKING

import pytest
from loaded_documents import paths

from fumishirube import Chapter, Document, Section, Source, Unreadable
from fumishirube_stages.loaders import TocText

if TYPE_CHECKING:
    from loader_fixtures import Write

pytest_plugins = ["loader_fixtures"]


def toc(*entries: object, **others: object) -> str:
    return json.dumps({"manual": "編", "toc": entries, **others})


def entry(number: object, file: object, title: object = None) -> dict[str, object]:
    return {"id": number, "file": file, "title": title, "children": None}


def test_chapters_are_the_files_that_the_toc_names(write: Write) -> None:
    root = write(
        {
            "編/00_目次.json": toc(
                entry("01", "01.txt", "第1章 総則"), entry("02", "02.txt", "第2章")
            ),
            "編/01.txt": "第1条\r\n# 本文\r\n",
            "編/03.txt": "目次にない",
            "other.txt": "",
        }
    )
    (source,) = TocText().sources(root)
    assert source == Source("編/01.txt", ("編/00_目次.json",))
    assert TocText().load(root, source) == Document(
        path="編/01.txt",
        file_type="txt",
        text="第1条\n# 本文\n",
        sections=(Section("第1章 総則", 1, 2, 0, 9, 9, 0),),
    )


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"id": "01"}, "01"),
        ({"id": 7, "title": None}, "7"),
        ({"id": "01", "title": 5}, "01"),
        ({"id": "", "title": "章"}, "章"),
        ({"id": "01", "title": "\ud800章"}, "\ufffd章"),
    ],
)
def test_a_missing_title_is_the_id(write: Write, fields: dict[str, object], title: str) -> None:
    root = write({"00_目次.json": toc({"file": "a.txt", **fields}), "a.txt": "本文"})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).sections[0].title == title


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "01",
        [],
        {"id": "01"},
        {"file": "a.txt"},
        entry(None, "a.txt"),
        entry(True, "a.txt"),
        entry(1.5, "a.txt"),
        entry("01", None),
        entry("01", 7),
        entry("01", ""),
        entry("01", "../a.txt"),
        entry("01", "sub/../a.txt"),
        entry("01", "/a.txt"),
        entry("01", "C:/a.txt"),
        entry("01", "sub\\c.txt"),
        entry("01", "a.txt\0"),
        entry("01", "\ud800.txt"),
        entry("01", "00_目次.json"),
        entry("01", "a.md"),
        entry("01", "sub"),
        entry("01", "none.txt"),
        entry("01", ".hidden.txt"),
        entry("01", "folder.txt"),
    ],
)
def test_a_defective_entry_costs_only_itself(write: Write, broken: object) -> None:
    root = write(
        {
            "編/00_目次.json": toc(broken, entry("02", "b.txt")),
            **dict.fromkeys(["編/b.txt", "編/a.md", "編/sub/c.txt", "編/.hidden.txt", "a.txt"], ""),
            "編/folder.txt/x": "",
        }
    )
    assert paths(TocText(), root) == ["編/b.txt"]


@pytest.mark.parametrize(
    "unusable",
    [
        "",
        "{",
        "[]",
        "null",
        '{"toc": {}}',
        '{"manual": "編"}',
        b"\xff\xfe\x00",
        "[" * 200_000,
        '{"toc":' * 99_999,
    ],
)
def test_a_defective_toc_costs_only_itself(write: Write, unusable: str | bytes) -> None:
    root = write(
        {
            "a/00_目次.json": unusable,
            "a/01.txt": "",
            "b/00_目次.json": toc(entry("01", "01.txt")),
            "b/01.txt": "",
        }
    )
    assert paths(TocText(), root) == ["b/01.txt"]


def test_a_toc_over_the_limit_is_not_read(write: Write) -> None:
    content = toc(entry("01", "01.txt"))
    root = write({"00_目次.json": content, "01.txt": ""})
    assert paths(TocText(max_chapter_bytes=len(content.encode())), root) == ["01.txt"]
    assert paths(TocText(max_chapter_bytes=len(content.encode()) - 1), root) == []


def test_the_first_entry_for_a_file_wins(write: Write) -> None:
    entries = (entry("01", "a.txt", "先"), entry("02", "./a.txt", "後"))
    root = write({"00_目次.json": toc(*entries), "a.txt": ""})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).sections[0].title == "先"


def test_the_outermost_toc_decides(write: Write) -> None:
    root = write(
        {
            "0/00_目次.json": toc(entry("01", "a.txt", "内"), entry("02", "b.txt", "内")),
            "00_目次.json": toc(entry("01", "0/a.txt", "外")),
            "0/a.txt": "",
            "0/b.txt": "",
        }
    )
    documents = [TocText().load(root, source) for source in TocText().sources(root)]
    assert [(each.path, each.sections[0].title) for each in documents] == [
        ("0/a.txt", "外"),
        ("0/b.txt", "内"),
    ]


def test_chapters_are_found_whatever_the_unicode_form_of_their_names(write: Write) -> None:
    name = "01_ガイド.TXT"
    decomposed = unicodedata.normalize("NFD", name)
    for on_disk, in_toc in ((decomposed, name), (name, decomposed)):
        root = write({"00_目次.json": toc(entry("01", in_toc, "章")), on_disk: "本文"})
        (source,) = TocText().sources(root)
        document = TocText().load(root, source)
        assert (document.path, document.sections[0].title) == (name, "章")
        (root.path / on_disk).unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_linked_chapters_and_tocs_are_not_spoken_for(write: Write) -> None:
    root = write(
        {
            "a/00_目次.json": toc(entry("01", "01.txt"), entry("02", "b/x.txt")),
            "c.txt": "",
            "d/x.txt": "",
        }
    )
    (root.path / "a" / "01.txt").symlink_to(root.path / "c.txt")
    (root.path / "a" / "b").symlink_to(root.path / "d")
    (root.path / "00_目次.json").symlink_to(root.path / "a" / "00_目次.json")
    assert paths(TocText(), root) == []


def test_a_changed_toc_changes_the_title(write: Write) -> None:
    root = write({"00_目次.json": toc(entry("01", "a.txt", "旧")), "a.txt": ""})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).sections[0].title == "旧"
    write({"00_目次.json": toc(entry("01", "a.txt", "新"))})
    assert TocText().load(root, source).sections[0].title == "新"
    write({"00_目次.json": "{"})
    assert TocText().load(root, source).sections[0].title == "a"


def test_a_toc_in_another_encoding_is_read(write: Write) -> None:
    content = json.dumps({"toc": [entry("01", "章.txt", "総則の章")]}, ensure_ascii=False)
    root = write({"00_目次.json": content.encode("cp932"), "章.txt": "対象です。".encode("euc_jp")})
    (source,) = TocText().sources(root)
    document = TocText().load(root, source)
    assert (document.text, document.sections[0].title) == ("対象です。", "総則の章")


def test_a_chapter_that_is_a_table_of_contents_is_navigation(write: Write) -> None:
    root = write({"00_目次.json": toc(entry("00", "00_目次.txt")), "00_目次.txt": "第1章"})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).navigation


@pytest.mark.slow
def test_many_chapters_load_in_linear_time(write: Write) -> None:
    names = [f"{number:04}.txt" for number in range(1500)]
    root = write(
        {
            "00_目次.json": toc(*(entry(name, name, f"第{name}章") for name in names)),
            **dict.fromkeys(names, ""),
        }
    )
    began = time.perf_counter()
    stage = TocText()
    documents = [stage.load(root, source) for source in stage.sources(root)]
    assert len(documents) == len(names)
    assert time.perf_counter() - began < 5


def test_a_toc_is_repaired_singly_and_says_so(write: Write) -> None:
    entries = (
        '{"id": 7, "title": "七", "file": "a.txt", "children": [NaN, {"x": [1e999, "\\ud800"]}]}',
        '{"id": "7", "file": "b.md", "children": "none"}',
        '{"id": true, "title": "x", "file": "c.txt"}',
        '{"id": "up", "title": "x", "file": "../c.txt"}',
        "[]",
    )
    root = write({"00_目次.json": f'{{"manual": "別", "toc": [{", ".join(entries)}]}}'})
    contents = TocText().contents(root, "00_目次.json")
    assert contents.chapters == (
        Chapter("7", "七", "a.txt", [None, {"x": [None, "\ufffd"]}], "a.txt"),
        Chapter("7", "7", "b.md", None, "b.md"),
        Chapter("up", "x", "../c.txt", None, None),
    )
    told = "\n".join(contents.warnings)
    for part in (
        "toc[0].id is a number",
        "toc[0] holds lone surrogates",
        "toc[1].title",
        "toc[1].children",
        "toc[1].file 'b.md' does not end in .txt",
        "toc[1] has the id '7' once more",
        "toc[2] has no id",
        "toc[3].file '../c.txt' is refused",
        "toc[4] is no object",
        "'manual' is not the name of the folder",
    ):
        assert told.count(part) == 1, part


def test_children_nested_over_a_hundred_levels_are_left_out(write: Write) -> None:
    for levels, kept in ((100, True), (101, False), (900, False)):
        deep = "[" * levels + "]" * levels
        toc = f'{{"toc": [{{"id": "1", "file": "a", "children": {deep}}}]}}'
        contents = TocText().contents(write({"00_目次.json": toc}), "00_目次.json")
        (chapter,) = contents.chapters
        assert chapter.children == (json.loads(deep) if kept else None)
        warned = "over 100 levels" in "\n".join(contents.warnings)
        assert warned is not kept


def test_a_chapter_is_read_whatever_its_bytes(write: Write) -> None:
    root = write({"a.txt": "対象とする\r\n".encode() + b"\xff"})
    document = TocText().chapter(root, "a.txt")
    assert (document.text, document.encoding, document.damaged) == (
        "対象とする\n\ufffd",
        "utf-8",
        True,
    )
    with pytest.raises(Unreadable):
        TocText(max_chapter_bytes=3).chapter(root, "a.txt")
