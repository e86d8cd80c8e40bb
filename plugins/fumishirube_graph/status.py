"""``fumishirube docs status``: the state of documents, links and sources."""

from collections import Counter
from contextlib import closing
from typing import Literal, get_args

from fumishirube import Answer, Call, Root, Tool
from fumishirube.disk import Watch
from fumishirube_graph.arguments import CommandParams, GraphRuntime
from fumishirube_graph.lock import holder
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.staleness import Level
from fumishirube_graph.warnings import FileWarning, warnings


class LinkCounts(Answer):
    """The number of links by result."""

    resolved: int
    dangling: int
    ambiguous: int


class StatusEmbeddings(Answer):
    """How many passages have a vector."""

    embedder: str
    completed: int
    total: int


class StatusStaleness(Answer):
    """The number of documents at each staleness level."""

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


def links_of(snapshot: GraphSnapshot) -> LinkCounts:
    """Count the links; a repeated (source, target, type) counts once."""
    resolved = sum(map(len, snapshot.out.values()))
    broken: dict[str, set[tuple[str, str, str]]] = {"dangling": set(), "ambiguous": set()}
    for path, issues in snapshot.issues.items():
        for issue in issues:
            if issue.status in broken:
                broken[issue.status].add((path, issue.target, issue.kind))
    broken_links = {status: len(links) for status, links in broken.items()}
    return LinkCounts(resolved=resolved, **broken_links)


def status_tool(runtime: GraphRuntime) -> Tool[CommandParams, StatusAnswer]:
    """Return the tool."""

    def run(params: CommandParams, _: Call) -> StatusAnswer:
        docs = runtime.docs
        snapshot = runtime.view(refresh=params.refresh)
        links = links_of(snapshot)
        levels = Counter(runtime.staleness(doc).level for doc in snapshot.docs.values())
        done = docs.vectors.progress(snapshot.stamps, snapshot.section_texts_of)
        pid = holder(docs.context.folder("workspace").path)
        return StatusAnswer(
            docs_dir=docs.root_name,
            total_documents=len(snapshot.docs),
            total_sections=snapshot.sections,
            total_links=links.resolved + links.dangling,
            resolved_links=links.resolved,
            unresolved_links=links.dangling,
            ambiguous_links=links.ambiguous,
            embeddings=StatusEmbeddings(
                embedder=docs.embedder_name, completed=done.completed, total=done.total
            ),
            staleness=StatusStaleness(**{level: levels[level] for level in get_args(Level)}),
            generation=snapshot.generation,
            watching=_watching(docs.context.root) if pid is not None else "off",
            lock_pid=pid,
            warnings=tuple(warnings(snapshot, docs)),
        )

    return Tool(
        name="docs_status",
        title="State of the documents",
        summary="Show the state of the documents, their links and their sources.",
        params=CommandParams,
        answer=StatusAnswer,
        run=run,
    )


def _watching(root: Root) -> Literal["native", "polling"]:
    """Tell whether the operating system reports changes in a folder."""
    if not root.exists:
        return "polling"
    with closing(Watch(root.path)) as watch:
        watch.quiet()
        watch.surveyed()
        return "native" if watch.quiet() else "polling"
