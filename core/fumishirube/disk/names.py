"""Names of files and manuals: one spelling of a path, and names that are traps elsewhere."""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import PureWindowsPath

from fumishirube.errors import Forbidden, InvalidParameter, InvalidPath
from fumishirube.text.folding import nfc

SEGMENT_BYTES = 255
PATH_BYTES = 1024
OFFICE_LOCKS = ("~$", ".~lock.")
"""How the names of the files begin that office programs write beside an open document."""

FORBIDDEN_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and surrogates, which stand for bytes that are no UTF-8."""

_DRIVE = re.compile(r"^[A-Za-z]:")
_DEVICES = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])"
    r" *(?:[.:].*)?",
    re.IGNORECASE | re.DOTALL,
)


def trap(name: str) -> str | None:
    """Return why a segment would mean another file on some system, or ``None``.

    Windows reserves some names for devices, with any suffix, drops dots and spaces at the end, and
    reads a colon as a stream or a drive.
    """
    if _DEVICES.fullmatch(name):
        return "is a device on Windows"
    if name.endswith((".", " ")):
        return "ends in a dot or a space, which Windows drops"
    if ":" in name:
        return "holds a colon, which Windows takes for a drive or a stream"
    return None


def extended_path(path: str) -> str:
    r"""Return an absolute path of Windows in the form without a limit of 260 characters.

    That is ``\\?\C:\folder`` or ``\\?\UNC\server\share\folder``, which Windows takes as it is:
    ``/``, ``.`` and ``..`` are resolved before. A path in this form, and one that is not absolute,
    stays.
    """
    if path.startswith(("\\\\?\\", "\\\\.\\")) or not PureWindowsPath(path).is_absolute():
        return path
    plain = ntpath.normpath(path)
    if plain.startswith("\\\\"):
        return f"\\\\?\\UNC\\{plain[2:]}"
    return f"\\\\?\\{plain}"


def clean_path(raw: object, parameter: str = "path") -> str:
    """Return a relative path in its one spelling: ``/`` between segments, no ``.``, NFC.

    That is also the one spelling of each folder above it. White space around the whole is dropped.

    Raises:
        InvalidPath: for anything but a relative path below a root, and for segments that end in
            white space or, if they are the first one, begin with it.
    """
    if not isinstance(raw, str):
        raise _refused("must be a string", parameter)
    path = nfc(raw.strip()).replace("\\", "/")
    if path.startswith("/"):
        raise _refused("must be relative to its root", parameter)
    if not path.isprintable() and FORBIDDEN_CHARACTERS.search(path):
        raise _refused("must not hold control characters or unpaired surrogates", parameter)
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if not segments:
        raise _refused("must not be empty", parameter)
    if ".." in segments:
        raise InvalidPath("parent segments are not allowed", parameter=parameter)
    first = segments[0]
    if _DRIVE.match(first):
        raise _refused("must be relative to its root", parameter)
    if first != first.lstrip() or any(segment != segment.rstrip() for segment in segments):
        raise _refused("must not begin with a space, nor hold names that end in one", parameter)
    clean = "/".join(segments)
    if max(len(s.encode()) for s in segments) > SEGMENT_BYTES or len(clean.encode()) > PATH_BYTES:
        raise _refused(f"is longer than {SEGMENT_BYTES} bytes a segment or {PATH_BYTES}", parameter)
    return clean


OTHERS, LITERAL = "!", "./"
"""The beginnings of a prefix that means all other paths, and of one that is only a path."""


def is_below(path: str, prefix: str) -> bool:
    """Tell whether a path is a file or a folder, or below that folder; all are below ``""``.

    A file may be named without its suffix, as a page beside a folder of the same name is. A ``*``
    stands for any characters, also ``/``; ``*/`` before a name for any folder, or none. With ``!``
    before it, all other paths are meant; ``./`` before a name makes that no mark.
    """
    if prefix.startswith(OTHERS):
        return not is_below(path, prefix.removeprefix(OTHERS))
    prefix = prefix.removeprefix(LITERAL)
    if prefix.startswith("*/"):
        path = f"/{path}"
    first, *others = prefix.split("*")
    if not path.startswith(first):
        return False
    if not others:
        return not prefix or len(prefix) in _name_ends(path)
    *between, last = others
    at = len(first)
    for part in between:
        start = path.find(part, at)
        if start < 0:
            return False
        at = start + len(part)
    return not last or any(path.endswith(last, at, end) for end in _name_ends(path))


def _name_ends(path: str) -> Iterator[int]:
    """Yield where names end in a path: of its folders, and of the file, also before its suffix."""
    yield from (at for at, letter in enumerate(path) if letter == "/")
    yield len(posixpath.splitext(path)[0])
    yield len(path)


def clean_new_path(raw: object, parameter: str = "path") -> str:
    """Return the path of a new file in its one spelling.

    Raises:
        InvalidPath: for anything but a relative path below a root.
        Forbidden: for names that mean something else on another operating system.
    """
    path = clean_path(raw, parameter)
    for segment in path.split("/"):
        why = trap(segment)
        if why:
            raise Forbidden(f"choose another name: a segment of the path {why}", path=path)
    return path


def clean_name(raw: str, parameter: str) -> str:
    """Return one path segment, trimmed and composed, such as the id of a folder.

    Raises:
        InvalidParameter: when it is blank, or more than one segment.
    """
    try:
        name = clean_path(raw, parameter)
    except InvalidPath as error:
        raise InvalidParameter(f"{parameter} {_NAME_RULE}", parameter=parameter) from error
    if "/" in name:
        raise InvalidParameter(f"{parameter} {_NAME_RULE}", parameter=parameter)
    return name


_NAME_RULE = "must be one folder name, without slashes or parent segments"


def _refused(rule: str, parameter: str) -> InvalidPath:
    return InvalidPath(f"{parameter} {rule}", parameter=parameter)


def name_fault(name: str, reserved: Collection[str]) -> str:
    """Return why a folder of this name is not a manual; empty if it is one."""
    if name.startswith("."):
        return "its name begins with a dot"
    if "::" in name:
        return "its name holds '::', which is part of ids"
    return "its name is reserved" if name in reserved else ""
