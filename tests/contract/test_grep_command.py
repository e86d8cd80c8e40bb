"""The command ``fumishirube grep``: what it prints, and what it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import fumishirube, write

pytest_plugins = ["grep_servers"]


def test_the_command_prints_files_sections_and_lines(grep_workspace: Path) -> None:
    done = fumishirube("grep", "5 秒", "--manual", "m", cwd=grep_workspace)
    assert done.code == 0
    assert done.out.splitlines() == [
        "m/copy.md",
        "  Copy",
        "    2: The timeout is 5 秒.",
        "      also times.md#L4 Limits, times.md#L9 Old",
        "",
        "m/values.json",
        '    2: "wait": "５秒",',
    ]
    assert "4 lines, 2 of them different, in 3 files; 4 files searched" in done.err
    assert "not searched: m/binary.md: no known encoding" in done.err
    counted = fumishirube("grep", "timeout", "once", "--count", "--word", cwd=grep_workspace)
    assert "     2  m/times.md" in counted.out.splitlines()
    assert "     1  'once'" in counted.out.splitlines()


@pytest.mark.slow
def test_the_command_takes_patterns_and_gives_json(grep_workspace: Path) -> None:
    words = ["grep", "aborts", "--regex", "--prefix", "sub", "-C", "1", "--json"]
    answer = fumishirube(*words, cwd=grep_workspace).json
    assert answer["groups"][0]["lines"][1:] == [[4, "use `AbortSignal`"], [5, "FnOnce"]]
    assert fumishirube(*words, "--exact", cwd=grep_workspace).json["total"] == 0
    environ = {"FUMISHIRUBE_SURFACE_EXTRAS": "none"}
    assert fumishirube(*words, cwd=grep_workspace, environ=environ).json["total"] == 1
    capitals = fumishirube("grep", "ABORTS", "--regex", cwd=grep_workspace)
    assert (capitals.code, capitals.out) == (1, "")
    assert "case counts in a pattern of capitals" in capitals.err
    assert "(?i)" in capitals.err
    assert fumishirube("grep", "(?i)ABORTS", "--regex", cwd=grep_workspace).code == 0


@pytest.mark.slow
def test_the_command_takes_a_path_as_it_prints_it(tmp_path: Path) -> None:
    page = "# 非常灯\n停電のときは非常灯をつける。\n"
    # The manual b has a folder that is named as the manual a is.
    workspace = write(
        tmp_path, {f"{p}.md": page for p in ("a/in/x", "b/in/x", "b/a/y", "b/a/in/z")}
    )

    def counts(*words: str) -> set[str]:
        done = fumishirube("grep", "非常灯", "--count", "--json", *words, cwd=workspace)
        rows = done.json["counts"] if done.code in (0, 1) and done.out else []
        only = words[-1].partition("/")[0]
        return {f"{row.get('manual_id', only)}/{row['path']}" for row in rows if "path" in row}

    for group in ("a/in/x.md", "b/in/x.md", "b/a/y.md"):
        assert counts("--prefix", group) == {group}
    assert counts("--prefix", "a") == {"a/in/x.md"}
    assert counts("--prefix", "in") == {"a/in/x.md", "b/in/x.md"}
    assert counts("--prefix", "a/y.md") == {"b/a/y.md"}, "the manual a has no such file"
    assert counts("--manual", "b", "--prefix", "b/in") == {"b/in/x.md"}
    inside = fumishirube("grep", "非常灯", "--manual", "b", "--prefix", "a", cwd=workspace)
    assert "in 2 files; 2 files searched" in inside.err
    assert "not_found" in fumishirube("grep", "非常灯", "--prefix", "a/no.md", cwd=workspace).err
    words = ("toc", "b", "--deep", "--prefix", "b/a/y.md")
    assert "非常灯" in fumishirube(*words, cwd=workspace).out


OWN_NAME = {f"g/{path}.md": f"# {path}\n" for path in ("a", "g/a", "g/b", "old/b")}


def test_a_path_in_a_manual_with_a_folder_of_its_own_name_is_as_toc_prints_it(
    tmp_path: Path,
) -> None:
    write(tmp_path, OWN_NAME)
    done = fumishirube("toc", "g", "--deep", "--prefix", "g/a.md", cwd=tmp_path)
    assert done.out.splitlines() == ["g/a.md", "  L1  g/a", "1 file"]
    done = fumishirube("grep", "#", "--manual", "g", "--prefix", "g/b.md", cwd=tmp_path)
    assert done.out.splitlines()[0] == "g/g/b.md"
    assert "1 line in 1 file" in done.err


@pytest.mark.slow
def test_such_a_path_may_also_begin_with_the_manual(tmp_path: Path) -> None:
    write(tmp_path, OWN_NAME)

    def shown(*words: str) -> list[str]:
        done = fumishirube(*words, cwd=tmp_path)
        return [line for line in done.out.splitlines() if line and not line.startswith(" ")]

    assert shown("toc", "g", "--deep", "--prefix", "g") == ["g/a.md", "g/b.md", "2 files"]
    in_manual = ("grep", "#", "--manual", "g", "--prefix")
    assert shown(*in_manual, "g/old/b.md") == ["g/old/b.md"]
    assert shown(*in_manual, "!g/a.md") == ["g/a.md", "g/g/b.md", "g/old/b.md"]
    assert shown("grep", "#", "--prefix", "g/a.md") == ["g/a.md"], "as grep prints it"
    assert shown("grep", "#", "--prefix", "g/b.md") == ["g/g/b.md"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "--regex"], "--regex takes one TEXT"),
        (["a", "-C", "4"], "at most 3"),
        (["(", "--regex"], "no regular expression"),
        (["a", "--manual", "n"], "there is no manual 'n'"),
        ([" "], "not blank"),
    ],
)
def test_the_command_says_what_is_wrong(
    grep_workspace: Path, words: list[str], message: str
) -> None:
    done = fumishirube("grep", *words, cwd=grep_workspace)
    assert done.code != 0
    assert message in done.err
