"""Compares a document with the sources it describes, when a tool needs the result."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import RLock
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from fumishirube import Forbidden, Root, ToolError
from fumishirube.disk import WritableRoot, is_settled
from fumishirube_graph.errors import JsonRpcInternalError
from fumishirube_graph.records import Record, stays_below

Level = Literal["fresh", "possibly_stale", "stale", "untracked"]
Reason = Literal["modified", "deleted", "not_found", "created"]

ABSENT = "absent"
LOCKS = ".fumishirube/locks"
"""The folder of the locks of baseline files, relative to the workspace."""

DAMAGED = "the baselines cannot be read, so nothing is compared; restore the file, or delete it"
UNWRITABLE = "the baselines cannot be written; make the file of the setting baseline_file so"
NEW = "there was no such file, so all sources count as unchanged; restore it if there should be one"

_log = logging.getLogger("fumishirube")

_WORST: tuple[Level, ...] = ("stale", "possibly_stale", "untracked", "fresh")
_DAY = 86_400


class StaleRef(NamedTuple):
    """A stale source: the reason, and the level that it gives the document."""

    path: str
    reason: Reason
    level: Level


class Staleness(NamedTuple):
    """The staleness level of a document, and its stale sources."""

    level: Level
    refs: tuple[StaleRef, ...]


class _HashedSource(NamedTuple):
    """The hash of a source, with the size and times at which it was computed."""

    size: int
    modified_ns: int
    looked_ns: int
    sha: str


class _Baseline(BaseModel):
    """The hash of a document, and those of its sources at that time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    doc: str
    sources: dict[str, str]


class _BaselineFile(BaseModel):
    """The content of a file of baselines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    documents: dict[str, _Baseline]


class Baselines:
    """The hashes of each document's sources when the document was last written or acknowledged.

    Changes are made to the current content of the file, under a lock between processes. A damaged
    file is left alone: it may hold baselines that somebody can restore. ``unwritable`` says that
    the last change failed for another reason.
    """

    def __init__(self, workspace: Root, state: Root, file: str) -> None:
        self._workspace = workspace
        self._state = state
        self.file = file
        self._files = WritableRoot(workspace, LOCKS)
        self._lock = RLock()
        self._baselines: dict[str, _Baseline] = {}
        self._read_ns = -1
        self._damaged = self._new = self.unwritable = False
        self._hashes: dict[str, _HashedSource] = {}

    def damage(self) -> Sequence[str]:
        """Return a sentence about the file if it is damaged, or cannot be written."""
        return [f"{self.file}: {message}" for _, message in self.problems() if message != NEW]

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the code and the message of each problem of the file."""
        with self._lock:
            self._load()
        if self._damaged:
            yield "baselines_damaged", DAMAGED
        if self.unwritable:
            yield "baselines_unwritable", UNWRITABLE
        if self._new:
            yield "baselines_new", NEW

    def cover(self, records: Mapping[str, Record], listed: Collection[str]) -> None:
        """Record a baseline for every document with new bytes; drop those of removed documents.

        Documents that are ``listed``, but have no record now, keep theirs. A file that cannot be
        written becomes one of the :meth:`problems`.
        """
        with self._lock:
            self._load()
            if self._damaged or self._covered(records, listed) == self._baselines:
                self.unwritable = False
                return
            known = self.unwritable
            try:
                self._change(lambda: self._covered(records, listed))
            except JsonRpcInternalError as error:
                if not known:
                    _log.warning("%s: %s", self.file, error)

    def acknowledge(self, records: Mapping[str, Record]) -> None:
        """Record the present sources as the baseline of these documents."""
        fresh = {
            path: self._taken(record) for path, record in records.items() if record.source_refs
        }
        with self._lock:
            self._change(lambda: {**self._baselines, **fresh})

    def _covered(
        self, records: Mapping[str, Record], listed: Collection[str]
    ) -> dict[str, _Baseline]:
        """Return the new baselines: one for each document with sources."""
        covered = {
            path: baseline
            for path, baseline in self._baselines.items()
            if path in listed and path not in records
        }
        for path, record in records.items():
            if record.source_refs:
                baseline = self._baselines.get(path)
                if baseline is None or baseline.doc != record.sha:
                    baseline = self._taken(record)
                covered[path] = baseline
        return covered

    def staleness(
        self, path: str, record: Record, threshold_days: int, *, verify: bool = False
    ) -> Staleness:
        """Return the staleness of a document against its sources now."""
        with self._lock:
            self._load()
            if self._damaged:
                return Staleness("untracked", ())
            known = self._baselines.get(path)
            baseline = known.sources if known else {}
            levels: list[Level] = []
            refs: list[StaleRef] = []
            for source in record.source_refs:
                level, reason = self._judged(
                    source, baseline.get(source), threshold_days, verify=verify
                )
                levels.append(level)
                if reason is not None:
                    refs.append(StaleRef(source, reason, level))
        level = next((worst for worst in _WORST if worst in levels), "untracked")
        return Staleness(level, tuple(refs))

    def _judged(
        self, source: str, baseline: str | None, threshold_days: int, *, verify: bool
    ) -> tuple[Level, Reason | None]:
        now, modified_ns = self._hashed(source, verify=verify)
        if now == baseline and now != ABSENT:
            return "fresh", None
        if now == ABSENT:
            gone = baseline not in (None, ABSENT)
            return ("stale", "deleted") if gone else ("untracked", "not_found")
        recent = time.time_ns() - modified_ns <= threshold_days * _DAY * 1_000_000_000
        reason: Reason = "created" if baseline in (None, ABSENT) else "modified"
        return ("possibly_stale" if recent else "stale"), reason

    def _taken(self, record: Record) -> _Baseline:
        sources = {source: self._hashed(source, verify=True)[0] for source in record.source_refs}
        return _Baseline(doc=record.sha, sources=sources)

    def _hashed(self, source: str, *, verify: bool) -> tuple[str, int]:
        """Return the hash of a source and its modification time; a non-regular file is absent."""
        path = self._workspace.path / source
        try:
            status = path.stat() if stays_below(self._workspace.path, source) else None
            if status is None or not stat.S_ISREG(status.st_mode):
                return ABSENT, 0
            hashed = self._hashes.get(source)
            if (
                not verify
                and hashed
                and (hashed.size, hashed.modified_ns) == (status.st_size, status.st_mtime_ns)
                and is_settled(hashed.modified_ns, hashed.looked_ns)
            ):
                return hashed.sha, hashed.modified_ns
            surveyed = time.time_ns()
            with path.open("rb") as stream:
                sha = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            return ABSENT, 0
        self._hashes[source] = _HashedSource(status.st_size, status.st_mtime_ns, surveyed, sha)
        return sha, status.st_mtime_ns

    def _load(self) -> None:
        """Read the file when it has changed; treat one that cannot be opened as missing."""
        try:
            changed_ns = self._workspace.stat(self.file).modified_ns
            if changed_ns != self._read_ns:
                self._baselines, self._damaged = {}, True
                self._read_ns = changed_ns
                self._baselines = _rows(self._workspace.read_bytes(self.file))
                self._damaged = False
        except ToolError:
            self._baselines, self._read_ns, self._damaged = {}, -1, False
        except ValueError:
            pass

    def _change(self, changed: Callable[[], dict[str, _Baseline]]) -> None:
        """Replace the baselines, computed from the current content of the file.

        Raises:
            JsonRpcInternalError: when the file is damaged, or cannot be written.
        """
        files, path = self._files, self.file
        with suppress(Forbidden):  # where the file is not in it, that is no matter
            self._state.make()
        try:
            with files.locked(files.lock_of(path)):
                before = files.read(path)
                self._baselines = {} if before is None else _rows(before)
                self._baselines = dict(sorted(changed().items()))
                content = _BaselineFile(version=1, documents=self._baselines).model_dump()
                after = (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
                if after != before:
                    files.make_folder(path.rpartition("/")[0])
                    files.swap(path, before, after, f"baselines-{os.getpid()}")
                if before is None and self._baselines:
                    self._new = True
                    _log.warning("%s: %s", path, NEW)
                self._read_ns = self._workspace.stat(path).modified_ns
                self.unwritable = False
        except ValueError as error:
            self._read_ns = -1
            raise JsonRpcInternalError(f"{path}: {DAMAGED}", reason="baselines") from error
        except (ToolError, OSError) as error:
            self._read_ns, self.unwritable = -1, True
            raise JsonRpcInternalError(UNWRITABLE, reason="baselines") from error


def _rows(written: bytes) -> dict[str, _Baseline]:
    """Return the baselines of a file.

    Raises:
        ValueError: when it is damaged, or of a later version.
    """
    try:
        return _BaselineFile.model_validate(json.loads(written)).documents
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
