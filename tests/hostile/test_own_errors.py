"""Plugins that raise the errors by which the framework ends its own work: faults like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from manuals import appears, fumishirube, write
from stdio import Wire
from strangers import stranger
from warm_start import process_of, warm_script

PLUGIN = """
import os, time
from pathlib import Path
from fumishirube import Cancelled, ConfigError, IndexDamaged, NotFound, Stage, hook
from fumishirube.errors import PluginError
from fumishirube_stages.embedders.hashing import Hashing
from fumishirube_stages.loaders.markdown import Markdown
from fumishirube_stages.tokenizers.bigram import Bigram

ERRORS = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "GeneratorExit": GeneratorExit,
    "Cancelled": Cancelled("hostile"),
    "IndexDamaged": IndexDamaged("hostile"),
    "ConfigError": ConfigError("hostile"),
    "NotFound": NotFound("hostile"),
    "PluginError": PluginError("hostile"),
}

def fail():
    if error := ERRORS.get(os.environ.get("FAULT")):
        raise error

class Scores(Stage):
    def score(self, query, corpus, candidates):
        fail()
        if os.environ.get("FAULT") == "sleeps":
            Path("asleep").touch()
            time.sleep(60)
        if os.environ.get("FAULT") == "first run" and not query.must:
            raise ValueError("no required terms")
        return ()

class Lists(Markdown):
    def sources(self, root):
        fail()
        return super().sources(root)

class Words(Bigram):
    def narrow(self, text):
        fail()
        return super().narrow(text)

class Vectors(Hashing):
    def embed(self, texts, role):
        fail()
        return super().embed(texts, role)

@hook
def register_scorers(register):
    register("own", Scores)

@hook
def register_loaders(register):
    register("own", Lists)

@hook
def register_tokenizers(register):
    register("own", Words)

@hook
def register_embedders(register):
    register("own", Vectors)

if os.environ.get("FAULT") == "import":
    raise KeyboardInterrupt
"""

ASKED = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar", "winter"]}
STAGES = {
    "scorer": "scorers: [{use: lexical}, {use: own}]",
    "loader": "loaders: [{use: own}, {use: text}]",
    "tokenizer": "tokenizer: {use: own}",
    "embedder": "scorers: [{use: lexical}, {use: vector}], embedder: {use: own}",
}
ERRORS = [
    "KeyboardInterrupt",
    "GeneratorExit",
    "Cancelled",
    "IndexDamaged",
    "ConfigError",
    "NotFound",
    "PluginError",
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    stranger(tmp_path / "plugins", "owner", PLUGIN)
    return write(tmp_path / "work", {"m/a.md": "# Power\nSolar.\n", "m/b.txt": "Solar winter.\n"})


def pipeline(workspace: Path, stages: str) -> None:
    text = f"pipelines: {{manual: {{{stages}}}}}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def environ(workspace: Path, fault: str = "") -> dict[str, str]:
    return {"PYTHONPATH": str(workspace.parent / "plugins"), "FAULT": fault}


def faults(workspace: Path) -> Any:
    done = fumishirube("plugins", "--json", cwd=workspace, environ=environ(workspace))
    return next(report["faults"] for report in done.json if report["plugin"] == "owner")


def told(wire: Wire, kind: str) -> str:
    """Search; return what the answer says about its state, or the error if there is none."""
    result = wire.request("tools/call", {"name": "manual_find", "arguments": ASKED})["result"]
    if kind == "tokenizer":
        return str(result["_meta"]["fumishirube/error"]["message"])
    return str(result["structuredContent"]["degraded"])


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("kind", STAGES)
@pytest.mark.many_cases
def test_an_error_of_the_framework_that_a_stage_raises_is_a_fault_of_its_plugin(
    workspace: Path, kind: str, error: str
) -> None:
    pipeline(workspace, STAGES[kind])
    with Wire(workspace, **environ(workspace, error)) as wire:
        wire.ok("manual_ls")
        named = (f"{kind} 'own' of plugin owner", "stage 'own' of plugin 'owner'")
        deadline = time.monotonic() + 20
        while not any(name in told(wire, kind) for name in named):
            assert time.monotonic() < deadline
            time.sleep(0.1)  # vectors are made beside the first calls
        wire.ping()
        stderr = wire.hang_up()
    assert f"plugin owner: {kind} 'own' failed" in stderr
    assert "rebuilt" not in stderr
    assert [f"{kind} 'own' failed" in fault and error in fault for fault in faults(workspace)] == [
        True
    ]


@pytest.mark.many_cases
@pytest.mark.parametrize("kind", STAGES)
def test_a_command_is_not_interrupted_by_a_plugin(workspace: Path, kind: str) -> None:
    pipeline(workspace, STAGES[kind])
    given = environ(workspace, "KeyboardInterrupt")
    done = fumishirube("find", "solar", "--json", cwd=workspace, environ=given)
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert f"problem: plugin owner: {kind} 'own' failed" in done.err


def test_a_fault_of_a_method_is_known_while_the_other_methods_work(workspace: Path) -> None:
    pipeline(workspace, STAGES["tokenizer"])
    given = environ(workspace, "NotFound")
    for _ in range(2):
        fumishirube("find", "solar", "--json", cwd=workspace, environ=given)
    done = fumishirube("doctor", "--json", cwd=workspace, environ=environ(workspace))
    failures = [check["finding"] for check in done.json if check["subject"] == "plugin owner"]
    assert any("tokenizer 'own' failed: NotFound: hostile" in finding for finding in failures)
    fumishirube("find", "solar", "--json", cwd=workspace, environ=environ(workspace))
    assert faults(workspace) == []


def test_a_fault_in_one_run_of_a_search_has_its_message_though_the_next_run_works(
    workspace: Path,
) -> None:
    pipeline(workspace, STAGES["scorer"])
    given = environ(workspace, "first run")
    words = ("find", "solar", "--require", "solar", "--explain")
    done = fumishirube(*words, cwd=workspace, environ=given)
    assert "run g_req" in done.out
    assert done.err.count("problem: ") == 1
    (fault,) = faults(workspace)
    assert fault.startswith("scorer 'own' failed: ValueError: no required terms (")


def test_an_import_that_interrupts_is_a_problem_of_its_plugin(workspace: Path) -> None:
    given = environ(workspace, "import")
    done = fumishirube("find", "solar", "--json", cwd=workspace, environ=given)
    assert done.code == 0, done.err
    pipeline(workspace, STAGES["scorer"])
    done = fumishirube("find", "solar", cwd=workspace, environ=given)
    assert done.code == 2
    assert "plugin owner: cannot be imported: KeyboardInterrupt" in done.err


@pytest.mark.skipif(os.name == "nt", reason="a signal to one process")
def test_an_interrupt_of_the_user_during_a_plugin_is_no_fault(workspace: Path) -> None:
    pipeline(workspace, STAGES["scorer"])
    process = subprocess.Popen(
        [warm_script(), "find", "solar"],
        cwd=workspace,
        env=os.environ | environ(workspace, "sleeps"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    appears(workspace / "asleep")
    os.kill(process_of(process), signal.SIGINT)
    assert process.communicate(timeout=30)[1] == b""
    assert process.returncode == 130
    assert faults(workspace) == []
