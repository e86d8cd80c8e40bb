"""Cases: questions whose right files and sections are known, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field

from fumishirube import ConfigError, Params, ToolError
from fumishirube.serving import compact, parse_arguments
from fumishirube.text import nfc

SectionKey: TypeAlias = tuple[str, int]
"""A section: the path of its file, composed (NFC), and the line of its heading, from 1."""

ComposedPath = Annotated[str, Field(min_length=1), AfterValidator(nfc)]
HeadingLine = Annotated[int, Field(ge=1)]

_MISSPELT = 0.85


class Case(Params):
    """One question, and what answers it.

    ``expected_paths`` are the right files. ``expected_lines`` are the right sections, where they
    are known. ``ignored_paths`` are dropped from a ranking before it is judged, such as the page
    that the question was lifted from. ``forbidden_paths`` should not be found at all.
    """

    case_id: Annotated[str, Field(min_length=1)]
    facet: str | None = None
    query: Annotated[str, Field(min_length=1)]
    manual_id: Annotated[str, Field(min_length=1)]
    required_terms: tuple[str, ...]
    expected_paths: Annotated[tuple[ComposedPath, ...], Field(min_length=1)]
    expected_lines: tuple[tuple[ComposedPath, HeadingLine], ...] = ()
    ignored_paths: tuple[ComposedPath, ...] = ()
    forbidden_paths: tuple[ComposedPath, ...] = ()

    @property
    def line(self) -> str:
        """The case as a line of a file of cases, without its end."""
        return compact(self.model_dump(mode="json", exclude_defaults=True))


def load_cases(file: Path) -> list[Case]:
    """Read a file of cases. Blank lines are passed over.

    Raises:
        ConfigError: with the file's name and the line of what is wrong.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise ConfigError(f"{file.name}: there is no such file of cases") from error
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; is it a file?") from error
    # Only LF ends a line: a JSON string may hold other separators.
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return parsed_cases(lines, file.name)


def parsed_cases(lines: Iterable[bytes], name: str) -> list[Case]:
    """Return the cases of a file's lines; ``name`` is the file's, for the sake of a complaint.

    Raises:
        ConfigError: with the file's name and the line of what is wrong.
    """
    cases: list[Case] = []
    known: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        case = _parsed(line, where)
        if case.case_id in known:
            first = known[case.case_id]
            raise ConfigError(f"{where}: case_id {case.case_id!r} is that of line {first} too")
        known[case.case_id] = number
        cases.append(case)
    if not cases:
        raise ConfigError(f"{name}: there are no cases in it; a case is one JSON object a line")
    return cases


def save_cases(cases: Sequence[Case], file: Path) -> None:
    """Write a file of cases: UTF-8, a case a line.

    Raises:
        ConfigError: when it cannot be written.
    """
    save_lines([case.line for case in cases], file)


def save_lines(lines: Iterable[str], file: Path) -> None:
    """Write lines of UTF-8, each with its end.

    Raises:
        ConfigError: when they cannot be written.
    """
    try:
        file.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be written there") from error


def _parsed(line: bytes, where: str) -> Case:
    try:
        data = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where}: it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where}: {error.msg}, at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: it is not usable as JSON") from error
    if not isinstance(data, dict):
        raise ConfigError(f'{where}: a case is a JSON object, such as {{"case_id": …}}')
    try:
        return parse_arguments(Case, _own(data, where))
    except ToolError as error:
        raise ConfigError(f"{where}: {error}") from error


def _own(data: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the keys of a case. A set may keep notes under others, unless they look misspelt."""
    known = list(Case.model_fields)
    for key in data:
        near = get_close_matches(key, known, n=1, cutoff=_MISSPELT)
        if near and key not in known:
            raise ConfigError(f"{where}: there is no key {key!r}; did you mean {near[0]!r}?")
    return {key: value for key, value in data.items() if key in known}
