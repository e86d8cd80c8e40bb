"""Formats answers as text for a model: places and text of documents, and little else.

Other members of the object, such as scores, are omitted; warnings and missing parts never are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from fumishirube_manual.evidence.markup import rendered
from fumishirube_manual.line_pages import heading_of
from fumishirube_manual.rows import HEADING_SEPARATOR

Json = Mapping[str, JsonValue]

_PLACE = re.compile(r"((?:.+#)?L)(\d+(?: .*)?)", re.DOTALL)
"""The file and the line of a place of an equal line, with its heading if that is another one."""
_WORDS = 4
"""The most of the manual's own words that the text names."""
_FINE = "required_effective"
_IN_NO_HIT = "required_fallback"
"""A status that says by itself why it failed."""


def find_text(answer: Json) -> str:
    """Format the answer of ``manual_find``: a line about the search, then the hits."""
    page: Any = answer["inline_hits"]
    formatted = {"trace_id", "candidates", "status", "answerable", "missing", "vocabulary"}
    formatted |= {"unmet", "terms", "inline_hits", "glossary", "names", "nowhere", "apart"}
    if answer["status"] == _IN_NO_HIT:
        formatted.add("failure_reason")
    lines = ["; ".join(_about_search(answer)), *_rest(answer, formatted)]
    if "next_offset" in page:
        lines.append(f"manual_hits goes on at offset {page['next_offset']}")
    lines += _hits(page["items"], page["offset"] + 1, several="manuals" in answer)
    names: Any = answer.get("names") or ()
    for row in names:
        if row["sections"]:
            lines += _name(row, several="manuals" in answer)
    return "\n".join(lines)


def hits_text(answer: Json) -> str:
    """Format a page of ``manual_hits``: places with their lines, or rows as JSON."""
    items: Any = answer["items"]
    formatted = {"trace_id", "items", "kind", "offset", "limit", "total"}
    lines = [f"{answer['kind']}: {len(items)} of {answer['total']}", *_rest(answer, formatted)]
    if any("title" not in item for item in items):
        lines += map(_json, items)
    else:
        lines += _hits(items, int(str(answer["offset"])) + 1, several=True)
    return "\n".join(lines)


def grep_text(answer: Json) -> str:
    """Format the answer of ``manual_grep``: counts, then lines by file and section."""
    searched: Any = answer["searched"]
    total, different, files = answer["total"], answer["different"], answer["files"]
    head = f"{total} lines in {files} files"
    if "different_matches" in answer:
        head += f" ({answer['different_matches']} different matches)"
    elif different != total:
        head += f" ({different} different lines)"
    head += ", all below" if total and answer.get("complete") else ""
    head += f"; searched {searched['files']} files"
    head += f"; {answer['left_out']} lines left out" if "left_out" in answer else ""
    texts: Any = answer.get("texts") or ()
    head += "".join(f"; {_json(text['text'])} {text['count']}" for text in texts)
    formatted = {"total", "different", "files", "texts", "searched", "left_out"}
    formatted |= {"groups", "counts", "matches", "more_matches", "next_cursor", "remaining"}
    formatted |= {"complete", "different_matches"}
    lines = [head, *_rest(answer, formatted), *_groups(answer.get("groups") or ())]
    counts: Any = answer.get("counts") or ()
    lines += [f"{_place(row)}: {row['count']}" for row in counts]
    lines += _matches(answer.get("matches") or ())
    if more := answer.get("more_matches"):
        lines.append(f"next_cursor {answer['next_cursor']}; {more} more different texts")
    if remaining := answer.get("remaining"):
        rows: Any = remaining
        left = ", ".join(f"{_place(row)}: {row['count']}" for row in rows)
        lines.append(f"next_cursor {answer['next_cursor']}; not yet shown: {left}")
    return "\n".join(lines)


def read_text(answer: Json) -> str:
    """Format the answer of ``manual_read``: numbered ranges, or the text of one section."""
    if "items" in answer:
        items: Any = answer["items"]
        return "\n".join(line for item in items for line in _range(item))
    applied: Any = answer["applied"]
    place: Any = answer["applied_range"]
    head = f"lines {place['start_line']}-{place['end_line']}"
    if applied["mode"] != "read":
        head += f"; {applied['mode']}"
    if answer["truncated"]:
        head += "; truncated"
    if answer["next_cursor"] and not answer["eof"]:
        head += f"; next_cursor {_json(answer['next_cursor'])}"
    formatted = {"text", "applied", "applied_range", "truncated", "next_cursor", "eof"}
    return "\n".join([head, *_rest(answer, formatted), str(answer["text"])])


def _about_search(answer: Json) -> Iterator[str]:
    """Yield what the search did, and what it did not find."""
    yield f"trace_id {answer['trace_id']}: {answer['candidates']} candidates"
    if answer["status"] != _FINE:
        yield str(answer["status"])
    if "answerable" in answer:
        yield f"answerable: {answer['answerable']}"
    yield from _missing(answer)
    words: Any = answer.get("vocabulary") or ()
    if words:
        yield f"the manual's words: {_listed(words[:_WORDS])}"
    glossary: Any = answer.get("glossary") or {}
    yield from (f"glossary: {word} is {_listed(others)}" for word, others in glossary.items())
    if unmet := answer.get("unmet"):
        yield f"no section holds most of alternative {_listed(unmet)}"
    terms: Any = answer.get("terms") or ()
    yield from (f"{term[0]} {_effect(*term[1:])}" for term in terms)


def _missing(answer: Json) -> Iterator[str]:
    """Yield the words that are in none of the best sections, and words and names in no section."""
    names: Any = answer.get("names") or ()
    nowhere = [row["name"] for row in names if not row["sections"]]
    if answer.get("answerable") != "yes":
        missing: Any = answer.get("missing") or ()
        unknown: Any = answer.get("nowhere") or ()
        apart: Any = answer.get("apart") or ()
        if elsewhere := [word for word in missing if word not in (*unknown, *apart)]:
            yield f"in none of the best sections: {_listed(elsewhere)}"
        if apart:
            terms: Any = answer.get("terms") or ()
            required = " and ".join(term[0] for term in terms if term[2])
            yield f"in no section with {required or 'the required terms'}: {_listed(apart)}"
        nowhere = [*unknown, *nowhere]
    if nowhere:
        spellings = " (with - or space)" if any("-" in word for word in nowhere) else ""
        yield f"nowhere{spellings}: {_listed(nowhere)}"


def _hits(items: Any, start: int, *, several: bool) -> Iterator[str]:
    """Yield the hits; do not repeat the path and headings of a file shown above."""
    shown: dict[str, tuple[int, list[str]]] = {}
    for number, item in enumerate(items, start):
        place = _place(item["ref"]) if several else item["ref"]["path"]
        titles = [title for title in (item.get("headings"), item["title"]) if title]
        headings = _split(HEADING_SEPARATOR.join(titles))
        if place in shown:
            first, above = shown[place]
            place = f"same file as {first}: "
            headings = _below(headings, above)
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
    brought = f" (alternative {item['alternative']})" if item.get("alternative") else ""
    within = f" [{item['within']}]" if "within" in item else ""
    yield f"{place}{brought} {HEADING_SEPARATOR.join(headings)}{within}"
    yield from _numbered(item.get("lines", ()))
    copies = item.get("also", ())
    if same := [copy for copy in copies if isinstance(copy, str)]:
        yield f"also {_places(same)}"
    for copy in copies:
        if not isinstance(copy, str):
            yield f"also {copy['at']}, with"
            yield from _numbered(copy["lines"])
    if exceptions := item.get("exceptions"):
        yield f"next: L{exceptions[0]} {exceptions[1]}"
    formatted = {"ref", "title", "end_line", "headings", "cite", "whole", "alternative", "lines"}
    formatted |= {"also", "within", "exceptions"}
    formatted |= {"place"} if cite else set()
    yield from _rest(item, formatted | {"score", "matched_tokens"})


def _name(row: Any, *, several: bool) -> Iterator[str]:
    """Yield a name that no hit shows, its most relevant line, and where that is."""
    sections = f"{row['sections']} section{'s' * (row['sections'] > 1)}"
    where = f" {_place(row['ref']) if several else row['ref']['path']}" if "ref" in row else ""
    yield f"\n{row['name']} ({sections}){where}"
    yield from _numbered(row.get("lines", ()))


def _groups(groups: Any) -> Iterator[str]:
    """Yield the lines below their file and section; do not repeat headings of the group above."""
    file, above = None, [""]
    for group in groups:
        if (place := _place(group)) != file:
            file, above = place, [""]
            yield f"\n{file}"
        if "section" in group or "place" in group:
            headings = _split(str(group.get("section", "")))
            named = _below(headings, above)
            above = headings
            place = f" ({group['place']})" if "place" in group else ""
            if named and named[-1] == heading_of(group["lines"][0][1]):
                named = named[:-1]
            if place or named:
                yield f"# {HEADING_SEPARATOR.join(named)}{place}"
        also = group.get("also") or {}
        for number, line in group["lines"]:
            repeated = also.get(str(number))
            yield f"{number} {line}" + (f"  (also {_places(repeated)})" if repeated else "")


def _split(path: str) -> list[str]:
    """Return the headings of a heading path, as they are rendered."""
    return [*map(rendered, path.split(HEADING_SEPARATOR))]


def _below(headings: list[str], above: list[str]) -> list[str]:
    """Return headings without those at the beginning that are also at the beginning of others."""
    while len(headings) > 1 and headings[0] == above[0]:
        headings, above = headings[1:], above[1:] or [""]
    return headings


def _places(places: Sequence[str]) -> str:
    """Return places of equal lines; further ones of a file by their numbers and headings alone."""
    listed: list[str] = []
    file = None
    for place in places:
        match = _PLACE.fullmatch(place)
        repeated = match is not None and match[1] == file
        listed.append(match[2] if match is not None and repeated else place)
        file = match[1] if match is not None else None
    return ", ".join(listed)


def _matches(files: Any) -> Iterator[str]:
    """Yield the matches below the file of their first match: line, count, text."""
    for file in files:
        yield f"\n{_place(file)}"
        for line, count, text, *within in file["texts"]:
            repeated = f" ({count}x)" if count > 1 else ""
            yield f"{line} {text}{repeated}" + (f" | {within[0]}" if within else "")


def _range(item: Any) -> Iterator[str]:
    head = f"\n{_place(item)}"
    head += f"#{item['place']}" if "place" in item else ""
    if "before" in item:
        head += f" below L{item['before'][0]} {item['before'][1]}"
    yield head
    yield from _numbered(item.get("lines", ()))
    if "left" in item:
        yield f"left: L{item['left'][0]}-{item['left'][1]}"
    if "after" in item:
        yield f"after: L{item['after'][0]} {item['after'][1]}"
    yield from _rest(item, {"manual_id", "path", "place", "before", "lines", "left", "after"})


def _numbered(lines: Iterable[Sequence[Any]]) -> Iterator[str]:
    for number, line in lines:
        yield f"{number} {line}"


def _place(row: Any) -> str:
    """Return the place of a file, as the beginning of a citation if its manual must be named."""
    if row.get("manual_id") is None:
        return str(row["path"])
    return f"manual://{row['manual_id']}/{row['path']}"


def _effect(effect: str, sections: int, *near: str) -> str:
    """Describe the effect of a required term."""
    if effect == "ranked":
        return f"in {sections} sections"
    return f"{effect} ({sections} sections)" + (f", near: {_listed(near)}" if near else "")


def _rest(answer: Json, formatted: set[str]) -> Iterator[str]:
    """Yield the other members as JSON."""
    for key, value in answer.items():
        if key == "manuals":
            yield f"manuals: {_listed(value)}"
        elif key not in formatted and value not in (None, [], {}, ""):
            yield f"{key}: {value if isinstance(value, str) else _json(value)}"


def _listed(words: Any) -> str:
    return ", ".join(map(str, words))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
