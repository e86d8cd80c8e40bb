"""The contract of surfaces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from fumishirube import Answer, Budget, Call, Params, Surface, SurfaceContext, Tool, ToolError
from fumishirube.config.pipelines import PIPELINE_KEYS
from fumishirube.config.sections import RootSettings
from fumishirube.errors import Cancelled
from fumishirube.host.offered_types import (
    check_contents,
    check_listed,
    check_offers,
    check_question,
    check_text,
)
from fumishirube.surfaces import HasCommands, HasPrompts, HasResources
from fumishirube.testing.contexts import MemoryContext
from fumishirube.testing.contract import StageContract
from fumishirube.testing.samples import TEXTS, sample_document
from fumishirube.testing.side_effects import side_effects
from fumishirube.tools import Prompt, Resources, Session
from fumishirube.tools.calls import call_tool
from fumishirube.tools.schemas import check_schema, input_schema, output_schema

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_METHODS = {"GET", "POST"}
_ROUTE = re.compile(r"/[a-z][a-z0-9_]{0,39}")
_AWKWARD = (*TEXTS, "x" * 100_000, "../" * 50, "/etc/passwd", "a\x00b")


class SurfaceContract(StageContract[Surface]):
    """Tools with valid names, schemas and examples, and failures with a code."""

    protocol = Surface

    def context(self) -> SurfaceContext:
        """Return the SurfaceContext of the tools; override it for a surface that needs another."""
        return MemoryContext({"m1": [sample_document()]})

    def exercise(self, stage: Surface, folder: Path) -> object:
        """Return the tools and their schemas."""
        return [
            (tool.name, tool.params.model_json_schema(), tool.answer.model_json_schema())
            for tool in stage.tools(self.context())
        ]

    def use(self, stage: Surface, folder: Path) -> None:
        """Call each tool with its examples."""
        self.exercise(stage, folder)
        tools = stage.tools(self.context())
        call = self._later(tools)
        for tool in tools:
            for example in _examples(tool):
                self._call(tool, example, call)

    def own(self, folder: Path) -> Path:
        """Return the root of the surface's context."""
        return self.context().root.path

    def test_it_names_its_root_and_its_pipeline(self) -> None:
        """``root`` names a root of the configuration, ``pipeline`` contains defaults by kind."""
        surface = self.make()
        assert surface.root in RootSettings.model_fields, f"there is no root {surface.root!r}"
        assert isinstance(surface.pipeline, Mapping), f"pipeline is {surface.pipeline!r}"
        assert json.dumps(dict(surface.pipeline)), "the pipeline is no plain data"
        unknown = set(surface.pipeline) - set(PIPELINE_KEYS.values())
        assert not unknown, f"a pipeline has no {unknown}"

    def test_it_offers_tools(self) -> None:
        """A surface without tools would be useless."""
        assert self._tools(), "no tools"

    def test_offers_have_the_types_of_their_kind(self) -> None:
        """A host leaves out what a surface offers if one value has another type."""
        surface, context = self.make(), self.context()
        check_offers(surface.tools(context), Tool)
        if isinstance(surface, HasCommands):
            check_offers(surface.commands(context), Tool)
        if isinstance(surface, HasPrompts):
            check_offers(surface.prompts(context), Prompt)
        if isinstance(surface, HasResources):
            resources = surface.resources(context)
            check_offers([resources], Resources)
            for resource in check_listed(resources.listed()):
                check_contents(resources.read(resource.uri, Call()))

    def test_an_empty_context_has_the_same_tools(self) -> None:
        """Listing tools works with an empty context."""
        names = [tool.name for tool in self.make().tools(MemoryContext({}))]
        assert names == [tool.name for tool in self._tools()], "the tools depend on the manuals"

    def test_names_are_snake_case_and_unique(self) -> None:
        """Callers identify tools by name."""
        names = [tool.name for tool in self._tools()]
        assert len(names) == len(set(names)), f"names repeat in {names}"
        for name in names:
            assert _NAME.fullmatch(name), f"{name!r} is not snake_case"

    def test_tools_have_a_title_and_a_summary(self) -> None:
        """A model chooses tools by their summaries."""
        for tool in self._tools():
            assert tool.title.strip(), f"{tool.name} has no title"
            assert tool.summary.strip(), f"{tool.name} has no summary"

    def test_arguments_and_answers_have_schemas(self) -> None:
        """Every face is made from the schemas."""
        for tool in self._tools():
            assert issubclass(tool.params, Params), f"{tool.name}: params inherit no Params"
            assert issubclass(tool.answer, Answer), f"{tool.name}: answer inherits no Answer"
            for model in (tool.params, tool.answer):
                assert json.dumps(model.model_json_schema()), f"{tool.name}: no schema"
            for schema in (input_schema(tool), output_schema(tool)):
                faults = check_schema(schema)
                assert not faults, f"{tool.name}: clients would refuse its schema: {faults}"

    def test_unknown_arguments_are_refused(self) -> None:
        """A misspelt argument is reported, not dropped."""
        for tool in self._tools():
            for example in (*tool.examples, {}):
                with pytest.raises(ValidationError):
                    tool.params.model_validate({**example, "no_such_argument": 1})

    def test_examples_are_valid_arguments(self) -> None:
        """The examples of the documentation can be called."""
        for tool in self._tools():
            for example in tool.examples:
                tool.params.model_validate_json(json.dumps(example))

    def test_examples_are_answered_or_refused_with_a_code(self) -> None:
        """A call ends with an answer of its type or with a ``ToolError``, with nothing else."""
        for tool, later in self._called():
            for example in _examples(tool):
                for call in (Call(), Call(session=Session()), later):
                    self._call(tool, example, call)

    def test_a_tool_that_needs_arguments_has_an_example(self) -> None:
        """Callers need an example, and this contract tests by examples."""
        for tool in self._tools():
            needs = any(field.is_required() for field in tool.params.model_fields.values())
            assert tool.examples or not needs, f"{tool.name} has no example"

    def test_answers_survive_json(self) -> None:
        """An answer written as JSON is an answer of the same type again."""
        for tool, call in self._called():
            for example in (*tool.examples, {}):
                answer = self._call(tool, example, call)
                if answer is not None:
                    text = answer.model_dump_json()
                    again = tool.answer.model_validate_json(text)
                    assert again.model_dump_json() == text, f"{tool.name}: {text[:200]}"

    def test_texts_and_questions_have_their_types(self) -> None:
        """A host refuses an answer whose ``text`` gives no text, and drops what is no question."""
        for tool, call in self._called():
            try:
                for example in _examples(tool):
                    with suppress(ToolError):
                        if tool.text:
                            check_text(tool.text(call_tool(tool, example, call)))
                    with suppress(ToolError):
                        if tool.question:
                            check_question(tool.question(example, call.session))
            except TypeError as error:
                pytest.fail(f"the text or question of {tool.name}: {error}")

    def test_awkward_arguments_are_answered_or_refused(self) -> None:
        """For any text as any argument, the tool answers or reports what is wrong."""
        for tool, call in self._called():
            for example in (*tool.examples, {}):
                for name, text in product(tool.params.model_fields, _AWKWARD):
                    self._call(tool, {**example, name: text}, call)

    def test_a_spent_budget_is_no_error(self) -> None:
        """When time runs out a tool answers or refuses; a cancelled caller gets ``Cancelled``."""
        expired, aborted = Budget.of(0), Budget()
        aborted.cancelled.set()
        for tool, call in self._called():
            for example in _examples(tool):
                self._call(tool, example, replace(call, budget=expired))
                with suppress(Cancelled):
                    self._call(tool, example, replace(call, budget=aborted))

    def test_read_only_tools_write_nothing(self, tmp_path: Path) -> None:
        """A read-only tool leaves every file unchanged, also those of its root."""
        tools, nowhere = self._tools(), tmp_path / "nowhere"
        with side_effects().confined_to(nowhere) as attempts:
            call = self._later(tools)
        assert not attempts, f"a first call tried to {', '.join(attempts)}"
        for tool in tools:
            for example in _examples(tool) if tool.read_only else ():
                with side_effects().confined_to(nowhere) as attempts, suppress(OSError):
                    self._call(tool, example, call)
                assert not attempts, f"{tool.name} tried to {', '.join(attempts)}"

    def test_routes_are_a_method_and_a_path(self) -> None:
        """A route is ``GET`` or ``POST``, and ``/name``; no two tools have the same."""
        routes = [tool.http for tool in self._tools() if tool.http]
        assert len(routes) == len(set(routes)), f"routes repeat in {routes}"
        for method, path in routes:
            assert method in _METHODS, f"the method is {method!r}; GET and POST are known"
            assert _ROUTE.fullmatch(path), f"the path {path!r} is not of the form /name"

    def test_read_only_tools_destroy_nothing(self) -> None:
        """The annotations of a tool agree with each other."""
        for tool in self._tools():
            assert not (tool.read_only and tool.destructive), f"{tool.name} contradicts itself"

    def test_listed_resources_can_be_read(self) -> None:
        """Each resource can be read by its URI; an unknown URI fails with a code."""
        surface = self.make()
        if not isinstance(surface, HasResources):
            return
        resources = surface.resources(self.context())
        for resource in resources.listed():
            assert resource.uri.startswith(f"{resources.scheme}:"), (
                f"{resource.uri!r}: other scheme"
            )
            assert resource.uri.isascii(), f"{resource.uri!r} is no URI; quote it"
            assert resources.read(resource.uri, Call()), f"{resource.uri!r} gives nothing"
        with pytest.raises(ToolError):
            resources.read(f"{resources.scheme}://no-such/../resource", Call())

    def test_prompts_are_written_from_their_arguments(self) -> None:
        """The text of a prompt contains its arguments."""
        surface = self.make()
        for prompt in surface.prompts(self.context()) if isinstance(surface, HasPrompts) else ():
            values = {argument.name: f"<{argument.name} {{}} %s>" for argument in prompt.arguments}
            text = prompt.write(values)
            missing = [value for value in values.values() if value not in text]
            assert not missing, f"{prompt.name} leaves out {missing}"

    def _tools(self) -> Sequence[Tool[Any, Any]]:
        return self.make().tools(self.context())

    def _called(self) -> Iterator[tuple[Tool[Any, Any], Call]]:
        """Yield each tool, with the call of :meth:`_later`."""
        tools = self._tools()
        later = self._later(tools)
        for tool in tools:
            yield tool, later

    def _later(self, tools: Sequence[Tool[Any, Any]]) -> Call:
        """Return a call in a session in which each tool that only reads was called before."""
        call = Call(session=Session())
        for tool in tools:
            with suppress(Exception):  # what fails then is tested call by call
                if tool.read_only:
                    self._call(tool, _examples(tool)[0], call)
        return call

    def _call(self, tool: Tool[Any, Any], example: Mapping[str, Any], call: Call) -> Answer | None:
        """Call a tool, and return its answer, or ``None`` if it refused."""
        try:
            params = tool.params.model_validate_json(json.dumps(example))
        except (ToolError, ValidationError):
            return None
        try:
            if tool.before:
                tool.before(call, example)
            answer = tool.run(params, call)
        except ToolError:
            return None
        kind: type[Answer] = tool.answer
        assert isinstance(answer, kind), f"{tool.name} answers {answer!r}"
        return answer


def _examples(tool: Tool[Any, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the arguments to call a tool with; one that needs none may have no examples."""
    return tool.examples or ({},)
