"""Notes on cases that cannot be right: on files and headings that their manuals do not have."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from fumishirube import Manual, NotFound, SurfaceContext, ToolError
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.commands import counted
from fumishirube.text import nfc
from fumishirube_eval.cases import Case

_LOG = logging.getLogger("fumishirube")
_Files: TypeAlias = Mapping[str, tuple[Manual, str]]


def case_notes(context: SurfaceContext, cases: Sequence[Case]) -> Iterator[str]:
    """Yield a note on the cases with unknown files, and one on those with unknown headings."""
    known = _KnownPlaces(context)
    files = [(case, path) for case in cases for path in known.missing_files(case)]
    headings = [
        (case, f"{path}#L{line}") for case in cases for path, line in known.missing_headings(case)
    ]
    if files:
        case, path = files[0]
        number = counted(len({case.case_id for case, _ in files}), "case")
        example = f"{path} in case {case.case_id}"
        yield f"note: {number} with expected files that the manual does not have, such as {example}"
    if headings:
        case, place = headings[0]
        number = counted(len({case.case_id for case, _ in headings}), "case")
        example = f"{place} in case {case.case_id}"
        yield f"note: {number} with expected lines at which no section begins, such as {example}"


class _KnownPlaces:
    """The files of manuals and the first lines of their sections, each read once."""

    def __init__(self, context: SurfaceContext) -> None:
        self._context = context
        self._files = lru_cache(maxsize=None)(self._read_files)
        self._headings = lru_cache(maxsize=None)(self._read_headings)

    def missing_files(self, case: Case) -> list[str]:
        """Return the expected files that do not exist."""
        files = self._files(case.manual_id)
        return [path for path in case.expected_paths if files is not None and path not in files]

    def missing_headings(self, case: Case) -> list[tuple[str, int]]:
        """Return the expected lines at which no section of an existing file begins."""
        files = self._files(case.manual_id) or {}
        return [
            (path, line)
            for path, line in case.expected_lines
            if path in files and line not in self._headings(case.manual_id, path)
        ]

    def _read_files(self, manual_id: str) -> _Files | None:
        """Return the files by the paths that rankings of a manual, or of all, have.

        ``None`` if they cannot be listed; a search says why.
        """
        try:
            if manual_id != EVERY_MANUAL:
                return self._listed(manual_id)
            return {
                f"{name}/{inner}": place
                for name in self._context.manuals()
                for inner, place in self._listed(name).items()
            }
        except NotFound:
            return {}
        except ToolError:
            return None

    def _listed(self, manual_id: str) -> _Files:
        manual = self._context.manual(manual_id)
        return {nfc(path): (manual, path) for path in manual.paths()}

    def _read_headings(self, manual_id: str, path: str) -> frozenset[int]:
        manual, inner = (self._files(manual_id) or {})[path]
        try:
            return frozenset(section.start_line for section in manual.document(inner).sections)
        except Exception:
            # The index skips such a file too, and reports it.
            _LOG.debug("a file was skipped", exc_info=True)
            return frozenset()
