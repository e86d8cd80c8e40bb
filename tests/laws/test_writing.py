"""Writable: a file is the old one or the new one, and nobody's work is written over."""

from __future__ import annotations

import errno
import os
import stat
import threading
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from fumishirube import Conflict, Forbidden, Root, ToolError
from fumishirube.disk import WritableRoot, content_hash, is_unfinished, replace_file
from fumishirube.disk.writes import LOCKS

posix = pytest.mark.skipif(os.name == "nt", reason="modes and these links are POSIX's")


@pytest.fixture
def writable(tmp_path: Path) -> WritableRoot:
    return WritableRoot(Root(tmp_path / "root"), ".system/locks")


@pytest.fixture
def made(writable: WritableRoot) -> WritableRoot:
    writable.make_folder("")
    writable.swap("a.md", None, b"old", "1")
    return writable


def names(writable: WritableRoot) -> list[str]:
    return sorted(path.name for path in writable.root.path.iterdir())


def test_a_file_is_created_replaced_and_removed(made: WritableRoot) -> None:
    assert made.read("a.md") == b"old"
    made.swap("a.md", b"old", b"new", "2")
    assert made.read("a.md") == b"new"
    assert names(made) == ["a.md"]
    made.swap("a.md", b"new", None, "3")
    assert made.read("a.md") is None
    assert names(made) == []


@pytest.mark.parametrize("before", [None, b"ol", b"older", b""])
@pytest.mark.parametrize("after", [b"new", None])
def test_what_is_not_as_it_was_is_left_alone(
    made: WritableRoot, before: bytes | None, after: bytes | None
) -> None:
    with pytest.raises(Conflict):
        made.swap("a.md", before, after, "2")
    assert made.read("a.md") == b"old"
    assert names(made) == ["a.md"]


def test_what_is_gone_is_not_written_again(made: WritableRoot) -> None:
    with pytest.raises(Conflict):
        made.swap("b.md", b"old", b"new", "2")
    assert names(made) == ["a.md"]


def test_nothing_is_created_over_an_equal_name(writable: WritableRoot) -> None:
    composed, apart = (unicodedata.normalize(form, "が.md") for form in ("NFC", "NFD"))
    writable.make_folder("")
    (writable.root.path / apart).write_bytes(b"theirs")
    with pytest.raises(Conflict):
        writable.swap(composed, None, b"ours", "1")
    writable.swap(composed, b"theirs", b"changed", "2")
    assert (writable.root.path / apart).read_bytes() == b"changed"


@posix
def test_the_mode_stays(made: WritableRoot) -> None:
    file = made.root.path / "a.md"
    for mode in (0o640, 0o755):
        file.chmod(mode)
        held = file.read_bytes()
        made.swap("a.md", held, held + b"x", "2")
        assert stat.S_IMODE(file.stat().st_mode) == mode


@posix
@pytest.mark.parametrize("target", ["outside.txt", "nowhere.txt"])
def test_nothing_is_written_through_a_link(made: WritableRoot, tmp_path: Path, target: str) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"old")
    (made.root.path / "link.md").symlink_to(tmp_path / target)
    (made.root.path / "folder").symlink_to(tmp_path, target_is_directory=True)
    for path in ("link.md", f"folder/{target}"):
        for before, after in ((None, b"new"), (b"old", b"new"), (b"old", None)):
            with pytest.raises(ToolError):
                made.swap(path, before, after, "2")
        with pytest.raises(Forbidden):
            made.read(path)
    with pytest.raises(Forbidden):
        made.make_folder("folder/sub")
    assert outside.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.txt", "root"]


@posix
def test_locks_are_not_kept_behind_a_link(made: WritableRoot, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (made.root.path / ".system").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(Forbidden), made.locked(0):
        pass
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_file_on_the_way_is_a_conflict(made: WritableRoot) -> None:
    with pytest.raises(Conflict):
        made.make_folder("a.md/sub")
    assert made.read("a.md/sub/b.md") is None


def test_a_folder_is_no_file(made: WritableRoot) -> None:
    made.make_folder("sub")
    for before in (None, b""):
        with pytest.raises(Conflict):
            made.swap("sub", before, b"x", "2")
    with pytest.raises(Conflict):
        made.read("sub")


def test_a_plain_new_file_takes_no_name_that_is_taken(made: WritableRoot) -> None:
    made.create("b.md", b"new")
    if os.name != "nt":
        assert stat.S_IMODE((made.root.path / "b.md").stat().st_mode) == 0o600
    with pytest.raises(Conflict):
        made.create("a.md", b"new")
    assert (made.read("a.md"), made.read("b.md")) == (b"old", b"new")
    made.rename("b.md", "c.md")
    made.rename("b.md", "d.md")
    made.remove("b.md")
    assert names(made) == ["a.md", "c.md"]
    made.remove("c.md")
    assert names(made) == ["a.md"]


def test_what_was_left_unfinished_is_discarded(made: WritableRoot) -> None:
    part = made.root.path / "._fumishirube-77"
    part.write_bytes(b"half")
    assert is_unfinished(part.name)
    made.discard("b.md", "77")
    made.discard("nowhere/b.md", "77")
    assert names(made) == ["a.md"]


@posix
def test_content_is_durable_before_its_name_is(
    made: WritableRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of the calls is the whole of the promise; no crash of a process can show it."""
    done: list[str] = []

    def spied(name: str) -> None:
        real = getattr(os, name)

        def call(*given: object, **more: object) -> object:
            isfile = name == "fsync" and stat.S_ISREG(os.fstat(given[0]).st_mode)  # type: ignore[arg-type]
            done.append("content" if isfile else "folder" if name == "fsync" else "name")
            return real(*given, **more)

        monkeypatch.setattr(os, name, call)

    for name in ("fsync", "replace", "link"):
        spied(name)
    made.swap("a.md", b"old", b"new", "2")
    made.swap("b.md", None, b"new", "3")
    assert done == ["content", "name", "folder"] * 2
    done.clear()
    made.make_folder("x/y")
    assert done == ["folder"] * 2


def test_without_hard_links_the_name_is_taken_first(
    made: WritableRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    made.swap("b.md", None, b"new", "2")
    assert made.read("b.md") == b"new"
    with pytest.raises(Conflict):
        made.swap("a.md", None, b"new", "3")
    assert names(made) == ["a.md", "b.md"]


def test_one_lock_at_a_time_between_threads(made: WritableRoot) -> None:
    number = made.lock_of("a.md")
    counted = [0]

    def count() -> None:
        for _ in range(20):
            with made.locked(number):
                seen = counted[0]
                threading.Event().wait(0.0005)
                counted[0] = seen + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted == [80]


def test_a_lock_that_stays_taken_is_told(made: WritableRoot) -> None:
    with made.locked(3):
        with made.locked(4):
            pass
        with pytest.raises(Conflict), made.locked(3, seconds=0.01):
            pass
    with made.locked(3, seconds=0):
        pass


@posix
@pytest.mark.parametrize("why", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_told(
    made: WritableRoot, monkeypatch: pytest.MonkeyPatch, why: int
) -> None:
    def none(*_: object) -> None:
        raise OSError(why, os.strerror(why))

    monkeypatch.setattr("fcntl.flock", none)
    with pytest.raises(Forbidden), made.locked(3):
        pass


@pytest.fixture
def spellings() -> Iterator[tuple[str, str]]:
    return iter([("A/が.md", unicodedata.normalize("NFD", "a/が.MD")), ("a//b", "./A/b")])


def test_spellings_of_one_name_share_a_lock(
    made: WritableRoot, spellings: Iterator[tuple[str, str]]
) -> None:
    for one, other in spellings:
        assert made.lock_of(one) == made.lock_of(other)
    assert {made.lock_of(f"{n}.md") for n in range(2000)} == set(range(LOCKS))


def test_a_hash_is_of_the_bytes() -> None:
    assert content_hash(b"").startswith("e3b0c44298fc")


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_replaced_whole(tmp_path: Path, *, durable: bool) -> None:
    file = tmp_path / "a.json"
    replace_file(file, b"old", durable=durable)
    replace_file(file, b"new", durable=durable)
    assert file.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [file]


@posix
def test_a_replaced_file_is_its_owners_alone_or_has_the_mode(tmp_path: Path) -> None:
    for mode, expected in ((None, 0o600), (0o644, 0o644)):
        replace_file(tmp_path / "a", b"", mode=mode)
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == expected


def test_what_cannot_be_replaced_stays_and_leaves_nothing_beside(tmp_path: Path) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match=r".+"):
        replace_file(tmp_path / "a", b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_name_that_could_not_be_given_is_not_taken(
    writable: WritableRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    writable.make_folder("")
    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Forbidden, match="the disk is full"):
        writable.swap("a.md", None, b"new", "1")
    assert writable.read("a.md") is None
    monkeypatch.undo()
    monkeypatch.setattr(os, "link", no_links)
    writable.swap("a.md", None, b"new", "2")
    assert writable.read("a.md") == b"new"
