"""Spans of searches, by OpenTelemetry's own SDK in a real process, exported to a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import manuals
import pytest
from stdio import HELLO

# What an operator's own start-up file does; the spans wait for a batch that is never full.
OPERATOR = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

out = open(sys.argv.pop(1), "a", encoding="utf-8")
exporter = ConsoleSpanExporter(out=out, formatter=lambda span: span.to_json(indent=None) + "\\n")
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=600_000))
trace.set_tracer_provider(provider)
from fumishirube.faces.cli import main
main()
"""
NOBODY = """
import sys
sys.argv.pop(1)
import fumishirube.faces.cli.serve as serve
leave = serve.exit_now
serve.exit_now = lambda: (print(*sorted(sys.modules), file=sys.stderr), leave())
from fumishirube.faces.cli import main
main()
"""


def served(workspace: Path, start: str, file: Path) -> str:
    """Serve a find; return standard error."""
    manuals.write(workspace, {"a/a.md": "# 秘密\n給付の日額。\n"})
    find = {"query": "日額", "manual_id": "a", "required_terms": ["日額"]}
    calls = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        *(
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            for number, name, arguments in ((2, "manual_ls", {}), (3, "manual_find", find))
        ),
    ]
    command = [sys.executable, "-c", start, str(file), "serve", "--workspace", str(workspace)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for call in calls:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **call}).encode() + b"\n")
            process.stdin.flush()
            if "id" in call:
                answer = json.loads(process.stdout.readline())
                assert not answer["result"].get("isError")
        process.stdin.close()
        errors = process.stderr.read().decode()
        assert process.wait(30) == 0, errors
    return errors


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The spans of a served find, by name."""
    pytest.importorskip("opentelemetry.sdk", reason="install fumishirube[otel] to see spans")
    folder = tmp_path_factory.mktemp("spans")
    served(folder, OPERATOR, folder / "spans.jsonl")
    lines = (folder / "spans.jsonl").read_text(encoding="utf-8").splitlines()
    return {span["name"]: span for span in map(json.loads, lines)}


def test_a_search_is_a_tree_of_spans_below_its_call(spans: dict[str, dict[str, Any]]) -> None:
    def above(name: str) -> str:
        parent = spans[name]["parent_id"]
        return next(one["name"] for one in spans.values() if one["context"]["span_id"] == parent)

    assert above("search") == "tools/call manual_find"
    assert above("fuser required-terms") == "search" or above("run g0") == "search"
    assert above("refiner cutoff") == "search"
    assert any(name.startswith("scorer ") for name in spans)
    assert spans["search"]["attributes"]["fumishirube.manual"] == "a"
    assert spans["search"]["start_time"] <= spans["refiner cutoff"]["start_time"]
    call = spans["tools/call manual_find"]["context"]["trace_id"]
    kinds = ("run ", "scorer ", "refiner ")
    stages = [one for name, one in spans.items() if name.startswith(kinds)]
    assert {one["context"]["trace_id"] for one in (*stages, spans["search"])} == {call}


def test_no_span_holds_a_text(spans: dict[str, dict[str, Any]]) -> None:
    told = json.dumps(spans, ensure_ascii=False)
    assert "日額" not in told
    assert "秘密" not in told


@pytest.mark.slow
def test_who_has_no_sdk_does_not_pay_for_it(tmp_path: Path) -> None:
    loaded = served(tmp_path, NOBODY, tmp_path / "none").split()
    assert "fumishirube_stages" in loaded
    assert "fumishirube_stages.telemetry" not in loaded
    assert "opentelemetry.sdk" not in loaded
