"""Reports files that could not be read, and so cannot be searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fumishirube import Call, Diagnostic, Tool, ToolError
from fumishirube.commands import call_tool, counted, listed

_UNREAD = frozenset({"too_large", "undecodable", "unreadable"})


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
