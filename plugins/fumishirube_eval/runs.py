"""Runs cases through the public tools, over any transport."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import JsonValue

from fumishirube import Call, ConfigError, Tool, ToolError
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.commands import Application, call_tool
from fumishirube.serving import CacheOutcome
from fumishirube.text import estimate_tokens, nfc
from fumishirube.tools import Progress, Session, compact
from fumishirube_eval.cases import Case, SectionKey
from fumishirube_eval.metrics import CaseResult, case_metrics

FIRST_TIME_MS = 600_000
"""The time limit for the first search of a manual, which may have to index it."""

_PAGE = 1000
_CUT_SHORT = frozenset({"time_budget", "candidate_cap"})
_LEFT = _CUT_SHORT | {"per_file_cap"}
_MAX_ROWS = 20


class ToolClient(Protocol):
    """Calls the tools, in this process or over a transport."""

    def call(self, tool: str, arguments: dict[str, JsonValue]) -> Mapping[str, Any]:
        """Return the reply; raise a failure as :class:`fumishirube.ToolError`."""
        ...

    def text(self, tool: str, reply: Mapping[str, Any]) -> str:
        """Return a reply as the text that an MCP client shows its model."""
        ...

    def cached(self, trace_id: str) -> CacheOutcome | None:
        """Return the cache outcome of a search, where it is available."""
        ...


@dataclass(frozen=True)
class InProcessClient:
    """A client of an application in this process, with a session like one over MCP."""

    application: Application
    base_call: Call

    @classmethod
    def of(cls, application: Application, progress: Progress | None = None) -> InProcessClient:
        """Return a client with a new session."""
        return cls(application, Call(session=Session(), progress=progress))

    def call(self, tool: str, arguments: dict[str, JsonValue]) -> Mapping[str, Any]:
        """Call one tool.

        Raises:
            ConfigError: when no surface offers the tool.
            ToolError: when the tool fails.
        """
        return call_tool(self._offered(tool), arguments, self.base_call)

    def text(self, tool: str, reply: Mapping[str, Any]) -> str:
        """Return a reply as the text that an MCP client shows its model."""
        offered = self._offered(tool)
        return offered.text(reply) if offered.text else compact(dict(reply))

    def cached(self, trace_id: str) -> CacheOutcome | None:
        """Return the cache outcome in the trace."""
        return self.application.traces.get(trace_id).cache

    def _offered(self, tool: str) -> Tool[Any, Any]:
        offered = self.application.tools.get(tool)
        if offered is None:
            raise ConfigError(f"surfaces: none of them offers {tool}; add {{use: manual}}")
        return offered


def run_cases(
    clients: Sequence[ToolClient],
    cases: Sequence[Case],
    progress: Progress | None = None,
    *,
    use_cache: bool = False,
    everywhere: bool = False,
) -> list[list[CaseResult]]:
    """Run every case through each client; return the results, client by client.

    The clients alternate, and also alternate in going first, so that changes of the machine's speed
    and warm caches affect all of them. Indexes are updated first, outside the measured time. With
    ``everywhere``, each case searches all manuals.
    """
    for client in clients:
        _warm_up(client, cases)
    measured: list[list[CaseResult]] = [[] for _ in clients]
    turns = list(zip(clients, measured, strict=True))
    for number, case in enumerate(cases, start=1):
        for client, results in turns:
            results.append(run_case(client, case, use_cache=use_cache, everywhere=everywhere))
        turns.reverse()
        if progress:
            progress(number, len(cases), "cases")
    return measured


def run_case(
    client: ToolClient, case: Case, *, use_cache: bool = False, everywhere: bool = False
) -> CaseResult:
    """Run one search, page through all its results, and return them."""
    started = time.perf_counter()
    try:
        manual_id = EVERY_MANUAL if everywhere else case.manual_id
        question = _question(case, use_cache=use_cache, manual_id=manual_id)
        reply = client.call("manual_find", question)
    except ToolError as error:
        passed = _milliseconds_since(started)
        return _failed(case, error, passed, estimate_tokens(compact(error.payload())))
    passed = _milliseconds_since(started)
    tokens = estimate_tokens(client.text("manual_find", reply))
    try:
        return replace(_examined(client, case, reply), latency_ms=passed, tokens=tokens)
    except ToolError as error:
        return _failed(case, error, passed, tokens)


def _failed(case: Case, error: ToolError, passed: float, tokens: int) -> CaseResult:
    message = str(error)
    return CaseResult(case, latency_ms=passed, tokens=tokens, error=error.code, message=message)


def _examined(client: ToolClient, case: Case, reply: Mapping[str, Any]) -> CaseResult:
    """Return the result of a search."""
    trace_id: str = reply["trace_id"]
    rows = list(_rows(client, trace_id, "candidates"))
    cached = client.cached(trace_id)
    return CaseResult(
        case,
        ranking=_ranking(rows, case),
        returned=len(rows),
        gaps=_total(client, trace_id, "gaps"),
        conflicts=_total(client, trace_id, "conflicts"),
        unscored=_cut_short(reply) or any(map(_is_left, _rows(client, trace_id, "unscanned"))),
        status=reply["status"],
        cache=cached.mode if cached else None,
        saved_ms=(cached.saved_ms or 0.0) if cached else 0.0,
    )


def result_line(measured: CaseResult, k: int, run: str) -> str:
    """Return the result of a case as a line of JSON, with the top of its ranking."""
    case = measured.case
    fields: dict[str, Any] = {
        "run": run,
        "case_id": case.case_id,
        "facet": case.facet,
        "manual_id": case.manual_id,
        "query": case.query,
        "required_terms": case.required_terms,
        "expected_paths": case.expected_paths,
        "expected_lines": case.expected_lines,
        "status": measured.status,
        "error": measured.error,
        "message": measured.message,
        "returned": measured.returned,
        "ranking": measured.ranking[:_MAX_ROWS],
        "metrics": {metric.name: metric.of(measured) for metric in case_metrics(k)},
    }
    return json.dumps(fields, ensure_ascii=False)


def _warm_up(client: ToolClient, cases: Sequence[Case]) -> None:
    """Call manual_ls, and search each manual of the cases once; ignore failures."""
    client.call("manual_ls", {"id": "manuals"})
    for case in {case.manual_id: case for case in reversed(cases)}.values():
        try:
            client.call("manual_find", _question(case, budget={"time_ms": FIRST_TIME_MS}))
        except ToolError:
            continue  # the run itself reports it with its case


def _question(case: Case, **more: JsonValue) -> dict[str, JsonValue]:
    return {
        "query": case.query,
        "manual_id": case.manual_id,
        "required_terms": list(case.required_terms),
        "use_cache": False,
        **more,
    }


def _rows(client: ToolClient, trace_id: str, kind: str) -> Iterator[Mapping[str, Any]]:
    offset = 0
    while True:
        page = _page(client, trace_id, kind, offset, _PAGE)
        yield from page["items"]
        offset += len(page["items"])
        if not page["items"] or offset >= page["total"]:
            return


def _total(client: ToolClient, trace_id: str, kind: str) -> int:
    return int(_page(client, trace_id, kind, 0, 1)["total"])


def _page(
    client: ToolClient, trace_id: str, kind: str, offset: int, limit: int
) -> Mapping[str, Any]:
    page: dict[str, JsonValue] = {"offset": offset, "limit": limit}
    return client.call("manual_hits", {"trace_id": trace_id, "kind": kind, **page})


def _cut_short(reply: Mapping[str, Any]) -> bool:
    return (reply.get("coverage") or {}).get("cutoff_reason") in _CUT_SHORT


def _is_left(row: Mapping[str, Any]) -> bool:
    """Return whether an unscanned row is a section that was not read but might match."""
    whole_file = row["start_line"] is None
    return row["reason"] != "navigation_file" if whole_file else row["reason"] in _LEFT


def _ranking(rows: Sequence[Mapping[str, Any]], case: Case) -> tuple[SectionKey, ...]:
    places = [(_path(row["ref"], case), int(row["ref"]["start_line"])) for row in rows]
    return tuple(place for place in places if place[0] not in case.ignored_paths)


def _path(ref: Mapping[str, Any], case: Case) -> str:
    """Return a hit's path; in another manual than the case's, it begins with that manual's id."""
    path: str = nfc(ref["path"])
    manual_id = ref.get("manual_id", case.manual_id)
    return path if manual_id == case.manual_id else f"{manual_id}/{path}"


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
