"""Replaces a literal text in a file's bytes, or adds one; all other bytes stay the same."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Iterable, Iterator
from io import BytesIO, StringIO
from itertools import islice
from typing import NamedTuple

from fumishirube import Conflict, InvalidParameter, Unreadable
from fumishirube.text import DecodedText, decode_with_encoding, unify_line_ends
from fumishirube_vault.note_texts import LF, LineEnds

_PAIRS = "euc_jis_2004"
"""An encoding that writes some pairs of characters as one."""


class Replacement(NamedTuple):
    """The new bytes of a file, and the number of replacements."""

    data: bytes
    times: int


def replace_text(data: bytes, find: str, by: str, most: int, largest: int) -> Replacement:
    """Replace the first ``most`` occurrences of a text, left to right, without overlaps.

    A line end in ``find`` matches any line end; one in ``by`` becomes the file's most frequent one.
    The encoding, the byte order mark and all other bytes stay.

    Raises:
        InvalidParameter: when the result, or what stays, cannot be encoded, or the result is larger
            than ``largest`` bytes.
        Unreadable: when the file is not text.
    """
    read = decode_with_encoding(data)
    ends = LineEnds(read.text)
    find, by = unify_line_ends(find), unify_line_ends(by).replace(LF, ends.prevailing)
    count = min(ends.text.count(find), most)
    if not count:
        return Replacement(data, 0)
    written = _encoded(by, read.encoding, "replace")
    most_bytes = max(largest, len(data))
    size = len(data) + count * (len(written) - len(find.encode(read.encoding, "ignore")))
    # The line ends that LF finds may be longer: then the size is known when it is written.
    _fits(count * len(written) if LF in find else size, most_bytes, "replace")
    if LF in find:
        text = _joined(read.text, islice(_spans(ends, find), count), by)
    else:
        text = read.text.replace(find, by, count)
    try:
        plain = read.encoding != _PAIRS and read.encode(read.text) == data
    except UnicodeEncodeError as error:  # what mail programs write in ISO-2022-JP, and Python not
        raise _unwritable(read.encoding, "replace") from error
    if plain:
        result = read.encode(text)
    else:
        result = _spliced(data, read, islice(_spans(ends, find), count), written)
    _fits(len(result), most_bytes, "replace")
    check_reads_back(result, text, read.encoding, "replace")
    return Replacement(result, count)


def append_text(data: bytes, content: str, largest: int) -> bytes:
    """Return a file's bytes with a text after them, which begins on a new line.

    A line end in ``content`` becomes the file's most frequent one. The encoding, the byte order
    mark and all bytes so far stay.

    Raises:
        InvalidParameter: when the result cannot be encoded, or is larger than ``largest`` bytes.
        Conflict: when the file ends within a character.
        Unreadable: when the file is not text.
    """
    read = decode_with_encoding(data)
    if read.cut:
        raise Conflict(
            "the note ends within a character, so nothing can be added after it; first replace "
            "its last character, U+FFFD, with vault_replace, or restore the note in an editor"
        )
    ends = LineEnds(read.text)
    added = unify_line_ends(content)
    if ends.text and not ends.text.endswith(LF):
        added = LF + added
    added = added.replace(LF, ends.prevailing)
    result = data + _encoded(added, read.encoding, "content")
    _fits(len(result), largest, "content")
    check_reads_back(result, read.text + added, read.encoding, "content")
    return result


def _fits(size: int, largest: int, parameter: str) -> None:
    if size > largest:
        raise InvalidParameter(
            f"the note would have {size} bytes; at most {largest} are written",
            parameter=parameter,
            max=largest,
        )


def _spans(ends: LineEnds, find: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the matches, as offsets into the original text."""
    places = ends.places(_edges(ends.text, find))
    yield from zip(places, places, strict=True)


def _edges(text: str, find: str) -> Iterator[int]:
    offset = text.find(find)
    while offset >= 0:
        yield offset
        yield offset + len(find)
        offset = text.find(find, offset + len(find))


def _joined(text: str, spans: Iterable[tuple[int, int]], by: str) -> str:
    result, last = StringIO(newline=""), 0
    for start, end in spans:
        result.write(text[last:start])
        result.write(by)
        last = end
    result.write(text[last:])
    return result.getvalue()


def _spliced(data: bytes, read: DecodedText, spans: Iterable[tuple[int, int]], by: bytes) -> bytes:
    """Replace in the bytes, where some bytes are an alternative encoding of a character."""
    starts = _starts(data, read)
    result, last = BytesIO(), 0
    for start, end in spans:
        if min(starts[start], starts[end]) < 0:
            raise InvalidParameter(
                f"find must not begin or end inside what {read.encoding} writes as one character",
                parameter="find",
            )
        result.write(data[last : starts[start]])
        result.write(by)
        last = starts[end]
    result.write(data[last:])
    return result.getvalue()


def _starts(data: bytes, read: DecodedText) -> array[int]:
    """Return the byte offset of each character, and the end; -1 for the second of a pair."""
    decoder = codecs.getincrementaldecoder(read.encoding)()
    starts, place = array("q"), len(read.bom)
    for number in range(place, len(data)):
        got = decoder.decode(data[number : number + 1])
        if got:
            starts.extend([place, *[-1] * (len(got) - 1)])
            place = number + 1
    if place < len(data):  # the last character is unfinished
        starts.append(place)
    starts.append(len(data))
    return starts


def _encoded(by: str, encoding: str, parameter: str) -> bytes:
    try:
        return by.encode(encoding)
    except UnicodeEncodeError as error:
        raise _unwritable(encoding, parameter) from error


def check_reads_back(data: bytes, text: str, encoding: str, parameter: str) -> None:
    """Check that the bytes of a note, in an encoding, are read as its text.

    Raises:
        InvalidParameter: when they are read as another one, or not at all.
    """
    try:
        read_back = decode_with_encoding(data).text
    except Unreadable:
        read_back = None
    if read_back != text:
        raise _unwritable(encoding, parameter)


def _unwritable(encoding: str, parameter: str) -> InvalidParameter:
    if encoding == "utf-8":
        return InvalidParameter(
            f"{parameter} holds NUL characters, escape sequences or a byte order mark with which "
            "the note would be read otherwise; leave them out",
            parameter=parameter,
        )
    return InvalidParameter(
        f"{parameter} cannot be written in the note's encoding ({encoding}); "
        "save the note as UTF-8",
        parameter=parameter,
    )
