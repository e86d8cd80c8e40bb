"""The core knows no built-in by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fumishirube.plugins.discovery import load_plugins

CORE = Path(__file__).resolve().parents[2] / "core" / "fumishirube"

ORDINARY = {
    "json": "a format: pydantic's mode, the option --json, the files of clients",
    "none": "the word for an empty list, in messages and in variables",
    "text": "the noun: what a document holds, a kind of content, a field",
    "manual": "the noun: a folder of documents, of which the kit makes a sample",
}
"""Words that mean something else wherever the core writes them, and what."""

COINCIDENCES = {
    ("config/outside.py", "vault"): "the folder that the root of this name has by default",
    ("config/personal.py", "vault"): "the folder that the root of this name has by default",
    ("config/sections.py", "vault"): "the folder that the root of this name has by default",
    ("host/finder.py", "alternatives"): "a part of a query, which a fuser says it searches with",
    ("host/memory.py", "vault"): "the folder that the root of this name has by default",
    ("host/offered_types.py", "chapters"): "a field of the contents of a manual",
    ("serving.py", "plain"): "a function of its __all__",
    ("testing/refiners.py", "phrase"): "a label of a sample hit",
    ("text/projections.py", "plain"): "a group of a regular expression",
}
"""Further words of the core that name something else, and what."""


def built_in_names() -> set[str]:
    """Return the names of all stages and surfaces that come with the framework."""
    return {offer.name for _, offer in load_plugins(strangers=False).registry.offers()}


def constants(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the string constants of a module, with their lines."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_string_of_the_core_is_the_name_of_a_built_in() -> None:
    names = built_in_names()
    assert {"vault", "graph", "chapters", "lexical", "rrf", "bigram", "tantivy"} <= names
    named = {
        (file.relative_to(CORE).as_posix(), text): line
        for file in sorted(CORE.rglob("*.py"))
        for line, text in constants(file)
        if text in names - ORDINARY.keys()
    }
    assert named.keys() - COINCIDENCES.keys() == set()
    assert COINCIDENCES.keys() - named.keys() == set(), "these exceptions are no longer needed"
