"""Any arguments of the manual tools get a valid answer, or a refusal with a code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from manual_tools import FIND, GOOD, GUIDE, KINDS, TOOLS, coded, decomposed
from stdio import Wire
from torture import examples

pytest_plugins = ["manual_servers"]

TEXTS = st.text(st.characters(), max_size=12)
NUMBERS = st.integers(-3, 300) | st.integers() | st.sampled_from([2**53, 10**30, 10**400])
JUNK = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
IDS = st.sampled_from(["m1", "m2", "odd", "wide", GUIDE, decomposed(GUIDE), "manuals", "linked"])
NAMES = ["rules.md", "sub", "sub/inner.md", "policy.json", "UPPER.MD", "broken.md", "plain.md"]
SOME_PATHS = st.sampled_from([*NAMES, "huge.md", "link.md", "../m1/rules.md", ".hidden.md"])
WORDS = st.sampled_from(
    ["対象外", "対象", "例外", "参照", "別表", "外", "text", "E-104", "・", "違い"]
)
QUERIES = st.lists(WORDS | TEXTS, max_size=4).map("".join) | st.just("対象と例外の違い")
CURSORS = (
    NUMBERS
    | NUMBERS.map(str)
    | st.fixed_dictionaries({}, optional={"offset": NUMBERS})
    | st.fixed_dictionaries({}, optional={"start_line": NUMBERS, "char_offset": NUMBERS})
)
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "id": IDS | st.sampled_from([f"dir::odd::{coded('sub')}", "dir::odd::eA", "file::m1::eA"]),
    "manual_id": IDS,
    "path": SOME_PATHS,
    "path_prefix": SOME_PATHS,
    "ref": st.fixed_dictionaries(
        {"manual_id": IDS, "path": SOME_PATHS}, optional={"start_line": NUMBERS, "x": JUNK}
    ),
    "max_files": NUMBERS,
    "max_headings_per_file": NUMBERS,
    "cursor": CURSORS,
    "depth": st.sampled_from(["shallow", "deep"]),
    "query": QUERIES,
    "required_terms": st.lists(WORDS | TEXTS, max_size=3),
    "expand_scope": st.booleans(),
    "include_claim_graph": st.booleans(),
    "use_cache": st.booleans(),
    "budget": st.fixed_dictionaries({}, optional={"max_candidates": NUMBERS, "time_ms": NUMBERS}),
    "inline_hits": st.fixed_dictionaries({}, optional={"limit": NUMBERS}),
    "only_unscanned_from_trace_id": st.sampled_from(["<m1>", "<m2>", "0" * 32]),
    "trace_id": st.sampled_from(["<m1>", "<m2>", "0" * 32]),
    "kind": st.sampled_from(KINDS),
    "offset": NUMBERS,
    "limit": NUMBERS,
    "scope": st.just("section"),
    "max_chars": st.integers(200, 51_000),
    "start_line": NUMBERS,
}


@st.composite
def any_arguments(draw: st.DrawFn, tool: str) -> Any:
    """Draw arguments that are mostly right, so that what is wrong with them is met deep inside."""
    arguments = {
        name: draw(LIKELY[name])
        for name in TOOLS[tool]
        if name in GOOD[tool] or draw(st.integers(0, 3)) == 0
    }
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        arguments[draw(st.sampled_from(TOOLS[tool]) | TEXTS)] = draw(JUNK)
    return arguments


@pytest.fixture(scope="module")
def fuzzed(contract_wire: Wire) -> tuple[Wire, dict[str, Draft202012Validator], dict[str, str]]:
    listed = contract_wire.request("tools/list", {})["result"]["tools"]
    validators = {tool["name"]: Draft202012Validator(tool["outputSchema"]) for tool in listed}
    traces = {
        f"<{manual}>": contract_wire.ok("manual_find", **(FIND | {"manual_id": manual}))["trace_id"]
        for manual in ("m1", "m2")
    }
    return contract_wire, validators, traces


@pytest.mark.parametrize("tool", TOOLS)
def test_any_arguments_get_a_valid_answer_or_a_coded_refusal(
    fuzzed: tuple[Wire, dict[str, Draft202012Validator], dict[str, str]], tool: str
) -> None:
    wire, validators, traces = fuzzed

    @settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
    @given(any_arguments(tool))
    def holds(arguments: dict[str, Any]) -> None:
        for name in ("trace_id", "only_unscanned_from_trace_id"):
            if isinstance(arguments.get(name), str):
                arguments[name] = traces.get(arguments[name], arguments[name])
        answer = wire.call(tool, arguments)
        if not answer.is_error:
            validators[tool].validate(answer.payload)
        wire.ping()

    holds()
