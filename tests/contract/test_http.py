"""The tools over HTTP: a real server process, and a client that knows nothing of it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import manuals
import pytest
from http_server import HttpServer, probing
from strangers import stranger

BOTH = {"manual_name": "給付編", "query": "入院"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(probing(tmp_path_factory.mktemp("http"))) as running:
        yield running


def refused(answer: Any, status: int) -> dict[str, Any]:
    """Return the body of a refusal, which is like all refusals."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text
    body: dict[str, Any] = answer.json()
    assert body.keys() <= {"error", "message", "details"}
    assert body["message"]
    return body


def misfit(answer: Any, *location: str) -> dict[str, Any]:
    """Return the first misfit of a 422, which is the one at this place."""
    assert answer.status_code == 422, answer.text
    assert answer.json().keys() == {"detail"}
    first: dict[str, Any] = answer.json()["detail"][0]
    assert first["loc"] == list(location)
    assert first.keys() >= {"type", "msg", "input"}
    return first


# --- endpoints ------------------------------------------------------------------------------


def test_a_sign_of_life(server: HttpServer) -> None:
    answer = server.get("/healthz")
    assert (answer.status_code, answer.text) == (200, '{"ok":true}')


def test_an_answer_may_be_one_member_of_the_tools(server: HttpServer) -> None:
    assert server.get("/probe_names").json() == ["給付編", "事務編"]
    assert server.post("/tools/probe_names", {}).json() == {"names": ["給付編", "事務編"]}


def test_an_answer_is_json_in_its_own_script(server: HttpServer) -> None:
    answer = server.get("/probe_names")
    assert answer.content == '["給付編","事務編"]'.encode()
    assert answer.headers["content-type"] == "application/json"


def test_strings_become_what_the_schema_takes(server: HttpServer) -> None:
    asked = {"manual_name": "給付編", "page": "7", "deep": "true", "weight": "1.5"}
    answer = server.get("/probe_page", words=["a", "b"], **asked).json()
    expected = {"page": 7, "deep": True, "weight": 1.5, "words": ["a", "b"]}
    assert answer == {"manual": "給付編", **expected}


@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "True"])
def test_many_words_mean_yes(server: HttpServer, word: str) -> None:
    assert server.get("/probe_page", manual_name="給付編", deep=word).json()["deep"] is True


@pytest.mark.parametrize("word", ["", "2", "maybe"])
def test_other_words_mean_nothing(server: HttpServer, word: str) -> None:
    answer = server.get("/probe_page", manual_name="給付編", deep=word)
    assert misfit(answer, "query", "deep")["input"] == word


@pytest.mark.parametrize("word", ["", "1.0", "+1", " 1", "-1", "１", "1_0", "0x1", "9" * 40])
def test_an_integer_is_digits_only(server: HttpServer, word: str) -> None:
    misfit(server.get("/probe_page", manual_name="給付編", page=word), "query", "page")


def test_of_several_values_the_last_counts(server: HttpServer) -> None:
    answer = server.client.get("/probe_page?manual_name=x&manual_name=給付編&page=1&page=2")
    assert answer.json()["page"] == 2


def test_a_body_answers_as_every_face_does(server: HttpServer) -> None:
    answer = server.post("/probe_search", {**BOTH, "limit": 2})
    assert answer.json() == {"results": [{"section_id": "01", "snippet": "入院"}] * 2}
    assert server.post("/tools/probe_search", {**BOTH, "limit": 2}).json() == answer.json()


def test_unknown_arguments_are_ignored_by_endpoints_and_refused_by_tools(
    server: HttpServer,
) -> None:
    assert server.post("/probe_search", {**BOTH, "x": float(10)}).status_code == 200
    assert server.get("/probe_page", manual_name="給付編", x="1").status_code == 200
    body = refused(server.post("/tools/probe_search", {**BOTH, "limits": 1}), 400)
    assert body["error"] == "invalid_parameter"
    assert "'limits'" in body["message"]


# --- refusals -------------------------------------------------------------------------------


def test_what_is_missing_is_named(server: HttpServer) -> None:
    expected = {"error": "invalid_request", "message": "manual_name is required"}
    assert refused(server.get("/probe_page"), 400) == expected
    assert refused(server.post("/probe_search", {"query": "x"}), 400) == expected


def test_missing_wins_over_misfitting(server: HttpServer) -> None:
    body = refused(server.post("/probe_search", {"manual_name": 1, "mode": "fuzzy"}), 400)
    assert body == {"error": "invalid_request", "message": "query is required"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("manual_name", 1),
        ("manual_name", None),
        ("manual_name", []),
        ("query", None),
        ("query", "x" * 1001),
        ("mode", "fuzzy"),
        ("mode", "PLAIN"),
        ("mode", None),
        ("limit", 0),
        ("limit", -1),
        ("limit", 1.5),
        ("limit", 5.0),
        ("limit", "5"),
        ("limit", True),
        ("limit", None),
        ("limit", 101),
        ("limit", float("nan")),
        ("limit", float("inf")),
    ],
)
def test_what_does_not_fit_is_named(server: HttpServer, name: str, value: object) -> None:
    answer = server.client.post(
        "/probe_search",
        content=json.dumps({**BOTH, name: value}),
        headers={"content-type": "application/json"},
    )
    misfit(answer, "body", name)


def test_every_misfit_is_listed_with_its_bounds(server: HttpServer) -> None:
    answer = server.post("/probe_search", {**BOTH, "mode": "fuzzy", "limit": 0})
    first, second = answer.json()["detail"]
    assert (first["type"], first["input"]) == ("literal_error", "fuzzy")
    assert (second["type"], second["ctx"]) == ("greater_than_equal", {"ge": 1})


def test_an_absent_thing_is_not_found(server: HttpServer) -> None:
    expected = {"error": "not_found", "message": "manual '経理編' was not found"}
    assert refused(server.get("/probe_page", manual_name="経理編"), 404) == expected


@pytest.mark.parametrize("name", ["", "..", "/etc", "a\0b", "\ufffd", "x" * 5000])
def test_a_hostile_name_is_only_not_found(server: HttpServer, name: str) -> None:
    body = refused(server.get("/probe_page", manual_name=name), 404)
    assert len(body["message"]) < 300


def test_a_lone_surrogate_is_only_not_found(server: HttpServer) -> None:
    content = b'{"manual_name": "\\ud800", "query": "\\udc00"}'
    headers = {"content-type": "application/json"}
    answer = server.client.post("/probe_search", content=content, headers=headers)
    assert answer.json()["results"][0]["snippet"] == "\ufffd"


def test_the_members_of_a_group_of_errors_are_logged_without_a_word(server: HttpServer) -> None:
    answer = server.post("/probe_search", {**BOTH, "query": "group"})
    log = server.logged(answer.json()["error_id"])
    members = '"ExceptionGroup","KeyError","ExceptionGroup","ZeroDivisionError"'
    assert f'"exception":["RecordedFault",{members}]' in log
    assert "a secret" not in log


@pytest.mark.parametrize("path", ["/probe_search", "/tools/probe_search"])
def test_something_unexpected_gets_an_id_that_the_log_knows(server: HttpServer, path: str) -> None:
    answers = [server.post(path, {**BOTH, "query": word}) for word in ("boom", "exit", "boom")]
    assert [answer.status_code for answer in answers] == [500] * 3
    ids = {answer.json()["error_id"] for answer in answers}
    assert len(ids) == 3
    assert all(answer.json().keys() == {"error", "error_id"} for answer in answers)
    assert {answer.json()["error"] for answer in answers} == {"internal_error"}
    assert all(
        f'"tool":"probe_search","code":"internal_error","error_id":"{one}"' in server.log
        for one in ids
    )
    assert "fumishirube_probe.py" in server.log
    assert "a secret" not in server.log
    assert server.is_well()


@pytest.mark.parametrize(
    "content", [b"", b" ", b"null", b"{", b"\xff\xfe", b"[" * 50000, b"1" * 5000]
)
def test_a_body_that_is_no_json_is_refused(server: HttpServer, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = server.client.post("/probe_search", content=content, headers=headers)
    assert refused(answer, 400)["error"] == "invalid_request"


@pytest.mark.parametrize("content", [b"[]", b'"x"', b"1"])
def test_a_body_that_is_no_object_does_not_fit(server: HttpServer, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    misfit(server.client.post("/probe_search", content=content, headers=headers), "body")


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "json", None])
def test_a_body_of_another_type_is_refused(server: HttpServer, kind: str | None) -> None:
    headers = {"content-type": kind} if kind else {}
    for path in ("/probe_search", "/tools/probe_search"):
        refused(server.client.post(path, content=b"{}", headers=headers), 415)


def test_a_body_may_be_of_any_kind_of_json(server: HttpServer) -> None:
    for kind in ("application/json; charset=utf-8", "application/vnd.x+json"):
        headers = {"content-type": kind}
        content = json.dumps(BOTH).encode("utf-8-sig")
        answer = server.client.post("/probe_search", content=content, headers=headers)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(("path", "most"), [("/probe_search", 64), ("/tools/probe_search", 1024)])
def test_a_body_that_is_too_large_is_refused_unread(
    server: HttpServer, path: str, most: int
) -> None:
    query = "x" * (most * 1024)
    body = refused(server.post(path, {**BOTH, "query": query}), 413)
    assert f"{most * 1024:,} bytes" in body["message"]

    def pieces() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(most + 1):
            yield b"x" * 1024

    headers = {"content-type": "application/json"}
    refused(server.client.post(path, content=pieces(), headers=headers), 413)


def test_what_is_not_there_is_not_found(server: HttpServer) -> None:
    for path in ("/", "/nowhere", "/probe_names/", "/tools/nothing", "/tools", "/%2e%2e/etc"):
        assert refused(server.get(path), 404)["error"] == "not_found"


def test_the_wrong_method_is_refused_with_the_right_one(server: HttpServer) -> None:
    for method, path, right in (
        ("POST", "/probe_names", "GET"),
        ("GET", "/probe_search", "POST"),
        ("OPTIONS", "/probe_search", "POST"),
        ("HEAD", "/probe_search", "POST"),
    ):
        answer = server.client.request(method, path)
        assert answer.status_code == 405
        assert answer.headers["allow"] == right


# --- who is let in --------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.", "x@"])
def test_a_foreign_host_is_refused(server: HttpServer, host: str) -> None:
    for path in ("/healthz", "/probe_names", "/mcp"):
        answer = server.client.get(path, headers={"host": host})
        assert refused(answer, 400)["error"] == "invalid_request"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "[::1]:8765", "127.0.0.1", "127.0.0.2:1"]
)
def test_this_machines_names_are_let_in_at_any_port(server: HttpServer, host: str) -> None:
    assert server.client.get("/probe_names", headers={"host": host}).status_code == 200


def test_the_name_of_a_test_client_is_foreign_over_a_network(server: HttpServer) -> None:
    refused(server.client.get("/probe_names", headers={"host": "testserver"}), 400)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "file://", "localhost"])
def test_a_foreign_page_is_refused(server: HttpServer, origin: str) -> None:
    for path in ("/probe_names", "/mcp"):
        answer = server.client.get(path, headers={"origin": origin})
        assert refused(answer, 403)["error"] == "forbidden"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_foreign_page_loads_without_an_origin_is_refused(
    server: HttpServer, site: str
) -> None:
    """A picture, a script, a frame or a link."""
    for path in ("/healthz", "/probe_names", "/mcp", "/docs"):
        answer = server.client.get(path, headers={"sec-fetch-site": site})
        assert refused(answer, 403)["error"] == "forbidden"
        named = {"sec-fetch-site": site, "origin": "http://localhost:3000"}
        assert server.client.get(path, headers=named).status_code != 403


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_what_the_user_or_the_own_page_loads_is_answered(server: HttpServer, site: str) -> None:
    assert server.client.get("/probe_names", headers={"sec-fetch-site": site}).status_code == 200


def test_no_page_is_told_that_it_may_read(server: HttpServer) -> None:
    headers = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
    answer = server.client.get("/probe_names", headers=headers)
    assert answer.status_code == 200
    preflight = server.client.options("/probe_search", headers=headers)
    for one in (answer, preflight):
        assert not any(name.startswith("access-control") for name in one.headers)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("http://localhost:1/healthz", 200),
        ("HTTP://127.0.0.1/probe_page?manual_name=x", 404),
        ("https://localhost?x", 404),
        ("http://evil.example/healthz", 400),
        ("http://a@localhost/healthz", 400),
        ("http:///healthz", 400),
    ],
)
def test_a_request_for_an_address_is_one_for_its_host_and_path(
    server: HttpServer, address: str, status: int
) -> None:
    """As clients send it to proxies (RFC 9112, 3.2.2); the Host header does not count then."""
    with server.connected() as connection:
        head = f"GET {address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 %d " % status)


def test_a_probe_may_ask_for_the_head_alone(server: HttpServer) -> None:
    for path in ("/healthz", "/docs", "/openapi.json", "/probe_names"):
        answer, whole = server.client.head(path), server.client.get(path)
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-type"] == whole.headers["content-type"]
    assert '"head":' not in server.get("/openapi.json").text


# --- the document ---------------------------------------------------------------------------


def test_the_document_speaks_of_every_endpoint(server: HttpServer) -> None:
    document = server.get("/openapi.json").json()
    paths = document["paths"]
    assert {"/healthz", "/probe_names", "/probe_search", "/tools/manual_find"} <= paths.keys()
    names = paths["/probe_names"]["get"]["responses"]["200"]["content"]["application/json"]
    assert names["schema"] == {"type": "array", "items": {"type": "string"}}
    parameters = {one["name"]: one for one in paths["/probe_page"]["get"]["parameters"]}
    assert parameters["manual_name"]["required"]
    assert parameters["page"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "default": 1,
    }
    body = paths["/probe_search"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"]["required"] == ["manual_name", "query"]
    assert body["example"] == BOTH | {"query": "帝王切開"}


def test_the_page_asks_nobody_else_for_anything(server: HttpServer) -> None:
    page = server.get("/docs").text
    assert "/openapi.json" in page
    assert "https://" not in page
    assert "http://" not in page
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"/docs-static/{asset}" in page
        assert server.get(f"/docs-static/{asset}").status_code == 200


def test_an_endpoint_that_cannot_be_is_left_out_and_told(tmp_path: Path) -> None:
    probing(tmp_path)
    configured = "surfaces: [{use: probe, with: {broken: true}}]\n"
    (tmp_path / "fumishirube.yaml").write_text(configured, encoding="utf-8")
    with HttpServer(tmp_path) as server:
        assert server.get("/probe_good").json() == {"names": ["給付編", "事務編"]}
        assert server.get("/healthz").json() == {"ok": True}
        for path in ("/probe_put", "/probe_body", "/tools/x"):
            assert server.get(path).status_code == 404
        for number in range(7):
            assert server.post(f"/tools/probe_{number}", {}).status_code == 200
        problems = [line for line in server.log.splitlines() if line.startswith("problem: ")]
    assert [one.split(":")[1] for one in problems] == [f" tool probe_{n}" for n in range(1, 7)]


MEASURED = """
from typing import ClassVar
from fumishirube import Answer, Params, Stage, Tool, hook

class Told(Answer):
    told: str

def tell(params, call):
    return Told(told="all")

class Measured(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict] = {}

    def tools(self, context):
        return [
            Tool(f"tell_{name}", "Tell", "Tells.", Params, Told, tell, http=("GET", f"/{name}"))
            for name in ("metrics", "readyz", "told")
        ]

@hook
def register_surfaces(register):
    register("measured", Measured, default=True)
"""


def test_a_path_of_a_server_for_people_is_no_tools_path_on_any_server(tmp_path: Path) -> None:
    plugins = stranger(tmp_path / "plugins", "measured", MEASURED)
    workspace = manuals.write(tmp_path / "work", {"m/a.md": "# A\n\na\n"})
    with HttpServer(workspace, PYTHONPATH=str(plugins)) as server:
        assert server.get("/told").json() == {"told": "all"}
        for name in ("metrics", "readyz"):
            assert server.get(f"/{name}").status_code == 404
            assert f"tool tell_{name}: its endpoint is left out" in server.log


# --- the log --------------------------------------------------------------------------------


def test_a_request_is_one_line_without_any_text(tmp_path: Path) -> None:
    with HttpServer(probing(tmp_path)) as server:
        server.post("/probe_search", {**BOTH, "section_id": "0\n3", "query": "秘密の問い"})
        server.get("/probe_page", manual_name="経理編")
        server.post("/tools/probe_search", {**BOTH, "query": "秘密の問い"})
        assert server.stop() == 0
        log = server.log
    assert "秘密" not in log
    assert (tmp_path / "var" / "http.log").read_text(encoding="utf-8") == log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    first, second, third = lines
    assert first["duration_ms"] >= 0
    told = {key: first[key] for key in first if key not in ("ts", "duration_ms")}
    assert told == {
        "level": "info",
        "endpoint": "POST /probe_search",
        "manual_name": "給付編",
        "section_id": "0\\n3",
        "result_count": 3,
        "status": 200,
    }
    assert (second["endpoint"], second["manual_name"], second["status"]) == (
        "GET /probe_page",
        "経理編",
        404,
    )
    assert third["endpoint"] == "POST /tools/probe_search"


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    probing(tmp_path, "roots: {runtime: manuals/給付編/01.md/var}\n")
    with HttpServer(tmp_path) as server:
        assert server.get("/probe_names").status_code == 200
        assert server.logged('"endpoint":"GET /probe_names"')


# --- living and ending ----------------------------------------------------------------------


def test_a_tool_is_told_that_its_client_hung_up(server: HttpServer) -> None:
    labels = server.workspace / "manuals"
    with server.connected() as connection:
        body = b'{"mark": "gone"}'
        head = f"POST /probe_wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        connection.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        manuals.appears(labels / "gone.began")
    manuals.appears(labels / "gone.cancelled")


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_ends_well(tmp_path: Path, sign: signal.Signals) -> None:
    with HttpServer(probing(tmp_path)) as server:
        with server.connected() as connection, server.connected():
            body = b'{"mark": "busy"}'
            head = (
                f"POST /tools/probe_wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
            )
            kind = "\r\nContent-Type: application/json\r\n\r\n"
            connection.sendall((head + kind).encode() + body)
            manuals.appears(tmp_path / "manuals" / "busy.began")
            assert server.stop(sign) == 0
        assert "Traceback" not in server.log
