"""The embedder of a pipeline, and the vectors that it makes for one manual."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from fumishirube.disk.own_files import state_folder
from fumishirube.disk.roots import Root
from fumishirube.engine.pipeline import NamedStage
from fumishirube.host.indexes import VECTORS
from fumishirube.host.surfaces import ConfiguredSurface, RunningStages, SharedServices, running
from fumishirube.host.useless_stages import gives_vectors
from fumishirube.stages import Embedder, Stage

if TYPE_CHECKING:
    from fumishirube.engine.vectors.embedding import NamedEmbedder
    from fumishirube.engine.vectors.manual_vectors import ManualVectors
    from fumishirube.engine.vectors.section_vectors import StoredVectors


def named_embedder(
    configured: ConfiguredSurface, chosen: NamedStage[Stage], begun: NamedStage[Embedder]
) -> NamedEmbedder:
    """Return an embedder; with other settings, or other code of its plugin, it is another one."""
    from fumishirube.engine.vectors.embedding import NamedEmbedder  # noqa: PLC0415 - few pipelines embed

    return NamedEmbedder(chosen.name, configured.identity(chosen), begun.stage)


def pipeline_embedder(configured: ConfiguredSurface, begun: RunningStages) -> NamedEmbedder | None:
    """Return the embedder of a pipeline, if it has one."""
    rows = zip(configured.stages["embedders"], begun.embedders, strict=True)
    return next((named_embedder(configured, *row) for row in rows), None)


def surface_vectors(
    configured: ConfiguredSurface,
    begun: RunningStages,
    shared: SharedServices,
    opening: ExitStack,
    chosen: NamedStage[Stage] | None,
) -> StoredVectors:
    """Return vectors for a surface's own use, by the pipeline's embedder or a chosen one."""
    from fumishirube.engine.vectors.section_vectors import StoredVectors  # noqa: PLC0415 - as above

    named = pipeline_embedder(configured, begun)
    if chosen is not None:
        runs = running("embedders", chosen, opening, shared.guarded, "embedder")
        named = named_embedder(configured, chosen, runs)
    folder = state_folder(shared.root("state").path, "vectors")
    return StoredVectors(named, folder, f"{named.identity if named else 'none'}.db")


def manual_vectors(
    configured: ConfiguredSurface,
    begun: RunningStages,
    folder: Callable[[str, str], Root],
    manual_id: str,
) -> ManualVectors | None:
    """Return the vectors of a manual, in a folder beside its index, if its pipeline makes any."""
    if not any(gives_vectors(named.stage) for named in begun.embedders[:1]):
        return None
    from fumishirube.engine.vectors.manual_vectors import ManualVectors  # noqa: PLC0415 - as above

    named = pipeline_embedder(configured, begun)
    assert named
    return ManualVectors(manual_id, named, folder(manual_id, f"{VECTORS}{named.identity}"))
