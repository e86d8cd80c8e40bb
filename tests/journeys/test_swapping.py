"""Only the configuration decides what runs: swap, break, remove and re-add plugins, end to end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin_venv import PluginVenv, Serving
    from stdio import Wire

pytest_plugins = ["plugin_venv"]

MANUALS = Path(__file__).parents[2] / "manuals"
SEARCH = {
    "query": "solar panel winter schedule",
    "manual_id": "field-guide",
    "required_terms": ["solar", "winter"],
}
BORDA = "pipelines:\n  manual:\n    fusers: [{use: borda}]\n"
BROKEN = (
    "broken-import",
    "broken-exit",
    "broken-hook",
    "broken-kind",
    "broken-empty",
    "broken-clash",
    "broken-rival",
    "broken-builtin-name",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    shutil.copytree(MANUALS / "field-guide", tmp_path / "manuals" / "field-guide")
    return tmp_path


def gates(wire: Wire) -> list[Any]:
    """Search, and return what the gates of ``required-terms`` did."""
    wire.ok("manual_ls")
    found = wire.ok("manual_find", **SEARCH)
    assert found["candidates"] > 0
    return list(wire.ok("manual_hits", trace_id=found["trace_id"], kind="gate_runs")["items"])


def runs(wire: Wire) -> set[str]:
    """Search, and return the names of the runs whose ranks made the best hit."""
    wire.ok("manual_ls")
    trace = wire.ok("manual_find", **SEARCH)["trace_id"]
    best = wire.ok("manual_hits", trace_id=trace, kind="fusion_debug", limit=1)["items"][0]
    return {contribution["gate"] for contribution in best["contributions"]}


def configure(workspace: Path, text: str) -> None:
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def test_installing_a_plugin_changes_nothing(serving: Serving) -> None:
    assert [gate["gate"] for gate in gates(serving())] == ["g0", "g_req"]


def test_three_lines_of_yaml_swap_the_fuser_of_the_running_server(
    serving: Serving, workspace: Path
) -> None:
    configure(workspace, BORDA)
    assert runs(serving()) == {"query", "term solar", "term winter"}
    (workspace / "fumishirube.yaml").unlink()
    assert runs(serving()) == {"g0", "g_req:A+B", "g_req:A", "g_req:B"}


def test_a_removed_plugin_stops_the_start_with_its_coordinate_and_comes_back(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path
) -> None:
    configure(workspace, BORDA)
    with plugin_venv.without("fumishirube-borda"):
        done = plugin_venv.fumishirube(workspace, "serve")
        assert done.returncode == 2
        assert "pipelines.manual.fusers[0]: no fuser is called 'borda'" in done.stderr
        assert done.stdout == ""
    assert "query" in runs(serving())


def test_broken_plugins_stop_nothing_and_are_named(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path
) -> None:
    wire = serving()
    assert gates(wire)
    told = wire.hang_up()
    reports = {
        report["plugin"]: report
        for report in json.loads(plugin_venv.fumishirube(workspace, "plugins", "--json").stdout)
    }
    doctor = plugin_venv.fumishirube(workspace, "doctor")
    assert doctor.returncode == 1
    for name in BROKEN:
        assert reports[name]["problems"], name
        assert name in doctor.stdout
        assert f"plugin {name}:" in told
    for name in ("chapters", "graph", "manual", "stages", "vault"):
        assert reports[name]["problems"] == []
    assert "update old-api" in reports["old-api"]["problems"][0]
    assert "update old-api" in doctor.stdout


def test_without_plugins_only_the_built_ins_start(plugin_venv: PluginVenv, workspace: Path) -> None:
    configure(workspace, BORDA)
    done = plugin_venv.fumishirube(workspace, "find", "solar", "--no-plugins")
    assert done.returncode == 2
    assert "no fuser is called 'borda'" in done.stderr


def test_a_failing_scorer_is_skipped_and_the_answer_says_so(
    serving: Serving, workspace: Path
) -> None:
    configure(
        workspace,
        "pipelines:\n  manual:\n    scorers: [{use: lexical}, {use: failing-scorer}]\n",
    )
    wire = serving()
    wire.ok("manual_ls")
    found = wire.ok("manual_find", **SEARCH)
    assert found["candidates"] > 0
    assert "stage 'failing-scorer'" in found["degraded"]
    assert found["degraded"].endswith("failed and was skipped")


def test_strict_makes_it_an_error(serving: Serving, workspace: Path) -> None:
    configure(
        workspace,
        "strict: true\n"
        "pipelines:\n  manual:\n    scorers: [{use: lexical}, {use: failing-scorer}]\n",
    )
    wire = serving()
    wire.ok("manual_ls")
    failed(wire)


def test_a_failing_fuser_is_skipped_and_the_answer_says_so(
    serving: Serving, workspace: Path
) -> None:
    configure(workspace, "pipelines:\n  manual:\n    fusers: [{use: failing-fuser}]\n")
    wire = serving()
    wire.ok("manual_ls")
    found = wire.ok("manual_find", **SEARCH)
    assert found["candidates"] > 0
    assert "stage 'failing-fuser'" in found["degraded"]
    wire.ping()


def failed(wire: Wire) -> None:
    answer = wire.request("tools/call", {"name": "manual_find", "arguments": SEARCH})["result"]
    assert answer["isError"]
    error = json.loads(answer["content"][0]["text"])
    assert error["code"] == "internal_error"
    assert set(error["details"]) == {"error_id"}


def test_what_a_plugin_prints_never_reaches_the_client(serving: Serving, workspace: Path) -> None:
    configure(workspace, "pipelines:\n  manual:\n    refiners: [{use: noisy}]\n")
    assert gates(serving())
