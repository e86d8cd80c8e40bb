"""What clients with further abilities get: questions, subscriptions, views, leaner lists."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from http_server import HttpServer
from manuals import opened, stranger, write
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.extension import ClientExtension
from mcp.client.stdio import stdio_client
from mcp.shared.subscriptions import ResourceUpdated
from stdio import Wire, checked, command_line

from fumishirube import NotFound
from fumishirube.disk.roots import Root

ERAS = ["legacy", "2026-07-28"]
UI = "io.modelcontextprotocol/ui"
FILES = {
    "bikes/.secret.md": "# Secret\n",
    "bikes/sub/chain.md": "# Chain\n",
    "bikes/oil.md": "# Oil\n\nOil the chain.\n",
    "boats/oil.md": "# Oil\n\nOil the engine.\n",
}
SEARCH = {"query": "oil", "required_terms": ["oil"], "inline_hits": {"limit": 1}}

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed"),
]


class Views(ClientExtension):
    """A client that shows views."""

    identifier = UI

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": ["text/html;profile=mcp-app"]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


@asynccontextmanager
async def connected(workspace: Path, era: str, **more: Any) -> AsyncIterator[Client]:
    environ = more.pop("environ", None)
    command, *words = command_line(workspace)
    started = StdioServerParameters(command=command, args=words, env=environ)
    async with Client(stdio_client(started), mode=era, **more) as client:
        yield client


# --- questions -------------------------------------------------------------------------------


@pytest.mark.many_cases
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["manual_find", "manual_grep"])
async def test_a_person_chooses_the_manual_that_a_call_leaves_open(
    workspace: Path, era: str, tool: str
) -> None:
    forms: list[Any] = []

    async def choose(_: Any, params: Any) -> types.ElicitResult:
        forms.append(params)
        return types.ElicitResult(action="accept", content={"manual_id": "boats"})

    async with connected(workspace, era, elicitation_callback=choose) as client:
        await client.call_tool("manual_ls", {})
        arguments = SEARCH if tool == "manual_find" else {"any": ["oil"]}
        answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    assert "engine" in str(answer.structured_content)
    assert "chain" not in str(answer.structured_content)
    (form,) = forms
    assert form.requested_schema["properties"]["manual_id"]["enum"] == ["bikes", "boats"]


@pytest.mark.many_cases
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel", "accept"])
async def test_without_a_choice_the_call_is_refused_as_ever(
    workspace: Path, era: str, action: Any
) -> None:
    async def refuse(_: Any, _params: Any) -> types.ElicitResult:
        content: Any = {"manual_id": "trains"} if action == "accept" else None
        return types.ElicitResult(action=action, content=content)

    async with connected(workspace, era, elicitation_callback=refuse) as client:
        await client.call_tool("manual_ls", {})
        answer = await client.call_tool("manual_find", SEARCH)
    assert answer.is_error
    assert "manual_id is required" in answer.content[0].text


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_no_one_is_asked_without_need(workspace: Path, era: str) -> None:
    async def never(_: Any, _params: Any) -> types.ElicitResult:
        raise AssertionError("asked")

    async with connected(workspace, era, elicitation_callback=never) as client:
        await client.call_tool("manual_ls", {})
        for manual_id in ("bikes", "*", ["bikes", "boats"]):
            answer = await client.call_tool("manual_find", {**SEARCH, "manual_id": manual_id})
            assert not answer.is_error
    async with connected(workspace, era) as client:
        await client.call_tool("manual_ls", {})
        assert (await client.call_tool("manual_find", SEARCH)).is_error


class Answering(Wire):
    """A client that declares forms, and answers a question with anything."""

    def request(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request; the first one declares the ability."""
        declared = {"capabilities": {"elicitation": {}}} if method == "initialize" else {}
        return super().request(method, {**params, **declared})

    def answered(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Make a call that asks, and return its result after that answer."""
        call = {"name": "manual_find", "arguments": SEARCH}
        self._send({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": call})
        question = json.loads(self._output.readline())
        assert question["method"] == "elicitation/create"
        self._send({"jsonrpc": "2.0", "id": question["id"], **answer})
        message = json.loads(self._output.readline())
        assert message["id"] == "call"
        result: dict[str, Any] = message["result"]
        return result


async def test_a_client_that_cannot_ask_is_as_one_whose_person_declines(workspace: Path) -> None:
    results = (*({}, "x", None, {"action": "bogus"}), {"action": "decline"})
    contents = ([1], {"manual_id": {"a": 1}}, {"manual_id": 3})
    with Answering(workspace) as wire:
        wire.ok("manual_ls")
        for answer in (
            {"error": {"code": -1, "message": "a secret"}},
            {"error": "x"},
            *({"result": result} for result in results),
            *({"result": {"action": "accept", "content": content}} for content in contents),
        ):
            refused = checked(wire.answered(answer), workspace)
            assert refused.payload["message"] == "manual_id is required", answer
        log = wire.hang_up()
    assert log.count("manual_find") == 2 + len(results) + len(contents)


ASKER = """
from dataclasses import replace
from typing import Any, ClassVar
from fumishirube import Answer, Params, Stage, Tool, hook
from fumishirube.tools import Question

class Reply(Answer):
    place: str

class Where(Params):
    place: str = "nowhere"

def question(arguments, session):
    return {question}

class Asker(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict[str, Any]] = {{}}

    def tools(self, context):
        run = lambda params, call: Reply(place=params.place)
        return [Tool("place", "Place", "A place.", Where, Reply, run, question=question)]

@hook
def register_surfaces(register):
    register("asker", Asker, default=True)
"""


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Question('place', 'Place', 'Where?', ['here', 'there'])", "there"),
        ("None", "nowhere"),
        ("1 / 0", "nowhere"),
        ("exit(3)", "nowhere"),
        ("3", "nowhere"),
        ("Question('place', 'Place', 'Where?', [3])", "nowhere"),
    ],
)
async def test_a_call_goes_on_without_a_question_that_a_plugin_cannot_put(
    workspace: Path, tmp_path: Path, question: str, place: str
) -> None:
    async def choose(_: Any, _params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"place": "there"})

    path = stranger(tmp_path / "plugins", ASKER.format(question=question))
    environ = {**os.environ, "PYTHONPATH": path}
    async with connected(
        workspace, "legacy", environ=environ, elicitation_callback=choose
    ) as client:
        answer = await client.call_tool("place", {})
        assert answer.structured_content == {"place": place}
        assert not (await client.call_tool("manual_ls", {})).is_error


# --- subscriptions ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_an_older_client_is_told_of_a_file_it_subscribed_to(workspace: Path) -> None:
    updated: list[str] = []
    arrived = anyio.Event()

    async def handle(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.append(str(message.params.uri))
            arrived.set()

    oil = workspace / "manuals" / "bikes" / "oil.md"
    async with connected(workspace, "legacy", message_handler=handle) as client:
        assert client.server_capabilities.resources.subscribe is True
        await client.subscribe_resource("manual://bikes/oil.md")
        await client.subscribe_resource("manual://boats/oil.md#L3-L3")
        oil.write_text("# Oil\n\nOil the chain twice.\n", encoding="utf-8")
        with anyio.fail_after(20):
            await arrived.wait()
        await client.unsubscribe_resource("manual://bikes/oil.md")
        oil.write_text("# Oil\n\nNever.\n", encoding="utf-8")
        await anyio.sleep(2.5)
    assert updated == ["manual://bikes/oil.md"]


@pytest.mark.slow
async def test_a_change_just_before_another_subscription_is_told_too(workspace: Path) -> None:
    arrived = anyio.Event()

    async def handle(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            arrived.set()

    async with connected(workspace, "legacy", message_handler=handle) as client:
        await client.subscribe_resource("manual://bikes/oil.md")
        oil = workspace / "manuals" / "bikes" / "oil.md"
        oil.write_text("# Oil\n\nOil the chain twice.\n", encoding="utf-8")
        await client.subscribe_resource("manual://bikes/oil.md")
        with anyio.fail_after(20):
            await arrived.wait()


def test_a_look_at_many_files_searches_their_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = write(tmp_path, {f"m/{number}.md": "# Oil\n" for number in range(60)})
    application = opened(workspace)
    (resources,) = application.catalog.resources
    assert resources.stamp is not None
    surveyed, looks = Root.survey, []
    monkeypatch.setattr(Root, "survey", lambda *given: looks.append("look") or surveyed(*given))
    monkeypatch.setattr("fumishirube_manual.resources.LISTED_SECONDS", 60)
    before = [resources.stamp(f"manual://m/{number}.md") for number in range(60)]
    assert looks == ["look"]
    (workspace / "manuals" / "m" / "7.md").write_text("# Another\n", encoding="utf-8")
    (workspace / "manuals" / "m" / "new.md").write_text("# New\n", encoding="utf-8")
    assert resources.stamp("manual://m/7.md") != before[7]
    assert resources.stamp("manual://m/new.md")
    (workspace / "manuals" / "m" / "8.md").unlink()
    with pytest.raises(NotFound):
        resources.stamp("manual://m/8.md")
    application.close()


@pytest.mark.slow
async def test_a_newer_client_listens_to_a_file(workspace: Path) -> None:
    uris = ["manual://bikes/oil.md", "manual://no/such.md", "other://x"]
    async with (
        connected(workspace, "2026-07-28") as client,
        client.listen(resource_subscriptions=uris) as events,
    ):
        assert events.honored.resource_subscriptions == ["manual://bikes/oil.md"]
        (workspace / "manuals" / "bikes" / "oil.md").unlink()
        with anyio.fail_after(20):
            event = await anext(aiter(events))
    assert event == ResourceUpdated(uri="manual://bikes/oil.md")


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "uri",
    [
        *("manual://no/such.md", "manual://bikes/../boats/oil.md", "file:///etc/passwd", "x"),
        *("manual://bikes/sub", "manual://bikes/.secret.md"),
    ],
)
async def test_what_cannot_be_read_cannot_be_subscribed_to(workspace: Path, uri: str) -> None:
    async with connected(workspace, "legacy") as client:
        with pytest.raises(MCPError):
            await client.subscribe_resource(uri)


# --- views -----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_only_a_client_that_shows_views_gets_them(workspace: Path, era: str) -> None:
    async with connected(workspace, era) as client:
        assert not any(tool.meta for tool in (await client.list_tools()).tools)
    async with connected(workspace, era, extensions=[Views()]) as client:
        tools = (await client.list_tools()).tools
        uris = {tool.meta["ui"]["resourceUri"] for tool in tools if tool.meta}
        assert {tool.name for tool in tools if tool.meta} == {"manual_find", "manual_hits"}
        (uri,) = uris
        (page,) = (await client.read_resource(uri)).contents
        assert (page.mime_type, page.uri) == ("text/html;profile=mcp-app", uri)
        assert page.text.startswith("<!doctype html>")
        # A host shows it in a sandbox without any network.
        assert not re.search(r"(?:src|href)=|https?://|innerHTML|eval\(", page.text)


# --- lists -----------------------------------------------------------------------------------


def listed(wire: Wire) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = wire.request("tools/list", {})["result"]["tools"]
    return tools


async def test_output_schemas_can_be_left_out(workspace: Path) -> None:
    with Wire(workspace) as wire:
        usual = listed(wire)
    with Wire(workspace, FUMISHIRUBE_OUTPUT_SCHEMAS="false") as wire:
        assert listed(wire) == [
            {key: value for key, value in tool.items() if key != "outputSchema"} for tool in usual
        ]
        wire.ok("manual_ls")  # the structured answer stays
    assert all("outputSchema" in tool for tool in usual)


@pytest.mark.slow
@pytest.mark.parametrize(("reload", "milliseconds"), [("true", 0), ("false", 300_000)])
async def test_lists_are_fresh_for_minutes_where_no_reload_can_change_them(
    workspace: Path, reload: str, milliseconds: int
) -> None:
    environ = {"FUMISHIRUBE_RELOAD": reload}
    async with connected(workspace, "2026-07-28", environ=environ) as client:
        assert (await client.list_tools()).ttl_ms == milliseconds
        assert (await client.list_prompts()).ttl_ms == milliseconds
        assert (await client.list_resource_templates()).ttl_ms == milliseconds
        assert (await client.list_resources()).ttl_ms == 0
        assert (await client.read_resource("manual://bikes/oil.md")).ttl_ms == 0
    if reload == "true":
        return
    with Wire(workspace, **environ) as wire:
        before = listed(wire)
        (workspace / "fumishirube.yaml").write_text("surfaces: [{use: vault}]\n", encoding="utf-8")
        await anyio.sleep(2.5)
        assert listed(wire) == before


async def test_lists_are_fresh_over_http_too(workspace: Path) -> None:
    with HttpServer(workspace, FUMISHIRUBE_RELOAD="false") as server:
        async with Client(f"{server.url}/mcp", mode="2026-07-28") as client:
            assert (await client.list_tools()).ttl_ms == 300_000
