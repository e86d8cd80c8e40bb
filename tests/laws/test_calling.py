"""One call of one tool: what is refused, in which words, and what an answer looks like."""

from __future__ import annotations

import json
import logging
import math
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, Field, create_model, field_validator, model_validator
from pydantic_core import PydanticCustomError

from fumishirube.disk.names import clean_path
from fumishirube.errors import (
    MESSAGE_LIMIT,
    Cancelled,
    Conflict,
    InternalError,
    InvalidParameter,
    InvalidPath,
    NotFound,
    ToolError,
)
from fumishirube.tools.argument_errors import FailsWith
from fumishirube.tools.calls import EXACT, call_tool, compact, parse_arguments, plain
from fumishirube.tools.definitions import Answer, Call, Params, Session, Tool

pytestmark = pytest.mark.timeout(60)


def custom_path(path: str) -> str:
    if ".." in path:
        raise PydanticCustomError("invalid_path", "parent segments are not allowed")
    return path


CustomPath = Annotated[str, FailsWith(InvalidPath), AfterValidator(custom_path)]
RaisedPath = Annotated[str, FailsWith(InvalidPath), AfterValidator(clean_path)]


class Budget(Params):
    time_ms: Annotated[int, Field(ge=1)] = 60_000
    max_candidates: int | None = None


class Offset(Params):
    char_offset: Annotated[int, Field(ge=0)] | None = None


class Ref(Params):
    path: CustomPath


class Find(Params):
    query: Annotated[str, Field(min_length=1, max_length=100)]
    required_terms: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)]
    max_chars: Annotated[int, Field(ge=256, le=50_000)] = 12_000
    max_files: Annotated[int, Field(ge=1)] = 20
    limit: int = 5
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.5
    use_cache: bool = True
    kind: Literal["a", "b", "c"] = "a"
    budget: Budget | None = None
    cursor: Offset | Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern="^[0-9]+$")] | None
    extra: Annotated[dict[str, int], Field(default_factory=dict)]
    ref: Ref | None = None
    path: CustomPath = "a"


class Vault(Params):
    early: int = 1
    path: RaisedPath
    content: str


class Text(Answer):
    text: str = ""


class Anything(Answer):
    value: Any = None


def tool(params: type[Params] = Params, **changes: Any) -> Tool[Any, Any]:
    given: dict[str, Any] = {"answer": Text, "run": lambda params, call: Text()}
    return Tool("ask", "Ask", "Asks.", params, **{**given, **changes})


def refused(params: type[Params], arguments: object) -> dict[str, Any]:
    with pytest.raises(ToolError) as caught:
        parse_arguments(params, arguments)
    payload: dict[str, Any] = caught.value.payload()
    assert len(payload["message"]) <= MESSAGE_LIMIT
    json.dumps(payload, allow_nan=False).encode()
    return payload


GOOD = {"query": "q", "required_terms": ["a"], "cursor": None}


@pytest.mark.parametrize(
    ("arguments", "message", "details"),
    [
        ({"use_cache": 1}, "use_cache must be a boolean", {}),
        ({"query": None}, "query is required", {}),
        ({"query": 5}, "query must be a string", {}),
        ({"query": ""}, "query must be within 1..100 characters", {"min": 1, "max": 100}),
        ({"query": "x" * 101}, "query must be within 1..100 characters", {"min": 1, "max": 100}),
        ({"max_chars": 255}, "max_chars must be within 256..50000", {"min": 256, "max": 50_000}),
        ({"max_chars": 10**30}, "max_chars must be within 256..50000", {"min": 256, "max": 50_000}),
        ({"max_files": 0}, "max_files must be at least 1", {"min": 1}),
        ({"limit": "5"}, "limit must be an integer", {}),
        ({"limit": True}, "limit must be an integer", {}),
        ({"limit": 1.0}, "limit must be an integer", {}),
        ({"limit": 1.5}, "limit must be an integer", {}),
        ({"ratio": "1"}, "ratio must be a number", {}),
        ({"ratio": 0}, "ratio must be greater than 0", {}),
        ({"required_terms": "a"}, "required_terms must be an array", {}),
        ({"required_terms": None}, "required_terms is required", {}),
        ({"required_terms": []}, "required_terms must be within 1..2 items", {"min": 1, "max": 2}),
        (
            {"required_terms": ["a", 5]},
            "required_terms[1] must be a string",
            {"parameter": "required_terms[1]"},
        ),
        ({"budget": 5}, "budget must be an object", {}),
        ({"budget": [1]}, "budget must be an object", {}),
        (
            {"budget": {"time_ms": "1"}},
            "budget.time_ms must be an integer",
            {"parameter": "budget.time_ms"},
        ),
        (
            {"budget": {"time_ms": 0}},
            "budget.time_ms must be at least 1",
            {"parameter": "budget.time_ms", "min": 1},
        ),
        (
            {"budget": {"tme_ms": 1}},
            "unknown argument 'budget.tme_ms'; did you mean 'budget.time_ms'?",
            {"parameter": "budget.tme_ms"},
        ),
        ({"kind": "d"}, "kind must be one of a, b, c", {"allowed": ["a", "b", "c"]}),
        ({"kind": 5}, "kind must be one of a, b, c", {"allowed": ["a", "b", "c"]}),
        ({"extra": {"k": "v"}}, "extra.k must be an integer", {"parameter": "extra.k"}),
        ({"cursor": True}, "cursor must be an object, an integer or a string", {}),
        ({"cursor": []}, "cursor must be an object, an integer or a string", {}),
        ({"cursor": -1}, "cursor must be at least 0", {"min": 0}),
        ({"cursor": "x"}, "cursor must match ^[0-9]+$", {}),
        ({"cursor": {"foo": 1}}, "unknown argument 'cursor.foo'", {"parameter": "cursor.foo"}),
        (
            {"cursor": {"char_offset": -1}},
            "cursor.char_offset must be at least 0",
            {"parameter": "cursor.char_offset", "min": 0},
        ),
        ({"pth": "a"}, "unknown argument 'pth'; did you mean 'path'?", {"parameter": "pth"}),
        ({"zzz": None}, "unknown argument 'zzz'", {"parameter": "zzz"}),
        (
            {"x" * 500: 1},
            f"unknown argument '{'x' * 59}…'",
            {"parameter": f"{'x' * 59}…"},
        ),
        ({"a\nb": 1}, "unknown argument 'a�b'", {"parameter": "a�b"}),
    ],
)
def test_an_argument_is_refused_by_name(
    arguments: dict[str, Any], message: str, details: dict[str, Any]
) -> None:
    name = next(iter(arguments))
    assert refused(Find, {**GOOD, **arguments}) == {
        "code": "invalid_parameter",
        "message": message,
        "details": {"parameter": name, **details},
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": 5}, "path must be a string"),
        ({"path": "../x"}, "parent segments are not allowed"),
        ({"ref": {}}, "ref.path is required"),
        ({"ref": {"path": None}}, "ref.path is required"),
        ({"ref": {"path": ".."}}, "parent segments are not allowed"),
        ({"ref": {"path": "\udcff"}}, "ref.path must not hold unpaired surrogates"),
    ],
)
def test_a_path_is_refused_with_a_code_of_its_own(arguments: dict[str, Any], message: str) -> None:
    payload = refused(Find, {**GOOD, **arguments})
    name = "ref.path" if "ref" in arguments else "path"
    assert payload == {
        "code": "invalid_path",
        "message": message,
        "details": {"parameter": name},
    }


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        ({"path": "..", "content": 5}, "invalid_parameter", "content"),
        ({"path": "..", "content": "x", "foo": 1}, "invalid_parameter", "foo"),
        ({"path": "..", "content": "x", "early": "x"}, "invalid_parameter", "early"),
        ({"path": "..", "content": "x"}, "invalid_path", "path"),
        ({"content": 5}, "invalid_path", "path"),
        ({"early": "x", "foo": 1}, "invalid_parameter", "early"),
    ],
)
def test_shapes_go_before_the_syntax_of_paths(
    arguments: dict[str, Any], code: str, name: str
) -> None:
    payload = refused(Vault, arguments)
    assert (payload["code"], payload["details"]["parameter"]) == (code, name)
    customs = create_model("C", __base__=Vault, path=(CustomPath, ...))
    assert refused(customs, arguments)["details"]["parameter"] == name


def test_a_missing_argument_with_a_misspelt_name_is_the_unknown_one() -> None:
    wrong = {"path": "a.md", "contents": "x"}
    assert refused(Vault, wrong)["message"] == (
        "unknown argument 'contents'; did you mean 'content'?"
    )
    assert refused(Vault, {"path": "a", "zzz": 1})["message"] == "content is required"


@pytest.mark.parametrize("arguments", [[], "{}", 5, True, ["a"]])
def test_arguments_are_an_object(arguments: object) -> None:
    assert refused(Find, arguments)["message"] == "arguments must be an object"


def test_no_arguments_are_an_empty_object() -> None:
    assert parse_arguments(Budget, None) == Budget()


def test_null_is_absent_where_it_may_be() -> None:
    arguments = {**GOOD, "limit": None, "budget": {"time_ms": None}, "extra": None}
    parsed = parse_arguments(Find, arguments)
    assert (parsed.limit, parsed.budget, parsed.extra) == (5, Budget(), {})
    assert parsed.cursor is None


def test_a_model_may_take_null_at_its_word() -> None:
    class Exact(Params):
        null_is_absent: ClassVar[bool] = False
        limit: int = 5

    assert refused(Exact, {"limit": None})["message"] == "limit must be an integer"


def test_arrays_become_tuples_and_integers_numbers() -> None:
    parsed = parse_arguments(Find, {**GOOD, "required_terms": ["a", "b"], "ratio": 1})
    assert parsed.required_terms == ("a", "b")
    assert parsed.ratio == 1.0


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**5000], ids=["nan", "inf", "huge"])
def test_numbers_that_json_has_not_are_refused(value: float) -> None:
    assert refused(Find, {**GOOD, "limit": value})["details"] == {"parameter": "arguments"}


@pytest.mark.parametrize("depth", [300, 900, 100_000])
@pytest.mark.parametrize("innermost", ["", "\ud800"])
def test_deep_nesting_is_refused(depth: int, innermost: str) -> None:
    value: Any = innermost
    for _ in range(depth):
        value = [value]
    payload = refused(Find, {**GOOD, "limit": value})
    assert payload["code"] == "invalid_parameter"
    assert payload["details"]["parameter"] in payload["message"]


def test_the_words_of_a_validator_are_kept() -> None:
    class Worded(Params):
        text: str = ""
        other: str = ""

        @field_validator("text")
        @classmethod
        def _check(cls, text: str) -> str:
            if text == "value":
                raise ValueError("text must be better than that")
            if text == "custom":
                raise PydanticCustomError("conflict", "text is taken", {"reason": "taken"})
            if text == "raised":
                raise NotFound("text was not found", parameter="text")
            return text

        @model_validator(mode="after")
        def _agree(self) -> Worded:
            if self.other == "bad":
                raise InvalidParameter("other is required when", parameter="other")
            return self

    assert refused(Worded, {"text": "value"}) == {
        "code": "invalid_parameter",
        "message": "text must be better than that",
        "details": {"parameter": "text"},
    }
    assert refused(Worded, {"text": "custom"}) == {
        "code": Conflict.code,
        "message": "text is taken",
        "details": {"parameter": "text", "reason": "taken"},
    }
    assert refused(Worded, {"text": "raised"})["code"] == "not_found"
    assert refused(Worded, {"text": "raised", "other": 5})["message"] == "other must be a string"
    assert refused(Worded, {"other": "bad"})["message"] == "other is required when"


WRONG = {"a": "x", "b": [], "c": 1, "d": 0, "zz": 1, "yy": 2}


@given(st.permutations(sorted(WRONG)), st.data())
def test_the_first_complaint_is_about_the_first_declared(
    order: list[str], data: st.DataObject
) -> None:
    class Declared(Params):
        d: Annotated[int, Field(ge=1)] = 1
        b: str = ""
        c: tuple[int, ...] = ()
        a: Offset | int = 5

    kept = data.draw(st.lists(st.sampled_from(order), unique=True, min_size=1))
    arguments = {name: WRONG[name] for name in kept}
    declared = [name for name in ("d", "b", "c", "a") if name in kept]
    first = declared[0] if declared else kept[0]
    assert refused(Declared, arguments)["details"]["parameter"] == first


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-10, 10)
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=None), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(categories=None), max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(sorted(Find.model_fields)) | st.text(st.characters(categories=None)),
        JSON
        | st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("time_ms", "char_offset", "path"), JSON)
        ),
    )
)
def test_whatever_comes_is_taken_or_refused_with_a_code(arguments: dict[str, Any]) -> None:
    try:
        parse_arguments(Find, arguments)
    except ToolError as error:
        assert error.code in ("invalid_parameter", "invalid_path")  # noqa: PT017 - it may pass
        payload = error.payload()
        assert payload["message"]
        json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()


# --- running --------------------------------------------------------------------------------


def test_a_session_makes_one_object_of_a_class() -> None:
    made: list[object] = []

    class Kept:
        def __init__(self) -> None:
            made.append(self)

    session = Session()
    assert [session.keep(Kept) for _ in range(3)] == made * 3
    assert len(made) == 1


def test_discovery_goes_before_the_arguments() -> None:
    def before(call: Call, arguments: object) -> None:
        raise InvalidParameter("call manual_ls first", required_first_call="manual_ls")

    with pytest.raises(InvalidParameter, match="manual_ls"):
        call_tool(tool(Find, before=before), {"foo": 1}, Call())


@pytest.mark.parametrize("error", [NotFound("no"), Cancelled("gone"), KeyboardInterrupt()])
def test_what_a_body_raises_on_purpose_passes(error: BaseException) -> None:
    def run(params: Params, call: Call) -> Text:
        raise error

    with pytest.raises(type(error)) as caught:
        call_tool(tool(run=run), {}, Call())
    assert caught.value is error


@pytest.mark.parametrize("error", [RuntimeError("x"), SystemExit(3), RecursionError()])
def test_anything_else_is_logged_under_an_id(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def run(params: Params, call: Call) -> Text:
        raise error

    with caplog.at_level(logging.ERROR, "fumishirube"), pytest.raises(InternalError) as caught:
        call_tool(tool(Budget, run=run), {"time_ms": 424242}, Call())
    (record,) = caplog.records
    assert caught.value.error_id in record.getMessage()
    assert "424242" not in caplog.text
    assert record.exc_info is not None
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"text": "a"},
        Anything(),
        Text.model_construct(text=5),
    ],
)
def test_a_wrong_answer_is_an_internal_error(answer: Any) -> None:
    with pytest.raises(InternalError):
        call_tool(tool(run=lambda params, call: answer), {}, Call())


@pytest.mark.parametrize("value", [object(), b"\xff"])
def test_an_answer_that_is_no_json_is_an_internal_error(value: object) -> None:
    asked = tool(answer=Anything, run=lambda params, call: Anything(value=[{"x": value}]))
    with pytest.raises(InternalError):
        call_tool(asked, {}, Call())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_answer_holds_nan_or_infinity(value: float) -> None:
    class Number(Answer):
        number: float

    with pytest.raises(InternalError):
        call_tool(tool(answer=Number, run=lambda params, call: Number(number=value)), {}, Call())
    asked = tool(answer=Anything, run=lambda params, call: Anything(value=[value]))
    assert call_tool(asked, {}, Call()) == {"value": [None]}


@given(JSON)
def test_an_answer_survives_every_reader(value: Any) -> None:
    asked = tool(answer=Anything, run=lambda params, call: Anything(value=value))
    answer = call_tool(asked, {}, Call())
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode()) == answer
    assert plain(answer) == answer


def test_integers_beyond_the_exact_ones_are_strings() -> None:
    assert plain([EXACT, EXACT + 1, -EXACT, -EXACT - 1, True]) == [
        EXACT,
        str(EXACT + 1),
        -EXACT,
        str(-EXACT - 1),
        True,
    ]


@given(st.text(max_size=50), st.integers(0, 20_000), st.text(max_size=5))
def test_a_long_text_is_written_like_a_short_one(text: str, times: int, name: str) -> None:
    answer = {"title": None, name: text * times, "list": [text]}
    written = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    assert compact(answer) == written  # type: ignore[arg-type]
