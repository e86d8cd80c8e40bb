"""A server for people: tokens, rights, the audit log, limits and metrics, over real connections."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx2
import pytest
from certificates import certificate
from http_server import SECONDS, eventually
from people_server import HELLO, MCP, TeamServer, names
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from strangers import stranger
from team import CONFIGURATION
from test_http_mcp import ENVELOPE

from fumishirube_http.people.limits import STREAMS


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("people")) as running:
        yield running


@pytest.fixture(scope="module")
def three_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("workers"), workers=3) as running:
        yield running


def message(answer: httpx2.Response) -> dict[str, Any]:
    """Return the one message of a response of MCP."""
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
    parsed: dict[str, Any] = json.loads(text)
    return parsed


@contextmanager
def listening(team: TeamServer, name: str, session: str) -> Iterator[Callable[[], str]]:
    """Open the stream of a session; what is yielded returns the next method in it."""
    headers = {**MCP, **team.headers(name), "mcp-session-id": session}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert team.client.post("/mcp", json=ready, headers=headers).status_code == 202
    with team.client.stream("GET", "/mcp", headers=headers) as stream:
        lines = (line[5:] for line in stream.iter_lines() if line.startswith("data: {"))
        yield lambda: str(json.loads(next(lines))["method"])


def test_each_person_has_the_manuals_of_the_rights(team: TeamServer) -> None:
    assert names(team.call("aiko", "manual_ls")) == ["給付編"]
    assert names(team.call("ben", "manual_ls")) == ["事務編"]
    assert len(names(team.call("boss", "manual_ls"))) == 5
    hidden = team.call("aiko", "manual_toc", manual_id="秘密編")
    absent = team.call("aiko", "manual_toc", manual_id="無い編")
    assert hidden.status_code == absent.status_code == 404
    assert hidden.text.replace("秘密編", "") == absent.text.replace("無い編", "")
    tools = set(team.get("ben", "/openapi.json").json()["paths"])
    assert "/tools/vault_create" not in tools
    assert team.call("ben", "vault_create", path="x.md", content="x").status_code == 404
    assert team.call("aiko", "vault_create", path="boss/x.md", content="x").status_code == 403
    assert team.call("aiko", "vault_create", path="aiko/x.md", content="x").status_code == 200


def test_nobody_gets_in_without_a_token_that_counts(team: TeamServer) -> None:
    token = team.tokens["aiko"]
    wrong = [token[:-1] + ("A" if token[-1] != "A" else "B"), token[:-1], "fumi_x", "a b"]
    for presented in (*wrong, f"fumi_{'0' * 16}_{'A' * 43}"):
        headers = {"authorization": f"Bearer {presented}".encode("ascii", "replace").decode()}
        answer = team.client.post("/tools/manual_ls", json={}, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"] == "unauthorized"
    stored = json.loads(team.people.read_text())["people"]["aiko"]["token"]["sha256"]
    headers = {"authorization": f"Bearer {stored}"}
    assert team.client.post("/tools/manual_ls", json={}, headers=headers).status_code == 401
    for path in ("/mcp", "/metrics", "/docs", "/openapi.json", "/tools/manual_ls", "/nothing"):
        assert team.client.post(path, json={}).status_code == 401
        assert team.client.get(path).status_code == 401
    assert team.client.get("/healthz").json() == {"ok": True}
    assert team.client.get("/readyz").json() == {"ready": True}


def test_tokens_are_stored_as_hashes_and_logged_nowhere(team: TeamServer) -> None:
    team.call("aiko", "manual_ls")
    assert stat.S_IMODE(team.people.stat().st_mode) == 0o600
    written = [team.people.read_text(), team.log]
    written += [path.read_text() for path in (team.folder / "var").iterdir()]
    for token in team.tokens.values():
        assert token[-20:] not in "".join(written)


def test_a_session_belongs_to_its_person(team: TeamServer) -> None:
    session = team.session("aiko")
    listed = message(team.mcp("aiko", "tools/list", session))
    assert "manual_find" in {tool["name"] for tool in listed["result"]["tools"]}
    for other in ("ben", "boss"):
        assert team.mcp(other, "tools/list", session).status_code == 404
    called = team.mcp("aiko", "tools/call", session, name="manual_ls", arguments={})
    content = message(called)["result"]["structuredContent"]
    assert [item["name"] for item in content["items"]] == ["給付編"]
    uri = f"manual://{quote('秘密編')}/04.md"
    assert "ペガサス" in str(
        message(team.mcp("boss", "resources/read", team.session("boss"), uri=uri))
    )
    read = message(team.mcp("aiko", "resources/read", session, uri=uri))
    assert "error" in read
    assert "ペガサス" not in str(read)
    listed = message(team.mcp("aiko", "resources/list", session))
    uris = [unquote(item["uri"]) for item in listed["result"]["resources"]]
    assert {uri.split("/")[2] for uri in uris} == {"給付編"}


def test_traces_are_personal(team: TeamServer) -> None:
    query = {"manual_id": "給付編", "query": "入院の期限", "required_terms": ["期限"]}
    trace = team.call("boss", "manual_find", **query).json()["trace_id"]
    assert team.call("boss", "manual_hits", trace_id=trace).status_code == 200
    assert team.call("aiko", "manual_hits", trace_id=trace).status_code == 404


def test_the_audit_log_has_one_line_a_call_and_no_contents(team: TeamServer) -> None:
    before = len(team.audit())
    secret = "ひみつの質問"
    team.call("aiko", "manual_find", manual_id="給付編", query=secret, required_terms=[secret])
    team.mcp("aiko", "tools/call", team.session("aiko"), name="manual_ls", arguments={"id": "秘密"})
    for folder in ("dir::秘密編::c3Vi", "manuals"):
        team.call("aiko", "manual_ls", id=folder)
    for manual in ("給付編", "秘密編"):
        uri = f"manual://{quote(manual)}/01.md"
        team.mcp("aiko", "resources/read", team.session("aiko"), uri=uri)
    team.client.get("/metrics")
    team.client.get("/healthz")
    lines = team.audit()[before:]
    assert [(line.get("person"), line.get("tool"), line["status"]) for line in lines] == [
        ("aiko", "manual_find", 200),
        ("aiko", "manual_ls", 404),
        ("aiko", "manual_ls", 404),
        ("aiko", "manual_ls", 200),
        ("aiko", "resources/read", 200),
        ("aiko", "resources/read", 404),
        (None, None, 401),
    ]
    manuals = [line.get("manual") for line in lines]
    assert manuals == ["給付編", "秘密", "秘密編", None, "給付編", "秘密編", None]
    assert all(line["duration_ms"] >= 0 and line["ts"] for line in lines)
    assert secret not in team.audit_file.read_text() + team.log
    assert stat.S_IMODE(team.audit_file.stat().st_mode) == 0o600


def test_metrics_are_openmetrics_for_those_with_the_right(team: TeamServer) -> None:
    assert team.get("aiko", "/metrics").status_code == 403
    team.call("ben", "manual_ls")
    answer = team.get("ben", "/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    calls = {
        tuple(sorted(sample.labels.items())) for sample in families["fumishirube_calls"].samples
    }
    assert (("status", "200"), ("tool", "manual_ls"), ("worker", "1")) in calls
    assert {"fumishirube_requests", "fumishirube_call_seconds", "fumishirube_people"} <= {*families}
    for private in ("aiko", "給付編", "boss"):
        assert private not in answer.text


def test_documents_and_metrics_are_only_read(team: TeamServer) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert team.client.head(path, headers=team.headers("ben")).status_code == 200
        answer = team.client.post(path, json={}, headers=team.headers("ben"))
        assert (answer.status_code, answer.json()["error"]) == (405, "invalid_request")
        assert answer.headers["allow"] == "GET, HEAD"


ONE_OPEN = """
from fumishirube import hook
from fumishirube_http.people import team

team.OPEN = 1

@hook
def register_commands(register):
    pass
"""


@pytest.mark.slow
def test_who_comes_while_all_others_are_busy_is_served(tmp_path: Path) -> None:
    plugins = stranger(tmp_path / "plugins", "one-open", ONE_OPEN)
    with TeamServer(tmp_path, PYTHONPATH=str(plugins)) as team:
        busy = {**MCP, **team.headers("aiko"), "mcp-session-id": team.session("aiko")}
        with team.client.stream("GET", "/mcp", headers=busy) as stream:
            assert stream.status_code == 200
            for _ in range(2):
                session = team.session("ben")
                assert "result" in message(team.mcp("ben", "tools/list", session))
        assert "Cancelled" not in team.log


def test_people_and_rights_change_while_the_server_runs(team: TeamServer) -> None:
    team.users("add", "eve", "--read", "manuals/秘密編")
    assert names(team.call("eve", "manual_ls")) == ["秘密編"]
    query = {"manual_id": "秘密編", "query": "暗号名", "required_terms": ["暗号名"]}
    trace = team.call("eve", "manual_find", **query).json()["trace_id"]
    session = team.session("eve")

    with listening(team, "eve", session) as notified:
        assert team.users("set", "eve", "--read", "manuals/事務編").code == 0
        assert notified() == "notifications/tools/list_changed"
    assert names(team.call("eve", "manual_ls")) == ["事務編"]
    assert team.call("eve", "manual_hits", trace_id=trace).status_code == 404
    called = message(team.mcp("eve", "tools/call", session, name="manual_ls", arguments={}))
    assert [i["name"] for i in called["result"]["structuredContent"]["items"]] == ["事務編"]

    old = team.headers("eve")
    team.users("token", "eve")
    assert team.client.post("/tools/manual_ls", json={}, headers=old).status_code == 401
    assert names(team.call("eve", "manual_ls")) == ["事務編"]
    assert team.mcp("eve", "tools/list", session).status_code == 404

    team.users("remove", "eve")
    assert team.call("eve", "manual_ls").status_code == 401


@pytest.mark.slow
def test_new_rights_count_for_all_requests_at_once(team: TeamServer) -> None:
    team.users("add", "ida", "--read", "manuals/秘密編")
    record, new = json.loads(team.people.read_text()), team.people.with_name("new.json")

    def listed(turn: int) -> list[str]:
        time.sleep(turn * 0.003)
        return names(team.call("ida", "manual_ls"))

    with ThreadPoolExecutor(15) as pool:
        for manual in ("給付編", "事務編", "秘密編") * 4:
            [*pool.map(listed, range(15))]  # so that all have a connection
            record["people"]["ida"]["read"] = [f"manuals/{manual}"]
            new.write_text(json.dumps(record))
            new.chmod(0o600)
            new.replace(team.people)
            assert [*pool.map(listed, range(15))] == [[manual]] * 15
    team.users("remove", "ida")


def test_a_token_counts_until_its_last_day(team: TeamServer) -> None:
    team.users("add", "gil", "--read", "manuals/給付編", "--days", "3")
    assert team.call("gil", "manual_ls").status_code == 200
    record = json.loads(team.people.read_text())
    record["people"]["gil"]["token"]["expires"] = "2020-01-01T00:00:00Z"
    team.people.write_text(json.dumps(record))
    assert team.call("gil", "manual_ls").status_code == 401
    assert "gil" in team.users("list").out
    assert "expired token" in team.users("list").out


@pytest.mark.slow
def test_a_reload_reaches_every_person_and_keeps_sessions_and_traces(team: TeamServer) -> None:
    session = team.session("aiko")
    query = {"manual_id": "給付編", "query": "期限", "required_terms": ["期限"]}
    trace = team.call("aiko", "manual_find", **query).json()["trace_id"]
    configuration = team.folder / "fumishirube.yaml"
    configuration.write_text(CONFIGURATION.replace(", {use: chapters}", ""))

    def tools() -> set[str]:
        listed = message(team.mcp("aiko", "tools/list", session))
        return {tool["name"] for tool in listed["result"]["tools"]}

    try:
        eventually(lambda: "list_manuals" not in tools())
        assert team.call("aiko", "list_manuals").status_code == 404
        assert team.call("aiko", "manual_hits", trace_id=trace).status_code == 200
    finally:
        configuration.write_text(CONFIGURATION)
        eventually(lambda: "list_manuals" in tools())


@pytest.mark.slow
def test_a_reload_that_would_show_the_people_file_is_refused(team: TeamServer) -> None:
    configuration, inside = team.folder / "fumishirube.yaml", team.folder / "conf" / "people.json"
    inside.parent.mkdir()
    team.people.rename(inside)
    team.people.symlink_to(inside)
    configuration.write_text(f"{CONFIGURATION}roots: {{vault: conf}}\n")
    try:
        refused = "reload refused: --people: 'people.json' lies below roots.vault"
        eventually(lambda: refused in team.log)
        listed = team.call("boss", "vault_ls").json()["items"]
        assert "people.json" not in {item["name"] for item in listed}
        assert listed, "the former configuration stays in force"
    finally:
        inside.replace(team.people)
        configuration.write_text(CONFIGURATION)


def test_a_person_who_asks_too_often_waits_and_others_do_not(team: TeamServer) -> None:
    team.users("add", "fay", "--read", "manuals/給付編", "--per-minute", "3")
    began = time.monotonic()
    answers = [team.call("fay", "manual_ls") for _ in range(9)]
    passed = [answer.status_code for answer in answers].count(200)
    assert 3 <= passed <= 3 + (time.monotonic() - began) / 20 + 1e-3
    for refused in (answer for answer in answers if answer.status_code != 200):
        assert refused.status_code == 429
        assert refused.json()["error"] == "too_many_requests"
        assert 1 <= int(refused.headers["retry-after"]) <= 21
    assert team.call("aiko", "manual_ls").status_code == 200


BATCH = [
    {"tool": "manual_ls", "arguments": {}},
    {"tool": "manual_toc", "arguments": {"manual_id": "給付編"}},
    {"tool": "manual_toc", "arguments": {"manual_id": "秘密編"}},
    {"tool": "manual_ls", "arguments": {"id": "給付編"}},
]


def test_each_call_of_a_batch_is_audited(team: TeamServer) -> None:
    session = team.session("aiko")
    for batched in (
        lambda: team.call("aiko", "manual_batch", calls=BATCH),
        lambda: team.mcp(
            "aiko", "tools/call", session, name="manual_batch", arguments={"calls": BATCH}
        ),
    ):
        before = len(team.audit())
        assert batched().status_code == 200
        lines = [
            (line["person"], line["tool"], line.get("manual"), line["status"])
            for line in team.audit()[before:]
        ]
        assert lines == [
            ("aiko", "manual_ls", None, 200),
            ("aiko", "manual_toc", "給付編", 200),
            ("aiko", "manual_toc", "秘密編", 404),
            ("aiko", "manual_ls", "給付編", 200),
            ("aiko", "manual_batch", "給付編, 秘密編", 200),
        ]


def test_a_batch_counts_as_its_calls(team: TeamServer) -> None:
    team.users("add", "kim", "--read", "manuals/給付編", "--per-minute", "6")
    began = time.monotonic()
    session = team.session("kim")  # one request
    assert team.call("kim", "manual_batch", calls=BATCH).status_code == 200  # four
    refused = team.call("kim", "manual_batch", calls=BATCH)  # a request, and three are too many
    over = message(
        team.mcp("kim", "tools/call", session, name="manual_batch", arguments={"calls": BATCH})
    )
    if time.monotonic() - began < 20:  # else some have come back
        assert (refused.status_code, refused.json()["error"]) == (429, "too_many_requests")
        assert "these are 4" in refused.json()["message"]
        assert over["error"] == "too_many_requests", "the rate was used up before"


def test_a_batch_that_may_be_sent_later_says_when(team: TeamServer) -> None:
    team.users("add", "lee", "--read", "manuals/給付編", "--per-minute", "2")
    larger = team.call("lee", "manual_batch", calls=BATCH)
    assert (larger.status_code, larger.json()["error"]) == (429, "too_many_requests")
    assert larger.json()["message"].endswith("and these are 4; make fewer calls")
    assert "retry-after" not in larger.headers, "it is never answered"
    as_large = team.call("lee", "manual_batch", calls=BATCH[:2])
    assert as_large.status_code == 429
    wait = int(as_large.headers["retry-after"])
    assert 30 < wait <= 60, "none is left, and the batch is two calls"
    assert f"try again in {wait} seconds" in as_large.json()["message"]


@pytest.mark.slow
def test_all_workers_count_the_calls_of_a_person_together(three_workers: TeamServer) -> None:
    team = three_workers
    team.users("add", "fay", "--read", "manuals/給付編", "--per-minute", "6")
    began = time.monotonic()
    passed = 0
    for _ in range(30):  # each over a connection of its own, which any worker accepts
        with httpx2.Client(base_url=team.url, timeout=SECONDS, trust_env=False) as client:
            answer = client.post("/tools/manual_ls", json={}, headers=team.headers("fay"))
            assert answer.status_code in {200, 429}
            passed += answer.status_code == 200
    assert 6 <= passed <= 6 + (time.monotonic() - began) / 10 + 1e-3


@pytest.mark.slow
def test_all_workers_count_the_open_streams_of_a_person_together(
    three_workers: TeamServer,
) -> None:
    """Each stream has a connection of its own, which any worker accepts, and its end frees it."""
    listen = {
        **MCP,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
    }
    params = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    team = three_workers
    with ExitStack() as clients:

        def opened(name: str) -> tuple[int, ExitStack]:
            stack = clients.enter_context(ExitStack())
            client = stack.enter_context(
                httpx2.Client(base_url=team.url, timeout=SECONDS, trust_env=False)
            )
            headers = {**listen, **team.headers(name)}
            stream = client.stream("POST", "/mcp", json=body, headers=headers)
            return stack.enter_context(stream).status_code, stack

        streams = [opened("aiko") for _ in range(30)]
        assert sorted(code for code, _ in streams) == [200] * STREAMS + [429] * (30 - STREAMS)
        assert opened("ben")[0] == 200
        assert team.call("aiko", "manual_ls").status_code == 200, "calls are counted apart"
        next(stack for code, stack in streams if code == 200).close()
        eventually(lambda: opened("aiko")[0] == 200)
        assert opened("aiko")[0] == 429


def test_without_a_usable_people_file_nobody_is_let_in(team: TeamServer) -> None:
    good = team.people.read_bytes()
    record = json.loads(good)
    record["people"]["ben"]["token"]["expires"] = "2090-01-01T00:00:00"
    without_a_time_zone = json.dumps(record).encode()
    for change in (
        lambda: team.people.write_bytes(b"{"),
        lambda: team.people.chmod(0o644),
        lambda: team.people.write_bytes(without_a_time_zone),
    ):
        change()
        answer = team.call("aiko", "manual_ls")
        assert answer.status_code == 503
        assert str(team.folder.parent) not in answer.text
        assert team.client.get("/readyz").status_code == 503
        assert team.client.get("/healthz").status_code == 200
        team.people.write_bytes(good)
        team.people.chmod(0o600)
        assert team.call("aiko", "manual_ls").status_code == 200


@pytest.mark.slow
def test_tls_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    pem, key = certificate(tmp_path)
    tls = {"FUMISHIRUBE_TLS_CERTIFICATE": str(pem), "FUMISHIRUBE_TLS_KEY": str(key)}
    with TeamServer(tmp_path, "0.0.0.0:0", FUMISHIRUBE_SECURITY_ALLOW_REMOTE="true", **tls) as team:
        assert team.url.startswith("https://")
        context = ssl.create_default_context(cafile=str(pem))
        team.client = httpx2.Client(
            base_url=f"https://127.0.0.1:{team.port}", verify=context, trust_env=False
        )
        for _ in range(20):
            assert names(team.call("aiko", "manual_ls")) == ["給付編"]
        large = team.call("boss", "vault_create", path="big.md", content="x" * 500_000)
        assert large.status_code == 200
        too_large = team.call("boss", "vault_create", path="big2.md", content="x" * 2_000_000)
        assert too_large.status_code == 413
        session = team.session("aiko")
        assert "result" in message(team.mcp("aiko", "tools/list", session))
        with (
            socket.create_connection(("127.0.0.1", team.port), timeout=SECONDS) as plain,
            suppress(ConnectionError),
        ):
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b"200" not in plain.recv(100)


@pytest.mark.slow
def test_behind_a_named_proxy_nobody_else_connects(tmp_path: Path) -> None:
    remote = {"FUMISHIRUBE_SECURITY_ALLOW_REMOTE": "true"}
    with TeamServer(tmp_path, "0.0.0.0:0", FUMISHIRUBE_PROXIES="10.9.8.7", **remote) as team:
        team.client = httpx2.Client(base_url=f"http://127.0.0.1:{team.port}", trust_env=False)
        answer = team.call("aiko", "manual_ls")
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
        assert team.client.get("/healthz").status_code == 403
    proxy = tmp_path / "again"
    with TeamServer(proxy, "0.0.0.0:0", FUMISHIRUBE_PROXIES="10.9.8.7,127.0.0.1", **remote) as team:
        team.client = httpx2.Client(base_url=f"http://127.0.0.1:{team.port}", trust_env=False)
        forwarded = {**team.headers("aiko"), "x-forwarded-for": "10.1.1.1"}
        answer = team.client.post("/tools/manual_ls", json={}, headers=forwarded)
        assert names(answer) == ["給付編"]


@pytest.mark.slow
def test_a_named_proxy_of_ipv4_may_connect_to_a_socket_of_ipv6(tmp_path: Path) -> None:
    remote = {"FUMISHIRUBE_SECURITY_ALLOW_REMOTE": "true"}
    for place, (named, status) in enumerate(
        (("127.0.0.1", 200), ("::ffff:127.0.0.1", 200), ("10.9.8.7", 403))
    ):
        with TeamServer(tmp_path / str(place), "[::]:0", FUMISHIRUBE_PROXIES=named, **remote) as it:
            it.client = httpx2.Client(base_url=f"http://127.0.0.1:{it.port}", trust_env=False)
            assert it.client.get("/healthz").status_code == status, named


@pytest.mark.slow
def test_the_public_host_name_reaches_tools_and_mcp(tmp_path: Path) -> None:
    with TeamServer(tmp_path, FUMISHIRUBE_PUBLIC_URL="https://manuals.example") as team:
        own = {**MCP, **team.headers("aiko")}
        for host in ("manuals.example", "Manuals.Example:443", f"127.0.0.1:{team.port}"):
            for origin in ({}, {"origin": "https://manuals.example"}):
                headers = {**own, "host": host, **origin}
                found = team.client.post("/tools/manual_ls", json={}, headers=headers)
                assert names(found) == ["給付編"]
                assert team.client.post("/mcp", json=HELLO, headers=headers).status_code == 200
        for path in ("/tools/manual_ls", "/mcp"):
            for wrong, status in (
                ({"host": "other.example"}, 400),
                ({"host": "manuals.example.other"}, 400),
                ({"origin": "https://other.example"}, 403),
                ({"origin": "null"}, 403),
            ):
                answer = team.client.post(path, json=HELLO, headers={**own, **wrong})
                assert answer.status_code == status, (path, wrong)


def test_a_stop_lets_calls_in_progress_end(tmp_path: Path) -> None:
    query = {"manual_id": "*", "query": "期限", "required_terms": ["期限"]}
    call = {"name": "manual_find", "arguments": query}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    with TeamServer(tmp_path, FUMISHIRUBE_GRACE_SECONDS="20") as team, ExitStack() as stack:
        place, session = ("127.0.0.1", team.port), team.session("boss")
        stack.enter_context(listening(team, "boss", session))
        asking = []
        for path, body in [("/mcp", asked), *[("/tools/manual_find", query)] * 3]:
            connection = stack.enter_context(socket.create_connection(place, timeout=SECONDS))
            content = json.dumps(body).encode()
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{team.port}\r\n"
                f"Authorization: {team.headers('boss')['authorization']}\r\n"
                f"Accept: {MCP['accept']}\r\nMcp-Session-Id: {session}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
                "Expect: 100-continue\r\n\r\n"
            )
            connection.sendall(head.encode())
            assert b" 100 " in connection.recv(100), "the call is not in progress"
            asking.append((connection, content))
        os.kill(team.pid, signal.SIGTERM)
        eventually(lambda: not listens(place))
        for connection, content in asking:
            connection.sendall(content)
        answers = [b"".join(iter(partial(connection.recv, 9999), b"")) for connection, _ in asking]
        assert [answer.split()[1] for answer in answers] == [b"200"] * 4
        assert all(b"trace_id" in answer for answer in answers)
        assert team.process.wait(10) == 0, "it waits for the stream of the session"


def listens(place: tuple[str, int]) -> bool:
    """Tell whether a port accepts connections."""
    try:
        socket.create_connection(place, timeout=SECONDS).close()
    except ConnectionError:
        return False
    return True


@pytest.mark.slow
def test_several_workers_serve_people_over_tls(tmp_path: Path) -> None:
    pem, key = certificate(tmp_path)
    tls = {"FUMISHIRUBE_TLS_CERTIFICATE": str(pem), "FUMISHIRUBE_TLS_KEY": str(key)}
    with TeamServer(tmp_path, workers=2, **tls) as team:
        context = ssl.create_default_context(cafile=str(pem))

        def connected() -> httpx2.Client:
            return httpx2.Client(base_url=team.url, verify=context, trust_env=False)

        with connected() as team.client:
            session = team.session("aiko")
            query = {"manual_id": "給付編", "query": "期限", "required_terms": ["期限"]}
            trace = team.call("aiko", "manual_find", **query).json()["trace_id"]
        for _ in range(12):
            with connected() as team.client:
                assert names(team.call("aiko", "manual_ls")) == ["給付編"]
                assert "result" in message(team.mcp("aiko", "tools/list", session))
                assert team.mcp("boss", "tools/list", session).status_code == 404
                assert team.call("aiko", "manual_hits", trace_id=trace).status_code == 200
                assert team.call("boss", "manual_hits", trace_id=trace).status_code == 404
        with connected() as team.client:
            team.users("remove", "aiko")
            assert team.call("aiko", "manual_ls").status_code == 401
