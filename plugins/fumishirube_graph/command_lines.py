"""Formats the answers of ``fumishirube docs`` for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fumishirube.commands import counted, strip_controls, table

_INDENT = "   "


def _index(answer: Any) -> Iterator[str]:
    links, made = answer["links"], answer["embeddings"]
    changes = ", ".join(f"{answer[key]} {key}" for key in ("added", "updated", "removed"))
    documents, sections = counted(answer["documents"], "document"), answer["sections"]
    yield f"{documents}, {counted(sections, 'section')} ({changes})"
    yield ", ".join(f"{links[key]} {key}" for key in ("resolved", "dangling", "ambiguous"))
    if made["embedder"] != "none":
        yield f"{made['embedder']}: {made['embedded']} embedded, {made['reused']} reused"
    if "failure" in made:
        yield f"no embeddings: {made['failure']}"


def _search(answer: Any) -> Iterator[str]:
    for rank, result in enumerate(answer["results"], 1):
        if "snippet" in result:
            place = f"{result['filepath']}:{result['line_start']}"
            yield f"{rank}. {strip_controls(result['title'])}  {place}"
            yield _INDENT + strip_controls(result["snippet"])
            continue
        yield f"{rank}. {strip_controls(result['title'])}  {result['score']:.3f}"
        reason = f"({result['relevance_reason']}; {result['staleness']})"
        yield f"{_INDENT}{result['filepath']}  {reason}"
        for page in result.get("linked_pages", ()):
            yield f"{_INDENT}-> {page['filepath']} ({page['link_type']})"
    yield f"{answer['total_found']} found"


def _page(answer: Any) -> Iterator[str]:
    yield f"{answer['filepath']}  {answer['doc_type']}, {answer['staleness']}"
    yield from (_printable_line(line) for line in answer["content"].split("\n"))
    for mark, key in (("->", "outlinks"), ("<-", "backlinks")):
        for item in answer[key]:
            yield f"{mark} {item['filepath']} ({item['link_type']})"
    for item in answer["link_issues"]:
        yield f"line {item['line']}: {item['target']} is {item['status']}"


def _printable_line(line: str) -> str:
    return strip_controls(line.replace("\t", "    "))


def _context(answer: Any) -> Iterator[str]:
    yield from (_printable_line(line) for line in answer["center"]["content"].split("\n"))
    for related in answer["related"]:
        yield ""
        mark = "->" if related["direction"] == "outlink" else "<-"
        hops = counted(related["depth"], "hop")
        yield f"{mark} {related['filepath']} ({related['link_type']}, {hops})"
        yield from (_INDENT + _printable_line(line) for line in related["summary"].split("\n"))
    if answer["truncated_count"]:
        yield f"{answer['truncated_count']} more did not fit"
    if "truncated" in answer:
        yield "the walk stopped at max_nodes"


def _pages(answer: Any) -> Iterator[str]:
    rows = [
        (page["filepath"], page["doc_type"], str(page["link_count"]), strip_controls(page["title"]))
        for page in answer["pages"]
    ]
    yield from table(rows)
    yield f"{len(rows)} of {counted(answer['total'], 'document')}"
    if "next_cursor" in answer:
        yield f"next: --cursor {answer['next_cursor']}"


def _graph(answer: Any) -> Iterator[str]:
    paths = {node["id"]: node["filepath"] for node in answer["nodes"]}
    for edge in answer["edges"]:
        yield f"{paths[edge['source']]} -> {paths[edge['target']]} ({edge['type']})"
    yield f"{counted(len(paths), 'document')}, {counted(len(answer['edges']), 'link')}"
    if "next_cursor" in answer:
        yield f"next: --cursor {answer['next_cursor']}"


def _stale(answer: Any) -> Iterator[str]:
    for document in answer["stale_documents"]:
        refs = ", ".join(f"{ref['path']} {ref['reason']}" for ref in document["stale_refs"])
        yield f"{document['filepath']}  {document['staleness']}: {refs}"
    yield f"{counted(answer['total'], 'document')} with sources that are not fresh"


def _check(answer: Any) -> Iterator[str]:
    for key, what in (("dangling", "leads nowhere"), ("broken_anchors", "has no such heading")):
        for link in answer[key]:
            yield f"{link['filepath']}:{link['line']}: {link['target']} {what}"
    for link in answer["ambiguous"]:
        named = ", ".join(link["candidates"])
        yield f"{link['filepath']}:{link['line']}: {link['target']} may mean any of {named}"
    for path in answer["orphans"]:
        yield f"{path}: no link leads here or away"
    keys = [key for key in answer if key != "warnings"]
    yield ", ".join(f"{len(answer[key])} {key.replace('_', ' ')}" for key in keys)


def _status(answer: Any) -> Iterator[str]:
    for key, value in answer.items():
        if isinstance(value, dict):
            details = ", ".join(f"{name} {number}" for name, number in value.items())
            yield f"{key}: {details}"
        elif key != "warnings":
            yield f"{key}: {'none' if value is None else value}"


def _suggested(answer: Any) -> Iterator[str]:
    for pair in answer["suggestions"]:
        pages = f"{pair['source_filepath']} <-> {pair['target_filepath']}"
        yield f"{pair['similarity']:.3f}  {pages}"
    yield f"{counted(answer['total'], 'pair')} found"


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
