"""``fumishirube docs status``: how the documents, their links and their sources stand."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from fumishirube import Answer, Call, Root, Tool
from fumishirube_graph.arguments import Closed, Room
from fumishirube_graph.following import watches
from fumishirube_graph.lock import FOLDER, NAME, holder
from fumishirube_graph.refusals import refusing
from fumishirube_graph.view import View
from fumishirube_graph.warnings import FileWarning, warnings


class Links(NamedTuple):
    """Links by where they lead, each distinct (source, target, type) once."""

    resolved: int
    dangling: int
    ambiguous: int


class StatusParams(Closed):
    """Nothing."""


class StatusEmbeddings(Answer):
    """How many passages have their vectors."""

    embedder: str
    completed: int
    total: int


class StatusStaleness(Answer):
    """How many documents stand how to their sources."""

    fresh: int
    possibly_stale: int
    stale: int
    untracked: int


class StatusAnswer(Answer):
    """The state of everything."""

    docs_dir: str
    total_documents: int
    total_sections: int
    total_links: int
    resolved_links: int
    unresolved_links: int
    ambiguous_links: int
    embeddings: StatusEmbeddings
    staleness: StatusStaleness
    generation: str
    watching: Literal["native", "polling", "off"]
    lock_pid: int | None
    warnings: tuple[FileWarning, ...]


def links_of(view: View) -> Links:
    """Count the links."""
    resolved = sum(map(len, view.out.values()))
    found: dict[str, set[tuple[str, str, str]]] = {"dangling": set(), "ambiguous": set()}
    for path, issues in view.issues.items():
        for issue in issues:
            if issue.status in found:
                found[issue.status].add((path, issue.target, issue.kind))
    return Links(resolved, len(found["dangling"]), len(found["ambiguous"]))


def status_tool(room: Room) -> Tool[StatusParams, StatusAnswer]:
    """Return the tool."""

    def run(params: StatusParams, call: Call) -> StatusAnswer:
        del params, call
        docs = room.docs
        view = docs.view()
        links = links_of(view)
        levels = Counter(room.staleness(doc).level for doc in view.docs.values())
        done = docs.vectors.progress(view.docs)
        workspace = docs.desk.folder("workspace").path
        pid = holder(workspace / FOLDER / NAME)
        return StatusAnswer(
            docs_dir=_relative(room),
            total_documents=len(view.docs),
            total_sections=view.sections,
            total_links=links.resolved + links.dangling,
            resolved_links=links.resolved,
            unresolved_links=links.dangling,
            ambiguous_links=links.ambiguous,
            embeddings=StatusEmbeddings(
                embedder=docs.embedder_name, completed=done.completed, total=done.total
            ),
            staleness=StatusStaleness(
                fresh=levels["fresh"],
                possibly_stale=levels["possibly_stale"],
                stale=levels["stale"],
                untracked=levels["untracked"],
            ),
            generation=view.generation,
            watching=_watching(docs.desk.root) if pid is not None else "off",
            lock_pid=pid,
            warnings=tuple(warnings(view)),
        )

    return Tool(
        name="docs_status",
        title="State of the documents",
        summary="Tell how the documents, their links and their sources stand.",
        params=StatusParams,
        answer=StatusAnswer,
        run=run,
        refused=refusing(StatusParams),
    )


def _watching(root: Root) -> Literal["native", "polling"]:
    return "native" if root.exists and watches(root) else "polling"


def _relative(room: Room) -> str:
    """Return the docs folder as the configuration would name it, never as an absolute path."""
    root, workspace = room.docs.desk.root.path, room.docs.desk.folder("workspace").path
    if root.is_relative_to(workspace):
        return root.relative_to(workspace).as_posix()
    return root.name
