"""Errors that plugins raise for the caller: without absolute paths; a fault if they are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import fumishirube, write
from stdio import Wire
from strangers import stranger

from fumishirube import NotFound
from fumishirube.host.plugin_guard import drop_paths

PLUGIN = """
import itertools, os
from pathlib import Path
from typing import Any, ClassVar
from fumishirube import Answer, ConfigError, NotFound, Params, Stage, Tool, Unreadable, hook
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.loaders.markdown import Markdown
from fumishirube_stages.tokenizers.bigram import Bigram

FAULT = os.environ.get("FAULT", "")

class Nothing(Answer):
    pass

def run(params, call):
    where = Path(__file__).resolve()
    if FAULT == "details":
        raise NotFound("no page", candidate_ids=[str(where), {"in": f"File '{where}'"}])
    if FAULT == "object":
        raise NotFound("no page", place=object())
    if FAULT == "config":
        raise ConfigError(f"no model: {where}", at=str(where))
    raise NotFound(f"no page: {where}")

class Tools(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict[str, Any]] = {}

    def tools(self, context):
        return [Tool("odd_read", "Odd", "Reads.", Params, Nothing, run)]

class Lists(Markdown):
    def load(self, root, source):
        if FAULT == "unreadable":
            raise Unreadable(str(root.path / source.path), "damaged")
        if FAULT.startswith("reason"):
            raise Unreadable("no", eval(FAULT.removeprefix("reason ")))
        if FAULT == "load" and source.path == "b.md":
            raise KeyError(source.path)
        return super().load(root, source)

class Words(Bigram):
    def terms(self, text):
        return (str(n) for n in itertools.count()) if FAULT == "endless" else super().terms(text)

class Refines(Stage):
    def refine(self, ranking, query, corpus):
        if FAULT == "refine":
            raise NotFound(str(Path(__file__).resolve()))
        return ranking

@hook
def register_surfaces(register):
    register("odd", Tools)

@hook
def register_loaders(register):
    register("odd", Lists)

@hook
def register_tokenizers(register):
    register("odd", Words)

@hook
def register_refiners(register):
    register("odd", Refines)
"""
CONFIG = """\
surfaces: [{use: manual}, {use: odd}]
pipelines: {manual: {loaders: [{use: odd}], refiners: [defaults, {use: odd}]}}
"""
FIND = {"manual_id": "m", "query": "solar winter", "required_terms": ["solar"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    stranger(tmp_path / "plugins", "odd", PLUGIN)
    files = {"m/a.md": "# Power\n\nSolar.\n", "m/b.md": "# Pumps\n\nSolar boiler.\n"}
    workspace = write(tmp_path / "work", files)
    (workspace / "fumishirube.yaml").write_text(CONFIG, encoding="utf-8")
    return workspace


def serving(workspace: Path, fault: str) -> Wire:
    plugins = workspace.parent / "plugins"
    return Wire(workspace, PYTHONPATH=str(plugins), FAULT=fault)


def failed(wire: Wire, tool: str, **arguments: Any) -> str:
    """Call a tool that must fail; return the message."""
    result = wire.request("tools/call", {"name": tool, "arguments": arguments})["result"]
    error = result["_meta"]["fumishirube/error"]
    assert error["code"] == "internal_error"
    return str(error["message"])


@pytest.mark.parametrize("fault", ["message", "details"])
def test_errors_of_tools_have_no_absolute_paths(workspace: Path, fault: str) -> None:
    with serving(workspace, fault) as wire:
        refused = wire.refused("odd_read")
        assert refused["code"] == "not_found"
        assert str(workspace.parent) not in str(refused)
        assert ".py" in str(refused), "the last name of the path stays"


def test_errors_of_the_configuration_have_no_absolute_paths(workspace: Path) -> None:
    with serving(workspace, "config") as wire:
        message = failed(wire, "odd_read")
        assert "odd.py: no model: odd.py" in message
        assert str(workspace.parent) not in message


def test_an_error_whose_details_are_no_json_is_a_fault_of_the_plugin(workspace: Path) -> None:
    with serving(workspace, "object") as wire:
        assert "tool 'odd_read' of plugin odd failed" in failed(wire, "odd_read")
        assert "plugin odd: tool 'odd_read' failed" in wire.hang_up()


def test_errors_of_stages_have_no_absolute_paths(workspace: Path) -> None:
    with serving(workspace, "refine") as wire:
        wire.ok("manual_ls")
        degraded = wire.ok("manual_find", **FIND)["degraded"]
        assert "refiner 'odd' of plugin odd failed" in degraded
        assert str(workspace.parent) not in degraded
    with serving(workspace, "unreadable") as wire:
        wire.ok("manual_ls")
        refused = wire.refused("manual_scan", manual_id="m", path="b.md")
        assert refused["details"]["reason"] == "damaged"
        assert str(workspace) not in str(refused)


def test_files_on_which_a_loader_of_a_plugin_fails_are_named_and_prove_nothing(
    workspace: Path,
) -> None:
    with serving(workspace, "load") as wire:
        wire.ok("manual_ls")
        answer = wire.ok("manual_find", **{**FIND, "query": "solar boiler"})
        assert "loader 'odd' of plugin odd failed on b.md: not searched" in answer["degraded"]
        assert "nowhere" not in answer


@pytest.mark.parametrize("reason", ["None", "5", "''", "'half a pair \\udc80'"])
def test_a_file_that_is_unreadable_for_no_reason_is_a_fault_of_its_loader(
    workspace: Path, reason: str
) -> None:
    with serving(workspace, f"reason {reason}") as wire:
        wire.ok("manual_ls")
        degraded = wire.ok("manual_find", **FIND)["degraded"]
        assert "loader 'odd' of plugin odd failed on a.md and 1 more: not searched" in degraded
        assert "plugin odd: loader 'odd' failed on m/a.md" in wire.hang_up()


def test_a_generator_without_an_end_is_a_fault(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text(
        "pipelines: {manual: {tokenizer: {use: odd}}}\n", encoding="utf-8"
    )
    with serving(workspace, "endless") as wire:
        wire.ok("manual_ls")
        assert "tokenizer 'odd' of plugin odd failed" in failed(wire, "manual_find", **FIND)
    environ = {"PYTHONPATH": str(workspace.parent / "plugins"), "FAULT": "endless"}
    done = fumishirube("doctor", cwd=workspace, environ=environ)
    assert "tokenizer 'odd' failed: ValueError: it yields more than 1000000 items" in done.out


def test_a_file_that_could_not_be_opened_is_read_again(tmp_path: Path) -> None:
    """The time stamp of the file does not change when it can be opened again."""
    vanishing = PLUGIN.replace(
        "return super().load(root, source)",
        'gone = root.path / "gone"\n'
        "        if gone.exists():\n"
        "            gone.unlink()\n"
        '            raise NotFound("no such file")\n'
        "        return super().load(root, source)",
    )
    stranger(tmp_path / "plugins", "odd", vanishing)
    workspace = write(tmp_path / "work", {"m/a.md": "# Power\n\nSolar winter.\n"})
    (workspace / "fumishirube.yaml").write_text(CONFIG, encoding="utf-8")
    (workspace / "manuals/m/gone").touch()
    with serving(workspace, "") as wire:
        wire.ok("manual_ls")
        found = [wire.ok("manual_find", **FIND)["candidates"] for _ in range(2)]
        assert found == [0, 1]


@given(st.text("/abl:. é'\"\\", max_size=30))
def test_texts_without_absolute_paths_stay(text: str) -> None:
    error = NotFound(text, place=text)
    drop_paths(error)
    if not any(f"{sign}/" in f" {text}" for sign in " é:'\"") and "\\" not in text:
        assert (str(error), error.details["place"]) == (text, text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no page /usr/share/doc/a.md", "no page a.md"),
        ("File '/usr/lib/x.py', line 3", "File 'x.py', line 3"),
        (r"C:\Users\me\a.md is gone", "a.md is gone"),
        (r"\\host\share\a.md", "a.md"),
        ("links of the form /l/chat/0", "links of the form /l/chat/0"),
        ("see https://example.org/usr/a and manual://m/usr/a.md", None),
        ("either/or, 5/6", None),
        ("cannot open:/usr/lib/x.py", "cannot open:x.py"),
        ("no page file:///usr/share/doc/a.md", "no page file:a.md"),
        ("no page file:///C:/Users/me/a.md", "no page file:a.md"),
        ("file:/usr/lib/x.db?mode=ro", "file:x.db?mode=ro"),
        ("//usr/lib/x.py", "x.py"),
        ("ファイル/usr/lib/x.pyがない", "ファイルx.pyがない"),
        ("資料/usr/規程/a.md, 資料/詳細/usr/lib/a.md", None),
        (f"/usr/lib/{'x' * 999}, /{'x' * 999}/a.md", f"{'x' * 999}, /{'x' * 999}/a.md"),
    ],
)
def test_only_absolute_paths_are_replaced(text: str, shown: str | None) -> None:
    error = NotFound(text, places={text: (text,)})
    drop_paths(error)
    expected = text if shown is None else shown
    assert str(error) == expected
    assert error.details == {"places": {expected: (expected,)}}
