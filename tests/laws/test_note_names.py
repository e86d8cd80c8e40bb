"""Notes are never written where other programs look for orders, nor under names that deceive."""

from __future__ import annotations

import shutil
import stat
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import ask, fumishirube, opened
from stdio import Fumishirube

from fumishirube import Call, Conflict, Forbidden, NotFound, ToolError
from fumishirube.host.application import Application
from fumishirube.text import printable, unseen_character
from fumishirube.tools.calls import call_tool

MANY = settings(suppress_health_check=list(HealthCheck))
BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSEEN = BIDIRECTIONAL + "\u200b\u2060\ufeff\u00ad\u115f\u3164\u2028\U000e0041"

plain = st.text(st.sampled_from("ab文Ä1 -_"), min_size=1, max_size=5).map(str.strip).filter(bool)
dotted = st.builds(
    "{}.{}".format,
    st.sampled_from(["", "", "\u200d", "\u200b\u200c", "\u2060"]),
    st.sampled_from(["git", "GIT", "ssh", "obsidian", "x", "vscode", "env", "bashrc"]),
)


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "manuals").mkdir()
    (workspace / "vault").mkdir()
    return opened(workspace)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """Return an application whose vault a test removes again and again."""
    workspace = tmp_path_factory.mktemp("elsewhere")
    (workspace / "manuals").mkdir()
    return opened(workspace)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "manuals").mkdir()
    for name in (".obsidian/a.md", "sub/.notes/a.md", "pl\u200ban.md", ".hidden.md"):
        (workspace / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / "vault" / name).write_text("old\n")
    return workspace


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as server:
        yield server


def everything(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "journal" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


@MANY
@given(st.lists(plain, max_size=2), dotted, st.lists(plain, max_size=2))
def test_nothing_is_written_at_or_below_a_name_that_begins_with_a_dot(
    application: Application, above: list[str], name: str, below: list[str]
) -> None:
    vault = application.loaded.folder("vault")
    path = "/".join(["law", *above, name, *below])
    shutil.rmtree(vault / "law", ignore_errors=True)
    file = vault / path
    with pytest.raises(Forbidden):
        ask(application, "vault_create", path=path, content="x")
    assert not file.exists()
    file.parent.mkdir(parents=True)
    file.write_text("old")
    with pytest.raises(Forbidden):
        ask(application, "vault_replace", path=path, find="old", replace="new")
    assert file.read_text() == "old"


SPACES = st.text(st.sampled_from(" .\u3000\u2028\u1680\xa0"), max_size=2)
SEGMENTS = st.sampled_from([".git", ".system", "daily", "2026-01-01.md", "Git~1", "a", "b.md", ""])
spelled = st.lists(
    st.builds(
        "{}{}{}{}".format, SPACES, SEGMENTS, SPACES, st.sampled_from(["/", "//", "/./", "\\"])
    ),
    min_size=1,
    max_size=4,
).map("".join)
CLOSED = (".git/config", ".system/adaptive_stats.jsonl", "daily/2026-01-01.md", "Git~1/b.md")


@MANY
@given(spelled | st.sampled_from(CLOSED).map("./ {}".format))
def test_no_spelling_of_a_path_leads_where_nothing_is_written(
    elsewhere: Application, path: str
) -> None:
    vault = elsewhere.loaded.folder("vault")
    shutil.rmtree(vault, ignore_errors=True)
    for closed in CLOSED:
        (vault / closed).parent.mkdir(parents=True, exist_ok=True)
        (vault / closed).write_text("old\n")
    before = everything(vault)
    for tool, texts in (
        ("vault_create", {"content": "new\n"}),
        ("vault_replace", {"find": "old", "replace": "new"}),
    ):
        try:
            written = ask(elsewhere, tool, path=path, **texts)["written_path"]
        except ToolError:
            continue
        before[str(vault / written)] = b"new\n"
        assert written.partition("/")[0] not in (".git", ".system", "Git~1")
        assert tool == "vault_create" or not written.startswith("daily/")
    assert everything(vault) == before
    for place in ("./ .system/journal", ".system/journal", ".system /journal"):
        with pytest.raises(ToolError):
            ask(elsewhere, "vault_ls", path=place)


@MANY
@given(plain, st.sampled_from(UNSEEN), plain, st.booleans())
def test_a_new_name_holds_nothing_that_nobody_sees(
    application: Application,
    before: str,
    unseen: str,
    after: str,
    in_folder: bool,
) -> None:
    name = f"{before}{unseen}{after}"
    path = f"{name}/note.md" if in_folder else f"folder/{name}"
    with pytest.raises(Forbidden, match=f"U\\+{ord(unseen):04X}"):
        ask(application, "vault_create", path=path, content="x")
    assert not (application.loaded.folder("vault") / path).exists()


@given(st.text(max_size=12))
def test_whatever_passes_shows_in_full(name: str) -> None:
    if unseen_character(name) is None:
        assert not set(UNSEEN) & set(name.replace("\U000e0041", ""))
        assert printable(name) == name or any(unicodedata.category(c) in ("Cc", "Cs") for c in name)


@pytest.mark.parametrize(
    "name",
    [
        "👩‍👩‍👧 family.md",
        "❤️.md",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿.md",
        "می‌خواهم.md",
        "葛󠄀城市.md",
        "क्‍ष.md",
        "メモ.md",
        "…続き.md",
        "．NETの概要.md",
        "a.b/c..d.md",
        "~x.md",
    ],
)
def test_words_and_emoji_are_names(application: Application, name: str) -> None:
    answer = ask(application, "vault_create", path=f"words/{name}", content="x")
    assert (application.loaded.folder("vault") / answer["written_path"]).read_text() == "x"


@pytest.mark.parametrize("name", ["n/Desktop.ini", "THUMBS.db", "n/thumbs.db/a.md", "._n/a.md"])
def test_a_note_that_no_list_would_show_is_not_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "fumishirube.yaml").write_text(
        "surfaces: [{use: vault, with: {allow_hidden: [._n]}}]\n"
    )
    done = fumishirube("vault", "create", name, "x", "--trust", cwd=tmp_path)
    assert (done.code, "[forbidden]" in done.err) == (1, True), done.err
    assert not (tmp_path / "vault" / name).exists()


def test_what_is_there_stays_readable_and_what_is_plain_stays_editable(
    server: Fumishirube, workspace: Path
) -> None:
    before = everything(workspace / "vault")
    for path in (".obsidian/a.md", "sub/.notes/a.md", ".hidden.md"):
        assert server.ok("vault_read", path=path, full=True)["text"] == "old\n"
        error = server.refused("vault_replace", path=path, find="old", replace="new")
        assert (error["code"], error["details"]) == ("forbidden", {"path": path})
    assert everything(workspace / "vault") == before
    path = "pl\u200ban.md"
    assert server.ok("vault_replace", path=path, find="old", replace="new")["replacements"] == 1
    assert server.refused("vault_create", path=path, content="x")["code"] == "conflict"


def test_no_call_makes_git_run_a_command(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "manuals").mkdir()
    git = ("git", "-C", str(vault))
    subprocess.run((*git, "init", "-q"), check=True)
    hook = f"[core]\n\tfsmonitor = touch {tmp_path}/ran; false\n"
    with Fumishirube(tmp_path) as server:
        for name in (
            ".git",
            ".GIT",
            "．git",
            ".g\u200cit",
            "\u200d.git",
            "GIT~1",
            "git~1",
            ".git ",
            "./ .git",
            ".\\\u3000.git",
            ".git\u2028",
        ):
            arguments = {"path": f"{name}/config", "find": "[core]\n", "replace": hook}
            assert server.refused("vault_replace", **arguments)["code"] in (
                "forbidden",
                "invalid_path",
                "not_found",
            )
            server.refused("vault_create", path=f"{name}/hooks/pre-commit", content=hook)
    subprocess.run((*git, "status"), check=True, capture_output=True)
    assert not (tmp_path / "ran").exists()


def test_taking_back_opens_no_name_either(application: Application) -> None:
    """A journal lies in the vault: it may have come with a clone, and say what it likes."""
    vault = application.loaded.folder("vault")
    ask(application, "vault_create", path="innocent.md", content="x")
    (entry,) = (
        path
        for path in (vault / ".system/journal").glob("*.done")
        if b"innocent.md" in path.read_bytes()
    )
    (vault / ".git").mkdir(exist_ok=True)
    (vault / ".git/config").write_text("x")
    original = entry.read_bytes()
    entry.write_bytes(original.replace(b"innocent.md", b".git/config"))
    with pytest.raises(Forbidden):
        call_tool(application.commands["vault_undo"], {"path": ".git/config"}, Call())
    assert (vault / ".git/config").read_text() == "x"
    identity = entry.name.split("-")[1]
    for path in (b" .git/config", b".git/config ", b"./.git/config", b".git\\\\config", b"/a", b""):
        entry.write_bytes(original.replace(b"innocent.md", path))
        with pytest.raises(NotFound):
            call_tool(application.commands["vault_undo"], {"id": identity}, Call())
        assert (vault / ".git/config").read_text() == "x"


def test_recovery_opens_no_name_either(application: Application) -> None:
    vault = application.loaded.folder("vault")
    ask(application, "vault_create", path="begun.md", content="x")
    (entry,) = (
        path
        for path in (vault / ".system/journal").glob("*.done")
        if b"begun.md" in path.read_bytes()
    )
    (vault / ".git").mkdir(exist_ok=True)
    begun = vault / ".git" / f"._fumishirube-{entry.name.split('-')[1]}"
    for file in (begun, vault / ".git/empty"):
        file.write_bytes(b"")
    entry.write_bytes(entry.read_bytes().replace(b"begun.md", b".git/empty"))
    entry.rename(entry.with_suffix(".intent"))
    call_tool(application.commands["vault_history"], {}, Call())
    assert (vault / ".git/empty").exists()
    assert begun.exists()


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6711, 0o1700, 0o640, 0o755])
def test_a_changed_note_runs_with_nobody_elses_rights(application: Application, mode: int) -> None:
    file = application.loaded.folder("vault") / "script.md"
    file.write_text("old")
    file.chmod(mode)
    ask(application, "vault_replace", path="script.md", find="old", replace="new")
    assert stat.S_IMODE(file.stat().st_mode) == mode & 0o777


def test_a_new_note_is_no_program(application: Application) -> None:
    ask(application, "vault_create", path="run.sh", content="#!/bin/sh\n")
    file = application.loaded.folder("vault") / "run.sh"
    assert not file.stat().st_mode & 0o7111


@pytest.mark.slow
def test_some_names_may_be_opened_and_others_never(tmp_path: Path) -> None:
    (tmp_path / "manuals").mkdir()
    config = tmp_path / "fumishirube.yaml"
    config.write_text("surfaces: [{use: vault, with: {allow_hidden: [.notes]}}]\n")
    create = ("--trust", "vault", "create")
    made = fumishirube(*create, ".notes/a.md", "x", cwd=tmp_path)
    assert made.code == 0, made.err
    assert fumishirube(*create, ".other/a.md", "x", cwd=tmp_path).code != 0
    assert fumishirube(*create, ".notes/.git/config", "x", cwd=tmp_path).code != 0
    for name in (".git", ".SSH", ".gitconfig", "plain", "．git", ".a/b"):
        config.write_text(f"surfaces: [{{use: vault, with: {{allow_hidden: ['{name}']}}}}]\n")
        refused = fumishirube("vault", "ls", cwd=tmp_path)
        assert refused.code != 0
        assert "allow_hidden" in refused.err


def test_refusals_are_the_projects_own(application: Application) -> None:
    for name in (".", "..", "./.git/x", "a/./.x", "./ .git/x"):
        with pytest.raises(ToolError):
            ask(application, "vault_create", path=name, content="x")
    with pytest.raises(Conflict):
        ask(application, "vault_create", path="run.sh", content="x")
