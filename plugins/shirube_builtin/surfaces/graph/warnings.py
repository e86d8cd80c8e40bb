"""What authors may want to mend in their documents, as the command line shows it."""

from __future__ import annotations

from collections.abc import Iterator

from shirube import Answer
from shirube_builtin.surfaces.graph.docs import Docs
from shirube_builtin.surfaces.graph.resolution import Issue
from shirube_builtin.surfaces.graph.view import View

_SKIPPED = {
    "too_large": "the file has over 8 MiB and was skipped",
    "unreadable": "the file cannot be read and was skipped",
}


class FileWarning(Answer):
    """One thing, and where it stands."""

    code: str
    filepath: str
    line: int
    message: str


def warnings(docs: Docs, view: View) -> Iterator[FileWarning]:
    """Yield what was noticed, by path: skipped files, then each document's own."""
    for path, reason in docs.skipped():
        code = reason if reason in _SKIPPED else "unreadable"
        yield FileWarning(code=code, filepath=path, line=1, message=_SKIPPED[code])
    for path, doc in view.docs.items():
        for code, line, message in doc.record.remarks:
            yield FileWarning(code=code, filepath=path, line=line, message=message)
        for issue in view.issues[path]:
            code, message = _told(issue)
            if code:
                yield FileWarning(code=code, filepath=path, line=issue.line, message=message)


def _told(issue: Issue) -> tuple[str, str]:
    if issue.outside:
        return "link_outside_root", f"'{issue.target}' leads out of the docs folder"
    if issue.status == "ambiguous":
        named = ", ".join(issue.candidates)
        return "link_ambiguous", f"'{issue.target}' may mean any of {named}; the first was taken"
    if issue.status == "anchor_missing":
        return "anchor_missing", f"'{issue.target}' names a heading that is not there"
    return "", ""
