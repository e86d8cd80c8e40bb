"""A survey of a folder: its listed files, and why others are not listed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from fumishirube.disk.folders import (
    FolderEntry,
    OpenFolder,
    are_too_many_open,
    escaped_name,
    is_allowed_name,
    is_junction,
    one_of_each,
)
from fumishirube.disk.ignore_rules import IgnoreRules, rules_of
from fumishirube.errors import Forbidden, NeedsNarrowScope
from fumishirube.text.folding import nfc

UnlistedReason: TypeAlias = Literal[
    "symlink",
    "hidden",
    "ignore_rule",
    "no_loader",
    "special",
    "unspeakable",
    "too_deep",
    "forbidden",
]
"""Why an entry below a manual is not listed."""

_COUNTED = 1_000
"""Entries of an unlisted folder that a survey looks at, to count its files."""
_FOLDER = 10
"""The cost of opening a folder, in looks at an entry."""


@dataclass(frozen=True)
class RootLimits:
    """Limits of one root: bytes of a file, depth of folders, number of files."""

    file_bytes: int = 64 * 1024 * 1024
    depth: int = 32
    files: int = 200_000


DEFAULT_LIMITS = RootLimits()


@dataclass(frozen=True)
class Listing:
    """Which files below a root are listed: hidden ones, and which ignore files apply."""

    hidden: bool = False
    ignore_files: tuple[str, ...] = ()


ALL_BUT_HIDDEN = Listing()


class UnlistedEntry(NamedTuple):
    r"""A file that is not listed, or a folder that was not opened, and why.

    In its path, what cannot be part of a name is escaped, such as ``caf\xe9.md``.
    """

    path: str
    reason: UnlistedReason
    unit: Literal["file", "folder"]


class Survey(NamedTuple):
    """Listed files and folders, and unlisted entries, sorted by path."""

    files: list[FolderEntry]
    folders: list[str]
    unlisted: list[UnlistedEntry]

    def below(self, prefix: str) -> Survey:
        """Return the part of the survey below a folder."""
        return Survey(
            [entry for entry in self.files if entry.path.startswith(prefix)],
            [path for path in self.folders if path.startswith(prefix)],
            [entry for entry in self.unlisted if entry.path.startswith(prefix)],
        )


ReadFile: TypeAlias = Callable[[OpenFolder, str, str], bytes]
"""Reads a file of an open folder, by its spelling on disk; the path is for messages."""
Entering: TypeAlias = Callable[[OpenFolder], object]
"""Gets a folder that is about to be listed."""


@dataclass
class Surveyor:
    """Makes one survey, of the paths that are ``visible`` if not of all.

    ``entering`` gets each folder before it is listed, but no hidden ones that are only counted.
    """

    limits: RootLimits
    listing: Listing
    read: ReadFile
    visible: Callable[[str], bool] | None = None
    entering: Entering | None = None
    result: Survey = field(default_factory=lambda: Survey([], [], []))
    effort: int = _COUNTED

    def survey(self, folder: OpenFolder, prefix: str) -> Survey:
        """Survey everything below an open folder; refuse too many files, and unreadable rules."""
        self._look(folder, prefix, None, 1)
        for part in self.result:
            part.sort()
        return self.result

    def _look(self, folder: OpenFolder, prefix: str, rules: IgnoreRules | None, depth: int) -> None:
        files, folders, _ = self.result
        first = len(files)
        if self.entering is not None:
            self.entering(folder)
        inner, ignore_files = self._list(folder, prefix)
        for name in ignore_files:
            rules = rules_of(prefix, self._rules(folder, name, prefix + name), rules)
        if rules is not None:
            inner = self._without_ignored(folder, rules, first, inner)
        if len(files) > self.limits.files:
            raise NeedsNarrowScope(
                f"the folder holds over {self.limits.files} files: divide it, leave some out with "
                "a .fumishirubeignore, or raise limits.files"
            )
        for path, spelled in inner:
            if depth >= self.limits.depth:
                self._skip_folder(folder, spelled, path, "too_deep")
                continue
            try:
                with folder.inner(spelled) as below:
                    folders.append(path)
                    self._look(below, f"{path}/", rules, depth + 1)
            except (FileNotFoundError, NotADirectoryError):
                continue  # it vanished, or was swapped
            except OSError as error:
                if are_too_many_open(error):
                    raise
                self._add_unlisted(path, "forbidden", "folder")

    def _rules(self, folder: OpenFolder, name: str, path: str) -> bytes:
        """Read an ignore file; refuse to go on without: what it leaves out would be listed."""
        try:
            return self.read(folder, name, path)
        except PermissionError as error:
            raise Forbidden(
                f"{path!r} says what to leave out but may not be read; let this user read it",
                path=path,
            ) from error

    def _list(self, folder: OpenFolder, prefix: str) -> tuple[list[tuple[str, str]], list[str]]:
        """List a folder's files; return its folders and its ignore files.

        Every search runs this loop for every file, so it does no more than needed.
        """
        files, hidden, first = self.result.files, self.listing.hidden, not prefix
        inner: list[tuple[str, str]] = []
        ignore_files: list[str] = []
        with folder.scan() as scanned:
            entries, others = one_of_each(
                scanned if self.visible is None else self._visible(scanned, prefix)
            )
            for entry in others:
                unit: Literal["file", "folder"]
                unit = "folder" if entry.is_dir(follow_symlinks=False) else "file"
                self._add_unlisted(prefix + nfc(escaped_name(entry.name)), "unspeakable", unit)
            for entry in entries:
                spelled = entry.name
                plain = spelled.isascii()
                odd = not spelled.isprintable() or "\\" in spelled or spelled[-1] == " "
                odd = odd or (first and (spelled[0] == " " or spelled[1:2] == ":"))
                if (spelled[0] == "." and not hidden) or (
                    odd and not is_allowed_name(spelled, first=first)
                ):
                    self._skip(folder, entry, prefix, ignore_files)
                    continue
                name = spelled if plain else nfc(spelled)
                if entry.is_file(follow_symlinks=False):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    sized = (status.st_size, status.st_mtime_ns, status.st_ino)
                    files.append(FolderEntry(prefix + name, name, "file", *sized))
                    if hidden and spelled in self.listing.ignore_files:
                        ignore_files.append(spelled)
                elif entry.is_dir(follow_symlinks=False) and not is_junction(entry):
                    inner.append((prefix + name, spelled))
                else:
                    is_link = entry.is_symlink() or is_junction(entry)
                    self._add_unlisted(prefix + name, "symlink" if is_link else "special")
        ignore_files.sort(key=self.listing.ignore_files.index)
        return inner, ignore_files

    def _visible(
        self, scanned: Iterator[os.DirEntry[str]], prefix: str
    ) -> Iterator[os.DirEntry[str]]:
        assert self.visible is not None
        for entry in scanned:
            allowed = is_allowed_name(entry.name, first=not prefix)
            if allowed and self.visible(prefix + nfc(entry.name)):
                yield entry

    def _skip(
        self, folder: OpenFolder, entry: os.DirEntry[str], prefix: str, ignore_files: list[str]
    ) -> None:
        """Skip a hidden name, or one that no path can contain, but note an ignore file."""
        is_text = is_allowed_name(entry.name, first=not prefix)
        path = prefix + nfc(escaped_name(entry.name))
        if entry.is_symlink():
            self._add_unlisted(path, "symlink")
        elif entry.name in self.listing.ignore_files and entry.is_file(follow_symlinks=False):
            ignore_files.append(entry.name)
        elif not entry.is_dir(follow_symlinks=False):
            self._add_unlisted(path, "hidden" if is_text else "unspeakable")
        else:
            self._skip_folder(folder, entry.name, path, "hidden" if is_text else "unspeakable")

    def _without_ignored(
        self, folder: OpenFolder, rules: IgnoreRules, first: int, inner: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        """Remove ignored entries of one folder; return the remaining folders."""
        files = self.result.files
        ignored = [entry.path for entry in files[first:] if rules.ignores(entry.path)]
        paths = frozenset(ignored)
        files[first:] = [entry for entry in files[first:] if entry.path not in paths]
        for path in ignored:
            self._add_unlisted(path, "ignore_rule")
        remaining = []
        for path, spelled in inner:
            if rules.ignores(path, folder=True):
                self._skip_folder(folder, spelled, path, "ignore_rule")
            else:
                remaining.append((path, spelled))
        return remaining

    def _skip_folder(
        self, folder: OpenFolder, spelled: str, path: str, reason: UnlistedReason
    ) -> None:
        """Count the files of an unlisted folder, or the folder alone if it is large."""
        below = self._counted(folder, spelled, path, reason)
        if below is None:
            self._add_unlisted(path, reason, "folder")
        else:
            self.result.unlisted.extend(below)

    def _counted(
        self, folder: OpenFolder, spelled: str, path: str, reason: UnlistedReason, depth: int = 1
    ) -> list[UnlistedEntry] | None:
        entries: list[UnlistedEntry] = []
        self.effort -= _FOLDER
        try:
            with folder.inner(spelled) as below:
                if self.entering is not None and reason != "hidden":
                    self.entering(below)
                with below.scan() as scanned:
                    for entry in scanned:
                        self.effort -= 1
                        if self.effort < 0 or depth > self.limits.depth:
                            return None
                        child = f"{path}/{nfc(escaped_name(entry.name))}"
                        if not entry.is_dir(follow_symlinks=False):
                            entries.append(UnlistedEntry(child, reason, "file"))
                            continue
                        deeper = self._counted(below, entry.name, child, reason, depth + 1)
                        if deeper is None:
                            return None
                        entries += deeper
        except OSError:
            return None
        return entries

    def _add_unlisted(
        self, path: str, reason: UnlistedReason, unit: Literal["file", "folder"] = "file"
    ) -> None:
        self.result.unlisted.append(UnlistedEntry(path, reason, unit))
