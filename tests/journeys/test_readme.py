"""The READMEs tell the truth: their transcripts are run, their configuration blocks are used.

``python tests/journeys/test_readme.py`` writes the transcripts anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from fumishirube_manual.surface import ManualSurface

ROOT = Path(__file__).parents[2]
READMES = (ROOT / "README.md", ROOT / "README.ja.md")
FUSERS = ManualSurface.pipeline["fusers"]
FUMISHIRUBE = Path(sys.executable).with_name("fumishirube")

_BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TRACE = re.compile(r"\b[0-9a-f]{32}\b")
_ENDS = {
    "bash": "run verbatim, in fresh clones, by .ci/run",
    "sh": (
        # Those after the mark "init" are run by test_init.py.
        "fumishirube init --client|.venv/bin/python -m pip install . ./examples/fumishirube-borda"
        # Those after the mark "http" are run together by test_http_start.py.
        "|fumishirube serve --http|curl -s "
        # Those after the mark "any-folder" are run by test_own_manuals.py.
        "|fumishirube (find [^'\"]+|add specs ~/Documents/specs)$"
    ),
}


NEUTRAL = {"COLUMNS", "MANUALS_ROOT", "LANGUAGE", "LC_ALL", "LC_MESSAGES"}


class Step(NamedTuple):
    """One command of a transcript, and what follows it."""

    command: str
    output: str


def blocks(readme: Path, kind: str) -> list[str]:
    found = _BLOCK.finditer(readme.read_text(encoding="utf-8"))
    return [block["text"] for block in found if block["kind"] == kind]


def steps(transcript: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield Step(command, output)


def output_of(command: str, workspace: Path, readme: Path = READMES[0]) -> str:
    """Run a command in the language of a README."""
    words = shlex.split(command)
    assert words[0] == "fumishirube", f"a transcript shows only fumishirube, not {words[0]}"
    environment = {k: v for k, v in os.environ.items() if k not in NEUTRAL}
    environment["LANG"] = "ja_JP.UTF-8" if ".ja." in readme.name else "en_US.UTF-8"
    done = subprocess.run(
        [str(FUMISHIRUBE), *words[1:]],
        cwd=workspace,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return settled(done.stdout.decode("utf-8"))


def settled(text: str) -> str:
    return _TRACE.sub("7b017120588e43d2a1c4f578d582c42e", text).rstrip() + "\n"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(ROOT / "manuals", folder / "manuals")
    return folder


TRANSCRIPTS = [
    pytest.param(readme, step, id=f"{readme.stem}: {step.command}")
    for readme in READMES
    for transcript in blocks(readme, "console")
    for step in steps(transcript)
]


@pytest.mark.parametrize(("readme", "step"), TRANSCRIPTS)
def test_a_transcript_shows_what_the_command_prints(
    readme: Path, step: Step, workspace: Path
) -> None:
    assert output_of(step.command, workspace, readme) == settled(step.output)


@pytest.mark.slow
@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_client_configurations_start_the_server(readme: Path, workspace: Path) -> None:
    servers = [
        server
        for block in [
            *map(json.loads, blocks(readme, "json")),
            *map(tomllib.loads, blocks(readme, "toml")),
        ]
        for key in ("mcpServers", "servers", "mcp_servers")
        for server in block.get(key, {}).values()
    ]
    assert servers
    for server in servers:
        assert server["command"] == "/PATH/TO/fumishirube"
        arguments = [str(workspace) if "my-documents" in a else a for a in server["args"]]
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        done = subprocess.run(
            [str(FUMISHIRUBE), *arguments],
            input=json.dumps(hello).encode() + b"\n",
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "fumishirube"


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "readme", "version": "1"},
}


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_the_yaml_is_a_configuration(readme: Path, workspace: Path) -> None:
    for block in blocks(readme, "yaml"):
        fusers = yaml.safe_load(block)["pipelines"]["manual"]["fusers"]
        assert fusers == ["borda", *FUSERS[1:]]
        (workspace / "fumishirube.yaml").write_text(block.replace("borda", "rrf"), encoding="utf-8")
        try:
            assert "use: rrf" in output_of("fumishirube config show", workspace)
        finally:
            (workspace / "fumishirube.yaml").unlink()


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_no_other_commands_are_shown(readme: Path) -> None:
    for block in blocks(readme, "sh"):
        for line in block.splitlines():
            assert re.match(_ENDS["sh"], line), f"no test runs {line!r}"
    assert len(blocks(readme, "bash")) == 2


def test_both_languages_give_the_same_blocks() -> None:
    kinds = [_BLOCK.findall(readme.read_text(encoding="utf-8")) for readme in READMES]
    first, second = ([kind for kind, _ in found] for found in kinds)
    assert first == second
    for kind in ("bash", "yaml"):
        assert blocks(READMES[0], kind) == blocks(READMES[1], kind)


def test_both_languages_have_the_same_sections_and_links() -> None:
    texts = [readme.read_text(encoding="utf-8") for readme in READMES]
    first, second = (re.findall(r"^(#+) ", text, re.MULTILINE) for text in texts)
    assert first == second
    first, second = (set(re.findall(r"\]\(([^)]+)\)", text)) for text in texts)
    assert first ^ second == {"README.md", "README.ja.md"}
    first, second = (re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) for text in texts)
    assert first == second


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(READMES[0].read_text(encoding="utf-8").split()) <= 1_200


def rewritten(readme: Path, workspace: Path) -> str:
    def anew(block: re.Match[str]) -> str:
        if block["kind"] != "console":
            return block[0]
        told = (
            f"$ {s.command}\n{output_of(s.command, workspace, readme)}"
            for s in steps(block["text"])
        )
        return "```console\n" + "\n".join(told) + "```"

    return _BLOCK.sub(anew, readme.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for readme in READMES:
        readme.write_text(rewritten(readme, ROOT), encoding="utf-8")
