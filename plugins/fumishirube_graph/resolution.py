"""Resolves links as written to edges between documents, and reports the rest as issues."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from fumishirube import Link, LinkKind
from fumishirube.text import nfc
from fumishirube_graph.records import Doc

EXTENSIONS = ("", ".md", ".markdown")
"""What the name of a page may leave out at its end."""
_RELATIVE = ("./", "../")


class LinkEdge(NamedTuple):
    """A link between two pages, by path; ``section_id`` is the section of its anchor."""

    source: str
    target: str
    kind: LinkKind
    section_id: str | None = None


class Issue(NamedTuple):
    """A link that matches no page, several pages, or a missing heading."""

    target: str
    kind: LinkKind
    line: int
    status: Literal["dangling", "ambiguous", "anchor_missing"]
    candidates: tuple[str, ...] = ()
    outside: bool = False


class ResolvedLinks(NamedTuple):
    """The edges and issues of one document."""

    edges: tuple[LinkEdge, ...]
    issues: tuple[Issue, ...]


class LinkTargets:
    """An index of documents by what a link may name: path, name, title, alias."""

    def __init__(self, docs: Mapping[str, Doc]) -> None:
        self._docs = docs
        self._paths = _Names()
        self._names = _Names()
        self._titles = _Names()
        self._aliases = _Names()
        self._endings: dict[str, _Names] = {}
        self._anywhere: dict[str, tuple[str, ...]] = {}
        for path, doc in docs.items():
            self._paths.add(path, path)
            self._names.add(posixpath.basename(path), path)
            self._titles.add(nfc(doc.title), path)
            for alias in doc.record.aliases:
                self._aliases.add(alias, path)

    def resolved(self, path: str) -> ResolvedLinks:
        """Return the edges and issues of one document."""
        edges: dict[tuple[str, str], LinkEdge] = {}
        issues: list[Issue] = []
        by_wiki: set[str] = set()
        rows = [(link, *self._candidates(path, link)) for link in self._docs[path].record.links]
        rows.sort(key=lambda row: not row[0].wiki)
        for link, candidates, outside in rows:
            shown = f"{link.target}#{link.anchor}" if link.anchor else link.target
            if not candidates:
                issue = Issue(link.target, link.kind, link.line, "dangling", outside=outside)
                issues.append(issue)
                continue
            if len(candidates) > 1:
                issue = Issue(link.target, link.kind, link.line, "ambiguous", candidates)
                issues.append(issue)
            target = candidates[0]
            section_id = self._docs[target].anchor(link.anchor) if link.anchor else None
            if link.anchor and section_id is None:
                issues.append(Issue(shown, link.kind, link.line, "anchor_missing"))
            if link.wiki:
                by_wiki.add(target)
            elif target in by_wiki:
                continue
            edge = edges.get((target, link.kind))
            if edge is None or edge.section_id is None:
                edges[target, link.kind] = LinkEdge(path, target, link.kind, section_id)
        issues.sort(key=lambda issue: issue.line)
        return ResolvedLinks(tuple(edges.values()), tuple(issues))

    def _candidates(self, source: str, link: Link) -> tuple[tuple[str, ...], bool]:
        """Return the pages that a link may mean, best first, and whether it leaves the folder."""
        target = nfc(link.target)
        relative, absolute = target.startswith(_RELATIVE), target.startswith("/")
        folders = [] if absolute else [posixpath.dirname(source)]
        folders += [] if relative else [""]
        for folder in folders:
            below = _joined(folder, target.lstrip("/"))
            if below is None:
                return (), True
            if paths := self._paths.spelled(below):
                return paths[:1], False
        if not link.wiki or relative or absolute:
            return (), False
        if target not in self._anywhere:  # many pages may name one target, and many may bear it
            self._anywhere[target] = self._named(target)
        return self._anywhere[target], False

    def _named(self, target: str) -> tuple[str, ...]:
        """Return the pages that a wikilink in any folder may mean, best first."""
        for names in (self._trailing(target), self._titles, self._aliases):
            if paths := names.spelled(target):
                return tuple(sorted(paths, key=lambda path: (path.count("/"), path)))
        return ()

    def _trailing(self, target: str) -> _Names:
        """Return an index of the pages whose path may end with a target.

        The ends of all paths take several times the memory of the names, and few links need any.
        """
        if "/" not in target:
            return self._names
        name = posixpath.basename(target).casefold()
        if name not in self._endings:
            paths = [*self._names.in_any_case(name)]
            if not paths:
                return self._names
            self._endings[name] = _Names()
            for path in paths:
                for ending in _endings(path):
                    self._endings[name].add(ending, path)
        return self._endings[name]


class _Names:
    """Names and their paths, with exact case and with folded case."""

    def __init__(self) -> None:
        self._exact: defaultdict[str, list[str]] = defaultdict(list)
        self._folded: defaultdict[str, list[str]] = defaultdict(list)
        self._bare: set[str] = set()

    def add(self, name: str, path: str) -> None:
        folded = name.casefold()
        self._exact[name].append(path)
        self._folded[folded].append(path)
        self._bare.update(folded.removesuffix(extension) for extension in EXTENSIONS)

    def spelled(self, name: str) -> tuple[str, ...]:
        """Return the paths of a name: exact case first, exact path before extensions."""
        if name.casefold() not in self._bare:
            return ()  # the usual case: no document has this name
        for names, case in ((self._exact, str), (self._folded, str.casefold)):
            for extension in EXTENSIONS:
                if paths := names.get(case(name + extension)):
                    return tuple(dict.fromkeys(paths))
        return ()

    def in_any_case(self, folded: str) -> Iterator[str]:
        """Yield the paths of a folded name, with an extension or without."""
        for extension in EXTENSIONS:
            yield from self._folded.get(folded + extension, ())


def _endings(path: str) -> Iterator[str]:
    """Yield the name of a file, and the path from each folder above it on."""
    place = len(path)
    while (place := path.rfind("/", 0, place)) >= 0:
        yield path[place + 1 :]
    yield path


def _joined(folder: str, target: str) -> str | None:
    """Return the target of a relative path, or ``None`` when it leaves the root."""
    steps: list[str] = folder.split("/") if folder else []
    for step in target.split("/"):
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)
