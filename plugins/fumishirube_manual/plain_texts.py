"""Formats answers as text for a model: places and text of documents, and little else.

Other members of the object, such as scores, are omitted; warnings and missing parts never are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fumishirube.tools import compact
from fumishirube_manual.coverage import unread_text
from fumishirube_manual.evidence.markup import is_markdown, plain_rows
from fumishirube_manual.rows import HEADING_SEPARATOR, cited_path
from fumishirube_manual.text_parts import (
    Json,
    below,
    comma_separated,
    line_ranges,
    numbered,
    other_members,
    place_text,
    places_text,
    split_path,
)

_WORDS = 4
"""The most of the manual's own words that the text names."""
_FINE = "required_effective"
_IN_NO_HIT = "required_fallback"
"""A status that says by itself why it failed."""


def find_text(answer: Json) -> str:
    """Format the answer of ``manual_find``: a line about the search, then the hits."""
    page = answer["inline_hits"]
    formatted = {"trace_id", "candidates", "status", "answerable", "missing", "vocabulary"}
    formatted |= {"unmet", "terms", "inline_hits", "glossary", "names", "nowhere", "apart"}
    formatted |= {"unread_files"}
    if answer["status"] == _IN_NO_HIT:
        formatted.add("failure_reason")
    lines = ["; ".join(_about_search(answer)), *other_members(answer, formatted)]
    if unread := answer.get("unread_files"):
        lines.append(unread_text(unread))
    if page.get("next_offset", page["total"]) < page["total"]:
        lines.append(f"manual_hits goes on at offset {page['next_offset']}")
    lines += _hits(page["items"], page["offset"] + 1, several="manuals" in answer)
    for row in answer.get("names") or ():
        if row["sections"]:
            lines += _name(row, several="manuals" in answer)
    return "\n".join(lines)


def hits_text(answer: Json) -> str:
    """Format a page of ``manual_hits``: places with their lines, or rows as JSON."""
    items = answer["items"]
    formatted = {"trace_id", "items", "kind", "offset", "limit", "total"}
    counts = f"{answer['kind']}: {len(items)} of {answer['total']}"
    lines = [counts, *other_members(answer, formatted)]
    if any("title" not in item for item in items):
        lines += map(compact, items)
    else:
        lines += _hits(items, answer["offset"] + 1, several=True)
    return "\n".join(lines)


def read_text(answer: Json) -> str:
    """Format the answer of ``manual_read``: numbered ranges, or the text of one section."""
    if "items" in answer:
        return "\n".join(line for item in answer["items"] for line in _range(item))
    applied, place = answer["applied"], answer["applied_range"]
    head = f"lines {place['start_line']}-{place['end_line']}"
    if applied["mode"] != "read":
        head += f"; {applied['mode']}"
    if answer["truncated"]:
        head += "; truncated"
    if answer["next_cursor"] and not answer["eof"]:
        head += f"; next_cursor {compact(answer['next_cursor'])}"
    formatted = {"text", "applied", "applied_range", "truncated", "next_cursor", "eof"}
    return "\n".join([head, *other_members(answer, formatted), answer["text"]])


def _about_search(answer: Json) -> Iterator[str]:
    yield f"trace_id {answer['trace_id']}: {answer['candidates']} candidates"
    if answer["status"] != _FINE:
        yield str(answer["status"])
    if "answerable" in answer:
        yield f"answerable: {answer['answerable']}"
    yield from _missing(answer)
    if words := answer.get("vocabulary"):
        yield f"the manual's words: {comma_separated(words[:_WORDS])}"
    for word, others in (answer.get("glossary") or {}).items():
        yield f"glossary: {word} is {comma_separated(others)}"
    if unmet := answer.get("unmet"):
        yield f"no section shown holds most of alternative {comma_separated(unmet)}"
    for term, *effect in answer.get("terms") or ():
        yield f"{term} {_effect(*effect)}"


def _missing(answer: Json) -> Iterator[str]:
    """Yield the words that are in none of the best sections, and words and names in no section."""
    nowhere = [row["name"] for row in answer.get("names") or () if not row["sections"]]
    if answer.get("answerable") != "yes":
        missing = answer.get("missing") or ()
        unknown = answer.get("nowhere") or ()
        apart = answer.get("apart") or ()
        if elsewhere := [word for word in missing if word not in (*unknown, *apart)]:
            yield f"in none of the best sections: {comma_separated(elsewhere)}"
        if apart:
            required = " and ".join(term[0] for term in answer.get("terms") or () if term[2])
            yield f"in no section with {required or 'the required terms'}: {comma_separated(apart)}"
        nowhere = [*unknown, *nowhere]
    if nowhere:
        spellings = " (with - or space)" if any("-" in word for word in nowhere) else ""
        yield f"nowhere{spellings}: {comma_separated(nowhere)}"


def _hits(items: Any, start: int, *, several: bool) -> Iterator[str]:
    """Yield the hits; do not repeat the path and headings of a file shown above."""
    shown: dict[str, tuple[int, list[str]]] = {}
    for place_in_page, item in enumerate(items, start):
        number = item.get("rank", place_in_page)
        place = place_text(item["ref"]) if several else cited_path(item["ref"]["path"])
        titles = [title for title in (item.get("headings"), item["title"]) if title]
        headings = split_path(HEADING_SEPARATOR.join(titles))
        if place in shown:
            first, above = shown[place]
            place = f"same file as {first}: "
            headings = below(headings, above)
        else:
            shown[place] = (number, headings)
        yield from _hit(item, f"\n{number}. {place}", headings)


def _hit(item: Any, place: str, headings: Sequence[str]) -> Iterator[str]:
    ref = item["ref"]
    cite, lines = item.get("cite", ""), ""
    if "end_line" in item:
        lines = f"#L{ref['start_line']}-L{item['end_line']}"
    # Pages and rows are cited as such; the line numbers are those of the extracted text.
    place += f"{cite} {lines[1:]}" if cite.startswith("#") else f"{lines}{cite}"
    place += " (whole)" if item.get("whole") else ""
    brought = f" (alt {item['alternative']})" if item.get("alternative") else ""
    within = f" [{item['within']}]" if "within" in item else ""
    yield f"{place}{brought} {HEADING_SEPARATOR.join(headings)}{within}"
    yield from numbered(item.get("lines", ()))
    copies = item.get("also", ())
    if same := [copy for copy in copies if isinstance(copy, str)]:
        yield f"same lines: {places_text(same)}"
    for copy in copies:
        if not isinstance(copy, str):
            lacks = ", ".join(line_ranges(copy["lacks"])) if "lacks" in copy else ""
            without = f", without {lacks}" if lacks else ""
            yield f"also {copy['at']}{without}{', there:' if 'lines' in copy else ''}"
            yield from numbered(copy.get("lines", ()))
    if exceptions := item.get("exceptions"):
        yield f"next: L{exceptions[0]} {exceptions[1]}"
    formatted = {"ref", "title", "end_line", "headings", "cite", "whole", "alternative", "lines"}
    formatted |= {"also", "within", "exceptions", "rank"}
    formatted |= {"place"} if cite else set()
    yield from other_members(item, formatted | {"score", "matched_tokens"})


def _name(row: Any, *, several: bool) -> Iterator[str]:
    """Yield a name that no hit shows, its most relevant line, and where that is."""
    sections = f"{row['sections']} section{'s' * (row['sections'] > 1)}"
    where = ""
    if "ref" in row:
        where = f" {place_text(row['ref']) if several else cited_path(row['ref']['path'])}"
    yield f"\n{row['name']} ({sections}){where}"
    yield from numbered(row.get("lines", ()))


def _range(item: Any) -> Iterator[str]:
    head = f"\n{place_text(item)}"
    head += f"#{item['place']}" if "place" in item else ""
    if "before" in item:
        head += f" below L{item['before'][0]} {item['before'][1]}"
    yield head + (" (another text than was cited)" if item.get("changed") else "")
    yield from numbered(_range_lines(item))
    if "left" in item:
        cursor = item.get("next_cursor")
        goes_on = f"; manual_scan goes on at cursor {compact(cursor)}" if cursor else ""
        yield f"left: L{item['left'][0]}-{item['left'][1]}{goes_on}"
    if "after" in item:
        word = "goes on" if item.get("goes_on") else "after"
        yield f"{word}: L{item['after'][0]} {item['after'][1]}"
    formatted = {"manual_id", "path", "place", "before", "lines", "left", "next_cursor", "after"}
    yield from other_members(item, formatted | {"goes_on", "changed"})


def _range_lines(item: Any) -> Iterable[tuple[int, str]]:
    """Return the lines of a range; rows of a table in Markdown as they are rendered."""
    lines: Sequence[tuple[int, str]] = item.get("lines", ())
    if not lines or not is_markdown(item["path"]):
        return lines
    numbers, texts = zip(*lines, strict=True)
    return zip(numbers, plain_rows(texts), strict=True)


def _effect(effect: str, sections: int, *near: str) -> str:
    if effect == "ranked":
        return f"in {sections} sections"
    effect = "only outside path_prefix" if effect == "elsewhere" else effect
    return f"{effect} ({sections} sections)" + (f", near: {comma_separated(near)}" if near else "")
