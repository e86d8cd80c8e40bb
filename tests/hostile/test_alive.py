"""However much is searched, the protocol goes on; and what nobody waits for any more stops."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import manuals
import pytest
import stdio
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from fumishirube.faces.mcp.stdio import _follow

IDS = st.integers(0, 3) | st.integers(0, 3).map(str)
FILES = 600
FINDS = 10
TICKS = 3
"""Processor time, in clock ticks, that an idle server may use between two looks."""

pytestmark = pytest.mark.timeout(90)


def chapter(number: int) -> str:
    """Return a file of six sections, in words that many files share."""
    sections = (
        f"## 第{part}節 申請書{number * part % 97}\n"
        + f"会員{number % 13}の申請は期限{part}日までに受付{number % 7}へ提出してください。" * 12
        for part in range(1, 6)
    )
    return f"# 手続{number}\n対象の範囲を定めます。\n" + "\n".join(sections) + "\n"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"big/part{number:04}.md": chapter(number) for number in range(FILES)}
    return manuals.write(tmp_path_factory.mktemp("alive"), files)


@pytest.fixture
def server(workspace: Path) -> Iterator[stdio.Wire]:
    with stdio.Wire(workspace) as wire:
        wire.ok("manual_ls")
        yield wire


def tell(server: stdio.Wire, method: str, identity: int | None = None, **params: Any) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    server._send(message if identity is None else {**message, "id": identity})


def find(server: stdio.Wire, identity: int, text: str, **meta: Any) -> None:
    arguments = {
        "query": text,
        "manual_id": "big",
        "required_terms": ["申請", "期限"],
        "use_cache": False,
    }
    more = {"_meta": meta} if meta else {}
    tell(server, "tools/call", identity, name="manual_find", arguments=arguments, **more)


def heard(server: stdio.Wire) -> dict[str, Any]:
    line = server._output.readline()
    assert line
    message: dict[str, Any] = json.loads(line)
    return message


def found(message: dict[str, Any]) -> dict[str, Any]:
    result = message["result"]
    assert not result["isError"], result
    content: dict[str, Any] = result["structuredContent"]
    return content


def processor_time(server: stdio.Wire) -> int:
    """Return the clock ticks that the server has used so far."""
    stat = Path(f"/proc/{server.pid}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


def becomes_idle(server: stdio.Wire) -> None:
    """Wait until the server does nothing any more."""
    deadline = time.monotonic() + 60
    used = processor_time(server)
    while True:
        time.sleep(0.3)
        before, used = used, processor_time(server)
        if used - before <= TICKS:
            return
        assert time.monotonic() < deadline, "the server never came to rest"


def left_to_index(server: stdio.Wire, identity: int) -> int:
    """Begin a find that indexes, and return how many files its first report speaks of."""
    find(server, identity, "申請の期限", progressToken=identity)
    while True:
        message = heard(server)
        # What another one reported before it was cancelled may still be on its way.
        if message.get("params", {}).get("progressToken") == identity:
            return int(message["params"]["total"])
        assert message.get("id") != identity, "nothing was left to index"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="reads /proc")  # noqa: PTH110
def test_a_cancelled_find_stops_its_work_and_is_not_answered(server: stdio.Wire) -> None:
    assert left_to_index(server, 101) == FILES
    tell(server, "notifications/cancelled", requestId=101)
    becomes_idle(server)
    # Whoever comes next finds work that the cancelled one left, and a worker that does it.
    assert 0 < left_to_index(server, 102) <= FILES
    answers = []
    while 102 not in answers:
        answers.append(heard(server).get("id"))
    assert 101 not in answers
    assert server.ok("manual_find", query="申請", manual_id="big", required_terms=["期限"])[
        "candidates"
    ]


@pytest.mark.slow
def test_pings_and_lists_are_answered_before_ten_finds_are(server: stdio.Wire) -> None:
    server.ok("manual_find", query="申請", manual_id="big", required_terms=["期限"])
    finds = set(range(200, 200 + FINDS))
    for identity in sorted(finds):
        find(server, identity, f"会員{identity}の申請書の期限と受付と提出の範囲について")
    tell(server, "ping", 300)
    tell(server, "tools/list", 301)
    order: list[int] = []
    while not finds <= set(order):
        message = heard(server)
        order.append(message["id"])
        if message["id"] in finds:
            assert found(message)["candidates"]
    assert {300, 301} <= set(order[: FINDS + 1]), "the protocol waited for the searches"


@given(st.lists(st.tuples(st.booleans(), IDS)))
def test_a_request_is_pending_until_the_answer_with_its_very_id(
    messages: list[tuple[bool, int | str]],
) -> None:
    pending: set[int | str | None] = set()
    expected: list[int | str] = []
    for is_request, identity in messages:
        if is_request:
            _follow(JSONRPCRequest(jsonrpc="2.0", id=identity, method="ping"), pending)
            expected.append(identity)
        else:
            _follow(JSONRPCResponse(jsonrpc="2.0", id=identity, result={}), pending)
            expected = [each for each in expected if each != identity]
    assert pending == {*expected}


@given(IDS | st.none() | st.booleans() | st.lists(IDS) | st.dictionaries(st.text(), IDS))
def test_what_is_cancelled_may_be_any_json(identity: object) -> None:
    pending: set[int | str | None] = {1, "1"}
    params = {"requestId": identity}
    method = "notifications/cancelled"
    _follow(JSONRPCNotification(jsonrpc="2.0", method=method, params=params), pending)
    assert pending == {each for each in (1, "1") if each != identity}
