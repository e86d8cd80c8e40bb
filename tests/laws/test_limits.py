"""Limits: settings with documented defaults, clear errors, and nothing left out in silence."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import ask, fumishirube, opened, write

from fumishirube import ConfigError, NeedsNarrowScope
from fumishirube.config.configuration import Config, load_config
from fumishirube.config.environment import variables
from fumishirube.disk.names import PATH_BYTES, SEGMENT_BYTES
from fumishirube.faces.mcp.resources import PAGE as RESOURCES
from fumishirube_manual.resources import MOST_CHARS

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
LIMITS = Config().limits
MIB = 1024 * 1024
SEARCH = {"query": "休暇", "manual_id": "m", "required_terms": ["休暇"]}
LEAVE = "# 休暇\n休暇は十日とする。\n"


def configured(tmp_path: Path, yaml: str, **environ: str) -> Config:
    (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    return load_config(tmp_path, environ=environ).config


# --- settings -------------------------------------------------------------------------------


def rows() -> dict[str, tuple[str, str, str]]:
    """Return the page's table: by limit, its setting, variable and default."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {what: (setting, variable, default) for what, setting, variable, default, _ in cells}


def test_the_page_lists_every_limit_with_its_default() -> None:
    told = {
        setting: (variable, default)
        for setting, variable, default in rows().values()
        if setting.startswith("limits.")
    }
    known = {
        setting: (variable, field.default)
        for variable, setting, field in variables(Config)
        if setting.startswith("limits.")
    }
    assert (
        told.keys() == known.keys() == {f"limits.{name}" for name in Config().limits.model_dump()}
    )
    for setting, (variable, default) in known.items():
        size = re.fullmatch(r"(\d+) MiB", told[setting][1])
        shown = int(size[1]) * MIB if size else int(told[setting][1])
        assert (told[setting][0], shown) == (variable, default)


def test_the_page_lists_what_is_fixed() -> None:
    fixed = {what: default for what, (setting, _, default) in rows().items() if setting == "fixed"}
    assert fixed["bytes of a path"] == str(PATH_BYTES)
    assert fixed["bytes of a name in it"] == str(SEGMENT_BYTES)
    assert fixed["characters of one reading of a resource"] == str(MOST_CHARS)
    assert fixed["resources on a page"] == str(RESOURCES)
    assert rows()["bytes of a note that is written"][2] == "10 MiB"


@pytest.mark.parametrize(
    "block", re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
)
def test_the_page_s_examples_are_taken(tmp_path: Path, block: str) -> None:
    assert configured(tmp_path, block) != Config()


@pytest.mark.parametrize(
    ("written", "bytes_"),
    [("1", 1), ("64 MiB", 64 * MIB), ("'1 MB'", 10**6), ("2kib", 2048), ("10_000", 10_000)],
)
def test_a_size_may_have_a_unit(tmp_path: Path, written: str, bytes_: int) -> None:
    assert configured(tmp_path, f"limits: {{file_bytes: {written}}}").limits.file_bytes == bytes_
    if "_" not in written:
        environ = {"FUMISHIRUBE_LIMIT_FILE_BYTES": written.strip("'")}
        assert configured(tmp_path, "", **environ).limits.file_bytes == bytes_


@given(st.integers(1, 2**60))
def test_any_number_of_bytes_is_taken_as_it_is(number: int) -> None:
    assert Config.model_validate({"limits": {"file_bytes": number}}).limits.file_bytes == number


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("limits: {file_bytes: much}", "expected a number of bytes, such as 64 MiB, got"),
        ("limits: {file_bytes: 0}", "limits.file_bytes: must be at least 1, got 0"),
        ("limits: {depth: 0}", "limits.depth: must be within 1..200, got 0"),
        ("limits: {depth: 100000}", "limits.depth: must be within 1..200, got 100000"),
        ("limits: {files: -1}", "limits.files: must be at least 1, got -1"),
        ("limits: {file: 1}", "limits.file: there is no such setting; did you mean 'files'?"),
        ("listing: {hidden: 3}", "listing.hidden: must be a boolean, got 3"),
    ],
)
def test_an_unusable_limit_stops_the_start_with_its_place(
    tmp_path: Path, yaml: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, yaml)
    assert said in str(caught.value)


def test_a_variable_s_unusable_value_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="FUMISHIRUBE_LIMIT_DEPTH: expected integer >= 1 <= 200, got"
    ):
        configured(tmp_path, "", FUMISHIRUBE_LIMIT_DEPTH="deep")


# --- what is beyond -------------------------------------------------------------------------


def limited(tmp_path: Path, limits: str, files: dict[str, str]) -> Path:
    (tmp_path / "fumishirube.yaml").write_text(f"limits: {{{limits}}}\n")
    return write(tmp_path, {f"m/{name}": text for name, text in files.items()})


def test_what_is_too_deep_is_counted_and_named(tmp_path: Path) -> None:
    files = {"a.md": LEAVE, "one/b.md": LEAVE, "one/two/c.md": LEAVE, "one/two/three/d.md": LEAVE}
    workspace = limited(tmp_path, "depth: 2", files)
    application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    coverage = ask(application, "manual_find", **SEARCH)["coverage"]
    assert coverage["scope"]["files"] == 2
    assert coverage["skipped"] == [{"reason": "ignored", "unit": "file", "count": 2}]
    application.close()
    told = fumishirube("doctor", cwd=workspace)
    assert told.code == 0
    assert "2 files not listed, deeper than limits.depth: one/two/c.md, one/two/three/d.md" in (
        told.out
    )
    assert "raise limits.depth" in told.out


def test_what_is_far_too_deep_is_counted_as_a_folder(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 40)
    workspace = limited(tmp_path, "depth: 3", {"a.md": LEAVE, f"{deep}/b.md": LEAVE})
    application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    coverage = ask(application, "manual_find", **SEARCH)["coverage"]
    assert coverage["skipped"] == [{"reason": "ignored", "unit": "folder", "count": 1}]
    application.close()


def test_a_file_that_is_too_large_is_listed_counted_and_named(tmp_path: Path) -> None:
    workspace = limited(tmp_path, "file_bytes: 1 KiB", {"a.md": LEAVE, "b.md": LEAVE * 100})
    application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    coverage = ask(application, "manual_find", **SEARCH)["coverage"]
    assert coverage["scope"]["files"] == 2
    assert coverage["skipped"] == [{"reason": "too_large", "unit": "file", "count": 1}]
    application.close()
    told = fumishirube("doctor", cwd=workspace)
    assert told.code == 1
    assert "skipped 1 file, too large: b.md" in told.out
    assert "raise limits.file_bytes" in told.out


def aged(path: Path) -> None:
    """Let a file be older than those that are read once more."""
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago))


def hits_of(workspace: Path) -> list[str]:
    application = opened(workspace)
    answer = ask(application, "manual_find", **SEARCH)
    application.close()
    return [item["ref"]["path"] for item in answer["inline_hits"]["items"]]


def test_a_file_is_read_once_the_limit_is_raised_and_no_more_once_it_is_lowered(
    tmp_path: Path,
) -> None:
    workspace = limited(tmp_path, "file_bytes: 10", {"a.md": LEAVE})
    aged(workspace / "manuals/m/a.md")
    for limit, found in ((10, []), (11, []), (1000, ["a.md"]), (2000, ["a.md"]), (10, [])):
        (workspace / "fumishirube.yaml").write_text(f"limits: {{file_bytes: {limit}}}\n")
        assert hits_of(workspace) == found, limit


def test_workspaces_that_share_a_folder_keep_to_their_own_limits(tmp_path: Path) -> None:
    shared = write(tmp_path / "shared", {"a.md": LEAVE}) / "manuals"
    aged(shared / "a.md")
    small, large = tmp_path / "small", tmp_path / "large"
    for workspace in (small, large):
        workspace.mkdir()
    write(small, {"m/b.md": LEAVE})
    write(large, {"m/b.md": LEAVE})
    (small / "fumishirube.yaml").write_text("limits: {file_bytes: 10}\n")
    home = {"HOME": str(tmp_path / "home")}
    assert fumishirube("add", "own", str(shared), cwd=large, environ=home).code == 0
    for _ in range(2):
        assert "own/a.md" not in fumishirube("find", "休暇", cwd=small, environ=home).out
        assert "own/a.md" in fumishirube("find", "休暇", cwd=large, environ=home).out


def test_the_doctor_names_the_limit_of_a_loader(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.txt": "leave\n" * 1000})
    loaders = "[{use: text, with: {most_bytes: 1000}}]"
    settings = f"pipelines: {{manual: {{loaders: {loaders}}}}}\n"
    (tmp_path / "fumishirube.yaml").write_text(settings, encoding="utf-8")
    told = fumishirube("doctor", cwd=tmp_path)
    assert told.code == 1
    assert "skipped 1 file, too large: a.txt" in told.out
    assert "raise limits.file_bytes, or its loader's most_bytes" in told.out


def test_a_manual_with_too_many_files_says_what_to_do(tmp_path: Path) -> None:
    workspace = limited(tmp_path, "files: 2", {f"{n}.md": LEAVE for n in range(3)})
    application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    with pytest.raises(NeedsNarrowScope, match=r"over 2 files.*\.fumishirubeignore.*limits\.files"):
        ask(application, "manual_find", **SEARCH)
    application.close()
    told = fumishirube("doctor", cwd=workspace)
    assert told.code == 1
    assert "over 2 files" in told.out
    (workspace / "manuals/m/.fumishirubeignore").write_text("2.md\n")
    assert fumishirube("doctor", cwd=workspace).code == 0


# --- doctor ---------------------------------------------------------------------------------


def test_doctor_names_what_is_off_about_files_and_folders(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "m/a.md": LEAVE,
        "m/broken.md": b"\x81\xff\xfe\x80 \xff\xff",
        ".x/a.md": LEAVE,
        "manuals/a.md": LEAVE,
        "odd::name/a.md": LEAVE,
    }
    write(tmp_path, files)
    (tmp_path / "manuals" / "linked").symlink_to("m")
    os.mkfifo(tmp_path / "manuals/m/pipe")
    told = fumishirube("doctor", cwd=tmp_path)
    assert told.code == 1
    for line in (
        "manuals/.x: no manual: its name begins with a dot",
        "manuals/linked: no manual: it is a symbolic link",
        "manuals/manuals: no manual: its name is reserved",
        "manuals/odd::name: no manual: its name holds '::', which is part of ids",
        "skipped 1 file, no known encoding: broken.md",
        "1 file not listed, a pipe, a socket or a device: pipe",
    ):
        assert line in told.out
    served = fumishirube("serve", cwd=tmp_path)
    assert "warning: manuals/odd::name: no manual" in served.err
    assert fumishirube("ls", cwd=tmp_path).out.split() == ["m/"]
