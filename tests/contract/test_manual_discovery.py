"""The manual tools are listed with the arguments of the contract, and manual_ls comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manual_tools import AFTER_DISCOVERY, CONTRACT, TOOLS, coded
from stdio import Fumishirube

pytest_plugins = ["manual_servers"]


@pytest.fixture(scope="module")
def server(contract_server: Fumishirube) -> Fumishirube:
    return contract_server


@pytest.fixture(scope="module")
def stranger(contract_workspace: Path) -> Iterator[Fumishirube]:
    """A connection that never lists the manuals."""
    with Fumishirube(contract_workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        yield connected


def test_the_six_tools_are_listed_with_the_arguments_of_the_contract(server: Fumishirube) -> None:
    tools = server.tools()
    manual_tools = [name for name in tools if name.startswith("manual_")]
    assert [name for name in manual_tools if name != "manual_grep"] == list(TOOLS)
    for name, arguments in TOOLS.items():
        schema = tools[name].input_schema
        assert list(schema["properties"]) == arguments
        assert schema["additionalProperties"] is False
        assert tools[name].description
        assert tools[name].title
        assert tools[name].output_schema["type"] == "object"
        assert tools[name].annotations.read_only_hint is True
        assert tools[name].annotations.open_world_hint is False


def test_the_required_arguments_are_those_of_the_contract(server: Fumishirube) -> None:
    required = {
        name: tool.input_schema.get("required", []) for name, tool in server.tools().items()
    }
    assert {name: required[name] for name in TOOLS} == {
        "manual_ls": [],
        "manual_toc": ["manual_id"],
        "manual_find": ["query", "manual_id", "required_terms"],
        "manual_hits": ["trace_id"],
        "manual_read": ["ref"],
        "manual_scan": ["manual_id", "path"],
    }


@pytest.mark.parametrize("tool", AFTER_DISCOVERY)
@pytest.mark.parametrize("good", [True, False])
def test_before_manual_ls_a_tool_asks_for_it_whatever_else_is_wrong(
    stranger: Fumishirube, tool: str, good: bool
) -> None:
    error = stranger.refused(tool, **(AFTER_DISCOVERY[tool] if good else {"nope": "../.."}))
    assert error["code"] == "invalid_parameter"
    assert error["details"] == {"required_first_call": "manual_ls"}


@pytest.mark.parametrize("arguments", [{"id": "nope"}, {"id": ".."}, {"nope": 1}])
def test_a_failed_manual_ls_opens_nothing(stranger: Fumishirube, arguments: dict[str, Any]) -> None:
    stranger.refused("manual_ls", **arguments)
    error = stranger.refused("manual_toc", manual_id="m1")
    assert error["details"] == {"required_first_call": "manual_ls"}


def test_manual_hits_needs_no_discovery(stranger: Fumishirube) -> None:
    assert stranger.refused("manual_hits", trace_id="nope")["code"] == "not_found"


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_any_successful_manual_ls_opens_the_other_tools(contract_workspace: Path, era: str) -> None:
    with Fumishirube(contract_workspace, era) as server:
        server.refused("manual_toc", manual_id="m1")
        server.ok("manual_ls", id=f"dir::m1::{coded('sub')}")
        for tool, arguments in AFTER_DISCOVERY.items():
            server.ok(tool, **arguments)
