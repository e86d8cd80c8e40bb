"""What tests of several loaders look at, and how many examples they try."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from torture import examples

from fumishirube import Document, Root, Section
from fumishirube_stages.loaders import Json, Markdown, TocText


def paths(stage: Markdown | Json | TocText, root: Root) -> list[str]:
    return [source.path for source in stage.sources(root)]


def own(document: Document, section: Section) -> str:
    return document.text[section.start : section.end]


laws = settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
