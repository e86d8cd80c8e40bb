"""Ignore files: read as git reads them, nested, at once, for every tool alike, and counted."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from manuals import ask, fumishirube, opened, write
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern
from stdio import Fumishirube
from torture import TORTURE, times

from fumishirube import NotFound, Root, Unreadable
from fumishirube.disk.ignore_rules import _with_single_tries, rules_of
from fumishirube.disk.survey import Listing, RootLimits, UnlistedEntry
from fumishirube.host.application import Application

RULES = Listing(ignore_files=(".fumishirubeignore",))
TREE = ("a.md", "b.md", "notes/a.md", "notes/b.txt", "notes/old/a.md", "notes/old/deep/c.md")


def made(folder: Path, files: Mapping[str, str]) -> Root:
    for name, content in {**dict.fromkeys(TREE, "# t\n"), **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return Root(folder, listing=RULES)


def listed(root: Root) -> list[str]:
    return [entry.path for entry in root.files()]


# --- the rules ------------------------------------------------------------------------------

CASES: list[tuple[dict[str, str], set[str]]] = [
    ({"": "a.md"}, {"a.md", "notes/a.md", "notes/old/a.md"}),
    ({"": "/a.md"}, {"a.md"}),
    ({"": "*.md\n!b.md"}, {"a.md", "notes/a.md", "notes/old/a.md", "notes/old/deep/c.md"}),
    ({"": "old/"}, {"notes/old/a.md", "notes/old/deep/c.md"}),
    ({"": "old/\n!notes/old/a.md"}, {"notes/old/a.md", "notes/old/deep/c.md"}),
    ({"": "notes/*\n!notes/a.md"}, {p for p in TREE if p[:6] == "notes/"} - {"notes/a.md"}),
    ({"": "notes/**\n!notes/a.md"}, {p for p in TREE if p[:6] == "notes/"} - {"notes/a.md"}),
    ({"": "**/deep"}, {"notes/old/deep/c.md"}),
    ({"": "a.md", "notes/": "!a.md"}, {"a.md"}),
    ({"notes/": "/a.md"}, {"notes/a.md"}),
    ({"notes/old/": "*"}, {"notes/old/a.md", "notes/old/deep/c.md"}),
    ({"": "# a.md\n\n  \n!\n[\n\\#x\nb.md  "}, {"b.md"}),
    ({"": "\ufeffb.md\r\n"}, {"b.md"}),
    ({"": "a.md\n!notes/"}, {"a.md", "notes/a.md", "notes/old/a.md"}),
    ({"": "*\n!*/\n!b.*"}, {*TREE} - {"b.md", "notes/b.txt"}),
    ({"": "notes/*\n!notes/"}, {path for path in TREE if path.startswith("notes/")}),
    ({"": "/\n!/\n[z-a].md\n[a-\\]]\nb.md"}, {"b.md"}),
    ({"": "[[:alpha:]].txt\n[^a[:digit:][:upper:]c].md"}, {"b.md", "notes/b.txt"}),
    ({"": "a.md\x0cb.md\u2028b.md"}, set()),
]


@pytest.mark.parametrize(("rules", "gone"), CASES)
def test_what_the_rules_name_is_not_listed(
    tmp_path: Path, rules: dict[str, str], gone: set[str]
) -> None:
    root = made(tmp_path, {f"{folder}.fumishirubeignore": text for folder, text in rules.items()})
    assert set(listed(root)) == set(TREE) - gone
    assert {one.path for one in root.survey().unlisted} == gone
    assert set(listed(Root(tmp_path))) == set(TREE), "another root does not heed them"


segments = st.sampled_from(
    ["a.md", "b.md", "old", "notes", "*.md", "*", "**", "?.md", "[ab].md", "c*", "[[:alpha:]]*"]
)
patterns = st.builds(
    lambda bang, root, parts, end: bang + root + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(segments, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**"]),
)
files_of_rules = st.dictionaries(
    st.sampled_from(["", "notes/", "notes/old/"]),
    st.lists(patterns, min_size=1, max_size=3).map("\n".join),
    max_size=3,
)


@pytest.mark.slow
@pytest.mark.timeout(times(120, 3600))
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to compare with")
@settings(max_examples=times(40, 2_000), derandomize=not TORTURE)
@given(rules=files_of_rules)
def test_git_reads_the_rules_alike(
    tmp_path_factory: pytest.TempPathFactory, rules: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("git")
    root = made(folder, {f"{place}.fumishirubeignore": text for place, text in rules.items()})
    command = ["git", "ls-files", "--others", "--exclude-per-directory=.fumishirubeignore"]
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    told = {path for path in done.stdout.splitlines() if not path.endswith(".fumishirubeignore")}
    assert set(listed(root)) == told
    shutil.rmtree(folder)


PATHS = st.lists(st.text("abx", min_size=1), min_size=1).map("/".join)
GLOBS = st.lists(st.sampled_from(["a", "b", "*", "**", "?", "/", "[ab]", "x*a"]), min_size=1)


@given(rule=GLOBS.map("".join), path=PATHS)
def test_a_pattern_that_tries_once_matches_the_same(rule: str, path: str) -> None:
    pattern = GitIgnoreSpecPattern(rule).regex
    assume(pattern is not None)
    assert pattern is not None
    found = re.search(_with_single_tries(pattern.pattern), path)
    expected = pattern.search(path)
    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("rule", "path"),
    [("*a*a*a*a*a*a*a*a*a*b", "a" * 200), ("**/a/" * 9 + "b", "a/" * 100), ("*?" * 9, "a" * 200)],
)
def test_stars_are_not_tried_at_every_place(rule: str, path: str) -> None:
    """Every one more would take hundreds of times as long, and no other call would run."""
    rules = rules_of("", f"{rule}\n!{rule}x".encode(), None)
    assert rules.ignores(path) == (rule == "*?" * 9)


def test_a_rule_of_many_classes_takes_time_by_its_length() -> None:
    before = time.process_time()
    rules = rules_of("", b"[" + b"[:alpha:]" * 6_000 + b"]", None)
    assert time.process_time() - before < 4
    assert (rules.ignores("a"), rules.ignores("1")) == (True, False)


def test_rules_are_compared_in_the_composed_form(tmp_path: Path) -> None:
    root = made(tmp_path, {".fumishirubeignore": "か\u3099*.md", "がんばる.md": "x"})
    assert listed(root) == sorted(TREE)


def test_both_files_count_where_git_s_is_heeded_and_ours_comes_last(tmp_path: Path) -> None:
    made(tmp_path, {".gitignore": "a.md\nb.md\n", ".fumishirubeignore": "!/a.md\n"})
    both = Root(tmp_path, listing=Listing(ignore_files=(".gitignore", ".fumishirubeignore")))
    assert set(TREE) - set(listed(both)) == {"b.md", "notes/a.md", "notes/old/a.md"}
    assert listed(Root(tmp_path, listing=RULES)) == sorted(TREE)


def test_a_part_of_a_root_heeds_the_rules_above_it(tmp_path: Path) -> None:
    root = made(tmp_path, {".fumishirubeignore": "notes/a.md\nold/\n"})
    assert [entry.path for entry in root.files("notes")] == ["notes/b.txt"]
    assert {one.path for one in root.survey("notes").unlisted} >= {"notes/a.md", "notes/old/a.md"}
    with pytest.raises(NotFound):
        root.files("absent")


def test_rules_behind_a_link_do_not_count(tmp_path: Path) -> None:
    root = made(tmp_path / "root", {})
    (tmp_path / "rules").write_text("*\n")
    (tmp_path / "root" / ".fumishirubeignore").symlink_to(tmp_path / "rules")
    assert listed(root) == sorted(TREE)
    assert root.survey().unlisted == [UnlistedEntry(".fumishirubeignore", "symlink", "file")]


def test_rules_that_cannot_be_read_are_not_passed_over(tmp_path: Path) -> None:
    """What they leave out would be served otherwise."""
    made(tmp_path, {".fumishirubeignore": "a.md\n" * 10})
    with pytest.raises(Unreadable) as caught:
        Root(tmp_path, RootLimits(file_bytes=20), listing=RULES).files()
    assert caught.value.details["path"] == ".fumishirubeignore"


def test_the_files_of_an_ignored_folder_are_counted_while_they_are_few(tmp_path: Path) -> None:
    root = made(tmp_path, {".fumishirubeignore": "few/\nmany/\n", "few/x/y.md": "", "few/z": ""})
    (tmp_path / "many").mkdir()
    for number in range(1100):
        (tmp_path / "many" / f"{number}").touch()
    unlisted = root.survey().unlisted
    assert UnlistedEntry("few/x/y.md", "ignore_rule", "file") in unlisted
    assert UnlistedEntry("many", "ignore_rule", "folder") in unlisted
    assert len(unlisted) == 3


def test_an_unchanged_file_is_compiled_once() -> None:
    first, second = (rules_of(prefix, b"only-here-*\n", None) for prefix in ("a/", "b/"))
    assert first.rules is second.rules
    assert first.ignores("a/only-here-1")
    assert not second.ignores("b/else")


def test_nobody_pays_for_rules_where_there_are_none(tmp_path: Path) -> None:
    made(tmp_path, {})
    code = (
        "import sys; from pathlib import Path; from fumishirube import Root; "
        "from fumishirube.disk.survey import Listing; "
        "listing = Listing(ignore_files=('.fumishirubeignore',));"
        f"Root(Path({str(tmp_path)!r}), listing=listing).files();"
        "print('pathspec' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- the tools ------------------------------------------------------------------------------

MANUAL = {
    "m/.fumishirubeignore": "drafts/\n*.tmp.md\n",
    "m/leave.md": "# 休暇\n年次有給休暇は十日とする。\n",
    "m/drafts/leave.md": "# 休暇の案\n年次有給休暇は百日とする。\n",
    "m/leave.tmp.md": "# 休暇\n年次有給休暇は千日とする。\n",
    "m/.private/leave.md": "# 休暇\n年次有給休暇は万日とする。\n",
    "m/.note.md": "# 休暇\n年次有給休暇は億日とする。\n",
}
SEARCH = {"query": "年次有給休暇", "manual_id": "m", "required_terms": ["有給休暇"]}
GONE = ("drafts/leave.md", "leave.tmp.md", ".private/leave.md", ".note.md")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(
        write(tmp_path_factory.mktemp("ignoring"), MANUAL), FUMISHIRUBE_SURFACE_EXTRAS="coverage"
    ) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.mark.parametrize("path", GONE)
def test_an_ignored_file_is_there_for_no_tool(server: Fumishirube, path: str) -> None:
    ref = {"manual_id": "m", "path": path, "start_line": 1}
    assert server.refused("manual_read", ref=ref)["code"] == "not_found"
    assert server.refused("manual_scan", manual_id="m", path=path)["code"] == "not_found"
    assert server.ok("manual_toc", manual_id="m", path_prefix=path)["items"] == []
    assert [item["path"] for item in server.ok("manual_toc", manual_id="m")["items"]] == [
        "leave.md"
    ]


def test_an_ignored_folder_is_not_there_either(server: Fumishirube) -> None:
    assert [item["name"] for item in server.ok("manual_ls", id="m")["items"]] == ["leave.md"]
    for folder in ("ZHJhZnRz", "LnByaXZhdGU"):
        assert server.refused("manual_ls", id=f"dir::m::{folder}")["code"] == "not_found"


def test_a_search_does_not_find_it_and_says_how_much_it_left(server: Fumishirube) -> None:
    found = server.ok("manual_find", **SEARCH)
    assert found["candidates"] == 1
    assert found["coverage"]["scope"] == {"files": 1, "sections": 1}
    assert found["coverage"]["skipped"] == [
        {"reason": "ignored", "unit": "file", "count": 4},
    ]


def found(application: Application) -> set[str]:
    answer = ask(application, "manual_find", **SEARCH)
    return {item["ref"]["path"] for item in answer["inline_hits"]["items"]}


def test_a_change_of_the_rules_counts_from_the_next_call_on(tmp_path: Path) -> None:
    application = opened(write(tmp_path, MANUAL))
    rules = tmp_path / "manuals/m/.fumishirubeignore"
    assert found(application) == {"leave.md"}
    for text, expected in (
        ("drafts/\n", {"leave.md", "leave.tmp.md"}),
        ("/leave.*\n", {"drafts/leave.md"}),
        ("leave.m\n", {"leave.md", "leave.tmp.md", "drafts/leave.md"}),
        ("drafts\\\n", {"leave.md", "leave.tmp.md", "drafts/leave.md"}),
        ("*\n", set()),
    ):
        rules.write_text(text)
        assert found(application) == expected
    rules.unlink()
    assert found(application) == {"leave.md", "leave.tmp.md", "drafts/leave.md"}
    application.close()


def test_it_counts_too_while_the_index_cannot_be_written_and_for_lines_of_earlier_searches(
    tmp_path: Path,
) -> None:
    with closing(opened(write(tmp_path, MANUAL))) as application:
        search = ask(application, "manual_find", **SEARCH)
        hits = {"trace_id": search["trace_id"], "kind": "integrated_top"}
        assert all("lines" in item for item in ask(application, "manual_hits", **hits)["items"])
        (lock,) = (tmp_path / ".fumishirube").rglob(".tantivy-writer.lock")
        lock.unlink()
        lock.mkdir()
        (tmp_path / "manuals/m/.fumishirubeignore").write_text("*\n")
        for word in ("有給休暇", "年次"):  # only one of them was asked before
            answer = ask(application, "manual_find", **SEARCH | {"required_terms": [word]})
            assert "the index cannot be written" in answer["degraded"]
            assert answer["terms"] == [[word, "no_hits", 0]]
            assert "leave" not in str(answer["inline_hits"]) + str(answer.get("names"))
        assert not any("lines" in item for item in ask(application, "manual_hits", **hits)["items"])


def settled(tmp_path: Path, settings: str) -> Application:
    (tmp_path / "fumishirube.yaml").write_text(settings)
    return opened(write(tmp_path, MANUAL | {"m/.gitignore": "/leave.md\n"}))


def test_hidden_files_are_listed_where_the_settings_say_so(tmp_path: Path) -> None:
    application = settled(tmp_path, "listing: {hidden: true}")
    assert found(application) == {"leave.md", ".private/leave.md", ".note.md"}
    ls: Any = ask(application, "manual_ls", id="m")["items"]
    assert [item["name"] for item in ls] == [".note.md", ".private", "leave.md"]
    inner = ask(application, "manual_ls", id=ls[1]["id"])["items"]
    assert [item["path"] for item in inner] == [".private/leave.md"]
    application.close()


def test_git_s_rules_count_where_the_settings_say_so(tmp_path: Path) -> None:
    application = settled(tmp_path, "listing: {gitignore: true}")
    assert found(application) == set()
    application.close()
    application = settled(tmp_path, "")
    assert found(application) == {"leave.md"}
    application.close()


def test_an_ignored_table_of_contents_speaks_for_no_chapter(tmp_path: Path) -> None:
    files = {
        "m/00_目次.json": '{"toc": [{"id": 1, "title": "休暇", "file": "1.txt"}]}',
        "m/1.txt": "年次有給休暇は十日とする。\n",
    }
    # Without the loader of other text, which reads whatever no table of contents speaks for.
    application = opened(write(tmp_path, files), FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    assert found(application) == {"1.txt"}
    (tmp_path / "manuals/m/.fumishirubeignore").write_text("00*\n")
    assert found(application) == set()
    application.close()


def test_doctor_and_coverage_name_the_reasons(tmp_path: Path) -> None:
    write(tmp_path, MANUAL)
    (tmp_path / "manuals/m/link.md").symlink_to("leave.md")
    (tmp_path / "manuals/m/photo.png").touch()
    told = fumishirube("doctor", cwd=tmp_path)
    assert told.code == 0
    for line in (
        "2 files not listed, an ignore file leaves them out: drafts/leave.md, leave.tmp.md",
        "2 files not listed, hidden by a name that begins with a dot: .note.md, .private/leave.md",
        "1 file not listed, symbolic links are not followed: link.md",
        "1 file not listed, no loader reads them: photo.png",
    ):
        assert line in told.out
    traces = fumishirube("find", "年次有給休暇", "--json", cwd=tmp_path).json["traces"]
    coverage = fumishirube("coverage", traces["m"], "--json", cwd=tmp_path).json
    assert {(row["reason"], row["unit"], row["count"]) for row in coverage["skipped"]} == {
        ("hidden", "file", 2),
        ("ignore_rule", "file", 2),
        ("no_loader", "file", 1),
        ("symlink", "file", 1),
    }
