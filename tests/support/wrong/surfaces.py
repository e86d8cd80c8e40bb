"""Surfaces, each wrong in one way that their contract names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_serializer

from fumishirube import Answer, Call, NotFound, Params, Stage, SurfaceContext, Tool
from fumishirube.testing import SurfaceContract
from fumishirube.tools import Content, Prompt, PromptParameter, Resource, Resources


class CountParams(Params):
    """Which text, and in which manual."""

    text: str = Field(min_length=1)
    manual_id: str = "m1"


class CountAnswer(Answer):
    """How often."""

    number: int


class Counting(Stage):
    """Counts in how many files of a manual a text stands."""

    pipeline: ClassVar[Mapping[str, Any]] = {}
    root: ClassVar[str] = "manuals"

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        def count(params: CountParams, call: Call) -> CountAnswer:
            call.budget.check()
            manual = context.manual(params.manual_id)
            texts = [manual.document(path).text for path in manual.paths()]
            return CountAnswer(number=sum(params.text in text for text in texts))

        return (
            Tool(
                name="text_count",
                title="Count files",
                summary="Count the files that hold a text.",
                params=CountParams,
                answer=CountAnswer,
                run=count,
                http=("GET", "/text_count"),
                examples=({"text": "休暇"}, {"text": "x", "manual_id": "absent"}),
            ),
        )


class _Changed(Counting):
    """Is counting, but for what ``change`` gives of its tool."""

    change: ClassVar[Mapping[str, Any]] = {}

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        return [replace(tool, **self.change) for tool in super().tools(context)]


class TestCounting(SurfaceContract):
    breaks = ()
    stage = Counting()


class _Rootless(Counting):
    """Reads a root that no configuration has."""

    root: ClassVar[str] = "nowhere"


class TestRootless(SurfaceContract):
    breaks = ("test_it_names_its_root_and_its_pipeline",)
    stage = _Rootless()


class _Toolless(Counting):
    """Offers nothing."""

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        return ()


class TestToolless(SurfaceContract):
    breaks = ("test_it_offers_tools",)
    stage = _Toolless()


class _Paging(_Changed):
    """Pages a list that its answers do not have."""

    change: ClassVar[Mapping[str, Any]] = {"pages": "numbers"}


class TestPaging(SurfaceContract):
    breaks = ("test_offers_have_the_types_of_their_kind",)
    says = "its answer has no field 'numbers'"
    stage = _Paging()


class _Written(_Changed):
    """Gives lines for the text of an answer."""

    change: ClassVar[Mapping[str, Any]] = {"text": lambda payload: [str(payload["number"])]}


class TestWritten(SurfaceContract):
    breaks = ("test_texts_and_questions_have_their_types",)
    says = "text_count: it returned a list and no text"
    stage = _Written()


class _Asking(_Changed):
    """Asks with a text."""

    change: ClassVar[Mapping[str, Any]] = {"question": lambda _arguments, _session: "Which?"}


class TestAsking(SurfaceContract):
    breaks = ("test_texts_and_questions_have_their_types",)
    says = "Question was expected, not str"
    stage = _Asking()


class NestedParams(CountParams):
    """May hold itself."""

    more: NestedParams | None = None


class _Nested(_Changed):
    """Takes what no schema without references describes."""

    change: ClassVar[Mapping[str, Any]] = {"params": NestedParams}


class TestNested(SurfaceContract):
    breaks = ("test_arguments_and_answers_have_schemas",)
    says = "it is recursive"
    stage = _Nested()


class _Depending(Counting):
    """Names its tool after a manual."""

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        name = "count_in_" + "_".join(context.manuals()[:1])
        return [replace(tool, name=name.rstrip("_")) for tool in super().tools(context)]


class TestDepending(SurfaceContract):
    breaks = ("test_an_empty_context_has_the_same_tools",)
    stage = _Depending()


class _Shouting(_Changed):
    """Has a name that no tool has."""

    change: ClassVar[Mapping[str, Any]] = {"name": "TextCount"}


class TestShouting(SurfaceContract):
    breaks = ("test_names_are_snake_case_and_unique",)
    stage = _Shouting()


class _Mute(_Changed):
    """Does not say what its tool does."""

    change: ClassVar[Mapping[str, Any]] = {"summary": " "}


class TestMute(SurfaceContract):
    breaks = ("test_tools_have_a_title_and_a_summary",)
    stage = _Mute()


class _Loose(BaseModel):
    number: int = 0


class _Informal(Counting):
    """Answers with what is no answer."""

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        run: Any = lambda _params, _call: _Loose()  # noqa: E731 - it is the shortest
        return [replace(tool, answer=_Loose, run=run) for tool in super().tools(context)]  # type: ignore[type-var]


class TestInformal(SurfaceContract):
    breaks = (
        "test_arguments_and_answers_have_schemas",
        "test_offers_have_the_types_of_their_kind",
    )
    stage = _Informal()


class _Lenient(CountParams, extra="ignore"):
    pass


class _Lax(_Changed):
    """Drops arguments that it does not know."""

    change: ClassVar[Mapping[str, Any]] = {"params": _Lenient}


class TestLax(SurfaceContract):
    breaks = ("test_unknown_arguments_are_refused",)
    stage = _Lax()


class _Misleading(_Changed):
    """Shows how not to call it."""

    change: ClassVar[Mapping[str, Any]] = {"examples": ({"text": "x"}, {"text": ""})}


class TestMisleading(SurfaceContract):
    breaks = ("test_examples_are_valid_arguments",)
    stage = _Misleading()


class _Running(Counting):
    """Has a tool that fails where ``fails`` says so."""

    def fails(self, params: CountParams, call: Call) -> bool:
        return False

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        (tool,) = super().tools(context)

        def run(params: CountParams, call: Call) -> CountAnswer:
            if self.fails(params, call):
                raise RuntimeError
            answer: CountAnswer = tool.run(params, call)
            return answer

        return [replace(tool, run=run)]


class _Calls:
    """The number of calls in a session."""

    number = 0


class _Nervous(_Running):
    """Fails at the first call of a session."""

    def fails(self, params: CountParams, call: Call) -> bool:
        if call.session is None:
            return False
        calls = call.session.keep(_Calls)
        calls.number += 1
        return calls.number == 1


class TestNervous(SurfaceContract):
    breaks = ("test_examples_are_answered_or_refused_with_a_code",)
    stage = _Nervous()


class _Obscure(_Changed):
    """Has no example."""

    change: ClassVar[Mapping[str, Any]] = {"examples": ()}


class TestObscure(SurfaceContract):
    breaks = ("test_a_tool_that_needs_arguments_has_an_example",)
    stage = _Obscure()


class _Growing(Answer):
    number: int

    @field_serializer("number")
    def _more(self, number: int) -> int:
        return number + 1


class _Inexact(Counting):
    """Writes another number than it answered."""

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        run: Any = lambda _params, _call: _Growing(number=1)  # noqa: E731 - it is the shortest
        return [replace(tool, answer=_Growing, run=run) for tool in super().tools(context)]


class TestInexact(SurfaceContract):
    breaks = ("test_answers_survive_json",)
    stage = _Inexact()


class _Squeamish(_Running):
    """Fails on long texts."""

    def fails(self, params: CountParams, call: Call) -> bool:
        return len(params.text) > 1000


class TestSqueamish(SurfaceContract):
    breaks = ("test_awkward_arguments_are_answered_or_refused",)
    stage = _Squeamish()


class _Punctual(_Running):
    """Fails when time is up."""

    def fails(self, params: CountParams, call: Call) -> bool:
        return call.budget.spent


class TestPunctual(SurfaceContract):
    breaks = ("test_a_spent_budget_is_no_error",)
    stage = _Punctual()


class WaitParams(Params):
    """Nothing to say."""


class _Waiting(Counting):
    """Has a tool without arguments or examples, which fails where ``fails`` says so."""

    def fails(self, call: Call) -> bool:
        return False

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        def run(params: WaitParams, call: Call) -> CountAnswer:
            if self.fails(call):
                raise RuntimeError
            return CountAnswer(number=0)

        (tool,) = super().tools(context)
        waiting = replace(tool, name="text_wait", http=None, params=WaitParams, examples=())
        return [tool, replace(waiting, run=run)]


class TestWaiting(SurfaceContract):
    breaks = ()
    stage = _Waiting()


class _Hasty(_Waiting):
    """Fails when time is up."""

    def fails(self, call: Call) -> bool:
        return call.budget.spent


class TestHasty(SurfaceContract):
    breaks = ("test_a_spent_budget_is_no_error",)
    stage = _Hasty()


class _Alone(_Waiting):
    """Fails where there is no session, as on the command line."""

    def fails(self, call: Call) -> bool:
        return call.session is None


class TestAlone(SurfaceContract):
    breaks = ("test_examples_are_answered_or_refused_with_a_code",)
    stage = _Alone()


class _Logging(_Running):
    """Writes down what was asked, in its root."""

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        (tool,) = super().tools(context)

        def run(params: CountParams, call: Call) -> CountAnswer:
            with suppress(OSError), (context.root.path / "asked.txt").open("a") as file:
                file.write(params.text)
            answer: CountAnswer = tool.run(params, call)
            return answer

        return [replace(tool, run=run)]


class TestLogging(SurfaceContract):
    breaks = ("test_read_only_tools_write_nothing",)
    stage = _Logging()


class _Unrouted(_Changed):
    """Is reached by a path that is none."""

    change: ClassVar[Mapping[str, Any]] = {"http": ("GET", "text_count")}


class TestUnrouted(SurfaceContract):
    breaks = ("test_routes_are_a_method_and_a_path",)
    stage = _Unrouted()


class _Folded(_Changed):
    """Is reached below a folder, which the server leaves out."""

    change: ClassVar[Mapping[str, Any]] = {"http": ("GET", "/text/count")}


class TestFolded(SurfaceContract):
    breaks = ("test_routes_are_a_method_and_a_path",)
    stage = _Folded()


class _Deleting(_Changed):
    """Is reached by a method that the server leaves out."""

    change: ClassVar[Mapping[str, Any]] = {"http": ("DELETE", "/text_count")}


class TestDeleting(SurfaceContract):
    breaks = ("test_routes_are_a_method_and_a_path",)
    stage = _Deleting()


class _Contradicting(_Changed):
    """Only reads, and destroys."""

    change: ClassVar[Mapping[str, Any]] = {"destructive": True}


class TestContradicting(SurfaceContract):
    breaks = ("test_read_only_tools_destroy_nothing",)
    stage = _Contradicting()


class _Telling(Counting):
    """Also gives its files by URI, and a prompt."""

    known: ClassVar[str] = "rules.md"
    words: ClassVar[str] = "Count {text}."

    def resources(self, context: SurfaceContext) -> Resources:
        def read(uri: str, call: Call) -> Sequence[Content]:
            if uri != "count://m1/rules.md":
                raise NotFound("there is no such file")
            return [Content(uri, context.manual("m1").document("rules.md").text)]

        return Resources("count", lambda: [Resource(f"count://m1/{self.known}", "Rules")], read)

    def prompts(self, context: SurfaceContext) -> Sequence[Prompt]:
        def write(given: Mapping[str, str]) -> str:
            return self.words.replace("{text}", given["text"])

        return (
            Prompt("counting", "Count", "Count it.", write, (PromptParameter("text", "What."),)),
        )


class TestTelling(SurfaceContract):
    breaks = ()
    stage = _Telling()


class _Promising(_Telling):
    """Lists what it does not have."""

    known: ClassVar[str] = "other.md"


class TestPromising(SurfaceContract):
    breaks = (
        "test_listed_resources_can_be_read",
        "test_offers_have_the_types_of_their_kind",
    )
    stage = _Promising()


class _Plain(_Telling):
    """Gives a text for the content of a resource."""

    def resources(self, context: SurfaceContext) -> Resources:
        told = super().resources(context)

        def read(uri: str, call: Call) -> Any:
            return "".join(str(part.body) for part in told.read(uri, call))

        return replace(told, read=read)


class TestPlain(SurfaceContract):
    breaks = ("test_offers_have_the_types_of_their_kind",)
    says = "a sequence was expected, not str"
    stage = _Plain()


class _Commanding(_Telling):
    """Offers the command line what is no tool."""

    def commands(self, context: SurfaceContext) -> Sequence[Any]:
        return [*super().tools(context), "count_again"]


class TestCommanding(SurfaceContract):
    breaks = ("test_offers_have_the_types_of_their_kind",)
    says = "Tool was expected, not str"
    stage = _Commanding()


class _Forgetful(_Telling):
    """Leaves out of its prompt what a person filled in."""

    words: ClassVar[str] = "Count."


class TestForgetful(SurfaceContract):
    breaks = ("test_prompts_are_written_from_their_arguments",)
    stage = _Forgetful()
