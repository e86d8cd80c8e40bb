"""What a later look at a folder leaves out does not change which loader claims which file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import pytest
from http_server import eventually
from hypothesis import given, settings
from hypothesis import strategies as st
from manuals import write
from stdio import Wire
from strangers import stranger
from torture import examples

from fumishirube import Document, IndexedFile, Root, Source
from fumishirube.disk import FolderEntry
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.parsed_documents import ParsedDocuments, RememberingLoader
from fumishirube.engine.recoverable_index import CommitSummary
from fumishirube_stages.loaders import Markdown
from fumishirube_stages.loaders.json import Json
from fumishirube_stages.loaders.notebook import Notebook
from fumishirube_stages.loaders.text import Text
from fumishirube_stages.loaders.toc_text import TocText

OLD = 1_600_000_000
NAMES = ("a.md", "B.MD", "c.txt", "d.json", "e.ipynb", "README", "00_目次.json", "00_目次.txt", "x")
TEXTS = (
    "",
    "# 一\n給付\n",
    json.dumps({"manual": "m", "toc": [{"id": "1", "title": "c", "file": "c.txt"}]}),
    json.dumps({"manual": "m", "toc": [{"id": "1", "title": "x", "file": "x"}]}),
)


class ByName:
    """Claims files that end in ``.md``, and counts how often it is asked."""

    by_name: ClassVar[bool] = True

    def __init__(self) -> None:
        self.asked = 0

    def sources(self, root: Root) -> Iterable[Source]:
        self.asked += 1
        return [Source(entry.path) for entry in root.files() if self.is_listed(root, entry)]

    def is_listed(self, root: Root, entry: FolderEntry) -> bool:
        return entry.name.endswith(".md")

    def load(self, root: Root, source: Source) -> Document:
        raise NotImplementedError


class ByText(ByName):
    """Claims files that say so, which its base class knows nothing of."""

    def sources(self, root: Root) -> Iterable[Source]:
        self.asked += 1
        paths = [entry.path for entry in root.files()]
        return [Source(path) for path in paths if b"mine" in root.read_bytes(path)]


class ByTextInPart(ByName):
    """Inherits how files are listed, but not what decides it."""

    def is_listed(self, root: Root, entry: FolderEntry) -> bool:
        return b"mine" in root.read_bytes(entry.path)


def put(folder: Path, name: str, text: str, age: int = 0) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    os.utime(folder / name, (OLD + age, OLD + age))


def claims(manual: ManualFolder) -> Sequence[tuple[object, ...]]:
    swept = manual.sweep()
    return [
        (file.source, type(file.loader), file.stamp, file.modified_ns, file.size)
        for _, file in sorted(swept.items())
    ] + [*manual.unlisted()]


def test_a_loader_that_goes_by_name_lists_files_again_only_when_names_change(
    tmp_path: Path,
) -> None:
    loader = ByName()
    manual = ManualFolder("m", Root(tmp_path), [loader])
    put(tmp_path, "a.md", "one")
    before = manual.sweep()["a.md"]
    put(tmp_path, "a.md", "another")
    assert manual.sweep()["a.md"].stamp != before.stamp
    assert loader.asked == 1
    put(tmp_path, "b.md", "")
    assert manual.sweep().keys() == {"a.md", "b.md"}
    (tmp_path / "a.md").unlink()
    assert manual.sweep().keys() == {"b.md"}
    (tmp_path / "b.md").rename(tmp_path / "b.txt")
    assert not manual.sweep()
    assert loader.asked == 4


def test_a_loader_whose_documents_are_cached_goes_by_name_if_it_did(tmp_path: Path) -> None:
    cached = ParsedDocuments(Root(tmp_path / "state"))
    for loader, asked in ((ByName(), 1), (ByText(), 2), (ByTextInPart(), 2)):
        manual = ManualFolder("m", Root(tmp_path), [RememberingLoader(loader, "", cached)])
        put(tmp_path, "a.md", "mine")
        assert manual.sweep().keys() == {"a.md"}
        put(tmp_path, "a.md", "mine, again")
        assert manual.sweep().keys() == {"a.md"}
        assert loader.asked == asked


def test_a_loader_that_inherits_the_word_lists_files_after_each_change(tmp_path: Path) -> None:
    loader = ByText()
    manual = ManualFolder("m", Root(tmp_path), [loader])
    put(tmp_path, "a", "yours")
    assert not manual.sweep()
    put(tmp_path, "a", "mine")
    assert manual.sweep().keys() == {"a"}
    assert loader.asked == 2


LOADER = """
import time
from pathlib import Path
from typing import ClassVar
from fumishirube import Document, Section, Source, Stage, hook

class Notes(Stage):
    by_name: ClassVar[bool] = True

    def sources(self, root):
        here = Path(__file__).parent
        with (here / "asked").open("a") as asked:
            asked.write("x")
        if (here / "broken").exists():
            raise ValueError
        files = root.files()
        while (here / "slow").exists():
            time.sleep(0.01)
        (here / "listed").touch()
        return [Source(entry.path) for entry in files if entry.name.endswith(".note")]

    def load(self, root, source):
        text = root.read_bytes(source.path).decode()
        size = len(text)
        return Document(source.path, "note", text, (Section("note", 1, 1, 0, size, size, 0),))

@hook
def register_loaders(register):
    register("notes", Notes)
"""


def test_a_loader_of_a_plugin_may_go_by_name_but_not_while_it_fails(tmp_path: Path) -> None:
    site, workspace, manual = noted(tmp_path)

    def asked() -> int:
        return len((site / "asked").read_text())

    with Wire(workspace, PYTHONPATH=os.fspath(site)) as wire:
        wire.ok("manual_ls")
        found = partial(found_in, wire)
        assert found() == 1
        before = asked()
        put(manual, "a.note", "solar winter\n")
        assert (found(), asked()) == (1, before)
        (site / "broken").touch()
        put(manual, "b.note", "solar\n")
        assert found() == 1
        (site / "broken").unlink()
        assert found() == 2


def test_a_late_list_of_earlier_files_does_not_stay(tmp_path: Path) -> None:
    site, workspace, manual = noted(tmp_path)
    with Wire(workspace, PYTHONPATH=os.fspath(site)) as wire:
        wire.ok("manual_ls")
        assert found_in(wire) == 1
        (site / "listed").unlink()
        (site / "slow").touch()
        put(manual, "b.note", "solar\n")
        assert found_in(wire, budget={"time_ms": 1_000}) == 1
        put(manual, "c.note", "solar\n")
        (site / "slow").unlink()
        eventually((site / "listed").exists)
        found_in(wire)
        assert found_in(wire) == 3


def test_a_loader_that_cannot_say_how_it_lists_hinders_no_other(tmp_path: Path) -> None:
    raising = "@property\n    def by_name(self): raise OSError"
    code = LOADER.replace("by_name: ClassVar[bool] = True", raising)
    site = stranger(tmp_path / "site", "noter", code)
    workspace = write(tmp_path / "work", {"m/a.md": "solar\n", "m/b.note": "solar\n"})
    (workspace / "fumishirube.yaml").write_text(
        "pipelines: {manual: {loaders: [notes, defaults]}}\n"
    )
    with Wire(workspace, PYTHONPATH=os.fspath(site)) as wire:
        wire.ok("manual_ls")
        assert found_in(wire) == 1
        stderr = wire.hang_up()
    assert "plugin noter: loader 'notes' failed on m: OSError" in stderr


def noted(folder: Path) -> tuple[Path, Path, Path]:
    """Write a plugin with a loader, a workspace that uses it, and a manual in it."""
    site = stranger(folder / "site", "noter", LOADER)
    workspace = write(folder / "work", {"m/a.note": "solar\n"})
    manual = workspace / "manuals" / "m"
    put(manual, "a.note", "solar\n")
    (workspace / "fumishirube.yaml").write_text("pipelines: {manual: {loaders: [notes]}}\n")
    return site, workspace, manual


def found_in(wire: Wire, **more: Any) -> int:
    search = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar"], **more}
    candidates: int = wire.ok("manual_find", **search)["candidates"]
    return candidates


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(TEXTS))), max_size=5
    )
)
def test_a_later_look_claims_what_the_first_one_would(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[Sequence[tuple[str, str | None]]]
) -> None:
    folder = tmp_path_factory.mktemp("m")
    loaders = [Markdown(), TocText(), Json(), Notebook(), Text()]
    manual = ManualFolder("m", Root(folder), loaders)
    for age, changes in enumerate(steps):
        for name, text in changes:
            if text is not None:
                put(folder, name, text, age)
            elif (folder / name).exists():
                (folder / name).unlink()
        assert claims(manual) == claims(ManualFolder("m", Root(folder), loaders))


PAGES = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.sampled_from(["1", "2"]), st.sampled_from([None, "scanned"]), st.integers(0, 2)),
)


@given(st.lists(PAGES, max_size=5))
def test_a_summary_of_changed_pages_is_that_of_all(
    commits: Sequence[dict[str, tuple[str, str | None, int]]],
) -> None:
    pages: dict[str, IndexedFile] = {}
    summary = None
    for commit in commits:
        known = pages
        pages = {
            path: IndexedFile(path, stamp, skipped, 3, blank, {"text": stamp})
            for path, (stamp, skipped, blank) in commit.items()
        }
        pages = {
            path: known[path] if known.get(path) == page else page for path, page in pages.items()
        }
        summary = CommitSummary.of(pages, summary)
        assert summary == CommitSummary.of(pages)


def test_a_summary_is_right_if_an_index_shows_its_pages_by_a_view() -> None:
    pages = {"a": IndexedFile("a", "1"), "b": IndexedFile("b", "1")}
    before = CommitSummary.of(MappingProxyType(pages))
    del pages["b"]
    pages["a"] = IndexedFile("a", "2")
    after = CommitSummary.of(MappingProxyType(pages), before)
    assert after == CommitSummary.of(pages)
    assert after.fingerprint != before.fingerprint
