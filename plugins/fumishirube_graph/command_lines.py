"""Formats the answers of ``fumishirube docs`` for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fumishirube.commands import counted, filled, strip_controls, table, translated, word

_INDENT = "   "


def _number(number: int, noun: str) -> str:
    """Return a number with its noun, in the user's language."""
    return translated(counted(number, noun))


def _index(answer: Any) -> Iterator[str]:
    links, made = answer["links"], answer["embeddings"]
    there = _number(answer["documents"], "document"), _number(answer["sections"], "section")
    changes = (answer[key] for key in ("added", "updated", "removed"))
    yield filled("{0}, {1} ({2} added, {3} updated, {4} removed)", *there, *changes)
    states = (links[key] for key in ("resolved", "dangling", "ambiguous"))
    yield filled("{0} resolved, {1} dangling, {2} ambiguous", *states)
    if made["embedder"] != "none":
        counts = made["embedded"], made["reused"]
        yield filled("{0}: {1} embedded, {2} reused", made["embedder"], *counts)
    if "failure" in made:
        yield filled("no embeddings: {0}", translated(made["failure"]))


def _search(answer: Any) -> Iterator[str]:
    for rank, result in enumerate(answer["results"], 1):
        if "snippet" in result:
            place = f"{result['filepath']}:{result['line_start']}"
            yield f"{rank}. {strip_controls(result['title'])}  {place}"
            yield _INDENT + strip_controls(result["snippet"])
            continue
        yield f"{rank}. {strip_controls(result['title'])}  {result['score']:.3f}"
        reason = f"({result['relevance_reason']}; {word('level', result['staleness'])})"
        yield f"{_INDENT}{result['filepath']}  {reason}"
        for page in result.get("linked_pages", ()):
            yield f"{_INDENT}-> {page['filepath']} ({page['link_type']})"
    yield word("documents", "{0} found").format(answer["total_found"])


def _page(answer: Any) -> Iterator[str]:
    yield f"{answer['filepath']}  {answer['doc_type']}, {word('level', answer['staleness'])}"
    yield from (_printable_line(line) for line in answer["content"].split("\n"))
    for mark, key in (("->", "outlinks"), ("<-", "backlinks")):
        for item in answer[key]:
            yield f"{mark} {item['filepath']} ({item['link_type']})"
    for item in answer["link_issues"]:
        status = word("link", item["status"])
        yield filled("line {0}: {1} is {2}", item["line"], item["target"], status)


def _printable_line(line: str) -> str:
    return strip_controls(line.replace("\t", "    "))


def _context(answer: Any) -> Iterator[str]:
    yield from (_printable_line(line) for line in answer["center"]["content"].split("\n"))
    for related in answer["related"]:
        yield ""
        mark = "->" if related["direction"] == "outlink" else "<-"
        hops = _number(related["depth"], "hop")
        yield f"{mark} {related['filepath']} ({related['link_type']}, {hops})"
        yield from (_INDENT + _printable_line(line) for line in related["summary"].split("\n"))
    if answer["truncated_count"]:
        yield filled("{0} more did not fit", answer["truncated_count"])
    if "truncated" in answer:
        yield translated("the walk stopped at max_nodes")


def _pages(answer: Any) -> Iterator[str]:
    rows = [
        (page["filepath"], page["doc_type"], str(page["link_count"]), strip_controls(page["title"]))
        for page in answer["pages"]
    ]
    yield from table(rows)
    total = _number(answer["total"], "document")
    yield word("documents", "{0} of {1}").format(len(rows), total)
    if "next_cursor" in answer:
        yield filled("next: {0}", f"--cursor {answer['next_cursor']}")


def _graph(answer: Any) -> Iterator[str]:
    paths = {node["id"]: node["filepath"] for node in answer["nodes"]}
    for edge in answer["edges"]:
        yield f"{paths[edge['source']]} -> {paths[edge['target']]} ({edge['type']})"
    yield f"{_number(len(paths), 'document')}, {_number(len(answer['edges']), 'link')}"
    if "next_cursor" in answer:
        yield filled("next: {0}", f"--cursor {answer['next_cursor']}")


def _stale(answer: Any) -> Iterator[str]:
    for document in answer["stale_documents"]:
        sources = ((ref["path"], word("reason", ref["reason"])) for ref in document["stale_refs"])
        refs = ", ".join(f"{path} {reason}" for path, reason in sources)
        yield f"{document['filepath']}  {word('level', document['staleness'])}: {refs}"
    total = _number(answer["total"], "document")
    yield filled("{0} with sources that are not fresh", total)


def _check(answer: Any) -> Iterator[str]:
    for link in answer["dangling"]:
        yield filled("{0}: {1} leads nowhere", _place(link), link["target"])
    for link in answer["broken_anchors"]:
        yield filled("{0}: {1} has no such heading", _place(link), link["target"])
    for link in answer["ambiguous"]:
        named = ", ".join(link["candidates"])
        yield filled("{0}: {1} may mean any of {2}", _place(link), link["target"], named)
    for path in answer["orphans"]:
        yield filled("{0}: no link leads here or away", path)
    keys = ("dangling", "ambiguous", "broken_anchors", "orphans")
    template = "{0} dangling, {1} ambiguous, {2} broken anchors, {3} orphans"
    yield filled(template, *(len(answer[key]) for key in keys))


def _place(link: Any) -> str:
    return f"{link['filepath']}:{link['line']}"


def _status(answer: Any) -> Iterator[str]:
    for key, value in answer.items():
        if isinstance(value, dict):
            parts = ((word("status", name), number) for name, number in value.items())
            yield f"{word('status', key)}: " + ", ".join(f"{name} {n}" for name, n in parts)
        elif key != "warnings":
            shown = word("value", "none") if value is None else value
            yield f"{word('status', key)}: {shown}"


def _suggested(answer: Any) -> Iterator[str]:
    for pair in answer["suggestions"]:
        pages = f"{pair['source_filepath']} <-> {pair['target_filepath']}"
        yield f"{pair['similarity']:.3f}  {pages}"
    yield word("pairs", "{0} found").format(_number(answer["total"], "pair"))


RENDERERS: Mapping[str, Callable[[Any], Iterator[str]]] = MappingProxyType(
    {
        "index": _index,
        "reindex": _index,
        "search": _search,
        "get-page": _page,
        "get-context": _context,
        "list-pages": _pages,
        "get-graph": _graph,
        "stale": _stale,
        "check": _check,
        "status": _status,
        "suggest-links": _suggested,
    }
)
"""The formatter of each command's answer."""
