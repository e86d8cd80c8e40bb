"""What a person may use: the tools over the manuals and folders that the person has rights to."""

from __future__ import annotations

from dataclasses import replace

from fumishirube.disk.rights import FolderRights, Rights
from fumishirube.engine.indexed_files import digest
from fumishirube.host.application import Application
from fumishirube.host.context import PipelineContext
from fumishirube.host.memory import SearchMemory
from fumishirube.host.surfaces import MANUALS, ConfiguredSurface, SharedServices
from fumishirube.host.tool_host import ServedSurface, ToolHost

_FOLDER = "people"


class PersonalTools(ToolHost):
    """The tools of one person, which answer as a server with only that person's files would.

    Roots hide everything else, and traces, cached answers, statistics and thresholds are the
    person's own. Stages, and the indexes of manuals, are those of the ``whole`` application, which
    must outlive this one. A ``former`` memory is that of the same person and rights before a
    reload.
    """

    def __init__(
        self, whole: Application, person: str, rights: Rights, former: SearchMemory | None = None
    ) -> None:
        self.loaded, self.config, self.guarded = whole.loaded, whole.config, whole.guarded
        self.peers = whole.peers
        self.whole, self.person, self.rights = whole, person, rights
        self.problems = []
        self.memory = self._remember(former)
        self.surfaces = [surface for surface in whole.surfaces if self._of(surface).some]
        shared = whole.shared(self.memory, rights, f"@{digest(_written(rights), 16)}")
        self.contexts = {
            surface.name: self._context(surface, shared)
            for surface in self.surfaces
            if not self._shares(surface)
        }
        self.served = [
            ServedSurface(
                surface,
                self.contexts.get(surface.name) or whole.contexts[surface.name],
                self.work(surface),
                read_only=not self._of(surface).write,
            )
            for surface in self.surfaces
        ]

    @property
    def listed_from(self) -> tuple[object, ...]:
        """What decides which files the person sees, besides the files."""
        return *super().listed_from, self.rights

    def _of(self, surface: ConfiguredSurface) -> FolderRights:
        return self.rights.get(surface.surface.root, FolderRights())

    def _shares(self, surface: ConfiguredSurface) -> bool:
        """Tell whether the application's own context serves: nothing of its root is hidden.

        That of a surface over manuals also has traces and cached answers, which are personal.
        """
        rights = self._of(surface)
        hides = not rights.readable("") or (rights.write and not rights.whole)
        return surface.surface.root != MANUALS and not hides

    def _context(self, surface: ConfiguredSurface, shared: SharedServices) -> PipelineContext:
        root = replace(self.whole.root(surface.surface.root), rights=self._of(surface))
        return PipelineContext(surface, root, shared, self.whole.contexts[surface.name])

    def _remember(self, former: SearchMemory | None) -> SearchMemory:
        # Other rights mean another folder: old traces may quote what is no longer readable.
        key = digest(f"{self.person}\n{_written(self.rights)}", 16)
        folder = f"{_FOLDER}/{key}"
        traces = self.whole.trace_folder(f"{folder}/traces")
        statistics = self.whole.state.path / folder / "statistics.jsonl"
        memory = self.whole.memory_in(traces, statistics, former)
        self.whole.share_traces(memory.traces, key)
        return memory


def _written(rights: Rights) -> str:
    """Return rights as text, equal for equal rights."""
    return repr(sorted((name, sorted(to.read), sorted(to.write)) for name, to in rights.items()))
