"""The lines of the command line about files that no loader reads, or that are in no manual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fumishirube.commands import counted, filled, translated
from fumishirube_manual.coverage import OTHER_SUFFIXES


def unread_lines(rows: Sequence[Mapping[str, Any]] | None, manual: str) -> Iterator[str]:
    """Yield a line for the files with the same remedy, and one for the others."""
    by_reader: dict[str, list[str]] = {}
    for row in rows or ():
        by_reader.setdefault(row.get("reader") or "", []).append(translated(_files(row)))
    for reader, files in by_reader.items():
        if reader:
            yield filled("not read in {0}: {1}; {2}", manual, ", ".join(files), translated(reader))
        else:
            yield filled("not read in {0}: {1}", manual, ", ".join(files))


def _files(row: Mapping[str, Any]) -> str:
    kind = f"{row['suffix']} " if row["suffix"].startswith(".") else ""
    kind = "other " if row["suffix"] == OTHER_SUFFIXES else kind
    return counted(row["count"], f"{kind}file")


def loose_lines(names: Sequence[str] | None, folder: str) -> Iterator[str]:
    """Yield a line that names files beside the manuals, with a remedy."""
    if names:
        text = "in no manual: {0}; a manual is a folder: move them into one, such as {1}/my-manual/"
        yield filled(text, ", ".join(names), folder)
