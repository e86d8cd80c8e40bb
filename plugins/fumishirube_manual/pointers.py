"""Resolves references in hits, such as 「第3章を参照」, to sections of the same manual."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import cache

from pydantic import JsonValue

from fumishirube import Manual, SurfaceContext, ToolError, Trace
from fumishirube.text import References
from fumishirube_manual.evidence.annotations import LOOKED_AT, key_of

ANNOTATION = "refers_to"


def with_pointers(context: SurfaceContext, trace: Trace) -> Trace:
    """Store in a trace the references of its best hits; this reads every file of their manuals."""
    targets: dict[str, JsonValue] = {}
    rows = trace.search.rows[:LOOKED_AT]
    for manual_id in dict.fromkeys(trace.file(row.path)[0] for row in rows):
        pointing = _pointing(context.manual(manual_id))
        for row in rows:
            name, path = trace.file(row.path)
            place = pointing(key_of(path, row.start_line)) if name == manual_id else None
            if place is not None:
                targets[key_of(row.path, row.start_line)] = place
    return context.annotate(trace, ANNOTATION, targets)


def _pointing(manual: Manual) -> Callable[[str], list[JsonValue] | None]:
    """Return a function that returns the references of a section, by its key."""
    outline = dict(_outline(manual))
    references = References((key, title) for key, (title, _) in outline.items())

    @cache
    def sections(key: str) -> Collection[str]:
        return References.section_numbers(unicodedata.normalize("NFKC", outline[key][1]))

    def pointing(key: str) -> list[JsonValue] | None:
        if key not in outline:
            return None
        mentions = references.mentioned(outline[key][1], key, sections)
        return [_ref(mention.id, mention.title) for mention in mentions]

    return pointing


def _outline(manual: Manual) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield every section of a manual: its key, its title and its own text."""
    for path in manual.paths():
        try:
            document = manual.document(path)
        except ToolError:
            continue  # unreadable files have no references, and are no targets
        for section in document.sections:
            text = document.text[section.start : section.end]
            yield key_of(path, section.start_line), (section.title, text)


def _ref(key: str, title: str) -> JsonValue:
    path, _, line = key.rpartition("#L")
    return {"path": path, "start_line": int(line), "title": title}
