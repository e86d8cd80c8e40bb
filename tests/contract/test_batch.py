"""Several calls in one: each is answered, or refused, as if it were made alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import opened, write
from stdio import Fumishirube, Wire
from torture import examples

from fumishirube import Budget, Call, Cancelled
from fumishirube.tools import call_tool

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.filterwarnings("ignore:ping is removed"),
]

FILES = {
    "leave/rules.md": "# 休暇\n有給休暇は20日です。\n## 特例\n育児のときは在宅勤務を認めます。\n",
    "leave/long.md": "# Long\n" + "a line of a long text, number 12345.\n" * 2_000,
    "pay/rates.json": '{"在宅勤務": 3000}',
}
CHANGING = {"trace_id", "seconds", "error_id"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("batch"), FILES)


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as client:
        client.ok("manual_ls")
        yield client


def find(manual_id: str = "leave", **more: Any) -> dict[str, Any]:
    return {"query": "在宅勤務", "manual_id": manual_id, "required_terms": ["在宅勤務"], **more}


def lasting(value: Any) -> Any:
    """Return an answer without what differs from call to call."""
    if isinstance(value, dict):
        return {key: lasting(member) for key, member in value.items() if key not in CHANGING}
    return [lasting(member) for member in value] if isinstance(value, list) else value


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("manual_ls", {}),
    ("manual_toc", {"manual_id": "leave"}),
    ("manual_find", find()),
    ("manual_find", find("*", alternatives=["育児"])),
    ("manual_find", find("nowhere")),
    ("manual_find", {"query": 3}),
    ("manual_grep", {"any": ["在宅勤務", "20日"], "manual_id": "*"}),
    ("manual_grep", {"regex": "(", "manual_id": "leave"}),
    ("manual_hits", {"trace_id": "0" * 32}),
    ("manual_read", {"refs": [{"manual_id": "leave", "path": "rules.md"}]}),
    ("manual_read", {"refs": [{"manual_id": "leave", "path": "../pay/rates.json"}]}),
    ("manual_scan", {"manual_id": "pay", "path": "rates.json"}),
    ("manual_scan", {"manual_id": "pay", "path": "rates.json", "unknown": True}),
]


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(chosen=st.lists(st.sampled_from(CALLS), min_size=1, max_size=5))
def test_each_call_is_answered_as_if_it_were_made_alone(
    server: Fumishirube, chosen: list[tuple[str, dict[str, Any]]]
) -> None:
    calls = [{"tool": name, "arguments": arguments} for name, arguments in chosen]
    items = server.ok("manual_batch", calls=calls)["items"]
    assert [item["tool"] for item in items] == [name for name, _ in chosen]
    for item, (name, arguments) in zip(items, chosen, strict=True):
        alone = server.call(name, arguments)
        kind = "error" if alone.is_error else "answer"
        assert item.keys() == {"tool", kind}
        assert lasting(item[kind]) == lasting(alone.payload)


def test_the_text_is_that_of_each_answer_below_its_number_and_name(workspace: Path) -> None:
    calls = [
        {"tool": "manual_grep", "arguments": {"any": ["20日"], "manual_id": "*"}},
        {"tool": "manual_read", "arguments": {"refs": [{"manual_id": "leave", "path": "no.md"}]}},
    ]
    with Wire(workspace) as wire:
        wire.request("tools/call", {"name": "manual_ls", "arguments": {}})
        batched = wire.request(
            "tools/call", {"name": "manual_batch", "arguments": {"calls": calls}}
        )
        alone = [
            wire.request("tools/call", {"name": one["tool"], "arguments": one["arguments"]})
            for one in calls
        ]
    grep, refused = (one["result"]["content"][0]["text"] for one in alone)
    assert batched["result"]["content"][0]["text"] == (
        f"## 1 manual_grep\n{grep}\n\n## 2 manual_read\nerror: {refused}"
    )
    assert not batched["result"].get("isError")


def test_an_id_is_refused_before_it_is_listed_and_taken_after_a_search_everywhere(
    workspace: Path,
) -> None:
    with Fumishirube(workspace) as fresh:
        one = {"tool": "manual_find", "arguments": find()}
        (item,) = fresh.ok("manual_batch", calls=[one])["items"]
        assert item["error"]["details"] == {"required_first_call": "manual_ls"}
        everywhere = {"tool": "manual_find", "arguments": find("*")}
        first, second = fresh.ok("manual_batch", calls=[everywhere, one])["items"]
        assert first["answer"]["candidates"]
        assert second["answer"]["candidates"] == 1


def test_no_further_call_is_made_when_the_answers_fill_the_page(workspace: Path) -> None:
    read = {
        "tool": "manual_scan",
        "arguments": {"manual_id": "leave", "path": "long.md", "max_chars": 30_000},
    }
    with Wire(workspace) as wire:
        wire.request("tools/call", {"name": "manual_ls", "arguments": {}})
        arguments = {"calls": [read, {"tool": "manual_ls"}]}
        result = wire.request("tools/call", {"name": "manual_batch", "arguments": arguments})
    first, second = result["result"]["structuredContent"]["items"]
    assert len(first["answer"]["text"]) > 29_000
    assert second == {"tool": "manual_ls"}
    assert "## 2 manual_ls\nnot called: " in result["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("calls", "parameter"),
    [
        ([], "calls"),
        ([{"tool": "manual_ls"}] * 6, "calls"),
        (
            [{"tool": "vault_create", "arguments": {"path": "a.md", "content": "x"}}],
            "calls[0].tool",
        ),
        ([{"tool": "manual_ls"}, {"tool": "manual_batch", "arguments": {}}], "calls[1].tool"),
        ([{"tool": "manual_ls", "arguments": [1]}], "calls[0].arguments"),
        ([{"arguments": {}}], "calls[0].tool"),
        ([{"tool": "manual_ls", "more": 1}], "calls[0].more"),
    ],
)
def test_wrong_calls_are_refused_before_any_is_made(
    server: Fumishirube, calls: list[Any], parameter: str
) -> None:
    refused = server.refused("manual_batch", calls=calls)
    assert (refused["code"], refused["details"]["parameter"]) == ("invalid_parameter", parameter)


class Recorded(list[Any]):
    """The calls that a batch has made, and their errors."""

    def count(self, number: int) -> None:
        """Allow all."""

    def report(self, tool: str, *made: Any) -> None:
        """Record one."""
        self.append((tool, made[2]))


def test_the_call_during_which_its_client_leaves_is_recorded(workspace: Path) -> None:
    made, budget = Recorded(), Budget()
    budget.cancelled.set()
    call = {"tool": "manual_grep", "arguments": {"any": ["20日"], "manual_id": "*"}}
    with closing(opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="batch,grep")) as application:
        tool = application.tools["manual_batch"]
        with pytest.raises(Cancelled) as left:
            call_tool(tool, {"calls": [call, call]}, Call(budget=budget, inner=made))
    assert made == [("manual_grep", left.value)]


def test_calls_may_come_as_json_and_nulls_count_as_absent(server: Fumishirube) -> None:
    calls = json.dumps([{"tool": "manual_ls", "arguments": {"id": None}}])
    (item,) = server.ok("manual_batch", calls=calls)["items"]
    assert item["answer"]["items"]


def test_arguments_at_every_depth_may_come_as_json(server: Fumishirube) -> None:
    arguments = {"any": ["20日"], "manual_id": "*"}
    plain = [{"tool": "manual_grep", "arguments": arguments}]
    expected = server.ok("manual_batch", calls=plain)["items"]
    assert expected[0]["answer"]["total"]
    packed: list[Any] = [
        [{"tool": "manual_grep", "arguments": json.dumps(arguments)}],
        [json.dumps(plain[0])],
        [{"tool": "manual_grep", "arguments": {**arguments, "any": '["20日"]'}}],
        json.dumps([{"tool": "manual_grep", "arguments": json.dumps(arguments)}]),
    ]
    for calls in packed:
        assert server.ok("manual_batch", calls=calls)["items"] == expected
    for wrong in ("[1]", "{", "text", '"{}"'):
        refused = server.refused("manual_batch", calls=[{"tool": "manual_ls", "arguments": wrong}])
        assert refused["details"]["parameter"] == "calls[0].arguments"


@pytest.mark.parametrize(("extras", "offered"), [("none", False), ("grep", False), ("batch", True)])
def test_the_tool_is_an_extra(workspace: Path, extras: str, offered: bool) -> None:
    with Wire(workspace, FUMISHIRUBE_SURFACE_EXTRAS=extras) as wire:
        tools = {tool["name"] for tool in wire.request("tools/list", {})["result"]["tools"]}
        assert ("manual_batch" in tools) == offered
        if offered:
            calls = [{"tool": "manual_ls"}, {"tool": "manual_grep", "arguments": {}}]
            one = {"name": "manual_batch", "arguments": {"calls": calls}}
            assert "calls[1].tool" in json.dumps(wire.request("tools/call", one))
