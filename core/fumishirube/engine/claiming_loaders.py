"""Which loader claims each file of a manual."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fumishirube.disk.folders import RACY_NS, FolderEntry, is_settled
from fumishirube.disk.roots import Root
from fumishirube.disk.survey import Survey, UnlistedEntry
from fumishirube.documents import Source
from fumishirube.optional_attributes import BY_NAME
from fumishirube.stages import ClaimedFile, Loader


class Claims(NamedTuple):
    """The claimed files by path.

    They are ``unsure`` if the same folder may have others soon: a loader failed to list its files
    or to read one of them, or files are so young that they may change without a new time.
    ``entries`` are the files of which they were made, and ``by_name`` the sources of the loaders
    that look at names alone, by the loader's place.
    """

    files: Mapping[str, ClaimedFile]
    unsure: bool
    entries: Mapping[str, FolderEntry]
    by_name: Mapping[int, Sequence[Source]]


NO_CLAIMS = Claims({}, unsure=False, entries={}, by_name={})


def claimed_by(
    loaders: Sequence[Loader], root: Root, entries: Mapping[str, FolderEntry], former: Claims
) -> Claims:
    """Return the claimed files; the first loader that claims a path gets it.

    ``former`` are earlier claims of these loaders. Their files stay the same objects where nothing
    has changed.
    """
    before, known, by_name = former.entries, former.files, dict[int, Sequence[Source]]()
    touched = {
        path
        for path, entry in entries.items()
        if (was := before.get(path)) is not entry and was != entry  # most are the same object
    }
    touched |= before.keys() - entries.keys()
    same_names = before.keys() == entries.keys() and all(
        before[path].name == entries[path].name for path in touched
    )
    refused: list[str] = []
    listed = replace(root, listed=(*entries.values(),), refused=refused)
    claimed: dict[str, ClaimedFile] = {}
    for place, loader in enumerate(loaders):
        code: str = getattr(loader, "source_code", "")  # a digest, if its files follow its code
        sources = former.by_name.get(place) if same_names else None
        if sources is None:
            sources = [*loader.sources(listed)]
        if goes_by_name(loader):
            by_name[place] = sources
        for source in sources:
            path = source.path
            if path in claimed or path not in entries:
                continue
            file = known.get(path)
            if (
                file is not None
                and path not in touched
                and file.loader is loader
                and file.source == source
                and (not source.governed_by or touched.isdisjoint(source.governed_by))
            ):
                claimed[path] = file
            elif not source.governed_by and not code:  # almost always, and there are thousands
                entry = entries[path]
                stamp = _stamp(root, entry)
                claimed[path] = ClaimedFile(source, loader, stamp, entry.modified_ns, entry.size)
            else:
                present = [entries[p] for p in (path, *source.governed_by) if p in entries]
                claimed[path] = ClaimedFile(source, loader, *_stamped(root, present, code))
    failed = (loader.problem_of(root) for loader in loaders if hasattr(loader, "problem_of"))
    unsure = bool(refused) or any(failed) or _any_young(entries.values())
    return Claims(claimed, unsure, entries, by_name)


def goes_by_name(loader: Loader) -> bool:
    """Tell whether a loader's own class says so, not one that it inherits from."""
    return BY_NAME.name in vars(type(loader)) and BY_NAME.of(loader) is True


def _any_young(entries: Iterable[FolderEntry]) -> bool:
    now = time.time_ns()
    # Of the thousands of a large folder, this leaves one or two to call a function for.
    late = [entry.modified_ns for entry in entries if entry.modified_ns >= now - RACY_NS]
    return not all(is_settled(modified_ns, now) for modified_ns in late)


def _stamped(root: Root, entries: Sequence[FolderEntry], code: str) -> tuple[str, int, int]:
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
    governing = [file.source.governed_by for file in claimed.values() if file.source.governed_by]
    known = {*claimed}.union(*governing)
    unclaimed = [entry.path for entry in survey.files if entry.path not in known]
    return [*survey.unlisted, *(UnlistedEntry(path, "no_loader", "file") for path in unclaimed)]
