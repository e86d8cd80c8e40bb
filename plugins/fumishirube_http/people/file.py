"""The people file: read when it changes, and written whole."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from pydantic import ValidationError

from fumishirube import ConfigError
from fumishirube.disk import replace_file, take_lock
from fumishirube.serving import LoadedConfig
from fumishirube_http.people.records import DOCS, MANUALS, VAULT, PeopleRecord, Person

People: TypeAlias = Mapping[str, Person]

MODE = 0o600
_SECONDS = 10.0
_Stamp: TypeAlias = tuple[int, int, int, int]


class PeopleFile:
    """The people file of a server, or of ``fumishirube users``. Errors never repeat its content."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = f"people file {path.name!r}"
        self._stamp: _Stamp | None = None
        self._people: People = {}
        self._lock = Lock()

    def check_place(self, loaded: LoadedConfig) -> None:
        """Check that no tool can read or replace the file.

        Raises:
            ConfigError: when one can.
        """
        place = self.path.resolve()
        for root in (MANUALS, VAULT, DOCS):
            if place.is_relative_to(loaded.folder(root)):
                raise ConfigError(
                    f"--people: {self.path.name!r} lies below roots.{root}, where tools read; "
                    "move it"
                )
        for name, folder in loaded.own.folders.items():
            if place.is_relative_to(folder.resolve()):
                raise ConfigError(
                    f"--people: {self.path.name!r} lies below the manual {name!r}, where tools "
                    "read; move it"
                )

    def people(self) -> People:
        """Return the people by name; an unchanged file is not read again.

        Raises:
            ConfigError: when the file is missing, or cannot be used: nobody is let in by an older
                state.
        """
        with self._lock:
            try:
                stamp = _stamp(self.path.stat())
                if stamp != self._stamp:
                    self._people, self._stamp = self._read(), stamp
            except OSError as error:
                raise ConfigError(
                    f"{self._name}: it cannot be read; 'fumishirube users add' makes it"
                ) from error
            return self._people

    def change(self, made: Callable[[People], People]) -> None:
        """Replace the people by ``made`` of them, while no other process does.

        Raises:
            ConfigError: when the file cannot be read or written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = self.path.with_name(f".{self.path.name}.lock")
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, MODE)
            try:
                if not take_lock(handle, _SECONDS):
                    raise ConfigError(f"{self._name}: another process is changing it")
                self._write(made(self.people() if self.path.exists() else {}))
            finally:
                os.close(handle)
        except OSError as error:
            raise ConfigError(f"{self._name}: it cannot be written here") from error

    def _read(self) -> People:
        with self.path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigError(
                    f"{self._name}: other users of this machine may open it; run: "
                    f"chmod 600 {self.path.name}"
                )
            content = stream.read()
        try:
            record = PeopleRecord.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise ConfigError(f"{self._name}: {where or 'the file'}: {first['msg']}") from error
        self._check(record)
        return record.people

    def _check(self, record: PeopleRecord) -> None:
        """Check that no two people have the same token or subject."""
        people = record.people.values()
        for keys in (
            [person.token.id for person in people if person.token],
            [person.subject for person in people if person.subject],
        ):
            if len(keys) != len({*keys}):
                raise ConfigError(f"{self._name}: two people have the same token or subject")

    def _write(self, people: People) -> None:
        record = PeopleRecord(people=dict(people))
        self._check(record)
        values = {"version": 1, **record.model_dump(mode="json", exclude_defaults=True)}
        text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
        replace_file(self.path, text.encode(), durable=True)


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
