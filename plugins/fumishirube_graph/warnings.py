"""Warnings about documents for their authors, printed by the command line and ``doctor``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fumishirube import Answer, Call, Diagnostic, Tool, ToolError
from fumishirube.commands import call_tool, counted, listed
from fumishirube_graph.resolution import Issue
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.staleness import Baselines

_SKIPPED = {
    "too_large": "the file is too large and was skipped; divide it",
    "undecodable": "the file is in no known encoding and was skipped; save it as UTF-8",
    "loader_failed": "its loader failed and the file was skipped; the log says why",
    "unreadable": "the file cannot be read and was skipped; check it and its permissions",
}
_UNREAD = frozenset({"too_large", "undecodable", "unreadable"})
_NAMED = 3


class FileWarning(Answer):
    """A warning and its position."""

    code: str
    filepath: str
    line: int
    message: str


def warnings(snapshot: GraphSnapshot, baselines: Baselines) -> Iterator[FileWarning]:
    """Yield the warnings: the baselines, then by path skipped files, then those of documents."""
    for code, message in baselines.problems():
        yield FileWarning(code=code, filepath=baselines.file, line=1, message=message)
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
    reasons: dict[str, list[str]] = {}
    for warning in answer["warnings"]:
        if warning["code"] in _UNREAD:
            reasons.setdefault(warning["message"], []).append(warning["filepath"])
    return [
        Diagnostic(
            subject, f"{counted(len(paths), 'file')}: {listed(paths)}", message, serious=True
        )
        for message, paths in sorted(reasons.items())
    ]
