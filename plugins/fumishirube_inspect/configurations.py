"""The configurations to search with: that of the open application, and others beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from fumishirube.commands import Application, suggest
from fumishirube.serving import load_plugins, open_application, open_scratch_application


class Version(NamedTuple):
    """Another configuration, and when its file was written."""

    name: str
    written: float


@dataclass
class _Opened:
    """The application of another configuration; its users are threads, and being the newest."""

    version: Version
    application: Application
    stack: ExitStack
    users: int = 1


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
        self._lock = Lock()

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

    @contextmanager
    def application(self, name: str) -> Iterator[tuple[Version, Application]]:
        """Yield the application of another configuration, opened again if its file changed.

        The former one is closed when nobody uses it. One thread at a time may call this.

        Raises:
            NotFound: when there is no such configuration, with the nearest name.
            ConfigError: when it cannot be used.
        """
        file, written = self._file(name), self._written(name)
        if written is None or name not in (self.current, *self.others()):
            raise suggest("configuration", name, [self.current, *self.others()])
        version = Version(name, written)
        former = self._opened.get(name)
        if former is None or former.version != version:
            self._opened[name] = self._open(file, version)
            if former is not None:
                self._leave(former)
        with self.still_open(version) as application:
            assert application
            yield version, application

    @contextmanager
    def still_open(self, version: Version) -> Iterator[Application | None]:
        """Yield the application of a version, unless another version was opened since."""
        with self._lock:
            opened = self._opened.get(version.name)
            if opened is not None and opened.version == version:
                opened.users += 1
            else:
                opened = None
        try:
            yield opened.application if opened else None
        finally:
            if opened is not None:
                self._leave(opened)

    def _leave(self, opened: _Opened) -> None:
        with self._lock:
            opened.users -= 1
            unused = not opened.users
        if unused:
            opened.stack.close()

    def _open(self, file: Path, version: Version) -> _Opened:
        ours = self._application.loaded
        strangers, trusted = self._strangers, ours.trust.all_trusted
        opened = open_application(ours.workspace, file, strangers=strangers, trusted=trusted)
        with closing(opened) as application:
            loaded = application.loaded
        stack = ExitStack()
        plugins = load_plugins(strangers=strangers)
        scratch = stack.enter_context(open_scratch_application(loaded, plugins))
        return _Opened(version, scratch, stack)

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
