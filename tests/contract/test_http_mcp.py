"""MCP over streamable HTTP: the SDK's client of a real server process, in both eras."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from http_server import HttpServer, eventually, probing
from manuals import write
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from stdio import HELLO, checked
from strangers import stranger

ERAS = ["legacy", "2026-07-28", "auto"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(probing(tmp_path_factory.mktemp("http"))) as running:
        yield running


async def called(client: Client, server: HttpServer, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    return checked(result.model_dump(by_alias=True), server.workspace)


@pytest.mark.parametrize("era", ERAS)
async def test_both_faces_give_the_same_answers(server: HttpServer, era: str) -> None:
    async with Client(f"{server.url}/mcp", mode=era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        asked = {"manual_name": "給付編", "query": "入院"}
        found = await called(client, server, "probe_search", **asked)
    assert listed[:2] == ["probe_names", "probe_page"]
    assert "manual_find" in listed
    assert found.payload == server.post("/tools/probe_search", asked).json()


@pytest.mark.parametrize("era", ERAS)
async def test_documents_are_read_over_http_too(server: HttpServer, era: str) -> None:
    async with Client(f"{server.url}/mcp", mode=era) as client:
        (listed,) = (await client.list_resources()).resources
        assert listed.name == "給付編/01.md"
        for uri in (f"{listed.uri}#L3-L4", "manual://給付編/01.md#L3-L4"):
            (content,) = (await client.read_resource(uri)).contents
            assert content.text == "## 例外\n美容は対象外です。\n"
        prompt = await client.get_prompt("careful_reading", {"question": "美容は？"})
        assert "美容は？" in prompt.messages[0].content.text


async def test_a_session_remembers_that_its_client_has_looked_around(server: HttpServer) -> None:
    url = f"{server.url}/mcp"
    async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as other:
        await called(one, server, "manual_ls")
        assert not (await called(one, server, "manual_toc", manual_id="給付編")).is_error
        refused = await called(other, server, "manual_toc", manual_id="給付編")
    assert refused.payload["details"]["required_first_call"] == "manual_ls"


async def test_without_a_session_nothing_is_asked_first(server: HttpServer) -> None:
    async with Client(f"{server.url}/mcp", mode="2026-07-28") as client:
        assert not (await called(client, server, "manual_toc", manual_id="給付編")).is_error
    assert server.post("/tools/manual_toc", {"manual_id": "給付編"}).status_code == 200


async def test_a_session_cannot_be_made_up(server: HttpServer) -> None:
    headers = {"mcp-session-id": "made-up", "accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = server.client.post("/mcp", json=message, headers=headers)
    assert answer.status_code == 404


async def test_a_modern_request_takes_no_session_from_its_headers(server: HttpServer) -> None:
    async with Client(f"{server.url}/mcp", mode="legacy") as client:
        await called(client, server, "manual_ls")
        sessions = [one for one in server.log.splitlines() if "session" in one.lower()]
    assert not sessions, "a session's id is a secret"


async def test_a_call_is_one_line_of_the_log_without_any_text(server: HttpServer) -> None:
    async with Client(f"{server.url}/mcp", mode="legacy") as client:
        asked = {"manual_name": "給付編", "query": "秘密の問い", "section_id": "09"}
        await called(client, server, "probe_search", **asked)
    log = server.logged('"section_id":"09"')
    lines = [json.loads(one) for one in log.splitlines() if one.startswith('{"ts"')]
    told = [one for one in lines if one["endpoint"] == "mcp probe_search"][-1]
    expected = {"manual_name": "給付編", "section_id": "09", "result_count": 3, "status": 200}
    assert {key: told[key] for key in expected} == expected
    assert "秘密" not in server.log


def test_a_cancelled_call_is_one_line_of_the_log_too(server: HttpServer) -> None:
    headers, line = opened(server), '"endpoint":"mcp probe_wait","status":499'
    wait = {"name": "probe_wait", "arguments": {"mark": "left"}}
    waiting = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": wait}
    left = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    before = server.log.count(line)
    with server.client.stream("POST", "/mcp", json=waiting, headers=headers):
        eventually((server.workspace / "manuals" / "left.began").exists)
        server.client.post("/mcp", json=left, headers=headers)
        eventually((server.workspace / "manuals" / "left.cancelled").exists)
        eventually(lambda: server.log.count(line) == before + 1)


async def test_an_unknown_tool_is_an_error_of_the_protocol(server: HttpServer) -> None:
    async with Client(f"{server.url}/mcp", mode="legacy") as client:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("nothing", {})


async def test_a_failing_tool_takes_nothing_along(server: HttpServer) -> None:
    async with Client(f"{server.url}/mcp", mode="legacy") as client:
        asked = {"manual_name": "給付編", "query": "boom"}
        result = await client.call_tool("probe_search", asked)
        assert result.is_error
        told = json.loads(result.content[0].text)  # type: ignore[union-attr]
        assert told["code"] == "internal_error"
        assert "secret" not in str(result)
        assert not (await called(client, server, "probe_names")).is_error


MESSAGE = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.mark.parametrize(
    ("content", "code"),
    [
        *((text, -32700) for text in (b"{", b"[[[[", b"\xff", b"[" * 40_000)),
        *((text, -32600) for text in (b"", b"null", b"[]", b"[%b]" % PING)),
        (PING.replace(b"1", b"true"), -32600),
        (PING.replace(b":1", b":1.5"), -32600),
        (b'{"jsonrpc":"2.0","id":16}', -32600),
    ],
)
async def test_what_is_no_message_is_refused(server: HttpServer, content: bytes, code: int) -> None:
    answer = server.client.post("/mcp", content=content, headers=MESSAGE)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"] in ("Parse error", "Invalid Request")
    assert server.is_well()


@pytest.mark.parametrize("value", [rb'"\ud800"', b"[" * 300 + b"]" * 300, b"9" * 5_000, b'"\xff"'])
async def test_what_is_no_json_here_is_refused_with_its_id(
    server: HttpServer, value: bytes
) -> None:
    arguments = b'{"name":"manual_ls","arguments":{"id":%b}}' % value
    message = b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":%b}' % arguments
    answer = server.client.post("/mcp", content=message, headers=opened(server))
    assert answer.status_code == 400
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (77, -32700)


def opened(server: HttpServer) -> dict[str, str]:
    """Open a session, and return the headers of its requests."""
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    answer = server.client.post("/mcp", json=hello, headers=MESSAGE)
    return {**MESSAGE, "mcp-session-id": answer.headers["mcp-session-id"]}


async def test_a_mark_of_the_byte_order_begins_no_other_message(server: HttpServer) -> None:
    answer = server.client.post("/mcp", content=BOM_UTF8 + PING, headers=opened(server))
    assert answer.status_code == 200
    assert '{"jsonrpc":"2.0","id":1,"result":{}}' in answer.text


async def test_a_refused_end_leaves_a_session_as_it_is(server: HttpServer) -> None:
    headers = opened(server)
    end = {**headers, "mcp-protocol-version": "1999-01-01"}
    assert server.client.delete("/mcp", headers=end).status_code == 405
    call = {"name": "manual_toc", "arguments": {"manual_id": "給付編"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    refused = server.client.post("/mcp", json=message, headers=headers)
    assert '"required_first_call":"manual_ls"' in refused.text
    assert server.client.delete("/mcp", headers=headers).status_code == 200
    assert server.client.post("/mcp", json=message, headers=headers).status_code == 404


@pytest.mark.parametrize("identity", [5, "5"])
def test_an_id_in_use_is_refused_until_its_request_ends(
    server: HttpServer, identity: object
) -> None:
    """So that no request gets the answer of another one."""
    headers, mark = opened(server), f"in-use-{type(identity).__name__}"
    wait = {"name": "probe_wait", "arguments": {"mark": mark, "seconds": 60}}
    waiting = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": wait}
    ping = {"jsonrpc": "2.0", "id": identity, "method": "ping"}
    began = server.workspace / "manuals" / f"{mark}.began"
    with server.client.stream("POST", "/mcp", json=waiting, headers=headers):
        eventually(began.exists)
        refused = server.client.post("/mcp", json=ping, headers=headers)
        assert refused.status_code == 400
        assert refused.json()["error"] == {"code": -32600, "message": "this id is in use"}
        assert refused.json()["id"] == identity
        other = server.client.post("/mcp", json={**ping, "id": 6}, headers=headers)
        assert other.status_code == 200
    eventually(lambda: server.client.post("/mcp", json=ping, headers=headers).is_success)
    cancelled = server.workspace / "manuals" / f"{mark}.cancelled"
    eventually(cancelled.exists)  # by hanging up: else it took the time of others' calls


async def test_a_message_over_4_mib_is_refused(server: HttpServer) -> None:
    content, headers = PING.ljust(4 * 1024 * 1024), opened(server)
    assert server.client.post("/mcp", content=content, headers=headers).status_code == 200
    for larger in (content + b" ", iter([content, b" "])):
        assert server.client.post("/mcp", content=larger, headers=headers).status_code == 413


async def test_a_client_that_hangs_up_before_its_message_is_whole_is_no_error(
    tmp_path: Path,
) -> None:
    with HttpServer(probing(tmp_path)) as server:
        with server.connected() as connection:
            head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n{{".encode())
        log = server.logged('"status":499')
    assert '"level":"error"' not in log
    assert "ClientDisconnect" not in log


async def test_the_token_is_asked_for_here_too(tmp_path: Any) -> None:
    with HttpServer(probing(tmp_path), FUMISHIRUBE_HTTP_TOKEN="open sesame, open") as server:
        assert server.is_well()
        for path in ("/mcp", "/probe_names", "/tools/probe_names", "/docs", "/openapi.json"):
            answer = server.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        for wrong in (
            "Bearer open sesame",
            "Basic open sesame, open",
            "open sesame, open",
            "Bearer 標",
        ):
            headers = {"authorization": wrong.encode()}
            assert server.client.get("/probe_names", headers=headers).status_code == 401
        right = {"authorization": "Bearer open sesame, open"}
        assert server.client.get("/probe_names", headers=right).status_code == 200
        async with (
            httpx2.AsyncClient(headers=right, trust_env=False) as http,
            Client(
                streamable_http_client(f"{server.url}/mcp", http_client=http), mode="legacy"
            ) as client,
        ):
            assert (await client.list_tools()).tools
        assert "sesame" not in server.log


COUNTER = """
from typing import ClassVar
from fumishirube import Answer, Params, Stage, Tool, hook

class Calls:
    number = 0

class Told(Answer):
    number: int

def count(params, call):
    calls = call.session.keep(Calls)
    with call.session.lock:
        calls.number += 1
        return Told(number=calls.number)

class Counter(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict] = {}

    def tools(self, context):
        return [Tool("count_calls", "Count", "Counts the calls of a session.", Params, Told, count)]

@hook
def register_surfaces(register):
    register("counter", Counter, default=True)
"""


async def test_a_plugin_keeps_its_own_state_of_each_session(tmp_path: Path) -> None:
    plugins = stranger(tmp_path / "plugins", "counter", COUNTER)
    workspace = write(tmp_path / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})
    with HttpServer(workspace, PYTHONPATH=str(plugins)) as server:
        url = f"{server.url}/mcp"
        async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as other:
            counted = [await called(each, server, "count_calls") for each in (one, one, other)]
    assert [answer.payload["number"] for answer in counted] == [1, 2, 1]
