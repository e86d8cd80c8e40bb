"""The text of a file, with a remark if the file ends within a character."""

from __future__ import annotations

from typing import NamedTuple

from fumishirube import LoaderRemark
from fumishirube.text import Lines, decode_with_encoding, unify_line_ends


class DecodedFile(NamedTuple):
    """A text with LF line ends, and remarks on what could not be decoded."""

    text: str
    remarks: tuple[LoaderRemark, ...] = ()


def decoded_file(data: bytes) -> DecodedFile:
    """Return the text of a file's bytes.

    Raises:
        Unreadable: with the reason ``undecodable``, when they are in no known encoding.
    """
    decoded = decode_with_encoding(data)
    text = unify_line_ends(decoded.text)
    if not decoded.cut:
        return DecodedFile(text)
    message = "the file ends within a character, which is read as �; it may be cut off"
    return DecodedFile(text, (LoaderRemark("undecodable", Lines(text).total, message),))
