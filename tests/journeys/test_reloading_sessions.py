"""What changes while tools are served reaches the clients of both eras, and ends no session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from http_server import SECONDS, HttpServer, probing
from mcp import Client
from stdio import Wire, checked

CHANGED = "notifications/tools/list_changed"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SEARCH = {"query": "入院", "required_terms": ["入院"], "manual_id": "給付編"}
WIDE = "surfaces: [{use: manual}, {use: vault}]\n"
NARROW = "surfaces: [{use: manual}]\n"

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = probing(tmp_path)
    write(folder, WIDE)
    return folder


@pytest.fixture
def server(workspace: Path) -> Iterator[HttpServer]:
    with HttpServer(workspace) as running:
        yield running


@pytest.fixture
def client(workspace: Path) -> Iterator[Watching]:
    with Watching(workspace) as running:
        yield running


def write(workspace: Path, yaml: str) -> None:
    (workspace / "fumishirube.yaml").write_text(yaml, encoding="utf-8")


class Watching(Wire):
    """A client over standard input and output that also looks at what it did not ask for."""

    def next(self) -> dict[str, Any]:
        """Return the next message, whatever it is."""
        message: dict[str, Any] = json.loads(self._output.readline())
        return message

    def logged_line(self) -> str:
        """Return the next line of standard error."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode()

    def names(self) -> list[str]:
        """Return the names of the tools."""
        listed = self.request("tools/list", {})["result"]["tools"]
        return [tool["name"] for tool in listed]


@pytest.mark.slow
def test_a_session_goes_on_with_what_it_knows(client: Watching) -> None:
    client.ok("manual_ls")
    trace = client.ok("manual_find", **SEARCH)["trace_id"]
    assert "vault_read" in client.names()
    write(client.workspace, f"{NARROW}pipelines: {{manual: {{fusers: []}}}}\n")
    assert client.next()["method"] == CHANGED
    assert "vault_read" not in client.names()
    assert client.request("tools/call", {"name": "vault_ls"})["error"]["code"] == -32602
    assert client.ok("manual_hits", trace_id=trace)["items"]
    found = client.ok("manual_find", **SEARCH)
    assert found["trace_id"] != trace
    client.ping()


@pytest.mark.slow
def test_who_knows_the_list_is_not_told_of_it_again(client: Watching) -> None:
    client.names()
    write(client.workspace, f"{WIDE}traces: {{keep: 9}}\n")
    assert client.logged_line() == "reloaded\n"
    client.ping()
    write(client.workspace, "surfaces: [{use: manua}]\n")
    assert client.logged_line().startswith(
        "reload refused: surfaces[0]: no surface is called 'manua'"
    )
    sent = client.request("tools/list", {})
    assert "result" in sent
    assert client.hang_up() == ""


@pytest.mark.slow
def test_a_newer_client_that_listens_is_told(workspace: Path) -> None:
    """Also where the files alone are others."""
    with Newer(workspace) as client:
        wanted = {"resourcesListChanged": True}
        client.ask("subscriptions/listen", notifications=wanted)
        assert client.next()["method"] == "notifications/subscriptions/acknowledged"
        client.ask("tools/call", name="manual_ls", arguments={})
        assert client.next()["result"]["structuredContent"]
        write(workspace, f"{WIDE}limits: {{depth: 9}}\n")
        assert client.next()["method"] == CHANGED.replace("tools", "resources")
        client.ask("tools/call", name="manual_find", arguments=SEARCH)
        assert client.next()["result"]["structuredContent"]["trace_id"]


class Newer(Watching):
    """The same in the era without a handshake."""

    def request(self, method: str, params: Any) -> dict[str, Any]:
        """Send nothing at the start."""
        return {}

    def _send(self, message: dict[str, Any]) -> None:
        if message["method"] != "notifications/initialized":
            super()._send(message)

    def ask(self, method: str, **params: Any) -> None:
        """Send a request with its envelope."""
        self._identity += 1
        told = {**params, "_meta": ENVELOPE}
        self._send({"jsonrpc": "2.0", "id": self._identity, "method": method, "params": told})


@pytest.mark.slow
async def test_sessions_over_http_go_on_and_are_told(server: HttpServer) -> None:
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", getattr(message, "root", None)) == CHANGED:
            heard.set()

    async with Client(f"{server.url}/mcp", mode="legacy", message_handler=hear) as client:
        await client.call_tool("manual_ls", {})
        trace = (await answered(client, server, "manual_find", **SEARCH))["trace_id"]
        write(server.workspace, NARROW)
        with anyio.fail_after(SECONDS):
            await heard.wait()
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "manual_find" in names
        assert "vault_read" not in names
        assert (await answered(client, server, "manual_hits", trace_id=trace))["items"]
        assert (await answered(client, server, "manual_find", **SEARCH))["trace_id"] != trace


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_who_comes_later_is_told_of_the_tools_of_then(server: HttpServer, era: str) -> None:
    url = f"{server.url}/mcp"
    async with Client(url, mode=era) as client:
        before = client.instructions or ""
    write(server.workspace, "surfaces: [{use: chapters}]\n")
    server.logged("reloaded")
    async with Client(url, mode=era) as client:
        now = client.instructions or ""
    assert "manual_ls" in before
    assert "manual_ls" not in now


async def answered(client: Client, server: HttpServer, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    answer = checked(result.model_dump(by_alias=True), server.workspace)
    assert not answer.is_error, answer
    return answer.payload


@pytest.mark.slow
async def test_a_newer_client_over_http_that_listens_is_told(server: HttpServer) -> None:
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
    }
    params = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client,
        client.stream("POST", f"{server.url}/mcp", json=body, headers=headers) as stream,
    ):
        methods = []
        async for line in stream.aiter_lines():
            if line.startswith("data: {"):
                methods.append(json.loads(line.removeprefix("data: ")).get("method"))
                if CHANGED in methods:
                    break
                write(server.workspace, f"{WIDE}pipelines: {{manual: {{loaders: [markdown]}}}}\n")
    assert methods == ["notifications/subscriptions/acknowledged", CHANGED]
