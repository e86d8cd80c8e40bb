"""The surface over linked documents: search, read, walk, list."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, field_validator

from fumishirube import ClassicSettings, Diagnostic, InvalidPath, Root, Stage, SurfaceContext, Tool
from fumishirube.disk import clean_path

INCLUDE = ("**/*.md", "**/*.markdown")
EXCLUDE = ("**/node_modules/**", "**/dist/**", "**/.*/**")


class GraphSurface(Stage):
    """Offers the six ``ubp_*`` tools over the documents below ``roots.docs``.

    ``pipeline`` is the key of its stages in the configuration. A document is only possibly stale
    when its source changed at most ``threshold_days`` ago. Without ``lock``, a server reads the
    index of another server and writes nothing.
    """

    model_config = ConfigDict(populate_by_name=True)

    root: ClassVar[str] = "docs"
    instructions: ClassVar[str] = (
        "Documents: find them with ubp_search, read one with ubp_get_page, or with its neighbours "
        "with ubp_get_context. ubp_list_pages and ubp_get_graph show what there is."
    )
    uses: ClassVar[tuple[str, ...]] = (
        "loaders",
        "tokenizer",
        "index",
        "scorers",
        "fusers",
        "refiners",
        "embedder",
        "links",
        "vectors",
    )
    pipeline: ClassVar[Mapping[str, Any]] = {
        "loaders": [
            {"use": "markdown", "with": {"include": list(INCLUDE), "exclude": list(EXCLUDE)}}
        ],
        "tokenizer": {"use": "ngram"},
        "embedder": {"use": "none"},
        "index": {"use": "tantivy"},
        "scorers": [{"use": "vector"}, {"use": "graph"}, {"use": "fulltext"}],
        "fusers": [{"use": "weighted-sum"}],
        "refiners": [],
    }

    pipeline_name: Annotated[str, Field(alias="pipeline", min_length=1)] = "docs"
    default_limit: Annotated[int, Field(ge=1, le=20)] = 10
    max_depth: Annotated[int, Field(ge=1, le=3)] = 2
    threshold_days: Annotated[int, Field(ge=0, le=3650)] = 7
    max_nodes: Annotated[int, Field(ge=1)] = 1000
    max_edges: Annotated[int, Field(ge=1)] = 5000
    page_size: Annotated[int, Field(ge=1)] = 1000
    lock: bool = True
    baseline_file: Annotated[str, Field(min_length=1)] = ".fumishirube/docs-baseline.json"

    @field_validator("baseline_file")
    @classmethod
    def _below_the_workspace(cls, value: str) -> str:
        try:
            return clean_path(value)
        except InvalidPath as error:
            raise ValueError("must be a file below the workspace") from error

    @classmethod
    def adopted(cls, workspace: Root, settings: Mapping[str, Any]) -> ClassicSettings:
        """Read the settings of ``.ubp/config.json``.

        Raises:
            ConfigError: when it is not a JSON object, or holds an invalid value.
        """
        from fumishirube_graph.classic_settings import adopted

        return adopted(workspace, str(settings.get("pipeline", "docs")), cls.pipeline)

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the six tools, in the order in which clients list them."""
        from fumishirube_graph.tool_list import graph_runtime, tools

        return tools(graph_runtime(context, self))

    def commands(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the command line's own tools, and the six tools without refreshing."""
        from fumishirube_graph.tool_list import commands, graph_runtime

        return commands(graph_runtime(context, self))

    def lifespan(self, context: SurfaceContext) -> AbstractContextManager[None]:
        """Take the lock and follow the folder; without ``lock``, only read the index."""
        from fumishirube_graph.tool_list import graph_runtime
        from fumishirube_graph.updates import following

        return following(graph_runtime(context, self), lock=self.lock)

    def diagnostics(self, context: SurfaceContext) -> Sequence[Diagnostic]:
        """Update the index, and report documents that could not be read."""
        from fumishirube_graph.warnings import unread_documents

        folder = context.root.path
        return unread_documents(self.commands(context), folder.name) if folder.is_dir() else ()
