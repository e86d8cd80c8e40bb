"""Checks ZIP packages, the container of most formats, before they are unpacked."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from fumishirube import Unreadable

_MOST_FILES = 10_000


def check_package(data: bytes, most: int) -> None:
    """Check the sizes that a package declares; the parser never unpacks more.

    Raises:
        Unreadable: when it unpacks to over ``most`` bytes.
        BadZipFile: when it is not a usable package.
    """
    with ZipFile(BytesIO(data)) as package:
        files = package.infolist()
    if len(files) > _MOST_FILES or sum(file.file_size for file in files) > most:
        raise Unreadable(
            f"it unpacks to over {most} bytes or {_MOST_FILES} files; raise unpacked_bytes",
            reason="too_large",
        )
    if any(file.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for file in files):
        raise BadZipFile("packed in a way that documents are not")
