"""Formats the answers of ``manual_grep`` as text for a model: counts, then lines and matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fumishirube.tools import compact
from fumishirube_manual.rows import HEADING_SEPARATOR
from fumishirube_manual.text_parts import (
    Json,
    below,
    heading_of,
    other_members,
    place_text,
    places_text,
    split_path,
)


def grep_text(answer: Json) -> str:
    """Format the answer of ``manual_grep``: counts, then lines by file and section."""
    total, different, files = answer["total"], answer["different"], answer["files"]
    head = f"{total} lines in {files} files"
    if "different_matches" in answer:
        head += f" ({answer['different_matches']} different matches)"
    elif different != total:
        head += f" ({different} different lines)"
    head += ", all below" if total and answer.get("complete") else ""
    head += f"; searched {answer['searched']['files']} files"
    without = answer.get("files_without")
    head += f", without a match: {', '.join(without)}" if without else ""
    head += f"; {answer['left_out']} lines left out" if "left_out" in answer else ""
    head += "; case counts" if "case_counts" in answer else ""
    head += "".join(f"; {_count(text)}" for text in answer.get("texts") or ())
    formatted = {"total", "different", "files", "texts", "searched", "left_out"}
    formatted |= {"groups", "counts", "matches", "more_matches", "next_cursor", "remaining"}
    formatted |= {"complete", "different_matches", "case_counts", "files_without"}
    lines = [head, *other_members(answer, formatted), *_groups(answer.get("groups") or ())]
    lines += [f"{place_text(row)}: {row['count']}" for row in answer.get("counts") or ()]
    lines += _matches(answer.get("matches") or ())
    if more := answer.get("more_matches"):
        lines.append(f"next_cursor {answer['next_cursor']}; {more} more different texts")
    if remaining := answer.get("remaining"):
        left = ", ".join(f"{place_text(row)}: {row['count']}" for row in remaining)
        lines.append(f"next_cursor {answer['next_cursor']}; not yet shown: {left}")
    return "\n".join(lines)


def _count(row: Any) -> str:
    """Format how many lines contain a text, and how many of them are on further pages."""
    left = f" ({row['left']} not yet shown)" if "left" in row else ""
    return f"{compact(row['text'])} {row['count']}{left}"


def _groups(groups: Any) -> Iterator[str]:
    """Yield the lines below their file and section; do not repeat headings of the group above."""
    file, above = None, [""]
    for group in groups:
        if (place := place_text(group)) != file:
            file, above = place, [""]
            yield f"\n{file}"
        if "section" in group or "place" in group:
            headings = split_path(str(group.get("section", "")))
            named = below(headings, above)
            above = headings
            place = f" ({group['place']})" if "place" in group else ""
            if named and named[-1] == heading_of(group["lines"][0][1]):
                named = named[:-1]
            if place or named:
                yield f"# {HEADING_SEPARATOR.join(named)}{place}"
        also = group.get("also") or {}
        for number, line in group["lines"]:
            repeated = also.get(str(number))
            yield f"{number} {line}" + (f"  (also {places_text(repeated)})" if repeated else "")


def _matches(files: Any) -> Iterator[str]:
    """Yield the matches below the file of their first match: line, count, text."""
    for file in files:
        yield f"\n{place_text(file)}"
        for line, count, text, *within in file["texts"]:
            repeated = f" ({count}x)" if count > 1 else ""
            if len(within) > 1:
                repeated = f" ({count}x, also {places_text(within[1])})"
            yield f"{line} {text}{repeated}" + (f" | {within[0]}" if within and within[0] else "")
