"""The MCP server, as a real process on the other end of real pipes."""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from warm_start import kill, warm_python

from fumishirube import __version__
from fumishirube.faces.mcp.stdio import GC_ANSWERS, MOST_WAITING
from fumishirube.host.scheduler import CONCURRENT_CALLS, WORKERS

SCRIPT = Path(__file__).parents[1] / "support" / "stdio_fixture_server.py"
ERAS = ["legacy", "2026-07-28", "auto"]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

pytestmark = pytest.mark.anyio
SECONDS = 30


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


NOWHERE = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - closed at exit
atexit.register(NOWHERE.close)


def connected(era: str, errors: Any = None) -> Client:
    command, *args = warm_python(SCRIPT)
    server = StdioServerParameters(command=command, args=args)
    transport = stdio_client(server, errlog=errors or NOWHERE)
    return Client(transport, mode=era)


class Raw:
    """A client that speaks bytes, and sees all that comes back."""

    def __init__(self, **environ: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            warm_python(SCRIPT), stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **environ}
        )
        self.messages: list[dict[str, Any]] = []
        self.errors = ""

    def send(self, method: str, identity: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if identity is None else {**message, "id": identity}))

    def call(self, identity: int, name: str, arguments: Any, **meta: Any) -> None:
        more = {"_meta": meta} if meta else {}
        self.send("tools/call", identity, name=name, arguments=arguments, **more)

    def write(self, line: str | bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.messages.append(message)
        return message

    def answer(self, identity: int) -> dict[str, Any]:
        while True:
            message = self.receive()
            if message.get("id") == identity:
                return message

    def hear(self, text: str) -> None:
        """Wait until standard error says something."""
        assert self.process.stderr is not None
        while text not in self.errors:
            line = self.process.stderr.readline()
            assert line, f"{text!r} was never said"
            self.errors += line.decode()

    def close(self) -> None:
        kill(self.process)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def hang_up(self) -> tuple[list[dict[str, Any]], str, float]:
        """Close the input; return what still came, standard error, and the seconds it took."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        started = time.monotonic()
        self.process.stdin.close()
        rest = [json.loads(line) for line in self.process.stdout.read().splitlines()]
        self.process.wait(timeout=10)
        seconds = time.monotonic() - started
        return rest, self.errors + self.process.stderr.read().decode(), seconds


@pytest.fixture
def silent(request: pytest.FixtureRequest) -> Iterator[Raw]:
    """A client that has not said anything yet; a parameter is the server's environment."""
    client = Raw(**getattr(request, "param", {}))
    yield client
    client.close()


@pytest.fixture
def raw(silent: Raw) -> Raw:
    """A client after the handshake."""
    silent.send("initialize", 1, **HELLO)
    silent.answer(1)
    silent.send("notifications/initialized")
    return silent


def result(message: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = message["result"]
    return found


def error_of(message: dict[str, Any]) -> dict[str, Any]:
    answer = result(message)
    assert answer["isError"] is True
    assert "structuredContent" not in answer
    (block,) = answer["content"]
    error: dict[str, Any] = json.loads(block["text"])
    assert answer["_meta"]["fumishirube/error"] == error
    return error


# --- with a real client ---------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_of_either_era_lists_and_calls(era: str) -> None:
    async with connected(era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [
            "echo",
            "slow",
            "stubborn",
            "fail",
            "steps",
            "odd",
            "noisy",
            "litter",
            "swap",
        ]
        echo = tools["echo"]
        assert echo.title == "Echo"
        assert echo.description == "Says it again."
        assert echo.annotations is not None
        assert echo.annotations.model_dump(exclude_none=True) == {
            "title": "Echo",
            "read_only_hint": True,
            "destructive_hint": False,
            "idempotent_hint": True,
            "open_world_hint": False,
        }
        answer = await client.call_tool("echo", {"text": "日本", "items": ["a"]})
        assert answer.is_error is False
        (block,) = answer.content
        assert block.type == "text"
        assert json.loads(block.text) == answer.structured_content
        assert '"text":"日本"' in block.text
        assert answer.structured_content["limit"] is None


@pytest.mark.parametrize("era", ERAS)
async def test_the_server_says_who_it_is(era: str) -> None:
    async with connected(era) as client:
        await client.list_tools()
        if era != "2026-07-28":
            assert client.instructions == "Try echo."
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == ("fixture", __version__)


@pytest.mark.parametrize("era", ERAS)
async def test_calls_of_one_connection_share_one_session(era: str) -> None:
    async with connected(era) as client:
        answers = [await client.call_tool("echo", {}) for _ in range(2)]
        first, second = (answer.structured_content["session"] for answer in answers)
        assert first == second


@pytest.mark.parametrize("era", ERAS)
async def test_a_failure_carries_its_code_and_no_structured_content(era: str) -> None:
    async with connected(era) as client:
        answer = await client.call_tool("fail", {"how": "code"})
        assert answer.is_error is True
        assert answer.structured_content is None
        assert answer.meta is not None
        assert answer.meta["fumishirube/error"] == {
            "code": "not_found",
            "message": "there is no such thing",
            "details": {"path": "x.md"},
        }


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_tool_is_a_protocol_error(era: str) -> None:
    async with connected(era) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("nope", {})
        assert caught.value.code == -32602
        assert caught.value.message == "Unknown tool: nope"
        assert caught.value.data == {"code": "not_found", "message": "Unknown tool: nope"}


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_progress_rises_and_is_throttled(era: str) -> None:
    seen: list[float] = []

    async def watch(progress: float, total: float | None, message: str | None) -> None:
        assert total == 100
        assert message == f"step {progress:g}"
        seen.append(progress)

    async with connected(era) as client:
        answer = await client.call_tool("steps", {"seconds": 0.6}, progress_callback=watch)
        assert answer.structured_content == {"text": "reported"}
        with anyio.fail_after(SECONDS):
            while 100 not in seen:  # noqa: ASYNC110 - told beside the answer
                await anyio.sleep(0.01)
    assert sorted(set(seen)) == seen
    assert 2 <= len(seen) <= 12
    assert seen[-1] == 100


async def test_nobody_who_does_not_ask_gets_progress() -> None:
    async with connected("legacy") as client:
        answer = await client.call_tool("steps", {"seconds": 0})
        assert answer.structured_content == {"text": "none"}


async def said(log: Path, text: str) -> None:
    """Wait until the server has written a text to standard error."""
    with anyio.fail_after(SECONDS):
        while text not in log.read_text():  # noqa: ASYNC110, ASYNC240 - a file has no event
            await anyio.sleep(0.01)


@pytest.mark.filterwarnings("ignore:ping is removed")
@pytest.mark.parametrize("era", ERAS)
async def test_others_are_served_during_a_slow_call_that_is_then_cancelled(
    era: str, tmp_path: Path
) -> None:
    log = tmp_path / "stderr"
    with log.open("w") as errors:
        async with connected(era, errors) as client:
            await client.list_tools()
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "slow", {"seconds": 60})
                await said(log, "slow began")
                with anyio.fail_after(SECONDS):
                    if era == "legacy":
                        await client.send_ping()
                    answer = await client.call_tool("echo", {"text": "meanwhile"})
                assert answer.structured_content["text"] == "meanwhile"
                group.cancel_scope.cancel()
            await said(log, "cancelled=True")
            await client.call_tool("echo", {})


# --- on the wire ----------------------------------------------------------------------------


def test_a_cancelled_request_gets_no_answer(raw: Raw) -> None:
    raw.call(2, "slow", {"seconds": 30})
    raw.hear("slow began")
    raw.send("notifications/cancelled", requestId=2)
    raw.hear("slow ended, cancelled=True")
    raw.send("ping", 3)
    raw.answer(3)
    rest, errors, _ = raw.hang_up()
    assert [m for m in raw.messages + rest if m.get("id") == 2] == []
    assert "internal_error" not in errors


def test_calls_that_take_long_do_not_stop_those_behind_them(raw: Raw) -> None:
    for identity in range(2, 2 + CONCURRENT_CALLS + 1):
        raw.call(identity, "slow", {"seconds": 30})
    raw.call(50, "echo", {"text": "behind"})
    assert result(raw.answer(50))["structuredContent"]["text"] == "behind"
    assert [message["id"] for message in raw.messages] == [1, 50]


def test_a_call_waits_until_one_of_those_before_it_has_been_answered(raw: Raw) -> None:
    for identity in range(2, 2 + CONCURRENT_CALLS):
        raw.call(identity, "stubborn", {"seconds": 0.1})
    raw.call(50, "echo", {})
    raw.answer(50)
    assert len(raw.messages) > 2


def test_more_messages_than_are_read_ahead_are_all_answered_beside_a_call(raw: Raw) -> None:
    raw.call(2, "slow", {"seconds": 30})
    numbers = range(3, 3 + 3 * MOST_WAITING)
    for identity in numbers:
        raw.send("ping", identity)
    assert [result(raw.answer(identity)) for identity in numbers] == [{}] * len(numbers)


def test_workers_whose_calls_were_cancelled_are_free_again(raw: Raw) -> None:
    for identity in range(2, 2 + WORKERS):
        raw.call(identity, "slow", {"seconds": 60})
    for _ in range(CONCURRENT_CALLS):
        raw.hear("slow began")
    for identity in range(2, 2 + WORKERS):
        raw.send("notifications/cancelled", requestId=identity)
    raw.call(50, "echo", {"text": "free"})
    assert result(raw.answer(50))["structuredContent"]["text"] == "free"
    assert [message["id"] for message in raw.messages] == [1, 50]


@pytest.mark.slow
def test_old_garbage_is_collected_when_nothing_is_asked(raw: Raw) -> None:
    raw.call(2, "litter", {})
    raw.answer(2)
    for identity in range(10, 10 + GC_ANSWERS):
        raw.call(identity, "echo", {})
        raw.answer(identity)
    raw.hear("litter was collected")


def test_nothing_but_messages_reaches_standard_output(raw: Raw) -> None:
    raw.call(2, "noisy", {})
    answer = result(raw.answer(2))
    rest, errors, _ = raw.hang_up()
    assert answer["structuredContent"] == {"text": "''"}
    assert all(message["jsonrpc"] == "2.0" for message in raw.messages + rest)
    for line in ("printed at start", "printed by a tool", "printed by a child", "''"):
        assert line in errors.splitlines()


def test_success_writes_nothing_to_standard_error(raw: Raw) -> None:
    raw.call(2, "echo", {"text": "a"})
    raw.answer(2)
    _, errors, _ = raw.hang_up()
    assert errors.splitlines() == ["printed at start"]


@pytest.mark.parametrize("name", ["slow", "stubborn"])
def test_the_process_ends_soon_after_the_client_hung_up(raw: Raw, name: str) -> None:
    for identity in range(2, 6):
        raw.call(identity, name, {"seconds": 30})
    raw.send("ping", 9)
    raw.answer(9)
    time.sleep(0.1)
    _, _, seconds = raw.hang_up()
    assert seconds < 10
    assert raw.process.returncode == 0


def test_an_idle_process_ends_at_once(raw: Raw) -> None:
    _, _, seconds = raw.hang_up()
    assert seconds < 5
    assert raw.process.returncode == 0


def test_requests_that_are_piped_in_are_answered_before_the_end(silent: Raw) -> None:
    silent.send("initialize", 1, **HELLO)
    silent.send("notifications/initialized")
    silent.call(2, "echo", {"text": "piped"})
    rest, _, _ = silent.hang_up()
    answers = {message["id"]: message for message in rest}
    assert result(answers[2])["structuredContent"]["text"] == "piped"


def test_a_client_that_stops_reading_does_not_keep_the_process(raw: Raw) -> None:
    for identity in range(2, 22):
        raw.call(identity, "echo", {"text": "x" * 10_000})
    assert raw.process.stdin is not None
    raw.process.stdin.close()
    assert raw.process.wait(timeout=5) == 0


def test_unexpected_errors_are_answered_with_an_id_that_the_log_has(raw: Raw) -> None:
    known = []
    for identity, how in ((2, "unexpected"), (3, "exit"), (4, "wrong")):
        raw.call(identity, "fail", {"how": how})
        error = error_of(raw.answer(identity))
        assert error["code"] == "internal_error"
        assert set(error["details"]) == {"error_id"}
        known.append(error["details"]["error_id"])
    raw.call(5, "fail", {"how": "code"})
    assert error_of(raw.answer(5))["code"] == "not_found"
    _, errors, _ = raw.hang_up()
    lines = [line for line in logged(errors) if line["level"] == "error"]
    assert [line["exception"] for line in lines] == [
        ["RuntimeError"],
        ["SystemExit"],
        ["TypeError"],
    ]
    assert [line.pop("error_id") for line in lines] == known
    assert "secret text" not in errors
    for line in lines:
        assert line.pop("ts").endswith("+00:00")
        del line["exception"]
        assert line == {"level": "error", "tool": "fail", "code": "internal_error"}


@pytest.mark.parametrize("silent", [{"FIXTURE_LOG": "info"}], indirect=True)
def test_who_wants_to_know_is_told_of_every_call(raw: Raw) -> None:
    raw.call(2, "echo", {"text": "secret text"})
    raw.answer(2)
    raw.call(3, "fail", {"how": "code"})
    raw.answer(3)
    raw.call(4, "fail", {"how": "unexpected"})
    raw.answer(4)
    _, errors, _ = raw.hang_up()
    assert "secret text" not in errors
    lines = logged(errors)
    assert all(line["elapsed_ms"] >= 0 for line in lines if line["level"] == "info")
    told = [(line["level"], line["tool"], line.get("code")) for line in lines]
    assert told == [
        ("info", "echo", None),
        ("warning", "fail", "not_found"),
        ("error", "fail", "internal_error"),
        ("info", "fail", "internal_error"),
    ]
    assert lines[2]["error_id"] == lines[3]["error_id"]
    assert "where" not in lines[2]


@pytest.mark.parametrize("silent", [{"FIXTURE_LOG": "debug"}], indirect=True)
def test_where_something_broke_is_told_to_who_looks_for_it(raw: Raw) -> None:
    raw.call(2, "fail", {"how": "unexpected"})
    assert "where" not in json.dumps(raw.answer(2))
    _, errors, _ = raw.hang_up()
    (broken,) = (line for line in logged(errors) if line["level"] == "error")
    assert re.fullmatch(r"stdio_fixture_server\.py:[0-9]+ fail", broken["where"][-1])
    assert "secret text" not in errors


def test_a_thread_that_ends_badly_is_an_event_too(raw: Raw) -> None:
    raw.call(2, "fail", {"how": "thread"})
    raw.answer(2)
    _, errors, _ = raw.hang_up()
    (line,) = logged(errors)
    assert (line["level"], line["exception"]) == ("error", ["RuntimeError"])
    assert "Traceback" not in errors
    assert "secret text" not in errors


def logged(errors: str) -> list[dict[str, Any]]:
    """Return the events of the log; there is nothing but what the fixture itself prints."""
    return [json.loads(line) for line in errors.splitlines() if line.startswith("{")]


def test_lone_surrogates_are_replaced_on_their_way_out(raw: Raw) -> None:
    raw.call(2, "odd", {})
    assert result(raw.answer(2))["structuredContent"] == {"text": "file-�.md", "big": str(2**60)}
    raw.call(3, "fail", {"how": "surrogate"})
    assert error_of(raw.answer(3))["message"] == "bad � name"
    raw.call(4, "\ud800", {})
    assert raw.answer(4)["error"]["message"] == "Unknown tool: �"
    raw.call(5, "fail", {"how": "details"})
    assert error_of(raw.answer(5))["code"] == "internal_error"


def test_lone_surrogates_are_refused_on_their_way_in(raw: Raw) -> None:
    raw.call(2, "echo", {"text": "a\ud800"})
    error = error_of(raw.answer(2))
    assert error["message"] == "text must not hold unpaired surrogates"
    raw.call(3, "echo", {"path": "a\ud800"})
    assert error_of(raw.answer(3))["code"] == "invalid_path"


@pytest.mark.parametrize("arguments", [None, {}])
def test_null_arguments_are_none_at_all(raw: Raw, arguments: object) -> None:
    raw.call(2, "echo", arguments)
    assert result(raw.answer(2))["structuredContent"]["text"] == ""


@pytest.mark.parametrize("arguments", [[], "{}", 5, True, ["a"]])
def test_arguments_that_are_no_object_are_refused_with_a_code(raw: Raw, arguments: object) -> None:
    raw.call(2, "echo", arguments)
    error = error_of(raw.answer(2))
    assert error["code"] == "invalid_parameter"
    assert error["message"] == "arguments must be an object"


def test_arrays_and_objects_may_come_as_strings_of_json(raw: Raw) -> None:
    raw.call(2, "echo", {"items": '["a","b"]', "options": '{"limit": 3}', "text": '["a"]'})
    answer = result(raw.answer(2))["structuredContent"]
    assert (answer["items"], answer["limit"], answer["text"]) == (["a", "b"], 3, '["a"]')


@pytest.mark.parametrize("value", ['"a"', "[1", "5", '{"limit":1}', "", "[" * 100_000])
def test_any_other_string_is_no_array(raw: Raw, value: str) -> None:
    raw.call(2, "echo", {"items": value})
    assert error_of(raw.answer(2))["message"] == "items must be an array"


@pytest.mark.parametrize(
    ("line", "code", "identity"),
    [
        ("garbage", -32700, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"\x8b"}', -32700, 7),
        ("[" * 100_000, -32700, None),
        ("[]", -32600, None),
        ('{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7),
        ('{"jsonrpc":"2.0","id":7}', -32600, 7),
        ('{"jsonrpc":"2.0","id":"seven","params":{}}', -32600, "seven"),
        ('{"id":true}', -32600, None),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":[7],"method":"ping","params":{"\\ud800":1}}', -32600, None),
        ("{}", -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered(
    raw: Raw, line: str | bytes, code: int, identity: int | str | None
) -> None:
    raw.write("")
    raw.write(line)
    message = raw.receive()
    assert (message["id"], message["error"]["code"]) == (identity, code)
    raw.send("ping", 8)
    assert result(raw.answer(8)) == {}


def test_a_notification_may_have_no_id_in_any_way(raw: Raw) -> None:
    raw.write('{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}')
    raw.write('{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":{"id":1}}}')
    raw.send("ping", 8)
    message = raw.receive()
    assert (message["id"], result(message)) == (8, {})


def test_a_mark_of_byte_order_before_a_message_is_skipped(silent: Raw) -> None:
    """As PowerShell writes it to a pipe."""
    silent.write('\ufeff{"jsonrpc":"2.0","id":8,"method":"ping"}')
    assert result(silent.receive()) == {}


def test_a_broken_answer_of_the_client_is_not_answered(raw: Raw) -> None:
    for line in ('{"jsonrpc":"2.0","id":7,"result":5}', '{"id":[],"error":{}}'):
        raw.write(line)
    raw.send("ping", 8)
    message = raw.receive()
    assert (message["id"], result(message)) == (8, {})


def test_there_is_one_page_of_tools(raw: Raw) -> None:
    raw.send("tools/list", 2)
    assert "nextCursor" not in result(raw.answer(2))
    raw.send("tools/list", 3, cursor="x")
    assert raw.answer(3)["error"]["code"] == -32602


def test_the_modern_era_needs_no_handshake(silent: Raw) -> None:
    silent.send("server/discover", 1, _meta=ENVELOPE)
    found = result(silent.answer(1))
    assert "2026-07-28" in found["supportedVersions"]
    assert found["instructions"] == "Try echo."
    silent.call(2, "echo", {"text": "modern"}, **ENVELOPE)
    assert result(silent.answer(2))["structuredContent"]["text"] == "modern"
    silent.call(3, "echo", [], **ENVELOPE)
    answer = result(silent.answer(3))
    assert answer["resultType"] == "complete"
    assert answer["_meta"]["fumishirube/error"]["code"] == "invalid_parameter"


# --- changes --------------------------------------------------------------------------------

CHANGED = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
]


def names_of(tools: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in result(tools)["tools"]]


async def test_an_older_client_is_told_of_another_menu(raw: Raw) -> None:
    raw.send("tools/list", 2)
    before = names_of(raw.answer(2))
    raw.call(3, "swap", {})
    for method in CHANGED:
        while raw.receive().get("method") != method:
            pass
    raw.send("tools/list", 4)
    assert names_of(raw.answer(4)) == before[:-1]
    raw.call(5, "swap", {})
    assert raw.answer(5)["error"]["code"] == -32602


async def test_a_newer_client_is_told_if_it_listens(silent: Raw) -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["manual://a/b.md"]}
    silent.send("subscriptions/listen", 7, notifications=wanted, _meta=ENVELOPE)
    acknowledged = silent.receive()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
    silent.send("tools/call", 8, name="swap", arguments={}, _meta=ENVELOPE)
    told = silent.receive()
    while told.get("method") != CHANGED[0]:
        told = silent.receive()
    assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 7
    silent.send("tools/list", 9, _meta=ENVELOPE)
    assert "swap" not in names_of(silent.answer(9))
    heard = {message.get("method") for message in silent.messages}
    assert not heard.intersection(CHANGED[1:])
    _, _, seconds = silent.hang_up()
    assert seconds < 5


@pytest.mark.parametrize("era", ["older", "newer"])
async def test_what_a_server_tells_of_is_what_it_says(silent: Raw, era: str) -> None:
    if era == "older":
        silent.send("initialize", 1, **HELLO)
    else:
        silent.send("server/discover", 1, _meta=ENVELOPE)
    capabilities = result(silent.answer(1))["capabilities"]
    assert capabilities["tools"] == {"listChanged": True}
    assert capabilities["prompts"] == {"listChanged": True}
    assert "completions" in capabilities
    assert "resources" not in capabilities
