"""Warnings about documents for their authors, printed by the command line and ``doctor``."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fumishirube import Answer, Call, Diagnostic, SurfaceContext, Tool, ToolError
from fumishirube.commands import call_tool, counted, listed
from fumishirube.disk import FolderEntry
from fumishirube_graph.docs import Docs
from fumishirube_graph.resolution import Issue
from fumishirube_graph.snapshot import GraphSnapshot

_SKIPPED = {
    "too_large": "the file is too large and was skipped; divide it",
    "undecodable": "the file is in no known encoding and was skipped; save it as UTF-8",
    "loader_failed": "its loader failed and the file was skipped; the log says why",
    "unreadable": "the file cannot be read and was skipped; check it and its permissions",
}
_NOT_LISTED = {
    "forbidden": "the system does not open the folder; let this user read it, or check its disk",
    "special": "a pipe, a socket or a device is not read; move it elsewhere",
    "symlink": "symbolic links are not followed; put the file itself there",
    "too_deep": "it lies deeper than limits.depth; move it up, or raise that",
    "unspeakable": "no path can contain this name; rename the file or the folder",
}
_REPORTED = {"baselines_damaged", "not_listed", "too_large", "undecodable", "unreadable"}
_HARMLESS = frozenset({"baselines_damaged", "not_listed"})
_NAMED = 3


class FileWarning(Answer):
    """A warning and its position."""

    code: str
    filepath: str
    line: int
    message: str


def warnings(snapshot: GraphSnapshot, docs: Docs) -> Iterator[FileWarning]:
    """Yield the warnings: of the index and the baselines, of files left out, of each document."""
    for message in snapshot.behind:
        yield FileWarning(code="not_current", filepath=docs.root_name, line=1, message=message)
    baselines = docs.baselines
    for code, message in baselines.problems():
        yield FileWarning(code=code, filepath=baselines.file, line=1, message=message)
    yield from not_listed(docs.context)
    for path in snapshot.skipped:
        code, message = skipped(snapshot, path)
        yield FileWarning(code=code, filepath=path, line=1, message=message)
    for path, doc in snapshot.docs.items():
        for code, line, message in doc.record.remarks:
            yield FileWarning(code=code, filepath=path, line=line, message=message)
        for issue in snapshot.issues[path]:
            code, message = _issue_warning(issue)
            if code:
                yield FileWarning(code=code, filepath=path, line=issue.line, message=message)


def not_listed(context: SurfaceContext) -> Iterator[FileWarning]:
    """Yield a warning for each document that no survey lists, and each folder that may have some.

    The loaders tell which are documents; of a folder, one that would lie in it.
    """
    unlisted = {}
    for entry in context.root.survey().unlisted:
        if entry.reason in _NOT_LISTED:
            place = context.root.path / entry.path
            leads = os.path.isdir(place)  # noqa: PTH112 - that of a Path fails at some links
            folder = entry.unit == "folder" or leads
            unlisted[f"{entry.path}/a.md" if folder else entry.path] = entry
    files = tuple(FolderEntry(path, path.rpartition("/")[2], "file", 0, 0) for path in unlisted)
    root = replace(context.root, listed=files)
    documents = {source.path for loader in context.loaders() for source in loader.sources(root)}
    for path, entry in unlisted.items():
        if path in documents:
            message = _NOT_LISTED[entry.reason]
            yield FileWarning(code="not_listed", filepath=entry.path, line=1, message=message)


def skipped(snapshot: GraphSnapshot, path: str) -> tuple[str, str]:
    """Return why a file was skipped: the code, and a sentence."""
    reason = snapshot.skipped[path]
    code = reason if reason in _SKIPPED else "unreadable"
    return code, _SKIPPED[code]


def left_out(snapshot: GraphSnapshot) -> Iterator[str]:
    """Yield a sentence with the number of skipped files and the first of them, if there are any."""
    if snapshot.skipped:
        number = len(snapshot.skipped)
        named = ", ".join([*snapshot.skipped][:_NAMED]) + (", …" if number > _NAMED else "")
        counted = f"{number} file is" if number == 1 else f"{number} files are"
        remedy = "'fumishirube docs status' says why"
        yield f"{counted} left out, too large or unreadable: {named}; {remedy}"


def _issue_warning(issue: Issue) -> tuple[str, str]:
    if issue.outside:
        return "link_outside_root", f"'{issue.target}' leads out of the docs folder"
    if issue.status == "ambiguous":
        named = ", ".join(issue.candidates)
        return "link_ambiguous", f"'{issue.target}' may mean any of {named}; the first was taken"
    if issue.status == "anchor_missing":
        return "anchor_missing", f"'{issue.target}' names a heading that is not there"
    return "", ""


def unread_documents(commands: Sequence[Tool[Any, Any]], root: str) -> Sequence[Diagnostic]:
    """Update the index, and return one diagnostic a reason, with its files."""
    subject = f"root {root}"
    index = next(tool for tool in commands if tool.name == "docs_index")
    try:
        answer: Any = call_tool(index, {}, Call())
    except ToolError as error:
        return (Diagnostic(subject, str(error), "", serious=True),)
    reasons: dict[tuple[str, bool], list[str]] = {}
    for warning in answer["warnings"]:
        if warning["code"] in _REPORTED:
            key = warning["message"], warning["code"] not in _HARMLESS
            reasons.setdefault(key, []).append(warning["filepath"])
    return [
        Diagnostic(subject, f"{counted(len(paths), 'file')}: {listed(paths)}", message, serious)
        for (message, serious), paths in sorted(reasons.items())
    ]
