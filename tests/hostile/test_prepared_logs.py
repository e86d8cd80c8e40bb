"""Links and databases that came with a folder in the place of `var` change nothing elsewhere."""

from __future__ import annotations

import logging
import os
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path

import pytest
from http_server import HttpServer
from manuals import write

from fumishirube import Root
from fumishirube.disk import DerivedDatabase
from fumishirube_http.log import RotatingLogFile
from fumishirube_http.people.rates import Rates
from fumishirube_http.people.slots import Slots

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes of POSIX")

MAGIC = bytes.fromhex("d9d505f920a163d7")


def journal_that_names(database: Path, further: Path) -> bytes:
    """Return a journal of a crashed write, after which SQLite deletes the further file."""
    content = database.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    page = content[:size]
    header = MAGIC + struct.pack(">IIIII", 1, 0, len(content) // size, 512, size)
    check = sum(page[place] for place in range(size - 200, 0, -200))
    name = os.fsencode(further)
    record = struct.pack(">I", 1) + page + struct.pack(">I", check)
    lock = struct.pack(">I", 0x40000000 // size + 1)
    return (
        header.ljust(512, b"\0")
        + record
        + (lock + name + struct.pack(">II", len(name), sum(name)) + MAGIC)
    )


def database(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE mine (number)")
        base.execute("INSERT INTO mine VALUES (1)")
    return path


def rows(path: Path) -> list[tuple[int]]:
    with closing(sqlite3.connect(path)) as base:
        tables = base.execute("SELECT name FROM sqlite_master").fetchall()
        assert tables == [("mine",)]
        return base.execute("SELECT number FROM mine").fetchall()


def test_the_log_of_a_server_is_written_through_no_link(tmp_path: Path) -> None:
    workspace = write(tmp_path / "clone", {"m/a.md": "# Leave\nleave\n"})
    (tmp_path / ".bashrc").write_text("alias a=b\n")
    (workspace / "var").mkdir()
    (workspace / "var" / "http.log").symlink_to("../../.bashrc")
    with HttpServer(workspace) as server:
        headers = {"sec-fetch-site": "cross-site"}
        assert server.client.get("/$(touch x)", headers=headers).status_code == 403
        server.logged("touch x")
    assert (tmp_path / ".bashrc").read_text() == "alias a=b\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_log_file_is_no_link(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "target"
    if there:
        target.write_text("mine")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "audit.log").symlink_to(target)
    handler = RotatingLogFile(tmp_path / "var" / "audit.log", 0o600)
    with closing(handler):
        handler.emit(logging.LogRecord("a", logging.INFO, "a", 1, "text", (), None))
    assert (target.read_text() if target.exists() else None) == ("mine" if there else None)


def test_a_new_log_file_has_its_mode_and_every_record(tmp_path: Path) -> None:
    file = tmp_path / "var" / "audit.log"
    for number in range(2):
        with closing(RotatingLogFile(file, 0o600)) as handler:
            handler.emit(logging.LogRecord("a", logging.INFO, "a", 1, f"é {number}", (), None))
    assert file.read_text(encoding="utf-8") == "é 0\né 1\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_slots_are_made_behind_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "open").symlink_to(tmp_path / "elsewhere")
    assert Slots(tmp_path / "var" / "open").take("aiko", "request", 2) == -1
    assert [*(tmp_path / "elsewhere").iterdir()] == []


@pytest.mark.parametrize("name", ["rates.db", "rates.db-journal", "rates.db-wal"])
def test_rates_are_counted_in_no_linked_database(tmp_path: Path, name: str) -> None:
    base = database(tmp_path / "mine.db")
    before = base.read_bytes()
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / name).symlink_to(base)
    assert Rates(tmp_path / "var" / "rates.db").use("aiko", 1, 60) == 0
    assert base.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.db"]
    assert rows(base) == [(1,)]


def test_a_journal_deletes_no_further_file(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    base = database(tmp_path / "var" / "rates.db")
    journal = base.with_name("rates.db-journal")
    journal.write_bytes(journal_that_names(base, precious))
    assert Rates(base).use("aiko", 1, 60) == 0
    assert precious.read_text() == "mine"


def test_the_journal_of_a_crash_is_left_to_sqlite(tmp_path: Path) -> None:
    """Else the next process would find half of a write."""
    base, copy = tmp_path / "a.db", tmp_path / "b.db"
    with closing(sqlite3.connect(base, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("CREATE TABLE mine (number)")
        writer.execute("INSERT INTO mine VALUES (1)")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO mine VALUES (?)", [("x" * 5000,)] * 100)
        for suffix in ("", "-journal"):
            source = base.with_name(base.name + suffix)
            copy.with_name(copy.name + suffix).write_bytes(source.read_bytes())
    with closing(DerivedDatabase(Root(tmp_path), "b.db", "CREATE TABLE mine (number)")) as same:
        assert same.use(lambda opened: opened.execute("SELECT * FROM mine").fetchall()) == [(1,)]
