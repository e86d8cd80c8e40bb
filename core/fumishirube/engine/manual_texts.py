"""Reading the files of a manual through, but for those that the index rules out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from fumishirube.documents import Document
from fumishirube.engine.folder_index import IndexState
from fumishirube.engine.library import ManualFolder
from fumishirube.errors import ToolError, Unreadable
from fumishirube.query import Budget
from fumishirube.stages import ClaimedFile
from fumishirube.text.file_texts import FileText, ManualTexts, SectionStart, UnreadFile

_LATE = "time_budget"


def manual_texts(
    manual: ManualFolder, state: IndexState, budget: Budget, below: str = ""
) -> ManualTexts:
    """Return the texts of the files at a path, or below it, in order; all where it is empty."""
    claimed = {path: file for path, file in manual.sweep().items() if is_below(path, below)}
    unlisted: Counter[str] = Counter()
    unlisted.update(e.reason for e in manual.unlisted() if is_below(e.path, below))
    sections = sum(page.sections for path, page in state.pages.items() if path in claimed)
    return ManualTexts(
        files=len(claimed),
        sections=sections,
        texts=_texts(manual, claimed, budget),
        unlisted=unlisted,
        degraded=state.degraded,
    )


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is this one, or in this folder; part of a name is neither."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def _texts(
    manual: ManualFolder, claimed: Mapping[str, ClaimedFile], budget: Budget
) -> Iterator[FileText | UnreadFile]:
    for path in sorted(claimed):
        budget.check()
        if budget.late:
            yield UnreadFile(path, _LATE)
            continue
        try:
            document = manual.load(claimed[path])
        except Unreadable as error:
            yield UnreadFile(path, error.reason)
        except ToolError as error:
            yield UnreadFile(path, error.code)
        else:
            yield file_text(document)


def file_text(document: Document) -> FileText:
    """Return the text of a document, with its sections."""
    return FileText(document.path, document.text, partial(_sections, document))


def _sections(document: Document) -> Sequence[SectionStart]:
    return [
        SectionStart(section.start_line, (*section.ancestors, section.title))
        for section in document.sections
    ]
