"""Runs an agent: a new process for each question, with one set of logged tools."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from fumishirube import ConfigError
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.text import estimate_tokens
from fumishirube_eval.agent_commands import PROMPT, TOO_LONG, AgentCommand
from fumishirube_eval.agent_questions import AgentQuestion
from fumishirube_eval.files import write_text
from fumishirube_eval.recording import CALL, LISTING, Termination, run_command

OURS, SHELL = "ours", "shell"
CAMPS = (OURS, SHELL)

SERVER = "manuals"
"""The name of the server in the client configurations."""

MOST_CALLS = 15
_VERSION = 1
_CALL_AMOUNTS = ("characters", "tokens", "seconds")
_LARGEST = 10**15

_PROMPT = """\
Answer a question from local manuals. {where} Use nothing but {tools}; what you know from \
elsewhere does not count. Use at most {calls} calls, and stop as soon as you are confident. When \
the manuals do not hold the answer, say so. Answer briefly, in the language of the question, with \
all figures and names that it asks for.

Question: {question}
"""
_TOOLS = {
    OURS: f"the tools of the MCP server '{SERVER}'",
    SHELL: (
        "commands of a shell, run as {command} 'COMMAND' (in the folder of the manuals; a call "
        "shows at most 30,000 characters), with rg, grep, sed, head, cat, ls, find and wc"
    ),
}


@dataclass(frozen=True)
class AgentSetup:
    """The settings of a run, the same for every question."""

    command: AgentCommand
    camp: str
    server: tuple[str, ...]
    manuals: Path
    timeout: float


def _with_amounts(call: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in _CALL_AMOUNTS:
        value = call.get(name)
        if not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
            raise ValueError(f"{name} is no amount")
    return call


@dataclass(frozen=True)
class AgentAnswer:
    """An answer, its costs, and the verdict for each fact; ``None`` if ungraded."""

    id: str
    kind: str
    answer: str
    seconds: Annotated[float, Field(ge=0, le=_LARGEST)]
    calls: tuple[Annotated[Mapping[str, Any], AfterValidator(_with_amounts)], ...] = ()
    tools_tokens: Annotated[int, Field(ge=0, le=_LARGEST)] = 0
    error: str | None = None
    facts: Annotated[tuple[bool, ...], Field(min_length=1)] | None = None

    @property
    def points(self) -> int | None:
        """The number of facts that the answer states."""
        return None if self.facts is None else sum(self.facts)

    def total(self, key: str) -> float:
        """Return the sum of ``characters``, ``tokens`` or ``seconds`` of the calls."""
        return float(sum(call[key] for call in self.calls))


@dataclass(frozen=True)
class AgentRun:
    """All answers of an agent with one set of tools."""

    camp: str
    agent: str
    grading: str
    answers: tuple[AgentAnswer, ...] = field(default=())

    def save(self, file: Path) -> None:
        """Write the run as JSON; after an error the former file is unchanged.

        Raises:
            ConfigError: when it cannot be written.
        """
        text = json.dumps({"version": _VERSION, **asdict(self)}, ensure_ascii=False, indent=1)
        write_text(file, text + "\n")

    @classmethod
    def load(cls, file: Path) -> AgentRun:
        """Read a run.

        Raises:
            ConfigError: when the file cannot be read, or is not a run.
        """
        try:
            data = json.loads(file.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise ConfigError(f"{file.name}: it cannot be read; is it a file?") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file.name}: it is not JSON") from error
        if not isinstance(data, dict) or data.pop("version", None) != _VERSION:
            raise ConfigError(f"{file.name}: it is not a run of fumishirube eval agents")
        try:
            return _adapter().validate_python(data)
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
            raise ConfigError(f"{file.name}: it is incomplete or damaged at {where}") from error


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[AgentRun]:
    return TypeAdapter(AgentRun)


def prompt_for(question: AgentQuestion, camp: str, tools: Path) -> str:
    """Return the prompt; it differs between the sets of tools only in their names."""
    where = f"The answer is in the manual '{question.manual}'."
    if question.manual == EVERY_MANUAL:
        where = "The answer may be in any of the manuals."
    described = _TOOLS[camp].format(command=shlex.quote(str(tools)))
    return _PROMPT.format(where=where, tools=described, calls=MOST_CALLS, question=question.text)


def run_agent(question: AgentQuestion, setup: AgentSetup) -> AgentAnswer:
    """Run the agent on one question in a new folder, and return its answer and its calls."""
    # What an agent has left running may still write there.
    with tempfile.TemporaryDirectory(prefix="agent-", ignore_cleanup_errors=True) as folder:
        base = Path(folder).resolve()
        log, workspace = base / "log.jsonl", base / "work"
        tools, config = _write_setup(base, workspace, log, setup)
        prompt = prompt_for(question, setup.camp, tools)
        paths = {"mcp_config": str(config), "workspace": str(workspace), "tools": str(tools)}
        words, text = setup.command.words({PROMPT: prompt, **paths})
        environ = {**os.environ, "VAULT_ROOT": str(base / "vault")}
        began = time.monotonic()
        answer, error = _run(words, text, workspace, environ, setup)
        seconds = round(time.monotonic() - began, 2)
        rows = list(_log_rows(log))
    calls = tuple(row for row in rows if row["what"] == CALL)
    listing = next((int(row["tokens"]) for row in rows if row["what"] == LISTING), 0)
    return AgentAnswer(question.id, question.kind, answer.strip(), seconds, calls, listing, error)


def _run(
    words: Sequence[str], text: str, folder: Path, environ: Mapping[str, str], setup: AgentSetup
) -> tuple[str, str | None]:
    """Return the agent's output, and its failure or ``None``.

    Raises:
        ConfigError: when the command does not exist.
    """
    try:
        started = Termination().started
        done = run_command(words, text, setup.timeout, started, cwd=folder, env=environ)
    except OSError as error:
        if error.errno == errno.E2BIG:
            return "", TOO_LONG
        name = Path(words[0]).name
        raise ConfigError(f"--agent: {name!r} cannot be run: {error.strerror}") from error
    if done.code is None:
        return done.printed, f"stopped after {setup.timeout:g} seconds"
    if done.code:
        last = (done.errors.strip().splitlines() or ["nothing on standard error"])[-1][:200]
        return done.printed, f"exit code {done.code}: {last}"
    return done.printed, None


def _write_setup(base: Path, workspace: Path, log: Path, setup: AgentSetup) -> tuple[Path, Path]:
    """Write the command of the tools and the client configurations; return their paths."""
    recording = [sys.executable, "-I", str(Path(__file__).with_name("recording.py")), str(log)]
    ours = setup.camp == OURS
    words = ["mcp", *setup.server] if ours else ["shell", str(setup.manuals)]
    tools = _executable(base, [*recording, *words])
    server = {"type": "stdio", "command": str(tools), "args": [], "env": {}}
    servers = {SERVER: server} if ours else {}
    config = base / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    (workspace / ".gemini").mkdir(parents=True)
    trusted = {name: {"command": str(tools), "trust": True} for name in servers}
    settings = json.dumps({"mcpServers": trusted})
    (workspace / ".gemini" / "settings.json").write_text(settings, encoding="utf-8")
    return tools, config


def _executable(base: Path, words: Sequence[str]) -> Path:
    """Write a script that runs some words with its own arguments appended."""
    if os.name == "nt":
        script = base / "tools.cmd"
        script.write_text(f"@{subprocess.list2cmdline(words)} %*\r\n", encoding="utf-8")
        return script
    script = base / "tools"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


def _log_rows(log: Path) -> Iterator[dict[str, Any]]:
    if log.exists():
        for line in log.read_bytes().split(b"\n")[:-1]:
            row = json.loads(line)
            shown = row.pop("shown")
            yield row | {"characters": len(shown), "tokens": estimate_tokens(shown)}
