"""Reads the pictures of pages with the program tesseract, each picture once."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any

from fumishirube.text import is_unspaced
from fumishirube_documents.part_texts import cached_text
from fumishirube_documents.pdf_lines import PdfLine

_DOTS_PER_INCH = 300
_POINTS_PER_INCH = 72
_MOST_PIXELS = 40_000_000
_LONGEST_MESSAGE = 200
_SPACE = re.compile(r"(?<=(.)) (?=(.))")


class OcrFailed(Exception):
    """The program failed; the message is its own."""


def ocr_lines(page: Any, program: str, languages: str) -> Iterator[PdfLine]:
    """Yield the lines on the picture of a page.

    Raises:
        OcrFailed: when the program fails.
    """
    picture = _picture(page)
    key = f"{languages} {hashlib.sha256(picture).hexdigest()}"
    try:
        text = cached_text(key, partial(_read, picture, program, languages))
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").split("\n")
        raise OcrFailed(
            said[0].strip()[:_LONGEST_MESSAGE] or f"status {error.returncode}"
        ) from error
    except OSError as error:
        raise OcrFailed(error.strerror or type(error).__name__) from error
    for line in text.splitlines():
        if words := " ".join(line.split()):
            yield PdfLine(_SPACE.sub(_between, words), 0, 0, 0, 0, 0)


def _read(picture: bytes, program: str, languages: str) -> str:
    """Return the text of a picture.

    Raises:
        CalledProcessError: when the program fails.
    """
    done = subprocess.run(  # noqa: S603 - found on the path, and its languages are checked
        [program, "stdin", "stdout", "-l", languages],
        input=picture,
        capture_output=True,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


def _picture(page: Any) -> bytes:
    """Return a page in shades of grey, as a Portable GrayMap."""
    scale = _DOTS_PER_INCH / _POINTS_PER_INCH
    width, height = page.get_size()
    scale = min(scale, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    data = bytes(bitmap.buffer)
    rows = (
        data[start : start + bitmap.width]
        for start in range(0, bitmap.stride * bitmap.height, bitmap.stride)
    )
    return f"P5 {bitmap.width} {bitmap.height} 255\n".encode() + b"".join(rows)


def _between(match: re.Match[str]) -> str:
    """Return the space between two letters; the program puts one between Japanese ones too."""
    return "" if is_unspaced(match[1]) and is_unspaced(match[2]) else " "
