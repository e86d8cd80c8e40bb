"""Opens Office files that a password locks, with msoffcrypto-tool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from fumishirube import Unreadable

UNLOCKER = "msoffcrypto"
_OLD_OR_LOCKED = b"\xd0\xcf\x11\xe0"
_LOCKED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_LOCKED_WORKBOOK = re.compile(rb"\x09\x08\x10\x00.{16}(?:\x86\0\0\0)?\x2f\0", re.DOTALL)
"""The record FILEPASS behind the first record of an older workbook."""
_LOCKED_OPENDOCUMENT = b"encryption-data"
_MANIFEST = "META-INF/manifest.xml"


def unlocked_package(data: bytes, passwords: Sequence[str], suffix: str) -> bytes:
    """Return a document of 2007 or later, unlocked with one of the passwords if it is locked.

    Raises:
        Unreadable: when none opens it, or it is in an older format.
    """
    if not data.startswith(_OLD_OR_LOCKED):
        return data
    if _LOCKED_PACKAGE in data:
        return _unlocked(data, passwords)
    message = f"it is in the format of before 2007; save it as {suffix}"
    raise Unreadable(message, reason="old_format")


def unlocked_old_sheet(data: bytes, passwords: Sequence[str]) -> bytes:
    """Return an older workbook, or a newer one under its suffix, unlocked if it is locked.

    Older ones and OpenDocument files cannot be: that takes a file on the disk, or another library.

    Raises:
        Unreadable: when it stays locked.
    """
    old = data.startswith(_OLD_OR_LOCKED)
    if old and _LOCKED_PACKAGE in data:
        return _unlocked(data, passwords)
    if (old and _LOCKED_WORKBOOK.search(data)) or _is_locked_opendocument(data):
        message = "it is locked by a password; save it without, or as .xlsx"
        raise Unreadable(message, reason="encrypted")
    return data


def _is_locked_opendocument(data: bytes) -> bool:
    try:
        with ZipFile(BytesIO(data)) as package:
            return _LOCKED_OPENDOCUMENT in package.read(_MANIFEST)
    except (BadZipFile, KeyError, OSError, ValueError, NotImplementedError):
        return False


def _unlocked(data: bytes, passwords: Sequence[str]) -> bytes:
    if not passwords:
        message = "it is locked by a password; add its own to passwords of its loader"
        raise Unreadable(message, reason="encrypted")
    if find_spec(UNLOCKER) is None:
        message = "it is locked by a password; install msoffcrypto-tool, which opens it"
        raise Unreadable(message, reason="encrypted")
    import msoffcrypto  # noqa: PLC0415 - it is optional, and few files need it
    from msoffcrypto.exceptions import DecryptionError, InvalidKeyError  # noqa: PLC0415 - as above

    for password in passwords:
        opened = BytesIO()
        try:
            file = msoffcrypto.OfficeFile(BytesIO(data))
            file.load_key(password=password, verify_password=True)
            file.decrypt(opened)
        except (DecryptionError, InvalidKeyError):
            continue
        return opened.getvalue()
    raise Unreadable("none of the passwords opens it; add its own", reason="encrypted")
