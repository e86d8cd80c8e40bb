"""What a newcomer types on the first day, and what the command line answers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from manuals import Done, fumishirube, write
from warm_start import installed_script

FILES = {
    "m/heads.md": "# Cages\n\nAll of them.\n\n## Zebra\n\n## Lions\n\nThey roar.\n",
    "m/people.csv": "name,age\nbob,12\nzoe,13\n",
}
EXTRAS = {"FUMISHIRUBE_SURFACE_EXTRAS": "documents"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


def run(workspace: Path, *words: str) -> Done:
    return fumishirube(*words, cwd=workspace, environ=EXTRAS)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("m/people.csv#L2-L3", "bob,12\nzoe,13\n"),
        ("m/people.csv#L3-L9", "zoe,13\n"),
        ("m/heads.md#L9-L9", "They roar.\n"),
        ("m/heads.md#L7-L7", "## Lions\n\nThey roar.\n"),
    ],
)
def test_lines_within_a_section_are_read_as_cited(workspace: Path, place: str, text: str) -> None:
    done = run(workspace, "read", f"manual://{place}")
    assert (done.code, done.out) == (0, text), done.err


@pytest.mark.parametrize("place", ["m/people.csv#L4-L5", "m/people.csv#L3-L2"])
def test_lines_that_a_file_has_not_are_refused(workspace: Path, place: str) -> None:
    done = run(workspace, "read", f"manual://{place}")
    assert (done.code, done.out) == (1, "")
    assert "within" in done.err


def test_the_breadcrumb_of_a_row_goes_from_the_file_to_its_columns(workspace: Path) -> None:
    assert "people > name | age" in run(workspace, "grep", "zoe").out


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("text", "hinted"),
    [
        (r"ro\w+t", True),
        ("ro.*t", True),
        ("[rs]oat", True),
        ("^Theyx", True),
        ("tiger|lioness", True),
        ("a.b", False),
        ("tigers?", False),
        ("price $5", False),
        ("C++", False),
    ],
)
def test_a_pattern_without_the_option_is_noticed(workspace: Path, text: str, hinted: bool) -> None:
    done = run(workspace, "grep", text)
    assert done.code == 1
    assert ("--regex" in done.err) == hinted


def test_a_heading_without_text_is_found_by_the_next_command(workspace: Path) -> None:
    done = run(workspace, "find", "zebra")
    assert done.code == 1
    assert "next: fumishirube grep zebra" in done.err + done.out
    assert "5: ## Zebra" in run(workspace, "grep", "zebra").out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cut.md", "cut.txt", "cut.json"])
def test_a_file_that_ends_within_a_character_is_searched_and_its_defect_is_named(
    tmp_path: Path, name: str
) -> None:
    content = "停電のときは非常灯をつける。".encode()[:-1]
    folder = write(tmp_path, {f"m/{name}": content})
    assert f"manual://m/{name}#L1" in run(folder, "find", "非常灯").out
    assert "停電のときは非常灯をつける�" in run(folder, "scan", "m", name).out
    shown = run(folder, "toc", "m", "--deep", "--prefix", name).out
    assert "the file ends within a character, which is read as �" in shown


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a file that can seek becomes a pipe")
def test_a_server_starts_with_its_output_thrown_away(workspace: Path) -> None:
    words = [installed_script(), "serve"]
    with Path(os.devnull).open("wb") as nowhere:
        served = subprocess.run(
            words,
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (served.returncode, b"error" in served.stderr) == (0, False), served.stderr
