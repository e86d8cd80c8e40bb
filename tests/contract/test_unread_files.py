"""Files that no loader reads: counted by suffix everywhere, with what would read them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, fumishirube, opened, write

from fumishirube import Stage
from fumishirube.host.application import Application

PACKAGE = Path(__file__).parents[2] / "plugins" / "packages" / "fumishirube-documents"
FILES: dict[str, str | bytes] = {
    "docs/guide.txt": "Wash your hands.\n",
    "docs/more/api.TXT": "Call it.\n",
    "docs/old.rst": "Old\n===\n",
    "docs/page.html": "<p>hands</p>",
    "docs/paper.pdf": b"%PDF-1.4",
    "docs/letter.rtf": b"{}",
    "docs/photo.png": b"\x89PNG",
    "docs/LICENSE": "Free.\n",
    "read/all.md": "# All\nWash your hands.\n",
    "stray.md": "# Stray\nWash your hands.\n",
    ".hidden.md": "# Hidden\n",
}
# Without the loaders of further documents, which read the text files too.
EXTRAS = {"FUMISHIRUBE_SURFACE_EXTRAS": "unread"}
COUNTS = {".txt": 2, ".rst": 1, ".html": 1, ".pdf": 1, ".png": 1, "": 1, ".rtf": 1}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("unread"), FILES)


@pytest.fixture(scope="module")
def application(workspace: Path) -> Iterator[Application]:
    application = opened(workspace, **EXTRAS)
    yield application
    application.close()


def answers(application: Application, manual: str) -> Iterator[dict[str, Any]]:
    yield ask(application, "manual_ls", id=manual)
    yield ask(application, "manual_toc", manual_id=manual)
    yield ask(application, "manual_find", manual_id=manual, query="hands", required_terms=["hands"])


def test_every_tool_that_lists_or_searches_counts_them(application: Application) -> None:
    for answer in answers(application, "docs"):
        rows = answer["unread_files"]
        assert {row["suffix"]: row["count"] for row in rows} == COUNTS
        assert rows[0]["suffix"] == ".txt"
        readers = {row["suffix"]: row.get("reader") for row in rows}
        assert "markdown" in readers[".txt"]
        assert "00_目次.json" in readers[".txt"]
        assert "suffixes: [.md, .rst]" in readers[".rst"]
        assert "pipelines.manual.loaders" in readers[".rst"]
        assert "plugins/packages/fumishirube-documents" in readers[".html"]
        assert "plugins/packages/fumishirube-documents" in readers[".pdf"]
        assert "new-plugin" in readers[".rtf"]
        assert readers[".png"] is readers[""] is None


def test_the_package_for_documents_is_proposed_for_all_that_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(PACKAGE / "src")
    loaders = vars(importlib.import_module("fumishirube_documents")).values()
    stages = [one for one in loaders if isinstance(one, type) and issubclass(one, Stage)]
    suffixes = {suffix for stage in stages for suffix in stage.model_fields["suffixes"].default}
    assert ".pdf" in suffixes
    files = {f"docs/one{suffix}": "" for suffix in suffixes}
    application = opened(write(tmp_path, {**files, "docs/read.md": "# Hands\n"}), **EXTRAS)
    rows = next(answers(application, "docs"))["unread_files"]
    assert {row["suffix"] for row in rows if PACKAGE.name in row.get("reader", "")} == suffixes
    application.close()


def test_a_manual_that_was_read_whole_says_nothing(application: Application) -> None:
    for answer in answers(application, "read"):
        assert "unread_files" not in answer


def test_the_advice_works(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    loaders = "[{use: markdown, with: {suffixes: [.md, .txt]}}, {use: json}]"
    config = f"pipelines: {{manual: {{loaders: {loaders}}}}}\n"
    (tmp_path / "fumishirube.yaml").write_text(f"version: 1\n{config}")
    application = opened(tmp_path)
    answer = next(answers(application, "docs"))
    assert ".txt" not in {row["suffix"] for row in answer["unread_files"]}
    found = [*answers(application, "docs")][2]["inline_hits"]["items"]
    assert [hit["ref"]["path"] for hit in found] == ["guide.txt"]
    application.close()


def test_a_file_in_no_manual_is_named_by_the_command(workspace: Path) -> None:
    done = fumishirube("ls", "--json", cwd=workspace, environ=EXTRAS)
    assert done.json["loose_files"] == ["stray.md"]


def test_no_extra_means_no_such_key(workspace: Path) -> None:
    application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="none")
    for answer in (ask(application, "manual_ls"), *answers(application, "docs")):
        assert "unread_files" not in answer
    application.close()


def test_by_default_text_is_read(workspace: Path) -> None:
    application = opened(workspace)
    for answer in answers(application, "docs"):
        counts = {row["suffix"]: row["count"] for row in answer["unread_files"]}
        assert counts == {".html": 1, ".pdf": 1, ".png": 1, ".rtf": 1}
    application.close()


def test_rare_suffixes_are_counted_together(tmp_path: Path) -> None:
    write(tmp_path, {f"m/file.x{number:02}": b"" for number in range(12)})
    application = opened(tmp_path)
    rows = ask(application, "manual_ls", id="m")["unread_files"]
    assert rows[-1] == {"suffix": "others", "count": 4}
    assert sum(row["count"] for row in rows) == 12
    application.close()


def test_what_would_be_read_never_counts_among_the_others(tmp_path: Path) -> None:
    readable = [".pdf", ".docx", ".pptx", ".xlsx", ".ods", ".html", ".htm", ".epub", ".markdown"]
    names = [f"m/a{number}.x{number:02}" for number in range(12) for _ in "ab"]
    write(tmp_path, {**dict.fromkeys(names, b""), **{f"m/z{kind}": b"" for kind in readable}})
    application = opened(tmp_path)
    rows = ask(application, "manual_ls", id="m")["unread_files"]
    assert {row["suffix"] for row in rows if "reader" in row} == {*readable}
    assert rows[-1] == {"suffix": "others", "count": 12}
    application.close()


def test_the_commands_say_so_too(workspace: Path) -> None:
    said = {
        "ls": fumishirube("ls", cwd=workspace, environ=EXTRAS).out,
        "ls docs": fumishirube("ls", "docs", cwd=workspace, environ=EXTRAS).out,
        "toc docs": fumishirube("toc", "docs", cwd=workspace, environ=EXTRAS).out,
        "find hands": fumishirube("find", "hands", "-v", cwd=workspace, environ=EXTRAS).out,
        "doctor": fumishirube("doctor", cwd=workspace, environ=EXTRAS).out,
    }
    for command in ("ls docs", "toc docs", "find hands"):
        assert "not read in docs: 2 .txt files; text: " in said[command], command
        assert " or markdown: " in said[command], command
        assert "not read in docs: 1 file, 1 .png file\n" in said[command], command
        assert "not read in docs: 1 .html file, 1 .pdf file; the package" in said[command], command
    for command in ("ls", "find hands", "doctor"):
        assert "stray.md" in said[command], command
        assert "move" in said[command], command
    assert "2 .txt files not read" in said["doctor"]


def test_find_as_json_counts_them(workspace: Path) -> None:
    done = fumishirube("find", "hands", "--json", cwd=workspace, environ=EXTRAS)
    coverage = json.loads(done.out)["coverage"]
    assert {row["suffix"]: row["count"] for row in coverage["unread_files"]} == COUNTS
    assert {row["manual_id"] for row in coverage["unread_files"]} == {"docs"}
    assert coverage["loose_files"] == ["stray.md"]


def test_files_alone_are_named_where_there_is_no_manual(tmp_path: Path) -> None:
    write(tmp_path, {"stray.md": "# Stray\n"})
    refused = fumishirube("find", "stray", cwd=tmp_path)
    assert refused.code != 0
    assert "stray.md" in refused.err
    assert "move" in refused.err
