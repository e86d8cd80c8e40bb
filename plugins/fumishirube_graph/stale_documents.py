"""``fumishirube docs stale``: lists documents whose sources have changed."""

from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import CommandParams, GraphRuntime, NamedPage, NotNull
from fumishirube_graph.errors import JsonRpcInternalError
from fumishirube_graph.staleness import Level, StaleSource


class StaleParams(CommandParams):
    """Whether to read the bytes of every source, and which documents to acknowledge."""

    verify: bool = False
    ack: Annotated[str | None, NotNull, Field(description="A page, or all.")] = None


class StaleDocument(NamedPage):
    """A document with such sources."""

    staleness: Level
    stale_refs: tuple[StaleSource, ...]


class StaleAnswer(Answer):
    """The documents with stale sources."""

    stale_documents: tuple[StaleDocument, ...]
    total: int
    threshold_days: Annotated[int, Field(ge=0)]
    warnings: OrAbsent[tuple[str, ...]] = None


ALL: Literal["all"] = "all"


def stale_tool(runtime: GraphRuntime) -> Tool[StaleParams, StaleAnswer]:
    """Return the tool."""

    def run(params: StaleParams, _: Call) -> StaleAnswer:
        snapshot, baselines = runtime.view(refresh=params.refresh), runtime.docs.baselines
        if damage := baselines.damage():
            raise JsonRpcInternalError(damage[0], reason="baselines")
        if params.ack is not None:
            docs = snapshot.docs.values()
            chosen = docs if params.ack == ALL else [runtime.page(snapshot, params.ack, "ack")]
            baselines.acknowledge({doc.path: doc.record for doc in chosen})
        checked = [
            (doc, runtime.staleness(doc, verify=params.verify)) for doc in snapshot.docs.values()
        ]
        rows = tuple(
            StaleDocument(**doc.named, staleness=stale.level, stale_refs=stale.refs)
            for doc, stale in checked
            if stale.refs
        )
        return StaleAnswer(
            stale_documents=rows,
            total=len(rows),
            threshold_days=runtime.settings.threshold_days,
            warnings=runtime.warned(snapshot, *baselines.news()),
        )

    return Tool(
        name="docs_stale",
        title="Stale documents",
        summary="List the documents whose sources have changed.",
        params=StaleParams,
        answer=StaleAnswer,
        run=run,
        read_only=False,
    )
