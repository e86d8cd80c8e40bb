"""`fumishirube vault`: notes for people, and every write taken back."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from manuals import Done, ask, fumishirube, opened
from stdio import Fumishirube
from warm_start import warm_script

from fumishirube import Conflict
from fumishirube.host.application import Application


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "manuals").mkdir()
    return tmp_path


def vault(workspace: Path, *words: str, stdin: str = "") -> Done:
    return fumishirube("vault", *words, cwd=workspace, stdin=stdin)


def text(workspace: Path, name: str) -> str | None:
    file = workspace / "vault" / name
    return file.read_text(encoding="utf-8") if file.exists() else None


@pytest.fixture
def written(workspace: Path) -> Iterator[Path]:
    """A workspace with two notes, one of them changed since it was made."""
    assert vault(workspace, "create", "plan.md", "# 計画\n下書き\n").code == 0
    assert vault(workspace, "create", "sub/log.md", stdin="from a pipe\n").code == 0
    assert vault(workspace, "replace", "plan.md", "下書き", "決定").code == 0
    yield workspace
    assert not list((workspace / "vault").rglob("*.intent"))


def test_notes_are_listed_and_read(written: Path) -> None:
    assert vault(written).out == "sub/\nplan.md\n"
    listed = vault(written, "ls", "--json").json["items"]
    assert [item["path"] for item in listed] == [".system", "sub", "plan.md"]
    assert vault(written, "ls", "sub").out == "sub/log.md\n"
    assert vault(written, "read", "plan.md").out == "# 計画\n決定\n"
    assert vault(written, "read", "plan.md", "--line", "2").out == "決定\n"
    assert vault(written, "read", "sub/log.md", "--json").json["text"] == "from a pipe\n"


@pytest.mark.parametrize("words", [("read", "absent.md"), ("replace", "absent.md", "a", "b")])
def test_a_missing_note_is_told_with_a_command_and_no_tool(
    written: Path, words: tuple[str, ...]
) -> None:
    done = vault(written, *words)
    assert (done.code, done.out) == (1, "")
    told = ["error: there is no such note [not_found]", "notes: fumishirube vault ls"]
    assert done.err.splitlines() == told
    assert vault(written, *words, "--json").json["code"] == "not_found"


def test_the_page_of_notes_begins_with_what_works_in_an_empty_vault(workspace: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "notes.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    commands = [shlex.split(line)[2:] for line in lines if line.startswith("fumishirube vault ")]
    assert len(commands) == 4
    for words in commands:
        assert vault(workspace, *words).code == 0, words


def test_a_long_note_says_how_to_go_on(workspace: Path) -> None:
    (workspace / "vault").mkdir()
    (workspace / "vault" / "long.md").write_text("x" * 12_000 + "end")
    first = vault(workspace, "read", "long.md", "--cursor", "0")
    assert "fumishirube vault read long.md --cursor 12000" in first.err
    assert first.out == "x" * 12_000
    assert vault(workspace, "read", "long.md", "--cursor", "12000").out == "end\n"


def test_a_long_note_is_whole_in_a_file_and_in_pages_on_a_terminal(workspace: Path) -> None:
    long = "".join(f"{number} {'x' * 700}\n" for number in range(100))
    (workspace / "vault").mkdir()
    (workspace / "vault" / "long.md").write_text(long)
    done = vault(workspace, "read", "long.md")
    assert (done.out, done.err) == (long, "")
    after = long.index("\n50 ") + 1
    assert vault(workspace, "read", "long.md", "--line", "51").out == long[after:]
    assert len(vault(workspace, "read", "long.md", "--json").json["text"]) == 12_000
    if sys.platform != "win32":
        shown = on_terminal(workspace, "vault", "read", "long.md").replace("\r\n", "\n")
        assert shown.startswith(long[:12_000] + "\n")
        assert "--cursor 12000" in shown
        assert "\n50 " not in shown


def on_terminal(workspace: Path, *words: str) -> str:
    """Return what a command prints to a terminal."""
    pty = pytest.importorskip("pty")
    output = bytearray()

    def kept(handle: int) -> bytes:
        output.extend(data := os.read(handle, 65_536))
        return data

    here = Path.cwd()
    os.chdir(workspace)
    try:
        pty.spawn([str(warm_script()), *words], kept, lambda _: b"")
    finally:
        os.chdir(here)
    return output.decode()


@pytest.mark.parametrize("name", ["create", "append"])
@pytest.mark.parametrize("encoding", ["cp932", "utf-16", "euc_jp", "utf-8-sig"])
def test_a_text_from_a_pipe_may_have_any_encoding_of_notes(
    written: Path, name: str, encoding: str
) -> None:
    new = "日本語の覚え書き\n"
    path = "plan.md" if name == "append" else "new.md"
    before = text(written, path) or ""
    assert piped(written, name, path, new.encode(encoding)).returncode == 0
    assert text(written, path) == before + new


@pytest.mark.parametrize("data", [b"\x81\xff\xfe\x80 \xff\xff", "日本語".encode()[:-1]])
def test_a_text_from_a_pipe_that_cannot_be_read_is_refused(written: Path, data: bytes) -> None:
    done = piped(written, "create", "new.md", data)
    assert (done.returncode, b"error: the " in done.stderr) == (1, True)
    assert text(written, "new.md") is None


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are no bytes there")
def test_an_argument_in_another_encoding_is_refused(workspace: Path) -> None:
    done = vault(workspace, "create", "new.md", os.fsdecode("日本語".encode("cp932")))
    assert (done.code, "an argument is not UTF-8: " in done.err) == (2, True)
    assert text(workspace, "new.md") is None


def piped(workspace: Path, name: str, path: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
    words = [str(warm_script()), "vault", name, path]
    return subprocess.run(words, cwd=workspace, input=data, capture_output=True, check=False)


def test_a_dry_run_prints_the_difference_and_writes_nothing(written: Path) -> None:
    done = vault(written, "replace", "plan.md", "決定", "廃案", "--dry-run")
    assert done.out.splitlines()[2:] == ["@@ -1,2 +1,2 @@", " # 計画", "-決定", "+廃案"]
    assert text(written, "plan.md") == "# 計画\n決定\n"
    assert vault(written, "replace", "plan.md", "no", "x", "--dry-run").out == (
        "plan.md: 0 replacements\n"
    )


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--json",)])
def test_a_text_that_the_note_lacks_is_not_found(written: Path, more: tuple[str, ...]) -> None:
    assert vault(written, "replace", "plan.md", "no", "x", *more).code == 1
    assert vault(written, "replace", "plan.md", "決定", "x", "--max", "0", *more).code == 0
    assert text(written, "plan.md") == "# 計画\n決定\n"
    assert vault(written, "replace", "plan.md", "決定", "x", *more).code == 0


def test_a_note_that_ends_within_a_character_keeps_its_bytes(workspace: Path) -> None:
    (workspace / "vault").mkdir()
    note = workspace / "vault" / "cut.md"
    note.write_bytes("決定と下書".encode()[:-1])
    assert vault(workspace, "read", "cut.md").out == "決定と下�\n"
    assert vault(workspace, "replace", "cut.md", "決定", "廃案").code == 0
    assert note.read_bytes() == "廃案と下書".encode()[:-1]
    assert vault(workspace, "replace", "cut.md", "�", "書").code == 0
    assert note.read_bytes() == "廃案と下書".encode()


@pytest.mark.slow
def test_the_last_write_is_taken_back_and_done_again(written: Path) -> None:
    assert vault(written, "undo").code == 0
    assert text(written, "plan.md") == "# 計画\n下書き\n"
    assert vault(written, "redo").code == 0
    assert text(written, "plan.md") == "# 計画\n決定\n"
    for _ in range(3):
        assert vault(written, "undo").code == 0
    assert (text(written, "plan.md"), text(written, "sub/log.md")) == (None, None)
    done = vault(written, "undo")
    assert (done.code, done.err) == (1, "error: there is no write to take back [not_found]\n")
    for _ in range(3):
        assert vault(written, "redo").code == 0
    assert text(written, "plan.md") == "# 計画\n決定\n"
    assert text(written, "sub/log.md") == "from a pipe\n"
    assert vault(written, "redo").code == 1


def test_a_write_that_is_done_again_is_the_last_one(workspace: Path) -> None:
    vault(workspace, "create", "a.md", "one")
    vault(workspace, "undo")
    vault(workspace, "create", "b.md", "two")
    assert vault(workspace, "redo").code == 0
    assert vault(workspace, "undo").code == 0
    assert (text(workspace, "a.md"), text(workspace, "b.md")) == (None, "two")
    assert vault(workspace, "undo").code == 0
    assert vault(workspace, "redo").code == 0
    assert (text(workspace, "a.md"), text(workspace, "b.md")) == (None, "two")


def test_one_write_is_chosen_by_its_note_or_its_id(written: Path) -> None:
    assert vault(written, "undo", "--path", "sub/log.md").code == 0
    assert text(written, "sub/log.md") is None
    items = vault(written, "log", "--json").json["items"]
    assert [item["action"] for item in items] == ["undo", "replace", "create", "create"]
    assert [item["undone"] for item in items] == [False, False, True, False]
    created = items[-1]["id"]
    assert "conflict" in vault(written, "undo", created).err
    assert "conflict" in vault(written, "redo", created).err
    assert vault(written, "undo", items[1]["id"]).code == 0
    assert vault(written, "undo", created).code == 0
    assert text(written, "plan.md") is None


def test_a_note_that_somebody_else_changed_is_left_alone(written: Path) -> None:
    (written / "vault" / "plan.md").write_text("theirs")
    done = vault(written, "undo")
    told = "error: 'plan.md' was changed since; name another note or write [conflict]\n"
    assert (done.code, done.err) == (1, told)
    assert text(written, "plan.md") == "theirs"


def test_a_note_that_somebody_else_deleted_is_named_and_not_made_again(written: Path) -> None:
    (written / "vault" / "plan.md").unlink()
    assert vault(written, "undo").err == (
        "error: 'plan.md' was deleted since; name another note or write [conflict]\n"
    )
    assert text(written, "plan.md") is None
    assert vault(written, "undo", "--path", "sub/log.md").code == 0


def test_a_write_is_shown(written: Path) -> None:
    items = vault(written, "log", "--json").json["items"]
    shown = vault(written, "show", items[0]["id"]).out
    assert "replace  plan.md" in shown
    assert shown.endswith("-下書き\n+決定\n")
    first = vault(written, "show", items[-1]["id"]).out
    assert first.endswith("--- /dev/null\n+++ plan.md\n@@ -0,0 +1,2 @@\n+# 計画\n+下書き\n")
    (written / "vault" / "plan.md").write_text("theirs")
    assert vault(written, "show", items[0]["id"], "--json").json["diff"] is None
    assert vault(written, "show", "nothing").code == 1


def test_an_expected_hash_guards_a_note(written: Path) -> None:
    done = vault(written, "replace", "plan.md", "決定", "x", "--expect", "000000000000")
    assert (done.code, "[conflict]" in done.err) == (1, True)


# --- what is remembered, and what a crash left ------------------------------------------------


def configured(workspace: Path, settings: str) -> Path:
    (workspace / "fumishirube.yaml").write_text(
        f"surfaces: [{{use: manual}}, {{use: vault, with: {{{settings}}}}}]\n"
    )
    return workspace


def entries(workspace: Path) -> list[Path]:
    return sorted((workspace / "vault/.system/journal").glob("*.done"))


def rewritten(workspace: Path, times: int, size: int) -> Application:
    """Write a note, and change it so often."""
    application = opened(workspace)
    ask(application, "vault_create", path="n.md", content="<0>" + "x" * size)
    for number in range(times):
        given = {"find": f"<{number}>", "replace": f"<{number + 1}>"}
        ask(application, "vault_replace", path="n.md", **given)
    return application


def test_so_many_writes_are_remembered(workspace: Path) -> None:
    rewritten(configured(workspace, "journal_writes: 5"), 8, 1)
    assert len(entries(workspace)) == 5


def test_so_many_bytes_are_remembered_but_the_last_write_always(workspace: Path) -> None:
    rewritten(configured(workspace, "journal_bytes: 10000"), 4, 4000)
    assert len(entries(workspace)) == 2
    (workspace / "vault" / "n.md").unlink()
    rewritten(configured(workspace, "journal_bytes: 1"), 1, 4000)
    assert len(entries(workspace)) == 1
    assert vault(workspace, "undo").code == 0


def test_what_is_not_read_is_not_written_and_what_is_written_is_taken_back(
    workspace: Path,
) -> None:
    (workspace / "fumishirube.yaml").write_text("limits: {file_bytes: 10000}\n")
    refused = vault(workspace, "create", "large.md", "x" * 10_001)
    assert (refused.code, "at most 10000" in refused.err) == (1, True)
    assert vault(workspace, "create", "full.md", "x" * 10_000).code == 0
    assert vault(workspace, "replace", "full.md", "x", "y").code == 0
    assert vault(workspace, "log", "--json").json["total"] == 2
    assert vault(workspace, "undo").code == 0
    assert text(workspace, "full.md") == "x" * 10_000


def test_so_many_days_are_remembered(written: Path) -> None:
    for entry in entries(written)[:2]:
        stamp, rest = entry.name.split("-", 1)
        entry.rename(entry.with_name(f"{int(stamp) - 91 * 86_400 * 10**9:020d}-{rest}"))
    assert len(entries(written)) == 3
    assert vault(written, "undo").code == 0
    assert [item["action"] for item in vault(written, "log", "--json").json["items"]] == [
        "undo",
        "replace",
    ]


def test_an_entry_that_cannot_be_deleted_does_not_fail_a_write(workspace: Path) -> None:
    application = rewritten(configured(workspace, "journal_writes: 2"), 1, 1)
    first = entries(workspace)[0]
    first.unlink()
    first.mkdir()
    for number in range(2):
        ask(application, "vault_create", path=f"{number}.md", content="x")
    assert (len(entries(workspace)), first.exists()) == (3, True)


def test_a_write_has_the_time_of_its_clock_after_one_that_was_ahead(workspace: Path) -> None:
    application = rewritten(configured(workspace, "history: true"), 0, 1)
    (entry,) = entries(workspace)
    stamp, rest = entry.name.split("-", 1)
    entry.rename(entry.with_name(f"{int(stamp) + 3650 * 86_400 * 10**9:020d}-{rest}"))
    ask(application, "vault_create", path="later.md", content="x")
    last = ask(application, "vault_history")["items"][0]
    assert last["path"] == "later.md"
    assert abs(datetime.fromisoformat(last["time"]).timestamp() - time.time()) < 86_400


@pytest.mark.parametrize("header", [False, True])
def test_a_damaged_entry_is_not_restored(workspace: Path, *, header: bool) -> None:
    application = rewritten(configured(workspace, "history: true"), 1, 1)
    entry = entries(workspace)[-1]
    data = entry.read_bytes().replace(b"<0>", b"<1>" if header else b"<9>")
    if header:  # a write that changes nothing
        after = json.loads(data.split(b"\n")[0])["after"]
        data = re.sub(rb'"before": "[^"]+"', f'"before": "{after}"'.encode(), data)
    entry.write_bytes(data)
    assert ask(application, "vault_history")["total"] == 1
    with pytest.raises(Conflict):
        ask(application, "vault_undo")
    assert text(workspace, "n.md") == "<1>x"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_the_log_is_read_where_an_unfinished_write_cannot_be_settled(workspace: Path) -> None:
    """As on a read-only disk: nothing can be locked."""
    application = rewritten(configured(workspace, "history: true"), 1, 1)
    last = entries(workspace)[-1]
    last.rename(last.with_suffix(".intent"))
    locks = workspace / "vault/.system/journal/locks"
    locks.rename(workspace / "elsewhere")
    locks.symlink_to(workspace / "elsewhere", target_is_directory=True)
    assert ask(application, "vault_history")["total"] == 1


def test_damaged_entries_are_passed_over(written: Path) -> None:
    journal = written / "vault/.system/journal"
    entries(written)[0].write_bytes(b"{}")
    for name in ("x.done", "1-a-zz.done", "1-b-01.done", "notes.txt"):
        (journal / name).write_bytes(b"\xff")
    assert vault(written, "log", "--json").json["total"] == 2
    assert vault(written, "undo").code == 0


@pytest.mark.parametrize("time", [b"1e300", b"NaN", b"Infinity", b"-1e18", b"253402300800"])
def test_an_entry_without_a_date_is_passed_over(written: Path, time: bytes) -> None:
    entry = entries(written)[0]
    entry.write_bytes(re.sub(rb'"time": [0-9.]+', b'"time": ' + time, entry.read_bytes()))
    assert vault(written, "log", "--json").json["total"] == 2
    assert vault(written, "undo").code == 0


@pytest.mark.parametrize("stamp", [10**19, 10**20 - 1])
def test_an_entry_of_the_far_future_leaves_later_writes_in_order(written: Path, stamp: int) -> None:
    entry = entries(written)[0]
    entry.rename(entry.with_name(f"{stamp:020d}-{entry.name.split('-', 1)[1]}"))
    assert vault(written, "create", "later.md", "x").code == 0
    assert vault(written, "log", "--json").json["items"][0]["path"] == "later.md"
    assert vault(written, "undo").code == 0
    assert text(written, "later.md") is None


def test_a_server_settles_at_its_start_what_a_crash_left(written: Path) -> None:
    """Torn, begun and finished: the three states in which a killed writer leaves an intent."""
    done = entries(written)
    intents = [entry.rename(entry.with_suffix(".intent")) for entry in done]
    intents[1].write_bytes(intents[1].read_bytes()[:20])
    part = written / "vault" / f"._fumishirube-{intents[2].name.split('-')[1]}"
    part.write_bytes(b"half")
    with Fumishirube(written) as connected:
        assert connected.ok("vault_ls", path="sub")["items"]
        assert not part.exists()
        assert not list((written / "vault").rglob("*.intent"))
    # The first is no longer what the note holds, and stays for what it knows; the torn one goes.
    assert len(entries(written)) == 2
    assert vault(written, "undo").code == 0
    assert text(written, "plan.md") == "# 計画\n下書き\n"


def test_a_damaged_intent_leaves_no_unfinished_file(workspace: Path) -> None:
    application = rewritten(configured(workspace, "history: true"), 1, 1)
    last = entries(workspace)[-1]
    intent = last.rename(last.with_suffix(".intent"))
    intent.write_bytes(intent.read_bytes().replace(b"<0>", b"<9>"))
    (workspace / "vault" / f"._fumishirube-{intent.name.split('-')[1]}").write_bytes(b"half")
    assert ask(application, "vault_history")["total"] == 1
    assert sorted(file.name for file in (workspace / "vault").iterdir()) == [".system", "n.md"]
    assert not intent.exists()


def test_the_next_write_settles_what_a_crash_left(written: Path) -> None:
    last = entries(written)[-1]
    (written / "vault" / "plan.md").write_text("# 計画\n下書き\n", encoding="utf-8")
    intent = last.rename(last.with_suffix(".intent"))
    assert vault(written, "replace", "plan.md", "下書き", "新案").code == 0
    assert not intent.exists()
    assert len(entries(written)) == 3


@pytest.mark.parametrize("taken", [True, False])
def test_a_note_goes_only_if_a_killed_writer_took_the_name_with_it(
    workspace: Path, *, taken: bool
) -> None:
    """Where there are no hard links, a file takes the name first; an empty one is a person's."""
    application = rewritten(configured(workspace, "history: true"), 0, 1)
    (created,) = entries(workspace)
    intent = created.rename(created.with_suffix(".intent"))
    part = workspace / "vault" / f"._fumishirube-{created.name.split('-')[1]}"
    part.write_bytes(b"whole")
    (workspace / "vault" / "n.md").write_text(part.name if taken else "")
    ask(application, "vault_history")
    left = [] if taken else ["n.md"]
    assert sorted(file.name for file in part.parent.iterdir()) == [".system", *left]
    assert not intent.exists()


def test_a_note_that_another_program_begins_meanwhile_is_left_alone(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = opened(workspace)
    note = workspace / "vault" / "plan.md"
    real = os.link

    def link(*names: Any, **folders: int) -> None:
        note.touch()
        real(*names, **folders)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(Conflict):
        ask(application, "vault_create", path="plan.md", content="x")
    assert note.read_bytes() == b""


def test_a_server_starts_although_the_journal_cannot_be_looked_at(written: Path) -> None:
    journal = written / "vault/.system/journal"
    journal.rename(written / "elsewhere")
    journal.symlink_to(written / "elsewhere", target_is_directory=True)
    with Fumishirube(written) as connected:
        assert connected.ok("vault_read", path="plan.md", full=True)["text"]
        given = {"path": "plan.md", "find": "決定", "replace": "x"}
        assert connected.refused("vault_replace", **given)["code"] == "forbidden"
        for same in ({"find": "lacking"}, {"replace": "決定"}, {"max_replacements": 0}):
            answer = connected.ok("vault_replace", **{**given, **same})
            assert answer["written_path"] == "plan.md"
    assert text(written, "plan.md") == "# 計画\n決定\n"


FULL = """
import resource, sys
from fumishirube.faces.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the limit is POSIX's")
@pytest.mark.parametrize(
    "words",
    [
        ("create", "new.md", "x" * 5000),
        ("create", "new/deep/new.md", "x" * 5000),
        ("create", "sub/deep/new.md", "x" * 5000),
        ("replace", "plan.md", "決定", "x" * 5000),
    ],
    ids=["create", "create-folders", "create-folder", "replace"],
)
def test_a_full_disk_changes_nothing(written: Path, words: tuple[str, ...]) -> None:
    before = sorted((written / "vault").rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", FULL, "vault", *words],
        cwd=written,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "error: the disk is full; make room and try again [forbidden]\n"
    there = [path for path in sorted((written / "vault").rglob("*")) if path.suffix != ".lock"]
    assert there == [path for path in before if path.suffix != ".lock"]
    assert text(written, "plan.md") == "# 計画\n決定\n"
    assert vault(written, "undo").code == 0
    assert text(written, "plan.md") == "# 計画\n下書き\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write all")
def test_what_the_system_forbids_is_forbidden(written: Path) -> None:
    (written / "vault/plan.md").chmod(0o400)
    assert "[forbidden]" in vault(written, "replace", "plan.md", "決定", "x").err
    (written / "vault/sub").chmod(0o500)
    assert "[forbidden]" in vault(written, "create", "sub/new.md", "x").err
    (written / "vault/sub").chmod(0o700)
    assert text(written, "plan.md") == "# 計画\n決定\n"


# --- the extra tools -------------------------------------------------------------------------


def test_the_history_is_offered_only_if_asked_for(written: Path) -> None:
    with Fumishirube(written) as connected:
        assert not {"vault_history", "vault_undo"} & set(connected.tools())
    with Fumishirube(configured(written, "history: true")) as connected:
        assert list(connected.tools())[-2:] == ["vault_history", "vault_undo"]
        assert "vault_redo" not in connected.tools()
        history = connected.ok("vault_history", path="plan.md")
        assert [item["action"] for item in history["items"]] == ["replace", "create"]
        undone = connected.ok("vault_undo")
        assert (undone["path"], undone["of"]) == ("plan.md", history["items"][0]["id"])
        assert connected.ok("vault_read", path="plan.md", full=True)["text"] == "# 計画\n下書き\n"
        assert connected.refused("vault_undo", id="nothing")["code"] == "not_found"
        assert connected.refused("vault_undo", id="")["code"] == "invalid_parameter"
        assert connected.refused("vault_history", limit=0)["code"] == "invalid_parameter"
    assert fumishirube("doctor", cwd=written).code == 0
