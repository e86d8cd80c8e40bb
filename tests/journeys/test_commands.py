"""Verbs of the command line that plugins bring, and what is left without a slice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from warm_start import warm_script

from fumishirube import Command
from fumishirube.errors import PluginError
from fumishirube.plugins.commands import OWN_COMMANDS, CommandRegister
from fumishirube.plugins.discovery import load_plugins

if TYPE_CHECKING:  # pytest imports the fixture's module itself, to explain its asserts
    from plugin_venv import PluginVenv

pytest_plugins = ["plugin_venv"]

GREET = """
from fumishirube import Command, hook

@hook
def register_commands(register):
    register(Command("{name}", "say hello", "{module}", serves={serves}))
"""
GREETING = """
print("imported", file=__import__("sys").stderr)

def add_arguments(parser):
    parser.add_argument("{argument}", default="you", nargs="?")

def run(options):
    print("hello")
    return 3
"""


def _stranger(folder: Path, name: str, code: str, *, claim: str = "stranger-hello") -> Path:
    """Put an installed distribution with one module into a folder."""
    module = claim.replace("-", "_")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {claim}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fumishirube.v1]\n{name} = {module}\n")
    return folder


def _run(
    folder: Path, *words: str, path: Path | str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with what is importable from there, or from another path."""
    return subprocess.run(
        [warm_script(), *words],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path or folder)},
    )


def test_a_strangers_verb_runs_with_its_own_arguments_and_exit_code(tmp_path: Path) -> None:
    _stranger(tmp_path, "hello", GREET.format(name="greet", module="greeting", serves=False))
    (tmp_path / "greeting.py").write_text(GREETING.format(argument="name"))
    done = _run(tmp_path, "greet", "me")
    assert (done.returncode, done.stdout) == (3, "hello\n")
    helped = _run(tmp_path, "--help")
    assert "greet" in helped.stdout
    assert "imported" not in helped.stderr, "only the chosen command is imported"
    near = _run(tmp_path, "gret")
    assert (near.returncode, near.stdout) == (2, "")
    assert "did you mean 'greet'?" in near.stderr
    alone = _run(tmp_path, "greet", "--no-plugins")
    assert alone.returncode == 2
    assert "there is no command 'greet'" in alone.stderr


@pytest.mark.parametrize(
    ("ends", "code", "told"),
    [
        ("sys.exit('no such bird')", 1, "no such bird\n"),
        ("sys.exit()", 0, ""),
        ("sys.exit(4)", 4, ""),
    ],
)
def test_a_strangers_verb_may_exit_as_any_program(
    tmp_path: Path, ends: str, code: int, told: str
) -> None:
    _stranger(tmp_path, "hello", GREET.format(name="greet", module="greeting", serves=False))
    body = f"import sys\ndef add_arguments(parser): pass\ndef run(options): {ends}\n"
    (tmp_path / "greeting.py").write_text(body)
    done = _run(tmp_path, "greet")
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.endswith(told)


SITE = """
import os, signal
from fumishirube.serving import web_server

def add_arguments(parser): pass

async def app(scope, receive, send):
    {start}
    await receive()
    await send({{"type": "lifespan.startup.complete"}})
    await receive()
    raise RuntimeError("the database is missing")

def run(options):
    server = web_server(options.plugins, "greet")
    stop = lambda host, port: os.kill(os.getpid(), signal.SIGTERM)
    server.run(app, server.listen("127.0.0.1", 0, "--port"), stop)
    return 0
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there SIGTERM ends a process at once")
@pytest.mark.parametrize(
    "start",
    [
        "raise RuntimeError('the database is missing')",
        "await send({'type': 'lifespan.startup.failed', 'message': 'the database is missing'})",
        "",
    ],
)
def test_an_application_of_a_stranger_that_fails_is_told(tmp_path: Path, start: str) -> None:
    _stranger(tmp_path, "hello", GREET.format(name="greet", module="greeting", serves=False))
    (tmp_path / "greeting.py").write_text(SITE.format(start=start))
    done = _run(tmp_path, "greet")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the database is missing" in done.stderr


PAGE = """
import os, signal, threading, urllib.error, urllib.request
from fumishirube.serving import web_server

def add_arguments(parser): pass

async def app(scope, receive, send):
    if scope["type"] == "http":
        raise RuntimeError("the database is missing")

codes = []

def visit(host, port):
    try:
        urllib.request.urlopen(f"http://{host}:{port}/", timeout=20)
    except urllib.error.HTTPError as error:
        codes.append(error.code)
    os.kill(os.getpid(), signal.SIGTERM)

def run(options):
    server = web_server(options.plugins, "greet")
    start = lambda host, port: threading.Thread(target=visit, args=(host, port)).start()
    server.run(app, server.listen("127.0.0.1", 0, "--port"), start)
    print(*codes)
    return 0
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there SIGTERM ends a process at once")
def test_a_page_of_a_stranger_that_fails_says_why(tmp_path: Path) -> None:
    _stranger(tmp_path, "hello", GREET.format(name="greet", module="greeting", serves=False))
    (tmp_path / "greeting.py").write_text(PAGE)
    done = _run(tmp_path, "greet")
    assert (done.returncode, done.stdout) == (0, "500\n")
    assert done.stderr == "problem: a page failed: RuntimeError: the database is missing\n"
    verbose = _run(tmp_path, "-v", "greet").stderr
    assert 'raise RuntimeError("the database is missing")' in verbose


def test_a_stranger_may_offer_another_way_to_serve(tmp_path: Path) -> None:
    _stranger(tmp_path, "hello", GREET.format(name="pigeon", module="greeting", serves=True))
    (tmp_path / "greeting.py").write_text(GREETING.format(argument="--pigeon"))
    done = _run(tmp_path, "serve", "--pigeon", "post")
    assert (done.returncode, done.stdout) == (3, "hello\n")
    assert "--pigeon" in _run(tmp_path, "serve", "--help").stdout


@pytest.mark.parametrize("name", ["serve", "find"])
def test_a_name_of_ours_cannot_be_taken(tmp_path: Path, name: str) -> None:
    _stranger(tmp_path, "hello", GREET.format(name=name, module="greeting", serves=False))
    reports = json.loads(_run(tmp_path, "plugins", "--json").stdout)
    (report,) = [report for report in reports if report["plugin"] == "hello"]
    assert report["problems"] == [f"command {name!r} is the name of a built-in; choose another"]


def test_a_command_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    _stranger(tmp_path, "hello", GREET.format(name="greet", module="absent_one", serves=False))
    done = _run(tmp_path, "greet")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "command 'greet' of plugin hello: absent_one cannot be imported: ModuleNotFoundError"
        in done.stderr
    )
    assert _run(tmp_path, "--help").returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        Command("Greet", "say hello", "greeting"),
        Command("greet", "say hello", "greeting.py/x"),
        Command("greet", "say hello", "greeting", variable="GREET"),
        Command("greet\n", "say hello", "greeting"),
        Command("greet", "say hello", "greeting\n"),
    ],
    ids=["name", "module", "variable", "line after name", "line after module"],
)
def test_what_is_no_command_is_refused(command: Command) -> None:
    with pytest.raises(PluginError):
        CommandRegister()(command)


def test_the_framework_has_its_own_verbs_and_the_slices_the_others() -> None:
    commands = load_plugins(strangers=False).commands
    own = {command.name for command in OWN_COMMANDS}
    assert own == {
        *("call", "tools", "serve", "index", "plugins"),
        *("doctor", "config", "trust", "add", "completion", "man"),
    }
    assert set(commands.verbs()) == {
        *("find", "grep", "ls", "toc", "read", "scan", "cite", "coverage"),
        *("vault", "docs", "eval", "inspect", "trace", "users", "init", "new-plugin", "conform"),
    }
    assert set(commands.ways_to_serve()) == {"http", "bridge"}


def test_examples_can_be_typed_and_replace_no_configuration() -> None:
    for command in (*OWN_COMMANDS, *load_plugins(strangers=False).commands):
        if command.example:
            assert f"fumishirube {command.name} " in command.example
            assert "> fumishirube.yaml" not in command.example


def test_an_installed_surface_brings_its_verb(plugin_venv: PluginVenv, tmp_path: Path) -> None:
    (tmp_path / "manuals" / "m").mkdir(parents=True)
    terms = "# Terms\n- **sprocket**: a wheel with teeth\n"
    (tmp_path / "manuals" / "m" / "terms.md").write_text(terms)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: glossary}]\n")
    done = plugin_venv.fumishirube(tmp_path, "glossary", "sprocket")
    assert done.returncode == 0
    lines = ["- **sprocket**: a wheel with teeth", "   manual://m/terms.md#L2-L2"]
    assert done.stdout.splitlines() == lines
    assert plugin_venv.fumishirube(tmp_path, "glossary", "absent").returncode == 1


CALLS = {
    "manual": ("manual_find", {"query": "leave", "manual_id": "m", "required_terms": ["paid"]}),
    "vault": ("vault_create", {"path": "n.md", "content": "Sick leave is paid."}),
    "chapters": ("list_manuals", {}),
    "graph": ("ubp_fulltext_search", {"query": "paid"}),
}
"""A tool of each surface, with an answer that names what it found or wrote."""
ANSWERS = {"manual": "Sick leave", "vault": "n.md", "chapters": '"m"', "graph": "a.md"}
SLICES = (*CALLS, "http", "inspect", "eval", "clients", "authoring", "addressed")


def _distribution_without(folder: Path, name: str) -> Path:
    """Make a folder whose ``fumishirube`` distribution, found first, lacks an entry point."""
    source = distribution("fumishirube")
    lines = (source.read_text("entry_points.txt") or "").splitlines()
    left = [line for line in lines if not line.startswith(f"{name} = ")]
    assert len(left) == len(lines) - 1
    info = folder / f"fumishirube-{source.version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(source.read_text("METADATA") or "", encoding="utf-8")
    (info / "entry_points.txt").write_text("\n".join(left) + "\n")
    return folder


@pytest.mark.many_cases
@pytest.mark.parametrize("name", SLICES)
def test_without_a_slice_the_rest_works(tmp_path: Path, name: str) -> None:
    (tmp_path / "manuals" / "m").mkdir(parents=True)
    (tmp_path / "manuals" / "m" / "a.md").write_text("# Leave\nSick leave is paid.\n")
    (tmp_path / "vault").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Leave\nSick leave is paid.\n")
    path = _distribution_without(tmp_path / "site", name)
    run = partial(_run, tmp_path, path=path)
    listed = run("plugins", "--json")
    assert listed.returncode == 0, listed.stderr
    plugins = {report["plugin"]: report["status"] for report in json.loads(listed.stdout)}
    assert plugins == dict.fromkeys({"stages", *SLICES} - {name}, "loaded")
    tools = run("tools")
    assert tools.returncode == 0, tools.stderr
    assert ("manual_find" in tools.stdout) == (name != "manual")
    assert ("vault_ls" in tools.stdout) == (name != "vault")
    found = run("find", "leave")
    if name == "manual":
        assert found.returncode == 2
        assert "there is no command 'find'" in found.stderr
    else:
        assert "1 matched" in found.stdout, found.stderr
    assert run("doctor").returncode == 0
    left = [surface for surface in CALLS if surface != name]
    (tmp_path / "fumishirube.yaml").write_text(
        f"surfaces: [{', '.join(f'{{use: {surface}}}' for surface in left)}]\n"
    )
    for surface in left:
        tool, arguments = CALLS[surface]
        done = run("call", tool, json.dumps(arguments))
        assert ANSWERS[surface] in done.stdout


def test_without_the_stages_surfaces_that_use_none_work(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "n.md").write_text("Sick leave is paid.\n")
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: vault}]\n")
    run = partial(_run, tmp_path, path=_distribution_without(tmp_path / "site", "stages"))
    listed = run("vault", "ls")
    assert (listed.returncode, listed.stdout) == (0, "n.md\n"), listed.stderr
    assert "vault_ls" in run("tools").stdout
    assert run("doctor").returncode == 0
    (tmp_path / "fumishirube.yaml").unlink()
    (tmp_path / "manuals").mkdir()
    for command in (("vault", "ls"), ("tools",), ("plugins",)):
        done = run(*command)
        assert done.returncode == 0
        problem = (
            "surfaces[0]: pipelines.manual.loaders[0]: no loader is called 'markdown'; there are: "
        )
        assert f"problem: {problem}none; it is left out" in done.stderr
    assert "vault_ls" in run("tools").stdout
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: manual}]\n")
    refused = run("tools")
    assert refused.returncode == 2
    assert "no loader is called 'markdown'" in refused.stderr
    (tmp_path / "fumishirube.yaml").write_text("cache: {embedder: hashed}\n")
    refused = run("tools")
    assert refused.returncode == 2
    assert "cache.embedder: no embedder is called 'hashed'" in refused.stderr
