"""Other people's clients of the real server: `tox -e clients` installs and runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from http_server import HttpServer
from manuals import RULES, citation, write
from warm_start import warm_script

HERE = Path(__file__).parents[1] / "support" / "clients"
INSTALLED = os.environ.get("FUMISHIRUBE_CLIENTS", "")
PYTHONS = {"python_1", "python_2", "fastmcp_4"}
NODES = {"sdk_1", "sdk_2"}
WITH_SESSIONS = {"sdk_1", "python_1"}
"""Those that speak the older protocol over HTTP, which has sessions."""

pytestmark = pytest.mark.timeout(600)

# What Fumishirube does not offer, and so cannot show: docs/clients.md says why.
MEDIA = "a tool answers with one object, a prompt with one text"
LOGGING = "no log messages are sent to clients"
ASKING = "the server asks the client for one choice alone, that of a manual"
NOT_OFFERED = {
    "2025-11-25": {
        "logging-set-level": LOGGING,
        "tools-call-image": MEDIA,
        "tools-call-audio": MEDIA,
        "tools-call-embedded-resource": MEDIA,
        "tools-call-mixed-content": MEDIA,
        "tools-call-with-logging": LOGGING,
        "tools-call-sampling": ASKING,
        "tools-call-elicitation": ASKING,
        "elicitation-sep1034-defaults": ASKING,
        "elicitation-sep1330-enums": ASKING,
        "prompts-get-embedded-resource": MEDIA,
        "prompts-get-with-image": MEDIA,
    },
    "2026-07-28": {
        "tools-call-image": MEDIA,
        "tools-call-audio": MEDIA,
        "tools-call-embedded-resource": MEDIA,
        "tools-call-mixed-content": MEDIA,
        "prompts-get-embedded-resource": MEDIA,
        "prompts-get-with-image": MEDIA,
        "input-required-result-basic-elicitation": ASKING,
        "input-required-result-basic-sampling": ASKING,
        "input-required-result-basic-list-roots": ASKING,
        "input-required-result-request-state": ASKING,
        "input-required-result-multiple-input-requests": ASKING,
        "input-required-result-multi-round": ASKING,
        "input-required-result-non-tool-request": ASKING,
        "input-required-result-result-type": ASKING,
        "input-required-result-tampered-state": ASKING,
        "input-required-result-capability-check": ASKING,
    },
}
# Checks inside a scenario that applies: they need a tool that asks the client for something.
NOT_REQUESTED = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
}


@cache
def node() -> str:
    """Return the Node that npm installed, or skip the test."""
    found = Path(INSTALLED) / "node" / "node_modules" / "node" / "bin" / "node"
    if not found.is_file():
        pytest.skip("npm is not installed, so neither are Node and its clients")
    return str(found)


def npm_package(*parts: str) -> str:
    return str(Path(INSTALLED, "node", "node_modules", *parts))


def finished(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environ},
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not INSTALLED:
        pytest.skip("the clients are not installed: tox -e clients")
    folder = write(tmp_path_factory.mktemp("clients"), {"m1/rules.md": RULES})
    (folder / "fumishirube.yaml").write_text(
        "surfaces: [{use: manual}, {use: vault}, {use: conformance}]\n", encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def url(workspace: Path) -> Iterator[str]:
    with HttpServer(workspace, PYTHONPATH=str(HERE / "plugin")) as server:
        yield f"{server.url}/mcp"


@pytest.fixture(params=["stdio", "http"])
def reached(request: pytest.FixtureRequest, workspace: Path) -> Sequence[str]:
    """How a client is told to reach the server, by either transport."""
    if request.param == "http":
        return ["http", request.getfixturevalue("url")]
    folder = workspace.parent / "default"
    write(folder, {"m1/rules.md": RULES})
    return ["stdio", warm_script(), "serve", "--workspace", str(folder)]


# --- the same journey with each of them -----------------------------------------------------


@pytest.mark.parametrize("name", sorted(PYTHONS | NODES))
def test_a_client_takes_the_whole_journey(name: str, reached: Sequence[str]) -> None:
    if name in NODES:
        command = [node(), npm_package("..", f"{name}.mjs")]
    elif name == "python_2":
        command = [sys.executable, str(HERE / f"{name}.py")]
    else:
        folder = "Scripts" if sys.platform == "win32" else "bin"
        command = [str(Path(INSTALLED, name, folder, "python")), str(HERE / f"{name}.py")]
    done = finished(*command, *reached)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["server"] == "fumishirube"
    assert told["tools"][:3] == ["manual_ls", "manual_toc", "manual_find"]
    assert told["text"].startswith(f"trace_id {told['found']['trace_id']}: ")
    cite = citation(told["found"]["inline_hits"]["items"][0])
    assert told["cited"] == "## 例外\nこの場合は対象外です。\n"
    assert told["uri"] == cite
    assert told["refused"] is True
    assert told["missing"] in (-32002, -32602)
    assert "manual://m1/rules.md" in told["resources"]
    assert "manual://{manual}/{+path}#L{start}-L{end}" in told["templates"]
    assert told["prompts"][:3] == ["careful_reading", "exhaustive_check", "comparison"]
    assert "誰が対象ですか" in told["prompt"]
    assert told["values"] == ["m1"]
    assert told["before"] is (reached[0] == "stdio" or name in WITH_SESSIONS)


# --- the inspector --------------------------------------------------------------------------


def inspected(reached: Sequence[str], home: Path, *words: str) -> Any:
    main = npm_package("@modelcontextprotocol", "inspector", "clients", "launcher", "build")
    server = list(reached[1:]) if reached[0] == "http" else [reached[1], *reached[2:]]
    command = [node(), str(Path(main) / "index.js"), "--cli", *server, *words]
    if reached[0] == "stdio":
        command = [node(), str(Path(main) / "index.js"), "--cli", *words, "--", *server]
    done = finished(*command, HOME=str(home))
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_finds_no_fault_with_the_schemas(
    reached: Sequence[str], tmp_path: Path
) -> None:
    told = inspected(reached, tmp_path, "--method", "tools/list", "--strict")
    assert {"manual_find", "vault_replace"} <= {tool["name"] for tool in told["tools"]}


def test_the_inspector_calls_and_reads(reached: Sequence[str], tmp_path: Path) -> None:
    method = "--method"
    called = inspected(reached, tmp_path, method, "tools/call", "--tool-name", "manual_ls")
    assert called["structuredContent"]["items"][0]["id"] == "m1"
    uri = "manual://m1/rules.md#L1-L2"
    read = inspected(reached, tmp_path, method, "resources/read", "--uri", uri)
    assert read["contents"][0]["text"] == "# 総則\n対象です。\n"
    listed = inspected(reached, tmp_path, method, "prompts/list")
    assert listed["prompts"][0]["name"] == "careful_reading"
    templates = inspected(reached, tmp_path, method, "resources/templates/list")
    assert len(templates["resourceTemplates"]) >= 2


# --- the published suite --------------------------------------------------------------------


@pytest.mark.parametrize("revision", sorted(NOT_OFFERED))
def test_every_scenario_that_applies_passes(revision: str, url: str, tmp_path: Path) -> None:
    main = npm_package("@modelcontextprotocol", "conformance", "dist", "index.js")
    asked = ("server", "--url", url, "--requirements", revision, "-o", str(tmp_path))
    done = finished(node(), main, *asked)
    results = dict(_results(tmp_path))
    assert len(results) >= 30, done.stdout + done.stderr
    known, faults = NOT_OFFERED[revision], _faults(results)
    scored = {name: wrong for name, wrong in faults.items() if name not in _unscored(done.stdout)}
    assert scored.keys() - known == set(), scored
    assert known.keys() <= scored.keys(), "these pass now; take them off the list"


def test_the_list_of_what_does_not_apply_is_written_down() -> None:
    told = (HERE.parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
    names = {name for listed in NOT_OFFERED.values() for name in listed} | NOT_REQUESTED
    assert [name for name in sorted(names) if f"`{name}`" not in told] == []


def _results(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for file in sorted(folder.glob("server-*/checks.json")):
        name = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name.removeprefix("server-"))
        yield name, json.loads(file.read_text(encoding="utf-8"))


def _faults(results: Mapping[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    found = {
        name: [
            f"{check['id']}: {check.get('errorMessage')}"
            for check in checks
            if check["status"] == "FAILURE" and check["id"] not in NOT_REQUESTED
        ]
        for name, checks in results.items()
    }
    return {name: wrong for name, wrong in found.items() if wrong}


def _unscored(output: str) -> set[str]:
    _, _, rest = output.partition("Not scored for")
    return {line.split()[1] for line in rest.splitlines() if line.strip()[:1] in ("✓", "✗")}
