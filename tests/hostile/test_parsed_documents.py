"""Documents of slow loaders are cached by the content of their files, and nothing else is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from manuals import opened, write

from fumishirube import Document, LoaderRemark, Root, Section, Source
from fumishirube.engine.parsed_documents import ParsedDocuments, RememberingLoader
from fumishirube.parsing import Place


def test_a_file_that_is_saved_while_it_is_read_is_remembered_for_neither_content(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.x"

    class Saving:
        """Reads a file that another program saves just before."""

        def sources(self, root: Root) -> Iterable[Source]:
            return [Source(entry.path) for entry in root.files()]

        def load(self, root: Root, source: Source) -> Document:
            file.write_text(later.pop())
            return Document(source.path, "x", root.read_bytes(source.path).decode(), ())

    later = ["first", "second"]
    file.write_text("first")
    remembering = RememberingLoader(Saving(), "1", ParsedDocuments(Root(tmp_path / "state")))
    assert remembering.load(Root(tmp_path), Source("a.x")).text == "second"
    file.write_text("first")
    assert remembering.load(Root(tmp_path), Source("a.x")).text == "first"
    assert remembering.load(Root(tmp_path), Source("a.x")).text == "first"


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="a file has one owner, who may touch it"
)
def test_what_may_only_be_read_is_remembered_too() -> None:
    with TemporaryDirectory() as folder:  # one that others may enter
        state = ParsedDocuments(Root(Path(folder)))
        state.put_text("page", "text")
        (stored,) = Path(folder, "parsed").iterdir()
        for path in (stored, stored.parent, stored.parent.parent):
            path.chmod(0o755)
        os.seteuid(65_534)
        try:
            assert state.text("page") == "text"
        finally:
            os.seteuid(0)


def test_what_is_remembered_is_the_whole_document(tmp_path: Path) -> None:
    section = Section("A", 1, 3, 0, 10, 10, 4, ancestors=("B",), searched="words")
    document = Document(
        "a.x",
        "x",
        "# A\n\nbody\n",
        (section,),
        navigation=True,
        encoding="cp932",
        damaged=True,
        facts={"title": "T"},
        content=2,
        remarks=(LoaderRemark("odd", 2, "it is odd"),),
        places=(Place(1, page=1, label="i"),),
        scan_only=True,
    )
    unset = {
        name for name, given in Document._field_defaults.items() if getattr(document, name) == given
    }
    assert unset == {"links"}, "links are read each time"
    documents = ParsedDocuments(Root(tmp_path / "state"))
    documents.put("a", document)
    assert documents.document("a", "a.x") == document


def test_what_is_remembered_does_not_grow_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fumishirube.engine.parsed_documents.MOST_BYTES", 20_000)
    monkeypatch.setattr("fumishirube.engine.parsed_documents._MOST_UNCHECKED", 8_000)
    parsed = tmp_path / "state" / "parsed"
    parsed.mkdir(parents=True)
    for number in range(10):
        old = parsed / f"{number}.json.gz"
        old.write_bytes(b"x" * 5_000)
        os.utime(old, (number, number))
    document = Document("a.x", "x", "text\n", ())
    documents = ParsedDocuments(Root(tmp_path / "state"))
    documents.put("new", document)
    names = {file.name for file in parsed.iterdir()}
    assert "new.json.gz" in names
    assert "9.json.gz" in names
    assert "0.json.gz" not in names
    assert sum(file.stat().st_size for file in parsed.iterdir()) <= 20_000
    for number in range(100):
        documents.put_text(f"page {number}", "short")
        assert len([*parsed.iterdir()]) <= 6  # a small file takes 4 KiB too
    assert documents.text("page 99") == "short"
    assert documents.text("page 0") is None


def test_the_server_needs_no_parser_where_nothing_is_to_parse(tmp_path: Path) -> None:
    application = opened(write(tmp_path, {"m/a.md": "# A\n"}))
    application.close()
    assert not (tmp_path / ".fumishirube" / "parsed").exists()
