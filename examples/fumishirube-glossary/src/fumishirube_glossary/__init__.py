"""A surface for Fumishirube with one tool, which looks up terms in the manuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from fumishirube import (
    Command,
    CommandRegister,
    Register,
    Stage,
    Surface,
    SurfaceContext,
    Tool,
    hook,
)
from fumishirube_glossary.lookup import lookup_tool


class Glossary(Stage):
    """Offers ``glossary_lookup``, which quotes definitions of a term with their citations.

    Reads the ``looked_at`` best sections for the term in each manual, found by
    the configured pipeline ``manual``.
    """

    root: ClassVar[str] = "manuals"
    pipeline_name: ClassVar[str] = "manual"
    instructions: ClassVar[str] = "Glossary: ask glossary_lookup what the manuals call a term."
    pipeline: ClassVar[Mapping[str, Any]] = {
        "loaders": [{"use": "markdown"}, {"use": "toc-text"}, {"use": "json"}],
        "tokenizer": {"use": "bigram"},
        "index": {"use": "tantivy"},
        "scorers": [{"use": "lexical"}, {"use": "phrase"}],
    }

    looked_at: Annotated[int, Field(ge=1, le=200)] = 30

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tool."""
        return (lookup_tool(context, self.looked_at),)


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Register the surface."""
    register("glossary", Glossary)


@hook
def register_commands(register: CommandRegister) -> None:
    """Register ``fumishirube glossary TERM``."""
    register(
        Command(
            "glossary",
            "quote what the manuals say that a term means",
            "fumishirube_glossary.command",
            "fumishirube glossary 有給休暇",
        )
    )
