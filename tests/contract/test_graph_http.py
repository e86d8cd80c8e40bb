"""Documents over HTTP: the same objects as on the command line, as the OpenAPI document says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documents import PAIR, docs, documents
from http_server import HttpServer
from jsonschema import Draft202012Validator


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    workspace = documents(tmp_path_factory.mktemp("graph"), PAIR)
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with HttpServer(workspace) as running:
        yield running


def declared(server: HttpServer, tool: str, status: int) -> Draft202012Validator:
    """Return what the OpenAPI document says of a body."""
    document = server.get("/openapi.json").json()
    responses = document["paths"][f"/tools/{tool}"]["post"]["responses"]
    return Draft202012Validator(responses[str(status)]["content"]["application/json"]["schema"])


@pytest.mark.parametrize(
    ("words", "tool", "arguments", "status"),
    [
        (["get-page", "nope.md"], "ubp_get_page", {"filepath": "nope.md"}, 404),
        (["get-page", "../x.md"], "ubp_get_page", {"filepath": "../x.md"}, 400),
        (["search", "x", "--limit", "0"], "ubp_search", {"query": "x", "limit": 0}, 400),
        (["get-graph", "--center", "nope"], "ubp_get_graph", {"center": "nope"}, 404),
        (["list-pages", "--sort", "size"], "ubp_list_pages", {"sort": "size"}, 400),
        (["get-context", "guide/install"], "ubp_get_context", {"filepath": "guide/install"}, 200),
    ],
)
def test_a_body_is_the_object_of_the_command_line(
    server: HttpServer, words: list[str], tool: str, arguments: dict[str, Any], status: int
) -> None:
    answer = server.post(f"/tools/{tool}", arguments)
    assert answer.status_code == status
    declared(server, tool, status).validate(answer.json())
    assert answer.json() == docs(*words, "--json", cwd=server.workspace).json


def test_what_the_server_itself_refuses_is_as_declared(server: HttpServer) -> None:
    answer = server.client.post("/tools/ubp_get_page", content=b"{")
    declared(server, "ubp_get_page", answer.status_code).validate(answer.json())
    assert isinstance(answer.json()["error"], str)


def test_without_the_folder_the_service_is_unavailable(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with HttpServer(tmp_path) as server:
        assert server.post("/tools/ubp_list_pages", {}).status_code == 200
        shutil.rmtree(tmp_path / "docs")
        answer = server.post("/tools/ubp_list_pages", {})
        assert answer.status_code == 503
        assert (answer.json()["code"], answer.json()["details"]["reason"]) == (
            -32603,
            "docs_missing",
        )
        declared(server, "ubp_list_pages", 503).validate(answer.json())
