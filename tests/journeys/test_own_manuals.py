"""Folders of documents where they are: searched with ``--in``, or added once for good."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from http_server import Serving
from manuals import Done, fumishirube, stranger, write
from stdio import Fumishirube
from warm_start import warm_script

PLAIN_INDEX = '''
from fumishirube import Index, Stage, hook
from fumishirube_stages.indexes.tantivy import Tantivy, TantivyIndex


class PlainIndex(TantivyIndex):
    rebuilding = None


class Plain(Tantivy):
    """The built-in index, without the ability to make another one beside itself."""

    def open(self, folder, fields):
        return PlainIndex(self, folder, fields)


@hook
def register_indexes(register):
    register("plain", Plain)
'''

TEXT = "# Pump\n\nThe pump needs oil each spring.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one folder of documents, and an empty folder to work in."""
    (tmp_path / "documents" / "specs").mkdir(parents=True)
    (tmp_path / "documents" / "specs" / "pump.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    return tmp_path


def environ(home: Path, **more: str) -> Mapping[str, str]:
    named = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "APPDATA")
    return {**dict.fromkeys(named, ""), "HOME": str(home), **more}


def run(home: Path, *words: str, cwd: str = "empty", **more: str) -> Done:
    return fumishirube(*words, cwd=home / cwd, environ=environ(home, **more))


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_is_searched_where_it_is_and_nothing_is_written_into_it(home: Path) -> None:
    before = listing(home / "documents")
    done = run(
        home, "find", "when", "does", "the", "pump", "need", "oil", "--in", "../documents/specs"
    )
    assert (done.code, done.err) == (0, "")
    assert "manual://specs/pump.md#L1-L3@" in done.out
    following = shlex.split(done.out.splitlines()[-1].removeprefix("next: fumishirube "))
    read = run(home, *following)
    assert "oil each spring" in read.out
    notes = run(home, "find", "oil", "-v", "--in", "../documents/specs").out.splitlines()
    account = next(line for line in notes if line.startswith("account: "))
    assert run(home, *shlex.split(account)[2:]).code == 0
    assert listing(home / "documents") == before
    assert listing(home / "empty") == []


def test_several_folders_are_searched_together(home: Path) -> None:
    (home / "documents" / "notes").mkdir()
    (home / "documents" / "notes" / "a.md").write_text("# Oil\n\nOil is in the shed.\n")
    done = run(
        home, "find", "oil", "--json", "--in", "../documents/specs", "--in", "../documents/notes"
    )
    assert done.json["manuals"] == ["notes", "specs"]


def test_folders_before_a_command_are_searched_with_those_after_it(home: Path) -> None:
    (home / "documents" / "notes").mkdir()
    before, after = ("--in", "../documents/specs"), ("--in", "../documents/notes")
    assert run(home, *before, "ls", *after).out == "notes/\nspecs/\n"
    for gone in (["--in", "../gone", "config", *before], [*before, "config", "--in", "../gone"]):
        done = run(home, *gone, "show", *after)
        assert (done.code, "there is no folder 'gone'" in done.err) == (2, True), done.err


def test_folders_that_several_processes_add_at_once_are_all_added(home: Path) -> None:
    names = [f"m{number}" for number in range(8)]
    with ThreadPoolExecutor(len(names)) as pool:
        done = [*pool.map(lambda name: run(home, "add", name, "../documents/specs"), names)]
    assert [each.code for each in done] == [0] * len(names)
    assert sorted(run(home, "add", "--json").json) == names


@pytest.mark.parametrize("text", ["[" * 100_000, '{"manuals": 5}', "{", "[]"])
def test_a_damaged_list_of_added_folders_is_named(home: Path, text: str) -> None:
    run(home, "add", "specs", "../documents/specs")
    (home / ".config/fumishirube/manuals.json").write_text(text)
    done = run(home, "add", "other", "../documents/specs")
    assert done.code == 2
    assert "manuals.json of your own configuration cannot be used" in done.err


def test_folders_that_cannot_be_searched_are_refused(home: Path) -> None:
    (home / "documents" / ".hidden").mkdir()
    (home / "other" / "specs").mkdir(parents=True)
    for words, why in (
        (["--in", "../nowhere"], "--in: there is no folder 'nowhere'"),
        (["--in", "../documents/.hidden"], "its name begins with a dot"),
        (["--in", "../documents/specs", "--workspace", "."], "--in: it goes without --workspace"),
        (
            ["--in", "../documents/specs", "--in", "../other/specs"],
            "two folders are called 'specs'",
        ),
    ):
        done = run(home, "find", "oil", *words)
        assert (done.code, why in done.err) == (2, True), done.err


def test_an_added_folder_is_a_manual_everywhere(home: Path) -> None:
    added = run(home, "add", "pumps", "../documents/specs")
    assert added.out.splitlines() == [
        f"pumps  {home}/documents/specs",
        "next: fumishirube find WORDS --manual pumps",
    ]
    found = run(home, "find", "pump", "oil")
    assert "manual://pumps/pump.md#L1" in found.out
    assert run(home, "ls").out == "pumps/\n"
    write(home / "work", {"own/a.md": "# Oil\n\nOil of our own.\n"})
    assert run(home, "ls", cwd="work").out == "own/\npumps/\n"
    assert {
        hit["ref"]["manual_id"]
        for hit in run(home, "find", "oil", "--json", cwd="work").json["hits"]
    } == {
        "own",
        "pumps",
    }
    assert not (home / "work" / ".fumishirube" / "index" / "pumps").exists()
    assert listing(home / "documents") == ["specs", "specs/pump.md"]
    assert run(home, "doctor").code == 0


def test_the_variable_for_the_folder_of_manuals_leaves_added_ones_out(home: Path) -> None:
    run(home, "add", "pumps", "../documents/specs")
    write(home / "work", {"own/a.md": "# Oil\n\nOil of our own.\n"})
    only = run(home, "ls", cwd="work", MANUALS_ROOT=str(home / "work" / "manuals"))
    assert only.out == "own/\n"
    assert run(home, "ls", MANUALS_ROOT=str(home / "work" / "manuals")).out == "own/\n"


def test_a_configuration_of_their_own_applies_in_folders_that_are_no_workspace(home: Path) -> None:
    own = home / ".config" / "fumishirube"
    own.mkdir(parents=True)
    (own / "fumishirube.yaml").write_text("limits: {depth: 7}\n", encoding="utf-8")
    shown = run(home, "config", "show").out
    assert "depth: 7  # fumishirube.yaml" in shown
    (own / "fumishirube.yaml").write_text(shown, encoding="utf-8")
    assert run(home, "vault", "create", "a.md", "text").code == 0
    assert not [*(home / "empty").iterdir()]
    (home / "work" / "manuals").mkdir(parents=True)
    assert "depth: 32  # default" in run(home, "config", "show", cwd="work").out


def test_an_added_folder_is_removed_again(home: Path) -> None:
    run(home, "add", "pumps", "../documents/specs")
    assert run(home, "add", "--json").json == {"pumps": f"{home}/documents/specs"}
    other = run(home, "add", "pumps", "../documents")
    assert (other.code, "remove it first" in other.err) == (2, True)
    assert "did you mean 'pumps'?" in run(home, "add", "pump", "--remove").err
    assert run(home, "add", "pumps", "--remove").out.startswith("no folders")
    assert run(home, "find", "oil").code == 2
    spaced = run(home, "add", "my pumps", "../documents/specs", "--in", ".").out
    assert spaced.endswith("next: fumishirube find WORDS --manual 'my pumps'\n")
    assert (home / "documents" / "specs" / "pump.md").read_text() == TEXT


def test_an_old_index_of_an_added_folder_is_named_and_can_be_removed(home: Path) -> None:
    run(home, "add", "pumps", "../documents/specs")
    assert run(home, "find", "oil").code == 0
    (kept,) = home.rglob("index/pumps-*/*")
    old = kept.with_name("0" * 8)
    shutil.copytree(kept, old)
    warned = [line for line in run(home, "doctor").out.splitlines() if line.startswith("warn")]
    assert len(warned) == 1, warned
    assert "manual pumps" in warned[0]
    assert "fumishirube index pumps --rebuild" in warned[0]
    assert run(home, "index", "pumps", "--rebuild").code == 0
    assert [*kept.parent.iterdir()] == [kept]
    assert "warn" not in run(home, "doctor").out


def test_an_index_that_cannot_be_rebuilt_while_it_answers_is_deleted_first(home: Path) -> None:
    plugin = {"PYTHONPATH": stranger(home, PLAIN_INDEX)}
    configured = "pipelines: {manual: {index: {use: plain}}}\n"
    (home / "empty" / "fumishirube.yaml").write_text(configured)
    write(home / "empty", {"own/a.md": TEXT})
    run(home, "add", "pumps", "../documents/specs")
    for manual in ("own", "pumps"):
        assert run(home, "index", manual, **plugin).out == f"{manual}  1 section in 1 file\n"
        (kept,) = home.rglob(f"index/{manual}*/*")
        (kept / "mark").write_text("of the first index")
        again = run(home, "index", manual, "--rebuild", **plugin)
        assert again.out.startswith(f"{manual}  1 section in 1 file"), again.err
        assert not (kept / "mark").exists(), manual
        assert kept.is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_are_not_followed_in_an_added_folder_either(home: Path) -> None:
    (home / "secret.md").write_text("# Secret\n\nOil price.\n")
    (home / "documents" / "specs" / "link.md").symlink_to(home / "secret.md")
    run(home, "add", "pumps", "../documents/specs")
    assert "secret" not in run(home, "find", "price").out.lower().replace("secret.md", "")
    (home / "documents" / "specs").rename(home / "moved")
    (home / "documents" / "specs").symlink_to(home / "moved")
    listed = run(home, "ls")
    assert listed.out == "nothing here\n"
    gone = "manual pumps: its folder 'specs' does not exist, or is a symbolic link"
    assert listed.err.startswith(f"warning: {gone}, so it is not searched; bring it back")
    assert gone in run(home, "doctor").out


def test_a_manual_of_the_workspace_comes_before_an_added_one(home: Path) -> None:
    run(home, "add", "pumps", "../documents/specs")
    write(home / "work", {"pumps/a.md": "# Bicycle\n\nAir, not oil.\n"})
    assert "Bicycle" in run(home, "find", "oil", cwd="work").out
    assert "a folder of the workspace has its name" in run(home, "doctor", cwd="work").out


def test_a_damaged_file_of_added_folders_is_named(home: Path) -> None:
    run(home, "add", "pumps", "../documents/specs")
    (home / ".config" / "fumishirube" / "manuals.json").write_text("{")
    done = run(home, "ls")
    assert (done.code, "manuals.json" in done.err) == (2, True)


@pytest.mark.slow
def test_one_server_serves_all_added_folders_and_sees_new_ones(home: Path) -> None:
    run(home, "add", "pumps", "../documents/specs")
    (home / "documents" / "notes").mkdir()
    (home / "documents" / "notes" / "a.md").write_text("# Oil\n\nOil is in the shed.\n")
    shown = run(home, "init", "--client", "claude-code", "--project", ".", "--write")
    assert shown.code == 0, shown.err
    entry = json.loads((home / "empty" / ".mcp.json").read_text())["mcpServers"]["fumishirube"]
    started = [warm_script(), *entry["args"]]
    with Fumishirube(
        home / "empty",
        started=started,
        **{**os.environ, **environ(home, FUMISHIRUBE_SURFACE_EXTRAS="grep")},
    ) as server:
        assert [item["name"] for item in server.ok("manual_ls", id="manuals")["items"]] == ["pumps"]
        found = server.ok("manual_grep", any=["oil"], manual_id="pumps")
        assert found["groups"][0]["path"] == "pump.md"
        run(home, "add", "notes", "../documents/notes")
        deadline = time.monotonic() + 20
        while len(server.ok("manual_ls", id="manuals")["items"]) < 2:
            assert time.monotonic() < deadline, "the new folder was never served"
            time.sleep(0.1)
        noted = server.ok("vault_create", path="a.md", content="oiled\n")
        assert noted
    assert listing(home / "documents") == ["notes", "notes/a.md", "specs", "specs/pump.md"]


def test_a_client_may_be_given_a_folder_where_it_is(home: Path) -> None:
    words = ("init", "--client", "claude-code", "--project", ".", "--in", "../documents/specs")
    assert f'"--in",\n+        "{home}/documents/specs"' in run(home, *words).out


@pytest.mark.skipif(sys.platform == "win32", reason="the READMEs show a POSIX shell")
@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_the_readme_searches_a_folder_and_adds_it(home: Path, name: str) -> None:
    japanese = "# ポンプ\n\n毎年春に、ポンプに油を差します。\n"
    (home / "documents" / "specs" / "ja.md").write_text(japanese, encoding="utf-8")
    (home / "documents").rename(home / "Documents")
    readme = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    block = readme.partition("<!-- any-folder -->")[2].partition("```sh\n")[2].partition("```")[0]
    path = f"{Path(warm_script()).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", block],
        cwd=home / "empty",
        env={**os.environ, **environ(home), "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert f"specs  {home}/Documents/specs\n" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_all_that_is_written_outside_a_workspace_is_named_where_the_readme_ends(
    home: Path, name: str
) -> None:
    before = listing(home)
    assert run(home, "find", "oil", "--in", "../documents/specs").code == 0
    assert run(home, "add", "specs", "../documents/specs").code == 0
    assert run(home, "find", "oil").code == 0
    assert run(home, "vault", "create", "a.md", "A note.").code == 0
    with Serving(
        ("serve", "--http", "127.0.0.1:0"), home / "log", home / "empty", **environ(home)
    ) as server:
        assert server.client.post("/tools/manual_ls", json={"id": "manuals"}).status_code == 200
    (home / "log").unlink()
    made = [path for path in listing(home) if path not in before]
    written = {path.partition("/fumishirube")[0] for path in made if "/fumishirube" in path}
    assert written == {".config", ".cache", ".local/share", ".local/state"}
    assert all("/fumishirube" in path or path in (*written, ".local") for path in made)
    readme = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    assert all(f"`~/{folder}`" in readme for folder in written)


def test_the_notes_of_a_vault_are_searched_when_it_is_added_as_a_manual(home: Path) -> None:
    (home / "work" / "manuals").mkdir(parents=True)
    words = ("vault", "create", "pumps.md", "# Pumps\n\nThe blue pump leaks.\n")
    assert run(home, *words, cwd="work").code == 0
    assert run(home, "add", "notes", "vault", cwd="work").code == 0
    found = run(home, "find", "which pump leaks", "--json", cwd="work").json
    assert [hit["ref"]["path"] for hit in found["hits"]] == ["pumps.md"]
    assert "blue pump" in run(home, "grep", "leaks", cwd="work").out
    assert run(home, "ls", "notes", cwd="work").out == "pumps.md\n"
