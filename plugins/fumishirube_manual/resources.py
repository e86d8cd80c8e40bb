"""The manuals' files as resources: whole, or the lines of a citation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from urllib.parse import quote

from fumishirube import (
    Call,
    Citation,
    InvalidParameter,
    Manual,
    NotFound,
    SurfaceContext,
    ToolError,
)
from fumishirube.disk import clean_name, clean_path
from fumishirube.text import Lines, fold
from fumishirube.tools import Content, Resource, Resources, Template
from fumishirube_manual.arguments import manual_by_id
from fumishirube_manual.citations import has_hash

SCHEME = "manual"
MOST_CHARS = 24_000
"""The most characters of one reading: less than 25,000 tokens, in any script."""

LISTED_SECONDS = 0.5
"""Seconds in which files that a manual listed count as listed: less than between two looks."""

_PLAIN, _MARKDOWN = "text/plain", "text/markdown"
_MIMES = {"md": _MARKDOWN, "markdown": _MARKDOWN, "json": "application/json"}


def manual_resources(context: SurfaceContext) -> Resources:
    """Return the resources: each file that a loader claims."""
    return Resources(
        scheme=SCHEME,
        listed=partial(_listed, context),
        read=partial(_read, context),
        templates=(
            Template(
                uri="manual://{manual}/{+path}",
                name="file",
                title="A file of a manual",
                summary="A whole file as text. A long one ends early and says how to go on.",
            ),
            Template(
                uri="manual://{manual}/{+path}#L{start}-L{end}",
                name="lines",
                title="Lines of a file",
                summary="Exactly these lines, counted from 1. The cite of a hit has this form.",
            ),
        ),
        complete=partial(propose, context),
        stamp=partial(_stamp, context),
    )


def _stamp(context: SurfaceContext, uri: str) -> str:
    """Return what changes with the file of a URI: its size and time."""
    cited = Citation.parse(uri)
    manual_id, path = clean_name(cited.manual_id, "uri"), clean_path(cited.path, "uri")
    manual = manual_by_id(context, manual_id)
    entry = manual.root.stat(path)
    # What is not listed, such as a hidden file, does not exist here either.
    if not context.keep("listed paths", _ListedPaths).lists(manual, path):
        raise NotFound("the manual lists no such file", path=path)
    return f"{entry.size} {entry.modified_ns}"


class _ListedPaths:
    """The paths of manuals, remembered while a server looks at many files, one after the other."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[float, frozenset[str]]] = {}

    def lists(self, manual: Manual, path: str) -> bool:
        """Tell whether a manual lists an existing file; it is searched again for a new one."""
        until, paths = self._paths.get(manual.id, (0.0, frozenset[str]()))
        if path not in paths or monotonic() > until:
            paths = frozenset(manual.paths())
            self._paths[manual.id] = monotonic() + LISTED_SECONDS, paths
        return path in paths


def propose(
    context: SurfaceContext, argument: str, typed: str, others: Mapping[str, str]
) -> Sequence[str]:
    """Return ids for ``manual``; for ``path``, the files of the manual in the other argument."""
    if argument == "manual":
        return _fitting(typed, context.manuals())
    manual_id = others.get("manual")
    if argument != "path" or not manual_id:
        return ()
    return _fitting(typed, context.manual(clean_name(manual_id, "manual")).paths())


def _fitting(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that contain the typed text, those that begin with it first."""
    needle = fold(typed)
    ranked = [(not fold(name).startswith(needle), name) for name in names if needle in fold(name)]
    return [name for _, name in sorted(ranked)]


def _listed(context: SurfaceContext) -> Iterator[Resource]:
    for manual_id in context.manuals():
        with suppress(ToolError):  # a manual that was deleted meanwhile, or cannot be read
            for path in context.manual(manual_id).paths():
                # Strict clients accept only ASCII.
                uri = f"{SCHEME}://{quote(manual_id, safe='')}/{quote(path)}"
                yield Resource(uri, f"{manual_id}/{path}", _mime(path))


def _mime(path: str, *, whole: bool = True) -> str:
    mime = _MIMES.get(path.rpartition(".")[2].lower(), _PLAIN)
    # A part of a JSON file is not valid JSON.
    return mime if whole or mime == _MARKDOWN else _PLAIN


def _read(context: SurfaceContext, uri: str, _: Call) -> Sequence[Content]:
    """Return the text of a URI, and a note if it was cut or has changed."""
    cited = Citation.parse(uri)
    manual_id, path = clean_name(cited.manual_id, "uri"), clean_path(cited.path, "uri")
    document = manual_by_id(context, manual_id).document(path)
    cited, text = cited.within(document), document.text
    lines = Lines(text)
    first, last = _range(cited, lines)
    start, end = lines.start(first), lines.start(last + 1)
    remarks: list[Content] = []
    if cited.digest and not has_hash(text[start:end], cited.digest):
        word = "These lines have changed since they were cited; search again with manual_find."
        remarks.append(Content(uri, word))
    if end - start <= MOST_CHARS:
        mime = _mime(path, whole=end - start == len(text))
        return [Content(uri, text[start:end], mime), *remarks]
    stop = lines.at(start + MOST_CHARS) - 1
    if stop < first:
        return [Content(uri, text[start : start + MOST_CHARS], _PLAIN), _long_line(cited, start)]
    shown = Citation(manual_id, path, first, stop)
    rest = Citation(manual_id, path, stop + 1, last)
    word = f"This was {shown}, not all that was asked for. Go on with {rest}."
    part = text[start : lines.start(stop + 1)]
    return [Content(str(shown), part, _mime(path, whole=False)), Content(str(rest), word), *remarks]


def _range(cited: Citation, lines: Lines) -> tuple[int, int]:
    if cited.start_line is None:
        return 1, lines.total
    first, last = cited.start_line, cited.end_line or cited.start_line
    if not first <= last <= lines.total:
        raise InvalidParameter(
            f"lines must be within 1..{lines.total}, the first before the last",
            parameter="uri",
            min=1,
            max=lines.total,
        )
    return first, last


def _long_line(cited: Citation, start: int) -> Content:
    cursor = f'{{"char_offset":{start + MOST_CHARS}}}'
    word = f"The line goes on: call manual_scan with this manual_id and path and cursor {cursor}."
    return Content(str(cited), word)
