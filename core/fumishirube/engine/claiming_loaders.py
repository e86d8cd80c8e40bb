"""Which loader claims each file of a manual."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fumishirube.disk.folders import FolderEntry, is_settled
from fumishirube.disk.roots import Root
from fumishirube.disk.survey import Survey, UnlistedEntry
from fumishirube.stages import ClaimedFile, Loader


class Claims(NamedTuple):
    """The claimed files by path.

    They are ``unsure`` if the same folder may have others soon: a loader failed to list its files
    or to read one of them, or files are so young that they may change without a new time.
    """

    files: Mapping[str, ClaimedFile]
    unsure: bool


def claimed_by(
    loaders: Sequence[Loader],
    root: Root,
    before: Mapping[str, FolderEntry],
    entries: Mapping[str, FolderEntry],
    known: Mapping[str, ClaimedFile],
) -> Claims:
    """Return the claimed files; the first loader that claims a path gets it.

    ``known`` are those of the entries ``before``, and stay the same objects where nothing changed.
    """
    touched = {path for path, entry in entries.items() if before.get(path) != entry}
    touched |= before.keys() - entries.keys()
    refused: list[str] = []
    listed = replace(root, listed=(*entries.values(),), refused=refused)
    claimed: dict[str, ClaimedFile] = {}
    for loader in loaders:
        code: str = getattr(loader, "source_code", "")  # a digest, if its files follow its code
        for source in loader.sources(listed):
            path = source.path
            if path in claimed or path not in entries:
                continue
            former = known.get(path)
            deciding = (path, *source.governed_by)
            same = former and former.loader is loader and former.source == source
            if former and same and touched.isdisjoint(deciding):
                claimed[path] = former
            else:
                present = [entries[p] for p in deciding if p in entries]
                claimed[path] = ClaimedFile(source, loader, *_stamped(root, present, code))
    failed = (loader.problem_of(root) for loader in loaders if hasattr(loader, "problem_of"))
    now = time.time_ns()
    young = (not is_settled(entry.modified_ns, now) for entry in entries.values())
    return Claims(claimed, bool(refused) or any(failed) or any(young))


def _stamped(root: Root, entries: Sequence[FolderEntry], code: str) -> tuple[str, int, int]:
    if len(entries) == 1 and not code:  # almost always, and every large folder has thousands
        (entry,) = entries
        return _stamp(root, entry), entry.modified_ns, entry.size
    parts = [_stamp(root, entry) for entry in entries]
    stamp = " ".join([*parts, code] if code else parts)
    return stamp, max(entry.modified_ns for entry in entries), entries[0].size


def _stamp(root: Root, entry: FolderEntry) -> str:
    """Return the stamp of a file, which also changes when a limit begins or ceases to exclude it.

    Workspaces with different limits may share an index.
    """
    stamp = f"{entry.size}:{entry.modified_ns}"
    return stamp if entry.size <= root.limits.file_bytes else f"{stamp}!"


def unlisted(survey: Survey, claimed: Mapping[str, ClaimedFile]) -> list[UnlistedEntry]:
    """Return the unlisted entries of a survey, and the files that no loader claims or uses."""
    known = {*claimed}.union(*(file.source.governed_by for file in claimed.values()))
    unclaimed = (entry.path for entry in survey.files if entry.path not in known)
    return [*survey.unlisted, *(UnlistedEntry(path, "no_loader", "file") for path in unclaimed)]
