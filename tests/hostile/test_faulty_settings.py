"""Stages of plugins whose settings, or what they say of themselves, cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manuals import Done, fumishirube, write
from strangers import stranger

PLUGIN = """
import sys, threading
from contextlib import contextmanager
from typing import Any, ClassVar
from fumishirube import ConfigError, Ranking, Stage, hook

def fail(*_):
    raise RuntimeError("hostile")

def refuse():
    raise ConfigError("no model is here; download one")

class Vague:
    generates = property(fail)
    score = fail

class Own(Stage):
    generates: ClassVar[bool] = True

    def score(self, query, corpus, candidates):
        return ()

{body}

@hook
def register_scorers(register):
    register("own", Own)
"""
SURFACE = """
from typing import Any, ClassVar
from fumishirube import Stage, hook

class Asker(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict[str, Any]] = {"scorers": [{"use": "own"}]}

    def tools(self, context):
        return []

{body}

@hook
def register_surfaces(register):
    register("asker", Asker, default=True)
"""
AT = "pipelines.manual.scorers[1]: scorer 'own' of plugin owner: "


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})


def offer(workspace: Path, body: str, *, configured: bool = True) -> None:
    """Install a plugin with a scorer, whose class has a further line, and configure it."""
    plugins = workspace.parent / "plugins"
    stranger(plugins, "owner", PLUGIN.replace("{body}", f"    {body}"))
    if configured:
        text = "pipelines: {manual: {scorers: [{use: lexical}, {use: own}]}}\n"
        (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def run(workspace: Path, *words: str) -> Done:
    environ = {"PYTHONPATH": str(workspace.parent / "plugins")}
    return fumishirube(*words, cwd=workspace, environ=environ)


UNUSABLE = [
    ("size: int = object()", "PydanticSerializationError: "),
    ("def model_dump(self, **_): fail()", "RuntimeError: hostile"),
    ("fingerprint = property(fail)", "RuntimeError: hostile"),
    ("fingerprint = property(lambda self: 3)", "TypeError: 'fingerprint' is of the type int"),
    ("revision: ClassVar[Any] = 'second'", "TypeError: "),
    ("last = property(fail)", "RuntimeError: hostile"),
    ("needs = property(lambda self: sys.exit(0))", "SystemExit: 0"),
    ("def __getattr__(self, name): sys.exit(0)", "SystemExit: 0"),
    ("def lacking(self, stages): fail()", "RuntimeError: hostile"),
    ("open = contextmanager(fail)", "RuntimeError: hostile"),
    ("open = contextmanager(lambda self: (yield))", "TypeError: its open() yields a NoneType"),
    ("open = contextmanager(lambda self: (yield Vague()))", "RuntimeError: hostile"),
    ("open = contextmanager(lambda self: refuse())", "no model is here; download one"),
    ("model_post_init = lambda self, context: refuse()", "no model is here; download one"),
]


@pytest.mark.parametrize(("body", "problem"), UNUSABLE)
@pytest.mark.many_cases
def test_a_stage_that_cannot_be_used_stops_the_start_with_its_coordinate_and_plugin(
    workspace: Path, body: str, problem: str
) -> None:
    offer(workspace, body)
    done = run(workspace, "find", "oil")
    assert done.code == 2, done.err
    assert f"configuration error: {AT}{problem}" in done.err
    listed = run(workspace, "plugins", "--json")
    assert listed.code == 0, listed.err
    assert f"note: {AT}{problem}" in listed.err
    doctor = run(workspace, "doctor", "--json")
    assert doctor.code == 2
    found = [c["finding"] for c in doctor.json if c["subject"] == "configuration"]
    assert [finding.startswith(f"{AT}{problem}") for finding in found] == [True]


WITHOUT_SCHEMA = [
    ("lock: threading.Lock = None", "PydanticSchemaGenerationError: "),
    ("size: 'Nowhere' = None", "PydanticUserError: "),
    ("__get_pydantic_core_schema__ = classmethod(fail)", "RuntimeError: hostile"),
    ("__get_pydantic_json_schema__ = classmethod(fail)", "RuntimeError: hostile"),
    ("__get_pydantic_json_schema__ = classmethod(lambda *_: sys.exit(0))", "SystemExit: 0"),
]


def uses(schema: Done) -> dict[str, Any]:
    """Return the schemas of the uses of scorers by name."""
    scorers = schema.json["$defs"]["scorer"]["oneOf"]
    return {use["properties"]["use"]["const"]: use for use in scorers}


@pytest.mark.many_cases
@pytest.mark.parametrize(("body", "problem"), WITHOUT_SCHEMA)
def test_settings_without_a_schema_leave_the_schema_of_all_others(
    workspace: Path, body: str, problem: str
) -> None:
    known = uses(run(workspace, "config", "schema"))
    offer(workspace, body, configured=False)
    done = run(workspace, "config", "schema")
    assert done.code == 0, done.err
    told = f"problem: plugin owner: scorer 'own': its settings have no schema: {problem}"
    assert done.err.startswith(told)
    scorers = uses(done)
    assert scorers.pop("own")["properties"]["with"] == {"type": "object"}
    assert scorers == known
    assert run(workspace, "find", "oil", "--json").json["hits"]


def test_what_a_schema_prints_stays_out_of_the_output(workspace: Path) -> None:
    body = "__get_pydantic_json_schema__ = classmethod(lambda c, s, h: print('noise') or h(s))"
    offer(workspace, body, configured=False)
    done = run(workspace, "config", "schema")
    assert done.code == 0
    assert done.json["$defs"]["scorer"]
    assert "noise" in done.err


@pytest.mark.slow
def test_a_module_that_is_imported_slowly_is_named_while_all_else_waits(workspace: Path) -> None:
    offer(workspace, "__import__('time').sleep(7)")
    done = run(workspace, "find", "oil", "--json")
    assert done.json["hits"]
    assert "plugin owner: its import failed: it is not imported after 5 s" in done.err
    listed = run(workspace, "plugins", "--json").json
    assert [report["faults"] for report in listed if report["plugin"] == "owner"] == [[]]


@pytest.mark.slow
def test_a_surface_is_not_named_for_a_slow_stage_of_another_plugin(workspace: Path) -> None:
    offer(workspace, "model_post_init = lambda self, context: __import__('time').sleep(7)")
    stranger(workspace.parent / "plugins", "asker", SURFACE.replace("{body}", ""))
    (workspace / "fumishirube.yaml").unlink()
    done = run(workspace, "find", "oil", "--json")
    assert done.json["hits"]
    assert "plugin owner: scorer 'own' failed: it is not open after 5 s" in done.err
    assert "asker" not in done.err


def test_a_stage_is_not_named_for_a_surface_that_fails_to_say_whether_it_uses_it(
    workspace: Path,
) -> None:
    offer(workspace, "pass", configured=False)
    body = "    def unused(self, key, name, stage): raise RuntimeError('hostile')"
    stranger(workspace.parent / "plugins", "asker", SURFACE.replace("{body}", body))
    text = "pipelines: {asker: {scorers: [{use: own}]}}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")
    done = run(workspace, "find", "oil", "--json")
    place = "configuration error: pipelines.asker.scorers[0]: "
    assert f"{place}surface 'asker' of plugin asker: RuntimeError: hostile" in done.err
    assert "owner" not in done.err


@pytest.mark.slow
def test_a_stage_that_closes_slowly_is_named_while_all_else_waits(workspace: Path) -> None:
    opening = """@contextmanager
    def open(self):
        yield self
        __import__("time").sleep(7)
"""
    offer(workspace, opening)
    done = run(workspace, "find", "oil", "--json")
    assert done.json["hits"]
    assert "plugin owner: scorer 'own' failed: it is not closed after 5 s" in done.err


def test_a_stage_that_fails_to_close_is_named_after_the_answer(workspace: Path) -> None:
    opening = """@contextmanager
    def open(self):
        yield self
        fail()
"""
    offer(workspace, opening)
    done = run(workspace, "find", "oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert "problem: plugin owner: scorer 'own' failed: RuntimeError: hostile" in done.err
    doctor = run(workspace, "doctor", "--json")
    assert doctor.code == 1
    assert any(check["subject"] == "plugin owner" for check in doctor.json)
