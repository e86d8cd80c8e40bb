"""A folder of the classic tools says what becomes of it, and errors say which file is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from http_server import HttpServer
from manuals import fumishirube, write

TOC = {"toc": [{"id": "01", "title": "総則", "file": "01.txt"}]}
CLASSIC = "server:\n  port: 9000\nsearch:\n  max_results: 20\n"


@pytest.fixture
def classic(tmp_path: Path) -> Path:
    write(tmp_path, {"給付編/00_目次.json": json.dumps(TOC), "給付編/other.txt": "総則\n"})
    (tmp_path / "config.yaml").write_text(CLASSIC, encoding="utf-8")
    return tmp_path


def test_serving_over_http_logs_what_is_wrong_with_chapters(classic: Path) -> None:
    (classic / "fumishirube.yaml").write_text("surfaces: [{use: chapters}]\n", encoding="utf-8")
    with HttpServer(classic) as server:
        log = server.logged("file missing: 01.txt")
    lines = [json.loads(line) for line in log.splitlines() if "[validate]" in line]
    assert {line["level"] for line in lines} == {"warning"}
    kept = (classic / "var" / "http.log").read_text(encoding="utf-8")
    assert "file missing: 01.txt" in kept


@pytest.mark.parametrize("words", [("ls",), ("serve",), ("doctor",)])
def test_a_classic_folder_without_a_file_of_ours_says_what_to_do(
    classic: Path, words: tuple[str, ...]
) -> None:
    done = fumishirube(*words, cwd=classic)
    said = done.out if words == ("doctor",) else done.err
    (line,) = [line for line in said.splitlines() if "config.yaml" in line]
    assert "not read" in line
    assert "fumishirube config import" in line
    assert "leave it out" not in line
    assert fumishirube("config", "import", cwd=classic).code == 0
    again = fumishirube(*words, cwd=classic)
    assert "not read" not in again.out + again.err


def test_a_config_file_of_another_program_says_nothing(classic: Path) -> None:
    (classic / "config.yaml").write_text("theme: dark\nbaseURL: /\n", encoding="utf-8")
    assert "config.yaml" not in fumishirube("ls", cwd=classic).err
    (classic / "config.yaml").write_text("a: [\n", encoding="utf-8")
    assert "config.yaml" not in fumishirube("ls", cwd=classic).err


@pytest.mark.parametrize(
    ("ours", "theirs", "where"),
    [
        ("surfaces: [{use: chapters}]\n", "server:\n  port: 0\n", "config.yaml line 2"),
        ("surfaces: [{use: chapters}]\n", "manuals_root: 3\n", "config.yaml line 1"),
        ("surfaces: [{use: chapters}]\n", "search: {max_results: 500}\n", "config.yaml"),
        (
            "surfaces: [{use: chapters}]\n",
            "server:\n  port: 9000\ntoc:\n  path_pattern: x/{manual}\n",
            "config.yaml line 4",
        ),
        (
            "surfaces: [{use: chapters}]\n",
            "security:\n  allowed_roots: [/etc]\n",
            "config.yaml line 2",
        ),
        ("surfaces: [{use: chapters}]\nserver: {port: 0}\n", "", "fumishirube.yaml line 2"),
        (
            "surfaces:\n- use: manual\n- use: chapters\n  with: {x: 1}\n",
            "",
            "fumishirube.yaml line",
        ),
        ("traces:\n  keep: -1\n", CLASSIC, "fumishirube.yaml line 2"),
        ("pipelines:\n  manual:\n    scorers:\n    - use: nope\n", "", "fumishirube.yaml line 4"),
    ],
)
def test_an_error_names_the_file_that_says_it(
    classic: Path, ours: str, theirs: str, where: str
) -> None:
    (classic / "fumishirube.yaml").write_text(ours, encoding="utf-8")
    (classic / "config.yaml").write_text(theirs, encoding="utf-8")
    done = fumishirube("ls", cwd=classic)
    assert done.code == 2
    assert where in done.err
    assert ("config.yaml" in where) == ("config.yaml" in done.err)
    if where.startswith("config.yaml"):
        assert "fumishirube.yaml" not in done.err
