"""Tables of contents and the files of chapters, and what is stored of them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from types import FrameType

import manuals
import pytest
from chapter_manuals import (
    NAME,
    SURFACE,
    entry,
    made,
    opened,
    searched,
)
from stdio import Fumishirube

from fumishirube.disk import is_settled
from fumishirube.text import Projection, TextForm, project
from fumishirube_chapters import cache


def test_defects_cost_only_themselves(tmp_path: Path) -> None:
    toc = [
        "x", {"id": "no file"}, {"id": 5, "file": "5.txt"}, entry("a", "A"),
        entry("a", "B", "b.txt"),
        {"id": "t", "title": 3, "file": "a.txt", "children": "none"},
        entry("up", "Up", "../up.txt"), entry("toc", "Toc", "00_目次.json"),
        entry("", "Empty", "a.txt"),
    ]  # fmt: skip
    ask = opened(made(tmp_path, toc, a="本文", b="別", **{"5": "五"}))
    expected = ["5", "a", "a", "t", "up", "toc", ""]
    assert ask("list_sections", manual_name=NAME)["sections"] == expected
    assert ask("get_section", manual_name=NAME, section_id="a")["text"] == "本文"
    assert ask("get_section", manual_name=NAME, section_id="")["title"] == "Empty"
    answer = ask("search_text", manual_name=NAME, query=".")
    assert [one["section_id"] for one in answer["results"]] == ["5", "a", "t", ""]
    assert answer["skipped"] == [
        {"section_id": "up", "reason": "refused"}, {"section_id": "toc", "reason": "refused"},
    ]  # fmt: skip


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n"manual": "a"\n,,}', "invalid JSON at line 3"),
        ("[]", "no array 'toc'"),
        ('{"toc": {}}', "no array 'toc'"),
        ("[" * 100_000, "JSON nested too deeply"),
        (" " * 9_000_000, "too_large"),
    ],
)
def test_an_unusable_toc_is_named(tmp_path: Path, content: str, reason: str) -> None:
    workspace = made(tmp_path, [])
    manuals.write(workspace, {f"{NAME}/00_目次.json": content})
    with Fumishirube(workspace) as server:
        assert server.ok("list_manuals") == {"manuals": [NAME]}
        message = server.refused("list_sections", manual_name=NAME)["message"]
    assert message == f"manual '{NAME}' has no usable 00_目次.json: {reason}"


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        ("\ufeff本文".encode(), "utf-8-sig", "本文"),
        ("本文".encode("utf-16"), "utf-16", "本文"),
        ("本文は対象".encode("cp932"), "cp932", "本文は対象"),
        ("本文は対象".encode("euc-jp"), "euc-jp", "本文は対象"),
        ("本文は対象とする".encode() + b"\xff", "utf-8", "本文は対象とする\ufffd"),
        ("本文は対象".encode("utf-16-le") + b"\n\0", "utf-16-le", "本文は対象\n"),
        ("本文は対象".encode("iso2022_jp"), "iso2022-jp", "本文は対象"),
        ("①本文は対象".encode("euc_jis_2004"), "euc-jis-2004", "①本文は対象"),
        (
            "規程".encode() + b"\0" + "の対象外とする。".encode()[1:],
            "utf-8",
            "規程\0\ufffd\ufffd対象外とする。",
        ),
        (b"", "utf-8", ""),
    ],
)
def test_every_encoding_is_read_and_named(
    tmp_path: Path, content: bytes, encoding: str, text: str
) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a=content))
    section = ask("get_section", manual_name=NAME, section_id="a")
    assert (section["encoding"], section["text"]) == (encoding, text)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_followed_only_into_allowed_folders(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("in", "In"), entry("out", "Out")], a="内")
    folder = workspace / "manuals" / NAME
    (workspace / "out.txt").write_text("外", encoding="utf-8")
    (folder / "in.txt").symlink_to(folder / "a.txt")
    (folder / "out.txt").symlink_to(workspace / "out.txt")
    reasons = {"in": "refused", "out": "refused"}
    answer = opened(workspace)("search_text", manual_name=NAME, query=".")
    assert {one["section_id"]: one["reason"] for one in answer["skipped"]} == reasons
    ask = opened(workspace, FUMISHIRUBE_SECURITY_ALLOW_SYMLINK="true")
    answer = ask("search_text", manual_name=NAME, query=".")
    assert [one["section_id"] for one in answer["results"]] == ["in"]
    assert answer["skipped"] == [{"section_id": "out", "reason": "refused"}]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_chapters_in_allowed_folders_may_have_equal_names(tmp_path: Path) -> None:
    toc = [entry("1", "A", "a.txt"), entry("2", "B", "b.txt"), entry("3", "C", "x.txt")]
    allowed = "{allow_symlink: true, allowed_roots: [manuals, A, B]}"
    settings = f"surfaces: [{{use: chapters, with: {allowed}}}]\n"
    workspace = made(tmp_path, toc, settings, x="ぶどう 例外")
    folder = workspace / "manuals" / NAME
    for link, place, text in (("a", "A", "りんご 例外"), ("b", "B", "みかん 例外")):
        target = workspace / place / "x.txt"
        target.parent.mkdir()
        target.write_text(text, encoding="utf-8")
        (folder / f"{link}.txt").symlink_to(target)
        os.utime(target, (1_600_000_000, 1_600_000_000))
    os.utime(folder / "x.txt", (1_600_000_000, 1_600_000_000))
    file = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    for _ in range(2):  # the second server reads the stored projections
        with Fumishirube(workspace) as server:
            for number, word in (("1", "りんご"), ("2", "みかん"), ("3", "ぶどう")):
                section = server.ok("get_section", manual_name=NAME, section_id=number)
                assert section["text"].startswith(word)
                assert searched(server, word, mode="plain") == [number]
                assert searched(server, word, mode="plain", section_id=number) == [number]
            hits = server.ok("find_exceptions", manual_name=NAME)["results"]
            assert [(hit["section_id"], hit["text"][:3]) for hit in hits] == [
                ("1", "りんご"), ("2", "みかん"), ("3", "ぶどう"),
            ]  # fmt: skip
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT DISTINCT path FROM projections").fetchall()
        assert len(rows) == 3


def test_allowed_links_change_nothing_for_a_manual_without_any(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A"), entry("toc", "Toc", "00_目次.json")], a="本文")
    warnings = []
    for allowed in ("false", "true"):
        ask = opened(workspace, FUMISHIRUBE_SECURITY_ALLOW_SYMLINK=allowed)
        answer = ask("search_text", manual_name=NAME, query=".")
        assert [hit["section_id"] for hit in answer["results"]] == ["a"]
        assert answer["skipped"] == [{"section_id": "toc", "reason": "refused"}]
        environ = {"FUMISHIRUBE_SECURITY_ALLOW_SYMLINK": allowed}
        done = manuals.fumishirube("doctor", "--json", cwd=workspace, environ=environ)
        warnings.append([one for one in done.json if one["subject"] == f"manual {NAME}"])
    assert warnings[0] == warnings[1]
    assert "name of the folder" not in str(warnings[1])


def test_edits_show_in_the_next_answer(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="旧い本文")
    with Fumishirube(workspace) as server:
        for text in ("旧い本文", "新しい本文", "旧い本文"):
            made(workspace, [entry("a", text)], a=text)
            assert server.ok("get_section", manual_name=NAME, section_id="a")["text"] == text
            assert searched(server, text, mode="plain") == ["a"]
            assert server.ok("get_toc", manual_name=NAME)["toc"][0]["title"] == text


def test_a_hidden_folder_counts_only_with_a_toc(tmp_path: Path) -> None:
    workspace = made(tmp_path, [])
    manuals.write(workspace, {".git/config": "", ".編/00_目次.json": '{"toc": []}'})
    assert opened(workspace)("list_manuals") == {"manuals": [".編", NAME]}


def test_no_root_is_no_manuals(tmp_path: Path) -> None:
    (tmp_path / "fumishirube.yaml").write_text(SURFACE, encoding="utf-8")
    assert opened(tmp_path)("list_manuals") == {"manuals": []}


def test_projections_are_kept_and_a_damaged_file_of_them_costs_only_time(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    file = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    first = opened(workspace)("search_text", **query)
    assert first["results"]
    assert file.exists()
    assert opened(workspace)("search_text", **query) == first
    for path in file.parent.iterdir():
        path.write_bytes(b"no database at all" * 100)
    assert opened(workspace)("search_text", **query) == first


def test_what_the_search_for_a_section_projects_is_kept(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A"), entry("b", "B")], a="第1節", b="第2節")
    for file in (workspace / "manuals" / NAME).glob("*.txt"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    with closing(manuals.opened(workspace)) as application:
        answer = manuals.ask(application, "resolve_reference", manual_name=NAME, ref_text="第2節")
    assert answer["target_section"] == "b"
    store = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT path FROM projections ORDER BY path").fetchall()
    assert rows == [("a.txt",), ("b.txt",)]


def test_a_file_of_projections_with_damaged_pages_is_made_again(tmp_path: Path) -> None:
    toc = [entry(str(n), "A") for n in range(60)]
    texts = {str(n): f"帝 王 切 開 {n} " * 50 for n in range(60)}
    workspace = made(tmp_path, toc, **texts)
    for file in (workspace / "manuals" / NAME).glob("*.txt"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    store = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    with closing(manuals.opened(workspace)) as application:
        first = manuals.ask(application, "search_text", **query)
    damaged = bytearray(store.read_bytes())
    for page in range(4096, len(damaged), 4096):
        damaged[page : page + 64] = b"\xff" * 64
    store.write_bytes(damaged)
    with closing(manuals.opened(workspace)) as application:
        assert manuals.ask(application, "search_text", **query) == first
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM projections").fetchone() == (60,)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file stays there")
def test_projections_that_are_removed_under_a_server_are_stored_again(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    chapter = workspace / "manuals" / NAME / "a.txt"
    store = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    with Fumishirube(workspace) as server:
        for number in range(2):
            os.utime(chapter, (1_600_000_000 + number,) * 2)
            assert searched(server, "帝王切開", mode="loose") == ["a"]
            with closing(sqlite3.connect(store)) as connection:
                rows = connection.execute("SELECT path FROM projections").fetchall()
            assert rows == [("a.txt",)]
            shutil.rmtree(store.parent)


def database(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.many_cases
@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("kind", ["json", "database", "database like ours", "chapter", "folder"])
def test_a_file_of_something_else_is_never_used_for_projections(
    tmp_path: Path, kind: str, classic: bool
) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    name = {"chapter": f"manuals/{NAME}/a.txt"}.get(kind, "own.db")
    file = workspace / name
    if kind == "json":
        file.write_text('{"my": "own"}')
    elif kind == "folder":
        file.mkdir()
    elif kind != "chapter":
        version = 2 if "ours" in kind else 7
        rows = "CREATE TABLE projections (x)", "INSERT INTO projections VALUES ('mine')"
        database(file, *rows, f"PRAGMA user_version={version}")
    before = file.is_dir() or file.read_bytes()
    beside = {path.name for path in file.parent.iterdir()}
    settings = f"surfaces: [{{use: chapters, with: {{cache_file: {name}}}}}]\n"
    if classic:
        (workspace / "config.yaml").write_text(f"cache: {{file: {name}}}\n", encoding="utf-8")
        beside.add("config.yaml")
    (workspace / "fumishirube.yaml").write_text(SURFACE if classic else settings, encoding="utf-8")
    with Fumishirube(workspace) as server:
        for mode in ("loose", "plain", "loose"):
            query = "帝 王" if mode == "plain" else "帝王切開"
            assert searched(server, query, mode=mode) == ["a"]
    assert (file.is_dir() or file.read_bytes()) == before
    assert {path.name for path in file.parent.iterdir()} - beside <= {".fumishirube"}


def test_a_named_file_of_projections_is_made_and_mended(tmp_path: Path) -> None:
    settings = "surfaces: [{use: chapters, with: {cache_file: var/own.db}}]\n"
    workspace = made(tmp_path, [entry("a", "A")], settings, a="帝 王 切 開" * 2_000)
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    file = workspace / "var" / "own.db"
    file.parent.mkdir()
    file.touch()
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    with closing(manuals.opened(workspace)) as application:
        first = manuals.ask(application, "search_text", **query)
    assert first["results"]
    for damaged in (file.read_bytes()[:5000], file.read_bytes()[:4096] + b"\xff" * 8192):
        file.write_bytes(damaged)
        with closing(manuals.opened(workspace)) as application:
            assert manuals.ask(application, "search_text", **query) == first
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("SELECT count(*) FROM projections").fetchone() == (1,)


@pytest.mark.slow
def test_projections_that_another_process_holds_are_left_alone(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    file = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    with closing(manuals.opened(workspace)) as application:
        first = manuals.ask(application, "search_text", **query)
    before = file.stat().st_ino
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert opened(workspace)("search_text", **query) == first
        assert file.stat().st_ino == before
        other.execute("COMMIT")


@pytest.mark.slow
def test_a_toc_read_right_after_a_change_is_read_once_more(tmp_path: Path) -> None:
    """Two changes may share one time stamp, where the clock of the file system is coarse."""
    workspace = made(tmp_path, [entry("a", "A")], a="x")
    toc = workspace / "manuals" / NAME / "00_目次.json"
    ask, stamp = opened(workspace), toc.stat().st_mtime_ns
    assert ask("get_toc", manual_name=NAME)["toc"][0]["title"] == "A"
    toc.write_text(toc.read_text(encoding="utf-8").replace('"A"', '"B"'), encoding="utf-8")
    os.utime(toc, ns=(stamp, stamp))
    while not is_settled(stamp):
        time.sleep(0.1)
    assert ask("get_toc", manual_name=NAME)["toc"][0]["title"] == "B"


def test_a_toc_with_a_time_ahead_of_our_clock_may_change_without_a_new_one(tmp_path: Path) -> None:
    """The clock of a file server may be that of another time zone."""
    workspace = made(tmp_path, [entry("a", "A")], a="x")
    toc = workspace / "manuals" / NAME / "00_目次.json"
    ask, ahead = opened(workspace), time.time_ns() + 9 * 3600 * 10**9
    for title in "ABC":
        made(workspace, [entry("a", title)])
        os.utime(toc, ns=(ahead, ahead))
        assert ask("get_toc", manual_name=NAME)["toc"][0]["title"] == title


def test_a_time_of_years_ahead_is_as_good_as_one_of_years_ago(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    file = workspace / "manuals" / NAME / "a.txt"
    store = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    ahead = time.time() + 10 * 365 * 86_400
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    ask = opened(workspace)
    for text, found in (("帝 王 切 開", ["a"]), ("第 王 切 開", []), ("帝 王 切 開", ["a"])):
        file.write_text(text, encoding="utf-8")
        assert [hit["section_id"] for hit in ask("search_text", **query)["results"]] == found
        os.utime(file, (ahead, ahead))
        ahead += 1
        for again in (ask, ask, opened(workspace)):
            results = again("search_text", **query)["results"]
            assert [hit["section_id"] for hit in results] == found
        with closing(sqlite3.connect(store)) as connection:
            stored = [text for (text,) in connection.execute("SELECT text FROM projections")]
        assert stored == [text.replace(" ", "")]


@pytest.mark.parametrize("hours", [0, 9, 23])
def test_a_time_of_today_tells_nothing(hours: int) -> None:
    now = time.time_ns()
    assert not is_settled(now + hours * 3600 * 10**9, now)
    assert not is_settled(now + hours * 3600 * 10**9)


def test_projections_of_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A"), entry("b", "B")], a="甲", b="乙")
    store = workspace / ".fumishirube" / "chapters" / "projections.sqlite"

    def searched_and_kept() -> set[str]:
        for file in (workspace / "manuals" / NAME).glob("*.txt"):
            os.utime(file, (1_600_000_000, 1_600_000_000))
        opened(workspace)("search_text", manual_name=NAME, query="甲", mode="plain")
        with closing(sqlite3.connect(store)) as connection:
            return {path for (path,) in connection.execute("SELECT path FROM projections")}

    assert searched_and_kept() == {"a.txt", "b.txt"}
    made(workspace, [entry("a", "A"), entry("c", "C")], a="甲の乙", c="丙")
    assert searched_and_kept() == {"a.txt", "c.txt"}


def entered(workspace: Path, chapters: int) -> int:
    """Return how often functions and generators of the cache are entered to read chapters."""
    names = [str(number) for number in range(chapters)]
    ask = opened(made(workspace, [entry(n, "A") for n in names], **dict.fromkeys(names, "x")))
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal steps
        steps += event == "call" and frame.f_code.co_filename == cache.__file__

    sys.setprofile(count)
    try:
        assert len(ask("search_text", manual_name=NAME, query="x", limit=5)["results"]) == 5
    finally:
        sys.setprofile(None)
    return steps


def test_searches_at_once_make_each_projection_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [str(number) for number in range(20)]
    toc = [entry(name, "A") for name in names]
    workspace = made(tmp_path, toc, **{name: f"帝 王 切 開 {name} " * 500 for name in names})
    for file in (workspace / "manuals" / NAME).glob("*.txt"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    computed = []

    def counted(text: str, form: TextForm) -> Projection:
        computed.append(text)
        return project(text, form)

    monkeypatch.setattr(cache, "project", counted)
    ask = opened(workspace)
    query = {"manual_name": NAME, "query": "帝王切開7", "mode": "loose"}
    start = Barrier(8)

    def search(_: int) -> list[str]:
        start.wait()
        return [hit["section_id"] for hit in ask("search_text", **query)["results"]]

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(search, range(8))] == [["7"]] * 8
    assert len(computed) == 20


def test_reading_chapters_takes_steps_by_their_number(tmp_path: Path) -> None:
    few, many = entered(tmp_path / "few", 60), entered(tmp_path / "many", 240)
    assert few > 60
    assert many < 5 * few


@pytest.mark.parametrize("seconds", ["0", "1", "9" * 400])
def test_a_lifetime_of_any_length_changes_no_answer(tmp_path: Path, seconds: str) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="本文")
    ask = opened(workspace, FUMISHIRUBE_CACHE_SECTION_TTL_SECONDS=seconds)
    for _ in range(2):
        assert len(ask("search_text", manual_name=NAME, query="本文")["results"]) == 1


@pytest.mark.parametrize("kept", ["0", "1"])
def test_a_small_memory_changes_no_answer(tmp_path: Path, kept: str) -> None:
    toc = [entry(str(n), "A") for n in range(5)]
    workspace = made(tmp_path, toc, **{str(n): f"本文{n}" for n in range(5)})
    ask = opened(workspace, FUMISHIRUBE_CACHE_MAX_SECTIONS_IN_MEMORY=kept)
    for _ in range(2):
        assert len(ask("search_text", manual_name=NAME, query="本文")["results"]) == 5
