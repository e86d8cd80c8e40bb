"""``fumishirube docs index``: updates the index and the vectors."""

from typing import Annotated

from pydantic import Field

from fumishirube import Answer, Call, Tool, ToolError
from fumishirube.disk import FolderEntry
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import GraphRuntime, NonNullParams, NotNull, checked_path
from fumishirube_graph.docs import Docs
from fumishirube_graph.errors import JsonRpcError, JsonRpcInternalError, skipped_page
from fumishirube_graph.snapshot import GraphSnapshot, named_places
from fumishirube_graph.status import LinkCounts, links_of
from fumishirube_graph.warnings import FileWarning, not_listed, skipped, warnings


class IndexParams(NonNullParams):
    """Whether to read every file again, or one file only."""

    full: bool = False
    file: Annotated[str | None, NotNull, Field(description="Only this file.")] = None


class IndexEmbeddings(Answer):
    """The state of the vectors; ``failure`` is the reason when there are none."""

    embedder: str
    embedded: int
    reused: int
    dropped: int
    failure: OrAbsent[str] = None


class IndexAnswer(Answer):
    """What was indexed."""

    documents: int
    added: int
    updated: int
    removed: int
    unchanged: int
    sections: int
    links: LinkCounts
    embeddings: IndexEmbeddings
    warnings: tuple[FileWarning, ...]


def index_tool(runtime: GraphRuntime) -> Tool[IndexParams, IndexAnswer]:
    """Return the tool."""

    def run(params: IndexParams, _: Call) -> IndexAnswer:
        docs = runtime.docs
        only = _only(runtime, params.file)
        change = docs.refresh(full=params.full, only=only)
        if change.busy:
            raise JsonRpcInternalError(
                "another process is indexing; try again when it is done", reason="busy"
            )
        if docs.baselines.unwritable:
            raise JsonRpcInternalError(docs.baselines.damage()[0], reason="baselines")
        snapshot = docs.view()
        if only is not None and only not in snapshot.docs and not change.removed:
            raise _no_document(docs, snapshot, only)
        made = docs.embed()
        return IndexAnswer(
            documents=len(snapshot.docs),
            added=change.added,
            updated=change.updated,
            removed=change.removed,
            unchanged=change.unchanged,
            sections=snapshot.sections,
            links=links_of(snapshot),
            embeddings=IndexEmbeddings(
                embedder=docs.embedder_name,
                failure=docs.vectors.failure,
                embedded=made.embedded,
                reused=made.reused,
                dropped=made.dropped,
            ),
            warnings=tuple(warnings(snapshot, docs)),
        )

    return Tool(
        name="docs_index",
        title="Index the documents",
        summary="Bring the index of the documents up to date.",
        params=IndexParams,
        answer=IndexAnswer,
        run=run,
        read_only=False,
    )


def _no_document(docs: Docs, snapshot: GraphSnapshot, path: str) -> JsonRpcError:
    """Return the error for a file that is no document, with the reason."""
    if path in snapshot.skipped:
        return skipped_page(path, "file", *skipped(snapshot, path))
    for warning in not_listed(docs.context):
        if warning.filepath == path:
            return skipped_page(path, "file", warning.code, warning.message)
    if (entry := _entry(docs, path)) and entry.kind == "file":
        message = "it is hidden, or left out by an ignore file or by its loader's settings"
        return skipped_page(path, "file", "excluded", message)
    message = f"there is no document '{path}' below the docs folder"
    return JsonRpcError(message, parameter="file", reason="not_found")


def _only(runtime: GraphRuntime, file: str | None) -> str | None:
    """Return the one file to index, given relative to the docs folder or to the workspace."""
    if file is None:
        return None
    path, below = named_places(checked_path(file, "file"), runtime.docs.root_name)
    return path if _entry(runtime.docs, path) else below


def _entry(docs: Docs, path: str) -> FolderEntry | None:
    """Return the file or folder at a path, or ``None`` if none can be seen there."""
    try:
        return docs.context.root.stat(path)
    except ToolError:
        return None
