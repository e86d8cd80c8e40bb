"""The configurations to search with: that of the open application, and others beside it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from fumishirube.commands import Application, suggest
from fumishirube.serving import load_plugins, open_application, open_scratch_application


class _Opened(NamedTuple):
    """The application of another configuration, and when its file was written."""

    application: Application
    written: float
    stack: ExitStack


class Configurations:
    """The configuration of an open application, and others in its workspace, by name.

    ``against`` is the first of the others, which may lie elsewhere. ``strangers`` is whether
    plugins that are not built in may run.
    """

    def __init__(
        self, application: Application, against: Path | None = None, *, strangers: bool = True
    ) -> None:
        self._application = application
        self._strangers = strangers
        self._against = against.absolute() if against else None
        self.current = application.loaded.file.name if application.loaded.file else "defaults"
        self.against = self._name_of_against()
        self._read = self._written(self.current)
        self._opened: dict[str, _Opened] = {}

    def close(self) -> None:
        """Close the applications that were opened."""
        for opened in self._opened.values():
            opened.stack.close()

    def others(self) -> Sequence[str]:
        """Return the names of the other configurations."""
        workspace = self._application.loaded.workspace
        files = (*workspace.glob("*.yaml"), *workspace.glob("*.yml"))
        names = sorted(file.name for file in files if file.is_file() and file.name != self.current)
        first = [self.against] if self.against else []
        return [*first, *(name for name in names if name not in first)]

    def is_current(self, name: str) -> bool:
        """Return whether the open application has this configuration, as its file now is."""
        return name == self.current and self._written(name) == self._read

    def application(self, name: str) -> Application:
        """Return the application of another configuration, opened again if its file changed.

        The former one is closed then: one thread at a time may call this, and use what it returns.

        Raises:
            NotFound: when there is no such configuration, with the nearest name.
            ConfigError: when it cannot be used.
        """
        file, written = self._file(name), self._written(name)
        if written is None or name not in (self.current, *self.others()):
            raise suggest("configuration", name, [self.current, *self.others()])
        opened = self._opened.get(name)
        if opened is None or opened.written != written:
            if opened is not None:
                del self._opened[name]
                opened.stack.close()
            opened = self._opened[name] = self._open(file, written)
        return opened.application

    def _open(self, file: Path, written: float) -> _Opened:
        ours = self._application.loaded
        with closing(
            open_application(
                ours.workspace,
                file,
                strangers=self._strangers,
                trusted=ours.trust.all_trusted,
            )
        ) as application:
            loaded = application.loaded
        stack = ExitStack()
        plugins = load_plugins(strangers=self._strangers)
        scratch = stack.enter_context(open_scratch_application(loaded, plugins))
        return _Opened(scratch, written, stack)

    def _name_of_against(self) -> str:
        """Return the name of the first of the others; its whole path if the name is taken."""
        if self._against is None:
            return ""
        taken = self._against.name == self.current
        return str(self._against) if taken else self._against.name

    def _file(self, name: str) -> Path:
        ours = self._application.loaded.file
        if ours is not None and name == self.current:
            return ours
        if self._against is not None and name == self.against:
            return self._against
        return self._application.loaded.workspace / name

    def _written(self, name: str) -> float | None:
        """Return the modification time of a configuration file, or ``None``."""
        try:
            return self._file(name).stat().st_mtime
        except (OSError, ValueError):
            return None
