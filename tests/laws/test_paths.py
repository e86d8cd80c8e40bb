"""Root: nothing below leads out, whatever it is called and whatever happens meanwhile."""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
import shutil
import socket
import stat
import unicodedata
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fumishirube.disk.folders
import fumishirube.disk.roots
from fumishirube import (
    Forbidden,
    InvalidParameter,
    InvalidPath,
    NeedsNarrowScope,
    NotFound,
    Root,
    ToolError,
    Unreadable,
)
from fumishirube.disk import (
    FolderEntry,
    WritableRoot,
    clean_name,
    clean_new_path,
    clean_path,
    is_below,
)
from fumishirube.disk.names import trap
from fumishirube.disk.survey import Listing, RootLimits
from fumishirube.errors import OutOfScope

INSIDE, SECRET = b"inside", b"the secret that nobody may read"
FILE = "a/b/c/f.txt"
NFC, NFD = unicodedata.normalize("NFC", "がé.md"), unicodedata.normalize("NFD", "がé.md")

posix = pytest.mark.skipif(os.name == "nt", reason="these kinds of files are POSIX's")


class World(NamedTuple):
    """A root, and beside it a place with the same names that it may not reach."""

    root: Root
    outside: Path


def _made(folder: Path) -> World:
    for place, content in (("root", INSIDE), ("outside", SECRET)):
        for path in (FILE, "a/top.txt", "secret.txt"):
            file = folder / place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if content is SECRET or path != "secret.txt":
                file.write_bytes(content)
    return World(Root(folder / "root"), folder / "outside")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return _made(tmp_path)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world that no test changes, with links out of it."""
    world = _made(tmp_path_factory.mktemp("standing"))
    (world.root.path / "link").symlink_to(world.outside, target_is_directory=True)
    (world.root.path / "a" / "link.txt").symlink_to(world.outside / "secret.txt")
    (world.root.path / "up").symlink_to("..", target_is_directory=True)
    return world


DOORS: dict[str, Callable[[Root, str], object]] = {
    "read_bytes": lambda root, path: root.read_bytes(path),
    "stat": lambda root, path: root.stat(path),
    "entries": lambda root, path: root.entries(path),
    "files": lambda root, path: root.files(path),
    "child": lambda root, path: root.child(path).path.resolve().is_relative_to(root.path),
}

doors = pytest.mark.parametrize("door", DOORS)

# --- paths ----------------------------------------------------------------------------------

SEGMENTS = (
    *("..", ".", "", " ", "...", ".. ", "‥", "．．", "%2e%2e", "~", "C:", "c:a", "\x00", "\ud800"),
    *("\n", "\x7f", "a", "b", "link", "up", "top.txt", "link.txt", "secret.txt", "outside", "root"),
    *(NFC, NFD, "\udcff", "x" * 300, "NUL", "con.txt", "a:b", "*", "?", "\u202e"),
)
hostile = st.builds(
    lambda first, segments, between: first + between.join(segments),
    st.sampled_from(["", "", "/", "\\", "\\\\?\\", "//", "C:", "C:\\", "file:///"]),
    st.lists(st.sampled_from(SEGMENTS) | st.text(max_size=4), min_size=1, max_size=6),
    st.sampled_from(["/", "\\", "//", "/./"]),
)


@given(hostile | st.text())
def test_a_clean_path_is_relative_composed_and_in_one_spelling(raw: str) -> None:
    try:
        path = clean_path(raw)
    except InvalidPath:
        return
    segments = path.split("/")
    assert not {"", ".", ".."}.intersection(segments)
    assert not path.startswith("/")
    assert "\\" not in path
    assert path == unicodedata.normalize("NFC", path)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in path)


spelled = st.lists(
    st.sampled_from([".", "/", "\\", " ", "\u3000", "\u2028", "\u1680", "\u2000", "\xa0", ":"])
    | st.sampled_from(["a", "C", "\u212a", "e\u0301", "\u0301", "/", "./"]),
    max_size=9,
).map("".join)


@given(hostile | spelled)
def test_each_beginning_of_a_clean_path_is_its_own_clean_path(raw: str) -> None:
    try:
        path = clean_path(raw)
    except InvalidPath:
        return
    for above in accumulate(path.split("/"), "{}/{}".format):
        assert clean_path(above) == above


@posix
@given(spelled)
def test_what_rules_see_of_a_path_is_what_is_opened(raw: str) -> None:
    try:
        path = clean_path(raw)
    except InvalidPath:
        return
    with TemporaryDirectory() as folder:
        root = Root(Path(folder))
        writable = WritableRoot(root, "locks")
        writable.make_folder(path.rpartition("/")[0])
        writable.swap(raw, None, INSIDE, "0")
        files = [*filter(Path.is_file, root.path.rglob("*"))]
        assert [file.relative_to(root.path).as_posix() for file in files] == [path]
        assert root.read_bytes(raw) == INSIDE
        assert root.stat(raw).path == path
        assert [entry.path for entry in root.entries(path.rpartition("/")[0])] == [path]


@pytest.mark.parametrize(
    "raw",
    [
        *(None, 1, True, b"a", ["a"], "", " ", ".", "./.", "/", "//", "\\", "..", "a/..", "../a"),
        *("a/../b", "a\\..\\b", "/etc", "\\\\server\\share", "C:\\a", "c:a", "a\x00b", "a\nb"),
        *("a/\ud800", "x" * 256, "あ" * 86, "/".join(["x" * 200] * 6)),
        *("./ .git/config", ".\\\u3000.ssh", "a /b", "a/b\u2028/c", "./C:a", "\u212a:a", "././ a"),
    ],
)
def test_what_is_no_relative_path_is_refused(raw: object) -> None:
    with pytest.raises(InvalidPath) as caught:
        clean_path(raw, "ref")
    assert caught.value.payload()["code"] == "invalid_path"
    assert caught.value.details["parameter"] == "ref"


def test_a_path_is_as_long_as_it_is_when_composed() -> None:
    """Some characters are longer in their composed form."""
    with pytest.raises(InvalidPath):
        clean_path("\u0958" * 85)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("a.md", "a.md"),
        (" ./a//b/./c.md ", "a/b/c.md"),
        ("a\\b.md", "a/b.md"),
        ("a/", "a"),
        ("...", "..."),
        ("規程/休暇.md", "規程/休暇.md"),
        (NFD, NFC),
    ],
)
def test_other_spellings_are_the_one_spelling(raw: str, path: str) -> None:
    assert clean_path(raw) == path


NAMED = st.text("ab/.", min_size=1, max_size=9).filter(lambda path: path == path.strip("/"))


@given(NAMED, st.text("ab/.*", max_size=7).filter(lambda prefix: not prefix.startswith("./")))
def test_a_star_stands_for_any_characters(path: str, prefix: str) -> None:
    folders = "(?:.*/)?" * prefix.startswith("*/")
    body = ".*".join(map(re.escape, prefix.removeprefix("*/").split("*")))
    suffix = re.escape(posixpath.splitext(path)[1])
    meant = re.fullmatch(f"{folders}{body}(?:{suffix}|/.*)?", path) or not prefix
    assert is_below(path, prefix) == bool(meant)
    assert is_below(path, f"!{prefix}") != bool(meant)


@pytest.mark.parametrize("raw", ["a/b", "..", "", "/a", "C:", "a\x00"])
def test_a_name_is_one_segment(raw: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        clean_name(raw, "manual_id")
    assert caught.value.details["parameter"] == "manual_id"


DEVICES = (
    "CON",
    "nul",
    "NUL.txt",
    "nul .md",
    "aux.tar.gz",
    "Com1",
    "LPT9.md",
    "com\u00b2",
    "CONIN$",
)
TRAPS = (*DEVICES, "prn:", "a.", "a. .", "c:x", "a.md:stream", "a.md::$DATA", "...")
PLAIN_NAMES = (
    "CONTENTS.md",
    "console",
    "com",
    "com10.md",
    "nulls",
    "a.b",
    ".system",
    "日本.md",
    "LPT",
)


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.parametrize("place", ["notes/{}/a.md", "notes/b/{}/a/c.md"])
def test_what_is_written_has_no_name_that_is_something_else_elsewhere(
    name: str, place: str
) -> None:
    with pytest.raises(Forbidden) as caught:
        clean_new_path(place.format(name))
    assert "another name" in str(caught.value)


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_other_names_may_be_written(name: str) -> None:
    assert trap(name) is None
    assert clean_new_path(f" notes\\{name}") == f"notes/{name}"


@pytest.mark.skipif(not hasattr(ntpath, "isreserved"), reason="Python knows them since 3.13")
@given(st.sampled_from([*DEVICES, *PLAIN_NAMES]) | st.text(alphabet="conulpt1. a", min_size=1))
def test_python_takes_the_same_names_for_reserved(name: str) -> None:
    assert name in (".", "..") or (trap(name) is not None) == ntpath.isreserved(name)


# --- nothing leads out ----------------------------------------------------------------------


@doors
@given(hostile)
def test_a_hostile_path_is_refused_or_stays_below(standing: World, door: str, raw: str) -> None:
    """Cleaned or not: a plugin may hand over what it read in a document."""
    for path in (raw, _cleaned(raw)):
        try:
            got = DOORS[door](standing.root, path)
        except ToolError as error:
            said = f"{error.payload()}"
            assert str(standing.root.path) not in said
            continue
        assert ".." not in path.replace("\\", "/").split("/")
        assert got is not False
        assert got != SECRET
        for entry in got if isinstance(got, list) else ():
            assert entry.name != "secret.txt"


def _cleaned(raw: str) -> str:
    try:
        return clean_path(raw)
    except InvalidPath:
        return "a"


@posix
@pytest.mark.parametrize("level", range(4))
def test_a_link_at_any_level_is_not_followed(world: World, level: int) -> None:
    parts = FILE.split("/")
    linked = "/".join(parts[: level + 1])
    _replace_by_link(world.root.path / linked, world.outside / linked)
    for door in DOORS.values():
        with pytest.raises(Forbidden):
            door(world.root, linked)
    for door in (DOORS["read_bytes"], DOORS["stat"]):
        with pytest.raises(Forbidden):
            door(world.root, FILE)
    assert FILE not in {entry.path for entry in world.root.files()}
    assert SECRET not in {world.root.read_bytes(entry.path) for entry in world.root.files()}


@posix
def test_links_are_told_and_not_listed_as_files(standing: World) -> None:
    kinds = {entry.path: entry.kind for entry in standing.root.entries()}
    assert kinds == {"a": "dir", "link": "link", "up": "link"}
    assert [entry.path for entry in standing.root.files()] == [FILE, "a/top.txt"]


@posix
def test_a_dangling_or_circular_link_is_a_link(world: World) -> None:
    (world.root.path / "nowhere").symlink_to("nothing")
    (world.root.path / "circle").symlink_to("circle")
    for name in ("nowhere", "circle"):
        with pytest.raises(Forbidden):
            world.root.stat(name)
        with pytest.raises(Forbidden):
            world.root.read_bytes(name)


@posix
def test_a_root_of_a_folder_below_does_not_follow_a_link_that_is_swapped_in(world: World) -> None:
    """A manual is kept as a root of its own, for longer than its folder need stand."""
    child = world.root.child("a/b")
    assert child.read_bytes("c/f.txt") == INSIDE
    _replace_by_link(world.root.path / "a", world.outside / "a")
    for use in (child.read_bytes, child.stat, child.entries, child.files, child.child):
        with pytest.raises((Forbidden, NotFound)):
            use("c/f.txt" if use in (child.read_bytes, child.stat) else "c")
    with pytest.raises((Forbidden, NotFound)):
        child.files()


@posix
@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "gone"])
def test_a_file_that_is_swapped_between_the_look_and_the_opening_is_not_read(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = world.root.path / "a" / "top.txt"
    surveyed = fumishirube.disk.roots.kind_of

    def swapping(mode: int) -> str:
        if stat.S_ISREG(mode) and file.is_file() and not file.is_symlink():
            file.unlink()
            _put(kind, file, world.outside / "secret.txt")
        return surveyed(mode)

    monkeypatch.setattr(fumishirube.disk.roots, "kind_of", swapping)
    with pytest.raises(ToolError):
        world.root.read_bytes("a/top.txt")
    assert file.is_symlink() or not file.is_file(), "nothing was swapped"


@posix
def test_a_folder_that_is_swapped_between_the_look_and_the_opening_is_not_entered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where names are compared without case, a folder's entry is looked at before it is opened."""
    monkeypatch.setattr(fumishirube.disk.folders, "_CASE_BLIND", True)
    folder = world.root.path / "a"
    surveyed = fumishirube.disk.roots.kind_of

    def swapping(mode: int) -> str:
        if stat.S_ISDIR(mode) and not folder.is_symlink():
            _replace_by_link(folder, world.outside / "a")
        return surveyed(mode)

    monkeypatch.setattr(fumishirube.disk.roots, "kind_of", swapping)
    with pytest.raises((Forbidden, NotFound)):
        world.root.read_bytes("a/top.txt")
    assert folder.is_symlink()


@posix
@pytest.mark.parametrize("path", ["a/top.txt", FILE])
def test_a_link_that_is_swapped_in_is_noticed_where_there_are_no_handles(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Such a platform walks by path, and must look once more where it has come to."""
    monkeypatch.setattr(fumishirube.disk.folders, "_BY_HANDLE", False)
    assert world.root.read_bytes(path) == INSIDE
    folder = world.root.path / "a"
    surveyed = fumishirube.disk.roots.kind_of

    def swapping(mode: int) -> str:
        if stat.S_ISREG(mode) and not folder.is_symlink():
            _replace_by_link(folder, world.outside / "a")
        return surveyed(mode)

    monkeypatch.setattr(fumishirube.disk.roots, "kind_of", swapping)
    with pytest.raises(OutOfScope) as caught:
        world.root.read_bytes(path)
    assert str(world.root.path) not in str(caught.value.payload())
    assert folder.is_symlink()


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_is_not_opened_nor_made_where_names_are_devices(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (world.root.path / name).write_bytes(SECRET)
    assert world.root.read_bytes(name) == SECRET
    monkeypatch.setattr(fumishirube.disk.folders, "_TRAPS", True)
    with pytest.raises(NotFound):
        world.root.read_bytes(name)
    with pytest.raises((Forbidden, NotFound)):
        world.root.make(f"{name}/below")


def _put(kind: str, file: Path, target: Path) -> None:
    if kind == "link":
        file.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()


def _replace_by_link(place: Path, target: Path) -> None:
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(target)


# --- what is no file ------------------------------------------------------------------------


@pytest.fixture
def special(tmp_path: Path) -> Iterator[Root]:
    """Return a root with one of everything that is neither a file nor a folder."""
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # names of sockets are short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        try:
            os.mknod(tmp_path / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except OSError:  # only root may, and not in every container
            os.mkfifo(tmp_path / "zero")
        yield Root(tmp_path)


@posix
@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", ["fifo", "socket", "zero"])
def test_pipes_sockets_and_devices_are_neither_read_nor_waited_for(
    special: Root, name: str
) -> None:
    with pytest.raises(NotFound):
        special.read_bytes(name)
    for listing in (special.entries, special.files, special.child):
        with pytest.raises(NotFound):
            listing(name)
    assert special.stat(name).kind == "other"


@posix
def test_pipes_sockets_and_devices_are_no_files(special: Root) -> None:
    assert special.files() == []
    assert {entry.kind for entry in special.entries()} == {"other"}


def test_a_folder_is_not_read_and_a_file_not_listed(world: World) -> None:
    with pytest.raises(NotFound):
        world.root.read_bytes("a")
    for listing in (world.root.entries, world.root.files, world.root.child):
        with pytest.raises(NotFound):
            listing(FILE)
    with pytest.raises(NotFound):
        world.root.read_bytes(f"{FILE}/below")


@doors
@pytest.mark.parametrize("path", ["absent", "absent/below", "a/absent", f"{FILE}/x"])
def test_what_is_not_there_is_not_found(world: World, door: str, path: str) -> None:
    with pytest.raises(NotFound) as caught:
        DOORS[door](world.root, path)
    assert caught.value.payload()["code"] == "not_found"
    assert str(world.root.path) not in str(caught.value)


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may read all")
def test_what_may_not_be_read_is_forbidden_and_hides_nothing_else(world: World) -> None:
    (world.root.path / "a" / "b").chmod(0)
    try:
        with pytest.raises(Forbidden):
            world.root.read_bytes(FILE)
        assert [entry.path for entry in world.root.files()] == ["a/top.txt"]
    finally:
        (world.root.path / "a" / "b").chmod(0o700)


# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("on_disk", [NFC, NFD])
def test_names_are_found_and_answered_composed(tmp_path: Path, on_disk: str) -> None:
    folder = tmp_path / unicodedata.normalize("NFD", "資料が")
    folder.mkdir()
    (folder / on_disk).write_bytes(INSIDE)
    root = Root(tmp_path)
    path = f"資料が/{NFC}"
    assert [entry.path for entry in root.files()] == [path]
    assert [entry.path for entry in root.entries("資料が")] == [path]
    assert root.read_bytes(path) == INSIDE
    assert root.stat(path) == root.files()[0]
    assert root.child("資料が").read_bytes(NFC) == INSIDE


def test_of_two_spellings_the_exact_one_is_read(tmp_path: Path) -> None:
    (tmp_path / NFD).write_bytes(b"decomposed")
    if (tmp_path / NFC).exists():
        pytest.skip("this file system takes both spellings for one")
    (tmp_path / NFC).write_bytes(b"composed")
    root = Root(tmp_path)
    assert root.read_bytes(NFC) == b"composed"
    assert root.entries() == [root.stat(NFC)]
    survey = root.survey()
    assert survey.files == [root.stat(NFC)]
    assert survey.unlisted == [(NFC, "unspeakable", "file")]


@posix
def test_names_that_are_no_text_are_not_listed(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"\xff\xfe.md")).write_bytes(INSIDE)
        (tmp_path / os.fsdecode(b"dir\xff")).mkdir()
    except OSError:
        pytest.skip("this file system takes no such names")
    (tmp_path / "a.md").write_bytes(INSIDE)
    root = Root(tmp_path)
    assert [entry.name for entry in root.files()] == ["a.md"]
    assert [entry.name for entry in root.entries()] == ["a.md"]


ODD = (
    *("back\\slash.md", "c:colon.md", " lead.md", "end.md ", "\u3000wide.md"),
    *(" in/x.md", "out /x.md", "a\\b/x.md", "a/x\\y.md"),
)
"""What means another file, or none, as a path."""
UNUSUAL = ("a/ lead.md", "a/c:colon.md", "a/\u3000wide.md", "ch1:x.md", "in side.md")


def put(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(INSIDE)


@posix
def test_what_is_listed_is_read_by_its_path_and_nothing_else_is(tmp_path: Path) -> None:
    put(tmp_path, *ODD, *UNUSUAL)
    root = Root(tmp_path)
    listed = [entry.path for entry in root.files()]
    assert listed == sorted(UNUSUAL)
    for path in listed:
        assert root.read_bytes(path) == INSIDE
        assert root.stat(path).path == path
    unlisted = {(entry.path, entry.reason) for entry in root.survey().unlisted}
    assert unlisted == {(path, "unspeakable") for path in ODD}
    assert [entry.name for entry in root.entries()] == ["a", "ch1:x.md", "in side.md"]


@posix
def test_a_new_file_that_no_path_can_name_is_as_in_a_full_survey(tmp_path: Path) -> None:
    root = Root(tmp_path)
    put(tmp_path, "lead.md", "a/b.md")
    for path in ODD:
        before = root.survey()
        put(tmp_path, path)
        assert root.resurvey(before, {path}) == root.survey()


def test_dot_names_are_listed_on_request_only(tmp_path: Path) -> None:
    for path in (".hidden.md", ".git/config", "a/.b/c.md", "seen.md"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(INSIDE)
    root = Root(tmp_path)
    assert [entry.path for entry in root.files()] == ["seen.md"]
    assert [entry.path for entry in Root(root.top, listing=Listing(hidden=True)).files()] == [
        ".git/config",
        ".hidden.md",
        "a/.b/c.md",
        "seen.md",
    ]


def test_listings_are_sorted_by_path_whatever_the_disk_says(tmp_path: Path) -> None:
    names = ["b.md", "a.md", "あ.md", "Z.md", "a/z.md", "a-b/c.md"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(INSIDE)
    assert [entry.path for entry in Root(tmp_path).files()] == sorted(names)
    assert [e.path for e in Root(tmp_path).entries()] == sorted({n.split("/")[0] for n in names})


def test_an_entry_tells_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(INSIDE)
    os.utime(file, ns=(1, 1_234_567_890_000_000_000))
    status = file.stat()
    expected = FolderEntry("a.md", "a.md", "file", len(INSIDE), status.st_mtime_ns, status.st_ino)
    assert Root(tmp_path).entries() == Root(tmp_path).files() == [expected]
    assert Root(tmp_path).stat("a.md") == expected


# --- limits ---------------------------------------------------------------------------------


def test_a_file_over_the_limit_is_unreadable(world: World) -> None:
    exact = Root(world.root.path, RootLimits(file_bytes=len(INSIDE)))
    assert exact.read_bytes(FILE) == INSIDE
    with pytest.raises(Unreadable) as caught:
        Root(world.root.path, RootLimits(file_bytes=len(INSIDE) - 1)).read_bytes(FILE)
    assert caught.value.reason == "too_large"


@posix
def test_a_file_that_grows_or_hides_its_size_is_bounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As files of /proc do, which are regular and say that they are empty."""
    proc = Root(Path("/proc/self").resolve(), RootLimits(file_bytes=1 << 16))
    if not proc.exists:
        pytest.skip("this platform has no such files")
    assert b"Name:" in proc.read_bytes("status")
    with pytest.raises(Unreadable):
        Root(proc.top, RootLimits(file_bytes=10)).read_bytes("status")
    file = tmp_path / "a.md"
    file.write_bytes(INSIDE)
    surveyed = fumishirube.disk.roots.kind_of

    def growing(mode: int) -> str:
        with file.open("ab") as stream:
            stream.write(b"x" * 10)
        return surveyed(mode)

    monkeypatch.setattr(fumishirube.disk.roots, "kind_of", growing)
    with pytest.raises(Unreadable):
        Root(tmp_path, RootLimits(file_bytes=len(INSIDE) + 19)).read_bytes("a.md")


def test_folders_that_are_too_deep_are_not_looked_into(world: World) -> None:
    found = [
        [entry.path for entry in Root(world.root.path, RootLimits(depth=depth)).files()]
        for depth in (1, 2, 3, 4)
    ]
    assert found == [[], ["a/top.txt"], ["a/top.txt"], [FILE, "a/top.txt"]]


def test_too_many_files_need_a_narrower_scope(world: World) -> None:
    assert len(Root(world.root.path, RootLimits(files=2)).files()) == 2
    with pytest.raises(NeedsNarrowScope):
        Root(world.root.path, RootLimits(files=1)).files()


def test_a_root_below_has_the_limits_of_its_root(world: World) -> None:
    limits = RootLimits(file_bytes=1)
    assert Root(world.root.path, limits).child("a").limits == limits


# --- making folders -------------------------------------------------------------------------


def test_a_folder_is_made_once_and_found_again(tmp_path: Path) -> None:
    root = Root(tmp_path / "new" / "state")
    assert not root.exists
    made = root.make("index/給付金編")
    assert made.exists
    assert root.make("index/給付金編") == made
    assert root.exists


@posix
def test_a_folder_is_not_made_through_a_link(world: World) -> None:
    (world.root.path / "state").symlink_to(world.outside, target_is_directory=True)
    with pytest.raises(Forbidden):
        world.root.make("state/index")
    assert not (world.outside / "index").exists()


def test_a_folder_is_not_made_where_a_file_stands(world: World) -> None:
    with pytest.raises(ToolError):
        world.root.make(FILE)
