"""Whatever the OpenAPI document allows, and much of what it does not, is answered as it says.

It needs schemathesis, which `tox -e http` installs, and asks for more examples there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from chapter_manuals import NAME
from http_server import HttpServer
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from test_http_chapters import SETTINGS, served

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from schemathesis.checks import not_a_server_error  # noqa: E402 - only where it is installed
from schemathesis.generation import GenerationMode  # noqa: E402 - the same
from schemathesis.specs.openapi import checks  # noqa: E402 - the same

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "5"))
CHECKS = (
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    workspace = served(tmp_path_factory.mktemp("schema"))
    surfaces = SETTINGS.replace("]", ", {use: probe}, {use: manual}]")
    (workspace / "fumishirube.yaml").write_text(surfaces, encoding="utf-8")
    with HttpServer(workspace) as running:
        yield running


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_operation_does_what_the_document_says(server: HttpServer, mode: Any) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operations = [one.ok() for one in schema.exclude(path_regex="probe_wait").get_all_operations()]
    assert len(operations) > 20
    for operation in operations:
        _try(operation, mode)
    assert server.process.poll() is None
    assert server.is_well()


def _try(operation: Any, mode: Any) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)
        for asked in (case.query, case.body):
            # No name that was made up is that of a manual.
            if isinstance(asked, dict) and isinstance(asked.get("manual_name"), str):
                asked["manual_name"] = NAME
                case.call_and_validate(checks=CHECKS)

    # Where there are no arguments, none can be wrong.
    with suppress(Unsatisfiable):
        holds()
