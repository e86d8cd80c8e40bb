"""The rules of paths as Windows reads them, on every system: names, drives, lengths, line ends."""

from __future__ import annotations

import ntpath
import sys
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fumishirube.disk.folders
from fumishirube import Citation, ConfigError, InvalidParameter, InvalidPath, Root, ToolError
from fumishirube.disk import clean_name, clean_new_path, clean_path
from fumishirube.disk.names import PATH_BYTES, SEGMENT_BYTES, extended_path, trap
from fumishirube.faces.cli.folders import manual_id_of
from fumishirube.text import reading, reading_form
from fumishirube_stages.loaders.markdown import Markdown

ROOT = PureWindowsPath("C:/workspace/manuals")
BASES = ("CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$")
NUMBERED = tuple(f"{base}{digit}" for base in ("COM", "LPT") for digit in "123456789¹²³")
CASES = st.sampled_from([str.upper, str.lower, str.title, str.swapcase])
DEVICES = st.builds(
    lambda name, case, blanks, suffix: case(name) + blanks + suffix,
    st.sampled_from(BASES + NUMBERED),
    CASES,
    st.sampled_from(["", " ", "  "]),
    st.sampled_from(["", ".md", ".tar.gz", ".", ":", ":stream", ".md "]),
)
SEGMENTS = st.one_of(
    DEVICES,
    st.sampled_from(["a", "b.md", "規程", "a.", "a ", "...", "a:b", "c:", "é:x", "~1", "A~1.MD"]),
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=6),
)
PREFIXES = st.sampled_from(
    [
        *("C:\\", "C:/", "c:", "Z:\\a\\", "\\", "/", "\\\\server\\share\\", "//server/share/"),
        *("\\\\?\\C:\\", "\\\\?\\UNC\\server\\share\\", "\\\\.\\", "\\\\.\\pipe\\", "\\??\\C:\\"),
    ]
)
BETWEEN = st.sampled_from(["/", "\\", "\\\\", "/./"])
PATHS = st.builds(
    lambda segments, between: between.join(segments),
    st.lists(SEGMENTS, min_size=1, max_size=5),
    BETWEEN,
)


@given(DEVICES)
def test_a_device_is_never_a_name_of_a_new_file(name: str) -> None:
    assert trap(name) is not None
    for path in (name, f"notes/{name}", f"{name}/a.md", f"notes\\{name}\\a.md"):
        with pytest.raises(ToolError):
            clean_new_path(path)


@given(SEGMENTS)
def test_what_windows_reserves_is_a_trap(name: str) -> None:
    if "/" in name or "\\" in name:
        return
    reserved = getattr(ntpath, "isreserved", None) or (lambda n: PureWindowsPath(n).is_reserved())
    forbidden = any(character in '<>"|?*' or ord(character) < 32 for character in name)
    if reserved(name) and not forbidden:
        assert trap(name) is not None


@given(PATHS)
def test_a_clean_path_without_traps_stays_below_the_root(raw: str) -> None:
    try:
        path = clean_path(raw)
    except InvalidPath:
        return
    if any(trap(segment) for segment in path.split("/")):
        return  # Windows opens none of them: the next test
    there = ROOT / path
    assert there.is_relative_to(ROOT)
    assert (there.drive, there.root) == ("C:", "\\")
    assert ".." not in there.parts
    # Each segment is the one that Windows reads: no short, cut, or second name.
    assert "/".join(there.relative_to(ROOT).parts) == path


@given(PATHS)
def test_on_windows_a_trap_is_no_entry(tmp_path_factory: pytest.TempPathFactory, raw: str) -> None:
    folder = tmp_path_factory.mktemp("root", numbered=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fumishirube.disk.folders, "_TRAPS", True)
        try:
            path = clean_path(raw)
        except InvalidPath:
            return
        if any(trap(segment) for segment in path.split("/")):
            with pytest.raises(ToolError):
                Root(folder).read_bytes(path)


@given(PREFIXES, PATHS)
def test_drives_shares_and_devices_are_refused_in_arguments(prefix: str, rest: str) -> None:
    with pytest.raises(InvalidPath):
        clean_path(prefix + rest)
    with pytest.raises(InvalidParameter):
        clean_name(prefix + rest, "manual_id")
    try:
        cited = Citation.parse(f"manual://m/{prefix}{rest}")
    except InvalidParameter:
        return
    with pytest.raises(InvalidPath):
        clean_path(cited.path)


@given(PREFIXES, st.lists(SEGMENTS, max_size=3))
def test_a_folder_anywhere_gives_a_manual_a_safe_name_or_none(
    prefix: str, segments: list[str]
) -> None:
    name = PureWindowsPath(prefix, *segments).name
    try:
        manual_id = manual_id_of(name, "--in")
    except ConfigError:
        return
    assert clean_name(manual_id, "manual") == manual_id
    assert not set("/\\").intersection(manual_id)


# --- long paths -------------------------------------------------------------------------------


@given(st.integers(1, 400), st.sampled_from(["x", "é", "漢", "😀"]))
def test_a_segment_is_as_long_as_every_system_allows(length: int, character: str) -> None:
    name = character * length
    if len(name.encode()) <= SEGMENT_BYTES:
        assert clean_path(name) == name
        assert len(name.encode("utf-16-le")) // 2 <= 255
    else:
        with pytest.raises(InvalidPath):
            clean_path(name)


@given(st.lists(st.integers(1, 255), min_size=1, max_size=8))
def test_a_whole_path_has_a_limit(lengths: list[int]) -> None:
    path = "/".join("x" * length for length in lengths)
    if len(path) <= PATH_BYTES:
        assert clean_path(path) == path
    else:
        with pytest.raises(InvalidPath):
            clean_path(path)


PLAIN = st.text(st.sampled_from("ab漢 .-"), min_size=1, max_size=40)
ABSOLUTE = st.builds(
    lambda top, segments, between: top + between.join(segments),
    st.sampled_from(["C:\\", "d:/", "\\\\server\\share\\", "//server/share/"]),
    st.lists(PLAIN | st.sampled_from([".", ".."]), max_size=12),
    st.sampled_from(["\\", "/"]),
)


@given(ABSOLUTE)
def test_a_long_path_names_the_same_file_in_its_long_form(path: str) -> None:
    long = extended_path(path)
    assert long.startswith("\\\\?\\")
    assert "/" not in long
    assert not {".", ".."}.intersection(long.split("\\"))
    assert extended_path(long) == long
    share = "\\\\?\\UNC\\"
    short = f"\\\\{long[len(share) :]}" if long.startswith(share) else long[len("\\\\?\\") :]
    assert short == ntpath.normpath(path)


@given(PATHS)
def test_a_relative_path_has_no_long_form(path: str) -> None:
    if not PureWindowsPath(path).is_absolute():
        assert extended_path(path) == path


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere such a path is nothing special")
def test_a_file_deep_below_is_read(tmp_path: Path) -> None:
    path = "/".join(["x" * 100] * 4)
    deep = Path(extended_path(str(tmp_path / path)))
    deep.mkdir(parents=True)
    (deep / "a.md").write_bytes(b"text")
    assert Root(tmp_path).read_bytes(f"{path}/a.md") == b"text"


# --- line ends --------------------------------------------------------------------------------

LINES = st.lists(
    st.sampled_from(
        ["# One", "## Two", "", "text of a line", "- item", "```", "| a | b |", "漢字"]
    ),
    min_size=1,
    max_size=12,
)


@given(LINES, st.sampled_from(["\r\n", "\r"]))
def test_the_line_ends_of_windows_change_no_section(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str
) -> None:
    folder = tmp_path_factory.mktemp("ends", numbered=True)
    (folder / "lf.md").write_bytes("\n".join(lines).encode())
    (folder / "other.md").write_bytes(end.join(lines).encode())
    root = Root(folder)
    first, second = (Markdown().load(root, source) for source in Markdown().sources(root))
    assert first.text == second.text
    places = [
        [(s.start_line, s.end_line, s.start, s.end, s.level) for s in document.sections]
        for document in (first, second)
    ]
    assert places[0] == places[1]
    read = reading("of a")
    assert read is not None
    found = [[*read.matching_lines(d.text, reading_form(d.text))] for d in (first, second)]
    assert found[0] == found[1]
