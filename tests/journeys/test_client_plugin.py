"""The plugin for MCP clients: generated from one description, checked and started by the clients.

What needs Node or the network says so where it is skipped; ``tox -e bundle`` runs all of it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging_scripts import npm_program, script
from warm_start import installed_script

PROJECT = Path(__file__).parents[2]
PLUGIN, BUILD = script("client_plugin"), script("build")
DESCRIPTION = PLUGIN.described()
FILES = PLUGIN.files(DESCRIPTION)
CLIENTS = {
    "claude": "@anthropic-ai/claude-code@2.1.330",
    "codex": "@openai/codex@0.169.0",
    "copilot": "@github/copilot@1.0.102",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
}
_ROW = re.compile(r"^\| [\w ]+ \| (`.*`) \|$", re.MULTILINE)

Run = Callable[..., subprocess.CompletedProcess[str]]


def manifest(name: str) -> Any:
    return json.loads(FILES[f"{PLUGIN.FOLDER}/{name}"])


# --- what is generated ----------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES)
def test_the_files_are_as_the_generator_writes_them(path: str) -> None:
    written = (PROJECT / path).read_text(encoding="utf-8")
    assert written == FILES[path], "run python packaging/client_plugin.py"


def test_nothing_else_is_in_the_plugin() -> None:
    present = {
        file.relative_to(PROJECT).as_posix()
        for file in (PROJECT / PLUGIN.FOLDER).rglob("*")
        if file.is_file()
    }
    assert present == {path for path in FILES if path.startswith(PLUGIN.FOLDER)}


def server_commands(value: Any) -> Iterator[list[str]]:
    """Yield the command of every server that a manifest names."""
    if isinstance(value, dict):
        command = value.get("command")
        if command is not None:
            yield [*command] if isinstance(command, list) else [command, *value.get("args", ())]
        for inner in value.values():
            yield from server_commands(inner)


def values(value: Any, key: str) -> Iterator[Any]:
    """Yield every value that a key has in nested tables and lists."""
    if isinstance(value, dict):
        yield from [value[key]] if key in value else []
        value = [*value.values()]
    for inner in value if isinstance(value, list) else ():
        yield from values(inner, key)


def test_all_manifests_say_the_same(tmp_path: Path) -> None:
    bundle = tmp_path / "x.mcpb"
    bundle.write_bytes(b"x")
    told = [json.loads(text) for path, text in FILES.items() if path.endswith(".json")]
    published = [BUILD.manifest(DESCRIPTION, []), BUILD.server(DESCRIPTION, bundle, None)]
    assert {*values([*told, *published], "version")} == {DESCRIPTION["version"]}
    assert {*values([*told, *published], "description")} >= {DESCRIPTION["description"]}
    assert {*values([*told, *published], "license")} == {DESCRIPTION["license"]}
    titles = {*values([*told, *published], "displayName"), *values(published, "title")}
    assert DESCRIPTION["title"] in titles
    commands = [command for one in told for command in server_commands(one)]
    assert len(commands) == 4
    assert all(command == DESCRIPTION["command"] for command in commands)


def test_every_path_in_a_manifest_is_there() -> None:
    folder = PROJECT / PLUGIN.FOLDER
    for name in (".cursor-plugin/plugin.json", ".codex-plugin/plugin.json"):
        for key in ("skills", "mcpServers"):
            assert (folder / manifest(name)[key]).exists()
    listed = [json.loads(FILES[path]) for path in FILES if path.endswith("marketplace.json")]
    for one in listed:
        (entry,) = one["plugins"]
        source = entry["source"]
        assert (PROJECT / (source["path"] if isinstance(source, dict) else source)) == folder
    assert len(listed) == 4


def test_the_command_is_one_of_the_project() -> None:
    command, verb = DESCRIPTION["command"]
    assert command in DESCRIPTION["scripts"]
    subprocess.run([installed_script(command), verb, "--help"], check=True, capture_output=True)


# --- what the clients say -------------------------------------------------------------------


def environ(home: Path) -> dict[str, str]:
    """Return the environment of a user who has the program, and no settings yet."""
    home.mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "CLAUDE", "CODEX"))}
    path = f"{Path(installed_script()).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "HOME": str(home), "USERPROFILE": str(home), "CI": "1"}


@pytest.fixture
def client(tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    """Return what runs a client in the home folder of a new user."""
    program = npm_program(request.param, CLIENTS[request.param])
    (tmp_path / "work").mkdir()

    def run(*words: object, fails: bool = False) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [program, *map(str, words)],
            cwd=tmp_path / "work",
            env=environ(tmp_path / "home"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=110,
        )
        assert (done.returncode != 0) == fails, f"{words}:\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a folder with the generated files alone."""
    for path, text in FILES.items():
        file = tmp_path / "written" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "written"


def install(client: Run, name: str, folder: Path) -> None:
    """Do what the documentation says, with a folder for ``DIR``."""
    text = (PROJECT / "docs" / "clients.md").read_text(encoding="utf-8")
    (row,) = (row for row in _ROW.findall(text) if row.startswith(f"`{name} "))
    for command in re.findall("`(.+?)`", row):
        _, *words = shlex.split(command)
        client(*(word.replace("DIR", str(folder)) for word in words))


def change(file: Path, **members: object) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, **members}), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("client", ["claude"], indirect=True)
def test_claude_code_validates_installs_and_connects(client: Run, written: Path) -> None:
    client("plugin", "validate", "--strict", written / PLUGIN.FOLDER)
    client("plugin", "validate", "--strict", written)
    install(client, "claude", written)
    assert "Skills (1)" in client("plugin", "details", "fumishirube").stdout
    assert "fumishirube serve - ✔ Connected" in client("mcp", "list").stdout
    change(written / PLUGIN.FOLDER / ".claude-plugin" / "plugin.json", license=7)
    client("plugin", "validate", "--strict", written / PLUGIN.FOLDER, fails=True)


@pytest.mark.slow
@pytest.mark.parametrize("client", ["codex"], indirect=True)
def test_codex_installs_and_lists_the_server(client: Run, written: Path) -> None:
    install(client, "codex", written)
    (server,) = json.loads(client("mcp", "list", "--json").stdout)
    assert [server["transport"]["command"], *server["transport"]["args"]] == DESCRIPTION["command"]
    assert server["enabled"]


@pytest.mark.slow
@pytest.mark.parametrize("client", ["copilot"], indirect=True)
def test_copilot_installs_the_skill_and_lists_the_server(client: Run, written: Path) -> None:
    install(client, "copilot", written)
    assert "fumishirube" in client("plugin", "list").stdout
    assert "fumishirube (local)" in client("mcp", "list").stdout


@pytest.mark.slow
@pytest.mark.parametrize("client", ["gemini"], indirect=True)
def test_gemini_cli_validates(client: Run, written: Path) -> None:
    client("extensions", "validate", written / PLUGIN.FOLDER)
    change(written / PLUGIN.FOLDER / "gemini-extension.json", name="Not A Name")
    client("extensions", "validate", written / PLUGIN.FOLDER, fails=True)


@pytest.mark.slow
@pytest.mark.parametrize("client", ["opencode"], indirect=True)
def test_opencode_connects(client: Run, written: Path, tmp_path: Path) -> None:
    shutil.copy(written / PLUGIN.FOLDER / "opencode.json", tmp_path / "work")
    assert "1 server(s)" in client("mcp", "list").stdout
    assert "✓ fumishirube" in client("mcp", "list").stdout


@pytest.mark.slow
@pytest.mark.parametrize("client", ["codex", "copilot", "gemini", "opencode"], indirect=True)
def test_a_client_lists_the_server_that_init_names(
    client: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "work" / "manuals" / "m").mkdir(parents=True)
    (tmp_path / "work" / "manuals" / "m" / "a.md").write_text("# A\n")
    name = request.node.callspec.params["client"]
    command = [installed_script(), "init", "--client", name, "--write"]
    home = environ(tmp_path / "home")
    subprocess.run(command, cwd=tmp_path / "work", env=home, check=True, capture_output=True)
    listed = client("mcp", "list")
    assert "fumishirube" in f"{listed.stdout}{listed.stderr}"


@pytest.mark.skipif(not shutil.which("skillsaw"), reason="skillsaw is not here: tox -e bundle")
def test_the_rules_of_all_formats_are_kept(written: Path) -> None:
    """Agent Plugins 1.0 (Kiro, VS Code), Cursor, and the marketplaces have no program to ask."""

    def lint() -> subprocess.CompletedProcess[str]:
        command = ["skillsaw", "lint", "--strict", "--no-color", str(written)]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)

    done = lint()
    assert done.returncode == 0, done.stdout
    for kind in ("agent-plugin", "cursor-plugin", "cursor-marketplace", "codex-marketplace"):
        assert kind in done.stdout
    for name in ("plugin.json", "mcp.json"):
        file = written / PLUGIN.FOLDER / name
        before = file.read_text(encoding="utf-8")
        change(file, surplus=True)
        assert lint().returncode != 0, name
        file.write_text(before, encoding="utf-8")
