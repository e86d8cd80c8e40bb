"""The contract of surfaces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from shirube import Answer, Call, Desk, Document, Params, Section, Session, Surface, Tool, ToolError
from shirube.testing.contract import StageContract
from shirube.testing.desks import MemoryDesk

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
_TEXT = "# 休暇\n年次有給休暇は10日。\n## 例外\n試用期間中は取得できない。\n"


class SurfaceContract(StageContract[Surface]):
    """Tools with names, schemas and examples that hold, and failures that have a code."""

    verbs = Surface

    def desk(self) -> Desk:
        """Return the desk that the tools work at; override it for a surface that needs another."""
        return MemoryDesk({"m1": [_sample()]})

    def exercise(self, stage: Surface, folder: Path) -> object:  # noqa: ARG002
        """Take the tools and their schemas."""
        return [
            (tool.name, tool.params.model_json_schema(), tool.answer.model_json_schema())
            for tool in stage.tools(self.desk())
        ]

    def test_it_says_which_root_it_reads_and_how_it_searches(self) -> None:
        """``root`` names a root of the configuration, ``pipeline`` holds defaults by kind."""
        surface = self.make()
        assert isinstance(surface.root, str), f"root is {surface.root!r}"
        assert isinstance(surface.pipeline, Mapping), f"pipeline is {surface.pipeline!r}"
        assert json.dumps(dict(surface.pipeline)), "the pipeline is no plain data"

    def test_it_offers_tools(self) -> None:
        """A surface without tools would offer nothing."""
        assert self._tools(), "no tools"

    def test_tools_are_offered_before_there_is_anything_to_read(self) -> None:
        """Listing tools asks nothing of the desk that an empty one could not answer."""
        names = [tool.name for tool in self.make().tools(MemoryDesk({}))]
        assert names == [tool.name for tool in self._tools()], "the tools depend on the manuals"

    def test_names_are_snake_case_and_unique(self) -> None:
        """Callers tell tools apart by name."""
        names = [tool.name for tool in self._tools()]
        assert len(names) == len(set(names)), f"names repeat in {names}"
        for name in names:
            assert _NAME.fullmatch(name), f"{name!r} is not snake_case"

    def test_tools_say_what_they_do(self) -> None:
        """A model chooses tools by what their summaries say."""
        for tool in self._tools():
            assert tool.title.strip(), f"{tool.name} has no title"
            assert tool.summary.strip(), f"{tool.name} has no summary"

    def test_arguments_and_answers_have_schemas(self) -> None:
        """Every face is made from them."""
        for tool in self._tools():
            assert issubclass(tool.params, Params), f"{tool.name}: params inherit no Params"
            assert issubclass(tool.answer, Answer), f"{tool.name}: answer inherits no Answer"
            for model in (tool.params, tool.answer):
                assert json.dumps(model.model_json_schema()), f"{tool.name}: no schema"

    def test_unknown_arguments_are_refused(self) -> None:
        """A misspelt argument is told, not dropped."""
        for tool in self._tools():
            for example in (*tool.examples, {}):
                with pytest.raises(ValidationError):
                    tool.params.model_validate({**example, "no_such_argument": 1})

    def test_examples_are_valid_arguments(self) -> None:
        """What the documentation shows can be called."""
        for tool in self._tools():
            for example in tool.examples:
                tool.params.model_validate_json(json.dumps(example))

    def test_examples_are_answered_or_refused_with_a_code(self) -> None:
        """A call ends in an answer of its type or in a ``ToolError``, in nothing else."""
        for tool in self._tools():
            for example in tool.examples:
                self._call(tool, example, Call())
                self._call(tool, example, Call(session=Session()))
                self._call(tool, example, Call(session=Session(discovered=True)))

    def test_routes_are_a_method_and_a_path(self) -> None:
        """No two tools are reached the same way."""
        routes = [tool.http for tool in self._tools() if tool.http]
        assert len(routes) == len(set(routes)), f"routes repeat in {routes}"
        for method, path in routes:
            assert method in _METHODS, f"{method!r} is no method"
            assert path.startswith("/"), f"{path!r} does not begin with a slash"

    def test_what_only_reads_destroys_nothing(self) -> None:
        """The annotations of a tool agree with each other."""
        for tool in self._tools():
            assert not (tool.read_only and tool.destructive), f"{tool.name} contradicts itself"

    def _tools(self) -> Sequence[Tool[Any, Any]]:
        return self.make().tools(self.desk())

    def _call(self, tool: Tool[Any, Any], example: Mapping[str, Any], call: Call) -> None:
        try:
            if tool.before:
                tool.before(call)
            answer = tool.run(tool.params.model_validate_json(json.dumps(example)), call)
        except ToolError:
            return
        assert isinstance(answer, tool.answer), f"{tool.name} answers {answer!r}"


def _sample() -> Document:
    first, second = _TEXT.index("\n") + 1, _TEXT.index("##")
    return Document(
        "rules.md",
        "md",
        _TEXT,
        (
            Section("休暇", 1, 2, 0, second, len(_TEXT), first),
            Section("例外", 3, 4, second, len(_TEXT), len(_TEXT), second + 6, 2, ("休暇",)),
        ),
    )
