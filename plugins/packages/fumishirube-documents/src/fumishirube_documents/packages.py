"""Checks ZIP packages, the container of most formats, before they are unpacked."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from fumishirube import Unreadable
from fumishirube_documents.signatures import check_type

_MOST_FILES = 10_000


def check_package(data: bytes, most: int, *expected: str) -> str | None:
    """Check the type of a package, and the sizes that it declares; no parser unpacks more.

    Returns what it is known to be, one of the ``expected`` types, or ``None``.

    Raises:
        Unreadable: when it is of another type, or unpacks to over ``most`` bytes or too many files.
        BadZipFile: when it is not a usable package.
    """
    known = check_type(data, *expected)
    with ZipFile(BytesIO(data)) as package:
        files = package.infolist()
    if len(files) > _MOST_FILES:
        raise Unreadable(f"it holds over {_MOST_FILES} files", reason="too_large")
    if sum(file.file_size for file in files) > most:
        raise Unreadable(
            f"it unpacks to over {most} bytes; raise unpacked_bytes", reason="too_large"
        )
    if any(file.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for file in files):
        raise BadZipFile("packed in a way that documents are not")
    return known
