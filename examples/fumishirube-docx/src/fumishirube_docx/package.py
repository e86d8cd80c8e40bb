"""Opening a document without trusting it: a packed folder may be damaged, or mean harm."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from docx import Document

from fumishirube import Unreadable
from fumishirube_docx.content import DocxContent, content_of

_OLD_OR_LOCKED = b"\xd0\xcf\x11\xe0"
_MOST_FILES = 10_000


def read(data: bytes, most: int) -> DocxContent:
    """Return what a document says.

    Raises:
        Unreadable: when it unpacks to over ``most`` bytes, or cannot be read.
    """
    if data.startswith(_OLD_OR_LOCKED):
        raise Unreadable(
            "it is in the format of before 2007, or locked by a password; save it as .docx",
            reason="old_or_locked",
        )
    try:
        _check_size(data, most)
        return content_of(Document(BytesIO(data)))
    except Unreadable:
        raise
    except Exception as error:
        # Whatever the library meets in a damaged document, from bad zip to missing parts.
        raise Unreadable(
            "it is no Word document, or a damaged one; open it in Word and save it again",
            reason="damaged",
        ) from error


def _check_size(data: bytes, most: int) -> None:
    """Look at what the package says of itself; no more than that is ever unpacked."""
    with ZipFile(BytesIO(data)) as package:
        files = package.infolist()
    if len(files) > _MOST_FILES or sum(file.file_size for file in files) > most:
        raise Unreadable(
            f"it unpacks to over {most} bytes or {_MOST_FILES} files; raise unpacked_bytes",
            reason="too_large",
        )
    if any(file.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for file in files):
        raise BadZipFile("packed in a way that documents are not")
