"""Compares a document with the sources it describes, when a tool needs the result."""

import hashlib
import logging
import os
import stat
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import RLock
from typing import Literal, NamedTuple

from fumishirube import Answer, Forbidden, Root, ToolError
from fumishirube.disk import WritableRoot, is_settled
from fumishirube_graph.baseline_file import Baseline, parsed_baselines, written_baselines
from fumishirube_graph.errors import JsonRpcInternalError
from fumishirube_graph.records import Record, stays_below

Level = Literal["fresh", "possibly_stale", "stale", "untracked"]
Reason = Literal["modified", "deleted", "not_found", "created"]

ABSENT = "absent"
LOCKS = ".fumishirube/locks"
"""The folder of the locks of baseline files, relative to the workspace."""

DAMAGED = "the baselines cannot be read, so nothing is compared; restore the file, or delete it"
NEW = "there was no such file, so all sources count as unchanged; restore it if there should be one"

_log = logging.getLogger("fumishirube")

_WORST: tuple[Level, ...] = ("stale", "possibly_stale", "untracked", "fresh")
_DAY = 86_400


class StaleSource(Answer):
    """A source that is not fresh."""

    path: str
    reason: Reason


class Staleness(NamedTuple):
    """The staleness level of a document, and its stale sources."""

    level: Level
    refs: tuple[StaleSource, ...]


class _HashedSource(NamedTuple):
    """The hash of a source, with the size and times at which it was computed."""

    size: int
    modified_ns: int
    looked_ns: int
    sha: str


class Baselines:
    """The hashes of each document's sources when the document was last written or acknowledged.

    Changes are made to the current content of the file, under a lock between processes. A damaged
    file is left alone: it may hold baselines that somebody can restore. ``unwritable`` is a
    sentence about the last change if it failed for another reason, else empty.
    """

    def __init__(self, workspace: Root, state: Root, file: str) -> None:
        self._workspace = workspace
        self._state = state
        self.file = file
        self._files = WritableRoot(workspace, LOCKS)
        self._lock = RLock()
        self._baselines: dict[str, Baseline] = {}
        self._read_ns = -1
        self._damaged = self._new = self._made = False
        self.unwritable = ""
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
            yield "baselines_unwritable", self.unwritable
        if self._made:
            yield "baselines_new", NEW

    def cover(self, records: Mapping[str, Record], listed: Collection[str]) -> None:
        """Record a baseline for every document with new bytes; drop those of removed documents.

        Documents that are ``listed``, but have no record now, keep theirs. A file that cannot be
        written becomes one of the :meth:`problems`.
        """
        with self._lock:
            self._load()
            if self._damaged or self._covered(records, listed) == self._baselines:
                self.unwritable = ""
                return
            known = self.unwritable
            try:
                self._change(lambda: self._covered(records, listed))
            except JsonRpcInternalError as error:
                if not known:
                    _log.warning("%s", error)

    def news(self) -> Sequence[str]:
        """Return a sentence if the file is new and this was not reported yet.

        The file says so, whichever process made it, until the report.
        """
        with self._lock:
            self._load()
            if not self._new:
                return []
            with suppress(JsonRpcInternalError):
                self._change(lambda: self._baselines, reported=True)
            return [f"{self.file}: {NEW}"]

    def acknowledge(self, records: Mapping[str, Record]) -> None:
        """Record the present sources as the baseline of these documents."""
        fresh = {
            path: self._taken(record) for path, record in records.items() if record.source_refs
        }
        with self._lock:
            self._change(lambda: {**self._baselines, **fresh})

    def _covered(
        self, records: Mapping[str, Record], listed: Collection[str]
    ) -> dict[str, Baseline]:
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
            refs: list[StaleSource] = []
            for source in record.source_refs:
                level, reason = self._judged(
                    source, baseline.get(source), threshold_days, verify=verify
                )
                levels.append(level)
                if reason is not None:
                    refs.append(StaleSource(path=source, reason=reason))
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

    def _taken(self, record: Record) -> Baseline:
        sources = {source: self._hashed(source, verify=True)[0] for source in record.source_refs}
        return Baseline(doc=record.sha, sources=sources)

    def _hashed(self, source: str, *, verify: bool) -> tuple[str, int]:
        """Return the hash of a source and its modification time; a non-regular file is absent."""
        workspace = self._workspace.path
        decomposed = unicodedata.normalize("NFD", source)  # macOS may have left such names
        try:
            named = source if (workspace / source).exists() else decomposed
            path = workspace / named
            status = path.stat() if stays_below(workspace, named) else None
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
                self._baselines, self._damaged, self._new = {}, True, False
                self._read_ns = changed_ns
                content = parsed_baselines(self._workspace.read_bytes(self.file))
                self._baselines, self._damaged, self._new = content.documents, False, content.new
        except ToolError:
            self._baselines, self._read_ns, self._damaged, self._new = {}, -1, False, False
        except ValueError:
            pass

    def _change(
        self, changed: Callable[[], dict[str, Baseline]], *, reported: bool = False
    ) -> None:
        """Replace the baselines, computed from the current content of the file.

        A file that did not exist is new until this is ``reported``.

        Raises:
            JsonRpcInternalError: when the file is damaged, or cannot be written.
        """
        files, path = self._files, self.file
        with suppress(Forbidden):  # where the file is not in it, that is no matter
            self._state.make()
        try:
            with files.locked(files.lock_of(path)):
                before = files.read(path)
                now = None if before is None else parsed_baselines(before)
                self._baselines = now.documents if now else {}
                self._baselines = dict(sorted(changed().items()))
                made = now is None and bool(self._baselines)
                self._new = (now.new if now else made) and not reported
                after = written_baselines(self._baselines, new=self._new)
                if after != before:
                    files.make_folder(path.rpartition("/")[0])
                    files.swap(path, before, after, f"baselines-{os.getpid()}")
                if made:
                    self._made = True
                    _log.warning("%s: %s", path, NEW)
                self._read_ns = self._workspace.stat(path).modified_ns
                self.unwritable = ""
        except ValueError as error:
            self._read_ns = -1
            raise JsonRpcInternalError(f"{path}: {DAMAGED}", reason="baselines") from error
        except (ToolError, OSError) as error:
            why = error if isinstance(error, ToolError) else "check permissions and the disk"
            self._read_ns = -1
            self.unwritable = f"the baselines (setting baseline_file) cannot be written: {why}"
            raise JsonRpcInternalError(f"{path}: {self.unwritable}", reason="baselines") from error
