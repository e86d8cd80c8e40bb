"""Root: all access to files goes through it."""

from __future__ import annotations

import errno
import os
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from fumishirube.disk.folders import (
    FolderEntry,
    OpenFolder,
    are_too_many_open,
    entry_of,
    is_allowed_name,
    kind_of,
    make_inside,
    scan,
    why_unwritten,
)
from fumishirube.disk.names import clean_path
from fumishirube.disk.no_follow import NO_FOLLOW, PLAIN, was_replaced
from fumishirube.disk.rights import FolderRights
from fumishirube.disk.survey import (
    ALL_BUT_HIDDEN,
    DEFAULT_LIMITS,
    Entering,
    Listing,
    RootLimits,
    Survey,
    Surveyor,
)
from fumishirube.errors import Forbidden, NotFound, OutOfScope, ToolError, Unreadable
from fumishirube.text.folding import nfc


@dataclass(frozen=True)
class Root:
    """A folder whose paths cannot lead outside.

    Paths are relative and walked segment by segment without following links, relative to open
    handles where the platform has them, so that a path cannot be swapped between the check and the
    use. Names are compared in composed form (NFC). A root inside another is ``below`` the same
    ``top``, and is walked from there each time. With ``rights``, whose paths start at ``top``,
    everything else does not exist for its readers, and is not written.
    """

    top: Path
    limits: RootLimits = DEFAULT_LIMITS
    below: str = ""
    listing: Listing = ALL_BUT_HIDDEN
    rights: FolderRights | None = None
    listed: tuple[FolderEntry, ...] | None = field(default=None, compare=False)
    """The files of the whole folder, if they are known, so that several loaders need one survey."""
    private: bool = field(default=False, compare=False)
    """Whether no other user of the machine may open ``top``, if it is made here."""
    refused: list[str] | None = field(default=None, compare=False)
    """Gets the paths of the files that the system did not let this process read, if it is there."""

    @property
    def path(self) -> Path:
        """The absolute path, for libraries that open folders themselves."""
        return self.top / self.below

    @property
    def exists(self) -> bool:
        """Whether the folder exists."""
        return self.path.is_dir()

    @property
    def whole(self) -> Root:
        """The same folder without limits by rights, for a surface's own records."""
        return replace(self, rights=None)

    def visible(self, path: str) -> bool:
        """Tell whether the rights show a path: it may be read, or leads to what may be read."""
        return self.rights is None or self.rights.visible(self._from_top(path))

    def check_writable(self, path: str) -> None:
        """Check whether the rights allow to write a file, or to create a folder.

        Raises:
            Forbidden: when they do not, whatever is there.
        """
        if self.rights is not None and not self.rights.writable(self._from_top(path)):
            raise Forbidden("you have no right to write here", path=path or None)

    def entries(self, path: str = "") -> list[FolderEntry]:
        """Return the entries of a folder, sorted by composed name; links are entries.

        Raises:
            NotFound: when the folder does not exist.
            Forbidden: when the path contains a link, or permission is denied.
        """
        path = self._shown(path and clean_path(path))
        with self._walked(path) as folder:
            entries = [*scan(folder, f"{path}/" if path else "")]
        visible = (entry for entry in entries if self.visible(entry.path))
        return sorted(visible, key=lambda entry: entry.path)

    def files(self, path: str = "") -> list[FolderEntry]:
        """Return every listed file below a folder, sorted by path; see :meth:`survey`."""
        return [*self.listed] if self.listed is not None and not path else self.survey(path).files

    def survey(self, path: str = "", entering: Entering | None = None) -> Survey:
        """Return the listed files and folders below a folder, and the unlisted ones with reasons.

        Links are not followed; folders nested deeper than the limit are not opened. ``entering``
        gets each folder before it is listed, but no hidden one of which only the files are counted.

        Raises:
            NeedsNarrowScope: when there are more files than the limit.
            Forbidden: when the process may open no more files, or an ignore file may not be read.
        """
        path = self._shown(path and clean_path(path))
        rules = self.listing.ignore_files and path  # those of the folders above count too
        with self._walked(path), self._walked("" if rules else path) as folder:
            prefix = f"{path}/" if path else ""
            surveyor = Surveyor(self.limits, self.listing, self._read, self._filter(), entering)
            survey = surveyor.survey(folder, "" if rules else prefix)
        return survey.below(prefix) if rules else survey

    def resurvey(
        self, before: Survey, touched: Collection[str], entering: Entering | None = None
    ) -> Survey:
        """Return a full survey, if only these files may differ from an earlier one.

        Only these are looked at, as long as they are, were or become listed files; else everything.

        Raises:
            NeedsNarrowScope: when there are more files than the limit.
        """
        return self._with_changes(before, touched) or self.survey("", entering)

    def _with_changes(self, before: Survey, touched: Collection[str]) -> Survey | None:
        """Return a survey with some files as they are now; ``None`` if more may have changed."""
        files = [*before.files]
        for path in touched:
            is_clean = is_allowed_name(path, first=True) and path == nfc(path)
            if not is_clean or path.rpartition("/")[2] in self.listing.ignore_files:
                return None
            place = bisect_left(files, path, key=lambda entry: entry.path)
            known = [entry for entry in files[place : place + 2] if entry.path == path]
            if any(entry.path == path for entry in before.unlisted) or len(known) > 1:
                return None
            try:
                now = self.stat(path)
            except NotFound:
                del files[place : place + len(known)]
                continue
            except ToolError:
                return None
            is_listed = _is_only_spelling(known, now) if known else self._is_listed(path, before)
            if now.kind != "file" or not is_listed:
                return None
            files[place : place + len(known)] = [now]
        return before._replace(files=files) if len(files) <= self.limits.files else None

    def _is_listed(self, path: str, before: Survey) -> bool:
        """Tell whether a new file is certainly listed: nothing but its own name decides that."""
        folder, _, name = path.rpartition("/")
        place = bisect_left(before.folders, folder)
        if folder and before.folders[place : place + 1] != [folder]:
            return False
        if name.startswith(".") or self._filter() is not None:
            return False
        above = [*accumulate(folder.split("/"), "{}/{}".format)] if folder else []
        return not any(
            self._exists(f"{parent}/{rules}" if parent else rules)
            for parent in ("", *above)
            for rules in self.listing.ignore_files
        )

    def _exists(self, path: str) -> bool:
        try:
            self.stat(path)
        except ToolError as error:
            return not isinstance(error, NotFound)
        return True

    def stat(self, path: str) -> FolderEntry:
        """Return the entry of one file or folder.

        Raises:
            NotFound: when it does not exist.
            Forbidden: when it, or a folder above it, is a link.
        """
        path = self._shown(clean_path(path))
        parent, _, name = path.rpartition("/")
        with self._walked(parent) as folder, _translate_os_errors(path):
            entry = entry_of(path, name, folder.entry(name)[1])
        if entry.kind == "link":
            raise _link(path)
        return entry

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of a regular file.

        Raises:
            NotFound: when there is no such regular file.
            Forbidden: when the path contains a link, or permission is denied.
            Unreadable: with the reason ``too_large``, above the limit.
        """
        path = self._shown(clean_path(path))
        parent, _, name = path.rpartition("/")
        try:
            with self._walked(parent) as folder, _translate_os_errors(path):
                return self._read(folder, name, path)
        except Forbidden:
            if self.refused is not None:
                self.refused.append(path)
            raise

    def child(self, path: str) -> Root:
        """Return a folder below as a root of its own.

        Raises:
            NotFound: when the folder does not exist.
            Forbidden: when the path contains a link.
        """
        with self.opened(path) as folder:
            below = folder.path.removeprefix(os.fspath(self.top)).strip(os.sep).replace(os.sep, "/")
        return replace(self, below=below, listed=None)

    def folder_below(self, path: str) -> Root:
        """Return a folder below as a root of its own, whether it exists or not."""
        return replace(self, below=self._from_top(clean_path(path)), listed=None)

    @contextmanager
    def opened(self, path: str = "") -> Iterator[OpenFolder]:
        """Open one folder, to read or write relative to its handle.

        Raises:
            NotFound: when the folder does not exist.
            Forbidden: when the path contains a link, or permission is denied.
        """
        with self._walked(self._shown(path and clean_path(path))) as folder:
            yield folder

    @contextmanager
    def _walked(self, path: str) -> Iterator[OpenFolder]:
        """Open the folder at a clean path, or the root itself at ``""``."""
        with _translate_os_errors(path):
            folder = OpenFolder.at_top(os.fspath(self.top))
            try:
                for segment in filter(None, self._from_top(path).split("/")):
                    below = folder.at_once(segment)
                    if below is None:
                        spelled, status = folder.entry(segment)
                        _must_be(kind_of(status.st_mode), "dir", path)
                        below = folder.inner(spelled)
                    folder.close()
                    folder = below
                _must_stay(folder, self.top, path)
                yield folder
            finally:
                folder.close()

    def followed(self, path: str, allowed: Sequence[Path]) -> tuple[Root, str]:
        """Resolve links in a path; return an allowed folder, and the path below it.

        Files there are read without following further links.

        Raises:
            Forbidden: when it leads out of all allowed folders.
        """
        leads_to = Path(os.path.realpath(self.path / path))
        self._check_target(leads_to)
        for folder in allowed:
            if leads_to.is_relative_to(folder):
                inside = leads_to.relative_to(folder).as_posix()
                return Root(folder, self.limits), "" if inside == "." else inside
        raise Forbidden("the link leads out of the allowed folders", path=path or None)

    def make(self, path: str = "") -> Root:
        """Create a folder and its parents, unless they exist; return it as a root.

        Raises:
            Forbidden: when it cannot be created, or the path contains a link.
        """
        path = path and clean_path(path)
        self.check_writable(path)
        if was_replaced(os.fspath(self.top)):  # nor is anything made behind the link
            raise _link(path or None)
        try:
            self.top.mkdir(0o700 if self.private else 0o777, parents=True, exist_ok=True)
            with OpenFolder.at_top(os.fspath(self.top)) as top:
                make_inside(top, [*filter(None, self._from_top(path).split("/"))])
        except OSError as error:
            why = f"the folder cannot be created: {why_unwritten(error)}"
            raise Forbidden(why, path=path or None) from error
        return self.child(path) if path else self

    def _from_top(self, path: str) -> str:
        return nfc("/".join(filter(None, (self.below, path))))

    def _shown(self, path: str) -> str:
        """Return a clean path, or raise the error of a missing file if the rights hide it."""
        if path and not self.visible(path):
            raise missing(path)
        return path

    def _filter(self) -> Callable[[str], bool] | None:
        """Return what tells whether a path is visible; ``None`` if all paths are."""
        hides = self.rights is not None and not self.rights.readable(self.below)
        return self.visible if hides else None

    def _check_target(self, leads_to: Path) -> None:
        """Raise if a link leads to a folder of this root that the rights do not show."""
        top = Path(os.path.realpath(self.top))
        if self.rights is None or not leads_to.is_relative_to(top):
            return
        inside = leads_to.relative_to(top).as_posix()
        if not self.rights.readable("" if inside == "." else nfc(inside)):
            raise Forbidden("the link leads out of the allowed folders")

    def _read(self, folder: OpenFolder, name: str, path: str) -> bytes:
        spelled, status = folder.entry(name)
        _must_be(kind_of(status.st_mode), "file", path)
        flags = os.O_RDONLY | NO_FOLLOW | PLAIN
        handle = os.open(folder.at(spelled), flags, dir_fd=folder.handle)
        with open(handle, "rb") as stream:
            _must_be(kind_of(os.fstat(handle).st_mode), "file", path)
            _must_stay(folder, self.top, path, spelled)
            return _read_all(stream, self.limits.file_bytes, path)


def _is_only_spelling(known: Sequence[FolderEntry], now: FolderEntry) -> bool:
    """Tell whether a name is the only spelling of its composed form in the folder."""
    if len(known) != 1:
        return False
    return known[0].inode == now.inode or unicodedata.is_normalized("NFD", now.path)


def _must_be(kind: str, wanted: str, path: str) -> None:
    if kind == "link":
        raise _link(path)
    if kind != wanted:
        raise NotFound("not a folder" if wanted == "dir" else "not a file", path=path or None)


def _read_all(stream: BinaryIO, most: int, path: str) -> bytes:
    """Read a stream to its end, even if it grows or does not know its size."""
    reported_size = os.fstat(stream.fileno()).st_size
    content = stream.read(min(reported_size, most) + 1)
    if reported_size < len(content) <= most:
        content += stream.read(most + 1 - len(content))
    if len(content) > most:
        raise too_large(most, path)
    return content


def too_large(most: int, path: str) -> Unreadable:
    """Return the error for a file with more bytes than are read of one."""
    return Unreadable(
        f"the file has over {most} bytes, the most that is read of one; divide it, or raise "
        "limits.file_bytes",
        reason="too_large",
        path=path,
    )


def _must_stay(folder: OpenFolder, top: Path, path: str, name: str = "") -> None:
    if not folder.stays_in(os.fspath(top), name):
        raise OutOfScope("the path leads out of its root", path=path or None)


def missing(path: str) -> NotFound:
    """Return the error for a path at which nothing is, or nothing may be read."""
    return NotFound("no such file or folder", path=path or None)


def _link(path: str | None) -> Forbidden:
    return Forbidden("symbolic links are not followed", path=path)


@contextmanager
def _translate_os_errors(path: str) -> Iterator[None]:
    """Translate errors of the operating system, without absolute paths."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise missing(path) from error
    except PermissionError as error:
        raise Forbidden(
            "permission denied by the operating system; let this user read it", path=path or None
        ) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _link(path) from error
        if are_too_many_open(error):
            raise Forbidden("too many files are open; raise the limit of open files") from error
        raise NotFound("the file or folder cannot be opened", path=path or None) from error
