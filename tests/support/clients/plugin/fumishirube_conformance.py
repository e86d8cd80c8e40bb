"""What the published conformance suite asks of a server: tools, resources and prompts to try.

It is a plugin for processes whose `PYTHONPATH` holds this folder.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from fumishirube import (
    Answer,
    Call,
    InvalidParameter,
    NotFound,
    Params,
    Register,
    Stage,
    Surface,
    SurfaceContext,
    Tool,
    hook,
)
from fumishirube.tools import Content, Prompt, PromptParameter, Resource, Resources, Template

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
BEFORE, AFTER = "test://template/", "/data"


class NoParams(Params):
    pass


class TextAnswer(Answer):
    text: str


def _simple(_: NoParams, _call: Call) -> TextAnswer:
    return TextAnswer(text="This is a simple text response for testing.")


def _failing(_: NoParams, _call: Call) -> TextAnswer:
    raise InvalidParameter("This tool intentionally returns an error for testing")


def _progressing(_: NoParams, call: Call) -> TextAnswer:
    for done in (0, 50, 100):
        if call.progress is not None:
            call.progress(done, 100, "")
        time.sleep(0.15)
    return TextAnswer(text="done")


def _listed() -> Iterable[Resource]:
    yield Resource("test://static-text", "Static text")
    yield Resource("test://static-binary", "Static binary", "image/png")


def _read(uri: str, _: Call) -> Sequence[Content]:
    if uri == "test://static-text":
        return [Content(uri, "This is the content of the static text resource.")]
    if uri == "test://static-binary":
        return [Content(uri, PIXEL, "image/png")]
    if uri.startswith(BEFORE) and uri.endswith(AFTER):
        told = {"id": uri.removeprefix(BEFORE).removesuffix(AFTER), "templateTest": True}
        return [Content(uri, json.dumps(told), "application/json")]
    raise NotFound("there is no such resource")


class Conformance(Stage):
    """Offers what the suite's scenarios call for."""

    pipeline: ClassVar[Mapping[str, Any]] = {}
    root: ClassVar[str] = "manuals"

    def tools(self, _: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools."""
        return [
            Tool(name, name, "For the suite.", NoParams, TextAnswer, run)
            for name, run in (
                ("test_simple_text", _simple),
                ("test_error_handling", _failing),
                ("test_tool_with_progress", _progressing),
                ("test_logging_tool", _simple),
            )
        ]

    def resources(self, _: SurfaceContext) -> Resources:
        """Return the resources."""
        template = Template(f"{BEFORE}{{id}}{AFTER}", "data", "Data", "Data of an id.")
        return Resources("test", _listed, _read, (template,), stamp=lambda uri: uri)

    def prompts(self, _: SurfaceContext) -> Sequence[Prompt]:
        """Return the prompts."""
        return (
            Prompt(
                "test_simple_prompt",
                "Simple",
                "For the suite.",
                lambda _: "This is a simple prompt for testing.",
            ),
            Prompt(
                "test_prompt_with_arguments",
                "With arguments",
                "For the suite.",
                lambda given: f"Prompt with arguments: {dict(given)}",
                (PromptParameter("arg1", "First."), PromptParameter("arg2", "Second.")),
                lambda _name, typed, _others: [f"{typed}ing"],
            ),
        )


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Offer it."""
    register("conformance", Conformance)
