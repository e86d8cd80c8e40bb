"""Compares a document with the sources it describes, when a tool needs the result."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal, NamedTuple

from fumishirube import Root, ToolError
from fumishirube.disk import WritableRoot, is_settled
from fumishirube_graph.errors import JsonRpcInternalError
from fumishirube_graph.records import Record

Level = Literal["fresh", "possibly_stale", "stale", "untracked"]
Reason = Literal["modified", "deleted", "not_found", "created"]

ABSENT = "absent"
LOCKS = ".fumishirube/locks"
"""The folder of the locks of baseline files, relative to the workspace."""

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


class Baselines:
    """The hashes of each document's sources when the document was last written or acknowledged.

    Changes are made to the current content of the file, under a lock between processes.
    """

    def __init__(self, workspace: Root, file: str) -> None:
        self._workspace = workspace
        self._file = file
        self._files = WritableRoot(workspace, LOCKS)
        self._lock = RLock()
        self._baselines: dict[str, dict[str, Any]] = {}
        self._read_ns = -1
        self._hashes: dict[str, _HashedSource] = {}

    def cover(self, records: Mapping[str, Record]) -> None:
        """Record a baseline for every document with new bytes; drop those of removed documents."""
        with self._lock:
            self._load()
            if self._covered(records) != self._baselines:
                self._change(lambda: self._covered(records))

    def acknowledge(self, records: Mapping[str, Record]) -> None:
        """Record the present sources as the baseline of these documents."""
        fresh = {
            path: self._taken(record) for path, record in records.items() if record.source_refs
        }
        with self._lock:
            self._change(lambda: {**self._baselines, **fresh})

    def _covered(self, records: Mapping[str, Record]) -> dict[str, dict[str, Any]]:
        """Return the new baselines: one for each document with sources."""
        covered = {}
        for path, record in records.items():
            if record.source_refs:
                baseline = self._baselines.get(path, {})
                same = baseline.get("doc") == record.sha
                covered[path] = baseline if same else self._taken(record)
        return covered

    def staleness(
        self, path: str, record: Record, threshold_days: int, *, verify: bool = False
    ) -> Staleness:
        """Return the staleness of a document against its sources now."""
        with self._lock:
            self._load()
            baseline = self._baselines.get(path, {}).get("sources", {})
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

    def _taken(self, record: Record) -> dict[str, Any]:
        sources = {source: self._hashed(source, verify=True)[0] for source in record.source_refs}
        return {"doc": record.sha, "sources": sources}

    def _hashed(self, source: str, *, verify: bool) -> tuple[str, int]:
        """Return the hash of a source and its modification time; a non-regular file is absent."""
        path = self._inside(source)
        try:
            status = path.stat() if path else None
            if path is None or status is None or not stat.S_ISREG(status.st_mode):
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

    def _inside(self, source: str) -> Path | None:
        """Return where a source is, unless links lead out of the workspace."""
        path = self._workspace.path / source
        with suppress(OSError, RuntimeError):
            if path.resolve().is_relative_to(self._workspace.path.resolve()):
                return path
        return None

    def _load(self) -> None:
        """Read the file when it has changed; treat an unreadable file as missing."""
        try:
            changed_ns = self._workspace.stat(self._file).modified_ns
            if changed_ns != self._read_ns:
                self._baselines = dict(_rows(self._workspace.read_bytes(self._file)))
                self._read_ns = changed_ns
        except ToolError:
            self._baselines, self._read_ns = {}, -1

    def _change(self, changed: Callable[[], dict[str, dict[str, Any]]]) -> None:
        """Replace the baselines, computed from the current content of the file.

        Raises:
            Failed: when they cannot be written.
        """
        files, path = self._files, self._file
        try:
            with files.locked(files.lock_of(path)):
                before = files.read(path)
                self._baselines = dict(_rows(before or b""))
                self._baselines = dict(sorted(changed().items()))
                content = {"version": 1, "documents": self._baselines}
                after = (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
                if after != before:
                    files.make_folder(path.rpartition("/")[0])
                    files.swap(path, before, after, f"baselines-{os.getpid()}")
                self._read_ns = self._workspace.stat(path).modified_ns
        except (ToolError, OSError) as error:
            self._read_ns = -1
            message = (
                "the baselines cannot be written; make the file of the setting baseline_file so"
            )
            raise JsonRpcInternalError(message, reason="baselines") from error


def _rows(written: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the baselines of a file; a damaged file has none."""
    content: Any = None
    with suppress(ValueError, RecursionError):
        content = json.loads(written)
    documents = content.get("documents") if isinstance(content, dict) else None
    for path, row in documents.items() if isinstance(documents, dict) else ():
        if isinstance(row, dict) and isinstance(row.get("sources"), dict):
            yield path, row
