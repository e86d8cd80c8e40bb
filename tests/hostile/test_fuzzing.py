"""Whatever a tool is given, it answers with what its schema says or a code, and goes on serving."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from arguments import resolved
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from jsonschema import Draft202012Validator
from manuals import RULES, write
from stdio import Wire
from torture import TORTURE, times

ROUND, BATCH = 2_000, 20
ANSWERING = {"manual_ls", "manual_toc", "manual_find", "manual_hits", "manual_read", "manual_scan"}
"""What must have got past its checks now and then; of other tools only bad arguments are known."""
ROUNDS = times(1, 50)

FILES = {
    "m/rules.md": RULES,
    "m/data.json": '{"対象外": [1, 2, "三"]}',
    "m/sub/leave.md": "# 休暇\n## 年次有給休暇\n十日とする。\n## 特別休暇\n五日とする。\n",
    "m/sub/目次.md": "# 目次\n",
    "m/broken.md": b"\x81\xff\xfe\x80 \xff\xff",
    "long/a.md": "".join(f"# 第{n}条\n期限は{n}日とする。\n\n" for n in range(200)),
}
KNOWN: Mapping[str, list[Any]] = {
    "manual_id": ["m", "long", "manuals", "nope"],
    "id": ["m", "manuals", "dir::m::c3Vi", "file::m::cnVsZXMubWQ"],
    "path": ["rules.md", "sub/leave.md", "data.json", "broken.md", "a.md", "sub"],
    "path_prefix": ["sub", "rules.md", "a.md"],
    "query": ["対象外になる場合は？", "休暇と期限の違い", "期限", "password", "?"],
    "required_terms": [["対象外"], ["休暇", "期限"], ["zebra"]],
    "start_line": [1, 3, 5],
}
"""Values that work, by the name of their argument, so that calls get past the first check."""

WHOLE: Mapping[str, list[dict[str, Any]]] = {
    "manual_read": [
        {"ref": {"manual_id": "m", "path": "rules.md", "start_line": 1}},
        {"ref": {"manual_id": "long", "path": "a.md", "start_line": 4}, "max_chars": 256},
    ],
    "manual_find": [
        {"query": "期限", "manual_id": "long", "required_terms": ["期限"]},
        {"query": "期限", "manual_id": "*", "required_terms": ["期限"], "alternatives": ["期間"]},
    ],
    "manual_batch": [
        {"calls": [{"tool": "manual_ls"}, {"tool": "manual_toc", "arguments": {"manual_id": "m"}}]},
    ],
}
"""Arguments that chance puts together too rarely."""

HOSTILE = st.sampled_from(
    [
        *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**300, 0.5, -0.0, 1e308, 1.0),
        *("", " ", "\x00", "\ud800", "\udfff", "\u202e", "\ufeff", "0", "-1", "1", "null", "true"),
        *("..", "../x", "/etc/passwd", "C:\\x", "NUL", "a/" * 600, "%00", "${x}", "{{x}}", "\\"),
        *(
            "e\u0301" * 200,
            "\U0001f468\u200d\U0001f469" * 50,
            "あ" * 5_000,
            "x" * 100_001,
            "\n" * 50,
        ),
        *("(a+)+$", "[", "*", "AND OR NOT", '"', "'", "; DROP", "<script>", "%s%n", "٣", "１"),
        *([], {}, [[]], {"": ""}, [None], {"path": None}, [["x"] * 100], {"x": {"x": {"x": {}}}}),
    ]
)
DEEP: Any = []
for _ in range(400):
    DEEP = [DEEP]
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON: SearchStrategy[Any] = st.recursive(
    SCALARS | FLOATS,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
    max_leaves=5,
)
Schema = Mapping[str, Any]


def values(schema: Schema, top: Schema, name: str = "") -> SearchStrategy[Any]:
    """Return values that a schema takes, half of them such as mean something here."""
    made = _values(schema, top)
    return st.sampled_from(KNOWN[name]) | made if name in KNOWN else made


def _values(schema: Schema, top: Schema) -> SearchStrategy[Any]:
    arms = [arm for key in ("anyOf", "oneOf") for arm in schema.get(key, ())]
    if arms:
        return st.one_of([_values(arm, top) for arm in arms])
    schema = resolved(schema, top)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kind = schema.get("type")
    if kind == "object":
        return objects(schema, top)
    if kind == "array":
        inner = values(schema.get("items", {}), top)
        least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
        return st.lists(inner, min_size=least, max_size=max(least, min(most, 4)))
    if kind == "integer":
        least, most = schema.get("minimum", -3), schema.get("maximum", 10_000)
        return st.integers(least, max(least, most))
    if kind == "string" and "pattern" in schema:
        return st.from_regex(schema["pattern"])
    plain = {"string": st.text(max_size=40), "boolean": st.booleans(), "null": st.none()}
    return plain.get(str(kind), JSON)


def objects(schema: Schema, top: Schema) -> SearchStrategy[dict[str, Any]]:
    """Return objects with all that is needed, and some of what is not."""
    known = schema.get("properties", {})
    needed = schema.get("required", ())
    made = {name: values(inner, top, name) for name, inner in known.items()}
    return st.fixed_dictionaries(
        {name: made[name] for name in needed},
        optional={name: one for name, one in made.items() if name not in needed},
    )


@st.composite
def mutated(draw: st.DrawFn, made: SearchStrategy[dict[str, Any]]) -> Any:
    """Return arguments that are nearly right: one thing is other, gone, or too much."""
    arguments = draw(made)
    name = draw(st.sampled_from(sorted(arguments)) if arguments else st.just("x"))
    match draw(st.sampled_from(["other", "gone", "more", "inside", "whole"])):
        case "other":
            arguments[name] = draw(HOSTILE | JSON)
        case "gone":
            arguments.pop(name, None)
        case "more":
            arguments[draw(st.text(max_size=60))] = draw(JSON)
        case "inside" if isinstance(arguments.get(name), dict):
            inner = draw(st.sampled_from([*arguments[name], "x"]))
            arguments[name] = {**arguments[name], inner: draw(HOSTILE)}
        case "inside":
            arguments[name] = [arguments.get(name)]
        case _:
            return draw(HOSTILE | JSON | st.just(DEEP) | st.just({name: DEEP}))
    return arguments


class Served(NamedTuple):
    """A server, what it lists, and calls to make up."""

    wire: Wire
    outputs: Mapping[str, Draft202012Validator]
    calls: SearchStrategy[list[tuple[str, Any]]]


def _served(workspace: Path) -> Served:
    wire = Wire(workspace)
    tools = wire.request("tools/list", {})["result"]["tools"]
    wire.ok("manual_ls")
    asked = {"query": "期限", "manual_id": "long", "required_terms": ["期限"]}
    traces = [wire.ok("manual_find", **asked)["trace_id"] for _ in range(3)]
    calls = []
    for tool in tools:
        shape = tool["inputSchema"]
        right = objects(shape, shape)
        for name in {"trace_id", "only_unscanned_from_trace_id"} & shape["properties"].keys():
            right = (
                st.builds(
                    lambda given, trace, name=name: {**given, name: trace},
                    right,
                    st.sampled_from(traces),
                )
                | right
            )
        if tool["name"] in WHOLE:
            right = st.sampled_from(WHOLE[tool["name"]]).map(deepcopy) | right
        calls.append(st.tuples(st.just(tool["name"]), right | mutated(right)))
    outputs = {tool["name"]: Draft202012Validator(tool["outputSchema"]) for tool in tools}
    batch = st.lists(st.one_of(calls), min_size=BATCH, max_size=BATCH)
    return Served(wire, outputs, batch)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = _served(write(tmp_path_factory.mktemp("fuzzing"), FILES))
    with served.wire:
        yield served


@pytest.mark.slow
@pytest.mark.timeout(times(300, 4 * 3600))
def test_every_answer_is_a_result_or_a_code_and_the_server_goes_on(served: Served) -> None:
    seen: dict[tuple[str, str], int] = {}

    @settings(
        max_examples=ROUND // BATCH,
        deadline=None,
        database=None,
        derandomize=not TORTURE,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(batch=served.calls)
    def answered(batch: list[tuple[str, Any]]) -> None:
        for name, arguments in batch:
            answer = served.wire.call(name, arguments)
            outcome = answer.payload["code"] if answer.is_error else "result"
            seen[name, outcome] = seen.get((name, outcome), 0) + 1
            if not answer.is_error:
                served.outputs[name].validate(answer.payload)
        served.wire.ping()

    for number in range(1, ROUNDS + 1):
        answered()
        assert sum(seen.values()) >= number * ROUND
        sys.stdout.write(f"{sum(seen.values())} calls: {_tally(seen)}\n")
        sys.stdout.flush()
    assert {name for name, outcome in seen if outcome == "result"} >= ANSWERING


def _tally(seen: Mapping[tuple[str, str], int]) -> str:
    outcomes: Counter[str] = Counter()
    for (_, outcome), count in seen.items():
        outcomes[outcome] += count
    return ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
