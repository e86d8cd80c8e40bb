"""Reads the pictures of pages with the program tesseract."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Any

from fumishirube.text import is_unspaced
from fumishirube_documents.pdf_lines import PdfLine

_DOTS_PER_INCH = 300
_POINTS_PER_INCH = 72
_MOST_PIXELS = 40_000_000
_SPACE = re.compile(r"(?<=(.)) (?=(.))")


def ocr_lines(page: Any, program: str, languages: str) -> Iterator[PdfLine]:
    """Yield the lines on the picture of a page; none where the program fails."""
    command = [program, "stdin", "stdout", "-l", languages]
    done = subprocess.run(  # noqa: S603 - found on the path, and its languages are checked
        command,
        input=_picture(page),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"OMP_THREAD_LIMIT": "1"},
        check=False,
    )
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if text := " ".join(line.split()):
            yield PdfLine(_SPACE.sub(_between, text), 0, 0, 0, 0, 0)


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
