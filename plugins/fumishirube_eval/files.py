"""The files of an evaluation: JSON Lines that are read, and results that are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_IMODE
from tempfile import TemporaryFile
from typing import Any

from fumishirube import ConfigError
from fumishirube.disk import replace_file


def file_lines(file: Path) -> list[bytes]:
    """Return the lines of a file of JSON Lines.

    Raises:
        ConfigError: when it cannot be read.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise ConfigError(f"{name_of(file)}: there is no such file") from error
    except OSError as error:
        raise ConfigError(f"{name_of(file)}: it cannot be read; is it a file?") from error
    # Split at LF only: a JSON string may contain other line separators.
    return content.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def json_lines(lines: Iterable[bytes], name: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield where each line is, in words for errors and by its number, and the object on it.

    Blank lines are ignored; ``name`` is the name of the file.

    Raises:
        ConfigError: with the file and line of an error.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            where = f"{name} line {number}"
            data = _parsed(line, where)
            if not isinstance(data, dict):
                raise ConfigError(f"{where}: expected a JSON object")
            yield where, number, data


def _parsed(line: bytes, where: str) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where}: it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where}: {error.msg}, at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: it is not usable as JSON") from error


def check_writable(file: Path) -> None:
    """Make sure that a file can be written, or replaced; it is not made, and its content stays.

    Raises:
        ConfigError: when it cannot be written.
    """
    try:
        if file.is_file() or file.is_dir():
            file.open("ab").close()
        if file.is_file() or not file.exists():  # others, such as pipes, are not replaced
            TemporaryFile(dir=file.resolve().parent).close()
    except OSError as error:
        raise _unwritten(file) from error


def check_distinct(file: Path, sources: Iterable[Path]) -> None:
    """Make sure that a file to write is none of those that are read.

    Raises:
        ConfigError: when it is.
    """
    for source in sources:
        if file.exists() and source.exists() and file.samefile(source):
            raise ConfigError(f"{name_of(file)}: it is read too; name another file to write")


def write_text(file: Path, text: str) -> None:
    """Write a text in UTF-8; after an error the former file is unchanged.

    Raises:
        ConfigError: when it cannot be written.
    """
    data = text.encode("utf-8", "replace")
    try:
        if file.exists() and not file.is_file():  # such as a pipe
            file.write_bytes(data)
            return
        file.touch()  # with the mode that the user's files have
        target = file.resolve()
        replace_file(target, data, mode=S_IMODE(target.stat().st_mode))
    except OSError as error:
        raise _unwritten(file) from error


def name_of(file: Path) -> str:
    """Return the name of a file in errors, without its folder; ``.`` and ``/`` have none."""
    return file.name or str(file)


def _unwritten(file: Path) -> ConfigError:
    return ConfigError(f"{name_of(file)}: it cannot be written there")
