"""A query has one identity: the cache, the origin of a trace and its record all go by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import Field, fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import write
from torture import examples

from fumishirube import Budget, Query
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.query import SearchState
from fumishirube.text import Synonyms, fold
from fumishirube.traces.files import decode_trace, encode_trace
from fumishirube_inspect.exports import ExportedTrace, decode_export, encode_export

WORDS = st.sampled_from(["旅費", "日当", "旅費日当", "休暇", "travel", "Allowance", "第3条"])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
    "required": st.lists(WORDS, max_size=2, unique=True).map(tuple),
    "must": st.lists(WORDS, max_size=2, unique=True).map(tuple),
    "pool": st.none() | st.integers(1, 5),
    "synonyms": st.lists(
        st.builds(Synonyms, WORDS, st.lists(WORDS, min_size=1, max_size=2).map(tuple)), max_size=2
    ).map(tuple),
    "alternatives": st.lists(WORDS, max_size=2, unique=True).map(tuple),
    "limit": st.none() | st.integers(1, 5),
    "exclude": st.frozensets(st.tuples(st.sampled_from(["a.md", "b.md"]), st.integers(1, 3))),
    "read": st.frozensets(st.tuples(st.sampled_from(["a.md", "b.md"]), st.integers(1, 3))),
    "case_sensitive": st.booleans(),
    "within": st.none() | st.frozensets(st.sampled_from(["a.md", "b.md", "c.md"])),
    "stage_arguments": st.dictionaries(
        st.sampled_from(["graph", "fuzzy"]),
        st.fixed_dictionaries({"depth": st.integers(0, 2), "kinds": st.lists(WORDS, max_size=2)}),
    ),
}
QUERIES = st.builds(Query, **VALUES)
IDENTITY = [member for member in fields(Query) if "no_identity" not in member.metadata]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    text = "# 旅費\n旅費の日当。\n# 休暇\n休暇と travel Allowance。第3条。\n"
    workspace = write(tmp_path_factory.mktemp("identity"), {f"m/{name}.md": text for name in "abc"})
    with closing(open_application(workspace, strangers=False, environ={})) as opened:
        yield opened


def test_every_field_is_part_of_the_identity_or_says_why_not() -> None:
    for member in fields(Query):
        reason = member.metadata.get("no_identity")
        assert member.name in VALUES or (isinstance(reason, str) and reason), member.name
    assert {member.name for member in IDENTITY} == set(VALUES)


def _same(member: Field[Any], one: Any, other: Any) -> bool:
    """Tell whether two values ask the same: terms have no order, and words one spelling."""
    if member.name in ("required", "must"):
        return set(one) == set(other)
    if member.name == "alternatives":
        return [*map(_words, one)] == [*map(_words, other)]
    return bool(_words(one) == _words(other) if member.name == "text" else one == other)


def _words(text: str) -> list[str]:
    return [*map(fold, text.split())]


@pytest.mark.parametrize("member", IDENTITY, ids=lambda member: member.name)
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_another_field_is_another_key_answer_and_origin(
    application: Application, member: Field[Any], data: st.DataObject
) -> None:
    query = data.draw(QUERIES)
    query = query if member.name == "exclude" else replace(query, exclude=frozenset())
    before = getattr(query, member.name)
    value = data.draw(VALUES[member.name].filter(lambda new: not _same(member, before, new)))
    other = replace(query, **{member.name: value}, state=SearchState())
    assert other.key() != query.key()
    hash(other.key())
    context = application.contexts["manual"]
    first = context.find("m", replace(query, cache=True)).trace
    again = context.find("m", replace(query, cache=True, state=SearchState())).trace
    application.memory.cache._entries.pop(_key(application, other), None)
    second = context.find("m", replace(other, cache=True)).trace
    assert again.cache.hit == (not query.exclude)
    assert not second.cache.hit
    assert second.origin != first.origin == again.origin


def _key(application: Application, query: Query) -> Any:
    context = application.contexts["manual"]
    state = context.prepare("m", query)
    thresholds = application.memory.statistics.thresholds(context._configured.surface)
    return context._finder.cache_key(replace(query, cache=True), state, thresholds)


@given(QUERIES)
def test_what_is_no_part_of_it_changes_nothing(query: Query) -> None:
    other = replace(query, budget=Budget.of(5), cache=True, state=SearchState())
    assert other.key() == query.key()
    assert other == query


@given(QUERIES)
def test_a_record_is_the_query(query: Query) -> None:
    again = Query.of_record(json.loads(json.dumps(query.record())))
    assert again.key() == query.key()


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(QUERIES)
def test_files_and_exports_keep_the_whole_query(application: Application, query: Query) -> None:
    trace = application.contexts["manual"].find("m", query).trace
    assert decode_trace(encode_trace(trace)).origin.query.key() == query.key()
    exported = decode_export(encode_export(ExportedTrace(trace, None, {})), "file")
    assert exported.trace.origin.query.key() == query.key()
    assert exported.trace.report == trace.report


@pytest.mark.parametrize(
    "record",
    [
        {"text": 1},
        {"text": "a", "limit": True},
        {"text": "a", "required": "a"},
        {"text": "a", "exclude": [["a.md"]]},
        {"text": "a", "within": [1]},
        {"text": "a", "case_sensitive": 1},
        {"text": "a", "unheard": 1},
    ],
)
def test_a_damaged_record_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"query|validation error"):
        Query.of_record(record)
