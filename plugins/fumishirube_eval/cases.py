"""Cases: queries with known right files and sections, as JSON Lines."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints

from fumishirube import ConfigError, Params, ToolError
from fumishirube.commands import did_you_mean
from fumishirube.serving import parse_arguments
from fumishirube.text import nfc
from fumishirube.tools import compact
from fumishirube_eval.files import file_lines, json_lines, write_text

SectionKey: TypeAlias = tuple[str, int]
"""A section: the path of its file, in NFC, and the line of its heading, from 1."""

ComposedPath = Annotated[str, Field(min_length=1), AfterValidator(nfc)]
HeadingLine = Annotated[int, Field(ge=1)]

_MISSPELT = 0.85


class Case(Params):
    """A query and its right results.

    ``expected_paths`` are the right files; ``expected_lines`` the right sections, where known.
    ``ignored_paths`` are removed from a ranking before grading, such as the page that the query
    was taken from. ``forbidden_paths`` should not be found.
    """

    case_id: Annotated[str, Field(min_length=1)]
    facet: str | None = None
    query: Annotated[str, Field(min_length=1)]
    manual_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    required_terms: tuple[str, ...]
    expected_paths: Annotated[tuple[ComposedPath, ...], Field(min_length=1)]
    expected_lines: tuple[tuple[ComposedPath, HeadingLine], ...] = ()
    ignored_paths: tuple[ComposedPath, ...] = ()
    forbidden_paths: tuple[ComposedPath, ...] = ()

    @property
    def line(self) -> str:
        """The case as a line of JSON, without a line end."""
        return compact(self.model_dump(mode="json", exclude_defaults=True))


def load_cases(file: Path) -> list[Case]:
    """Read a file of cases; ignore blank lines.

    Raises:
        ConfigError: with the file and line of an error.
    """
    return parsed_cases(file_lines(file), file.name)


def parsed_cases(lines: Iterable[bytes], name: str) -> list[Case]:
    """Parse the lines of a file; ``name`` is its name in errors.

    Raises:
        ConfigError: with the file and line of an error.
    """
    cases: list[Case] = []
    line_of: dict[str, int] = {}
    for where, number, data in json_lines(lines, name):
        case = _case(data, where)
        if case.case_id in line_of:
            first = line_of[case.case_id]
            raise ConfigError(f"{where}: case_id {case.case_id!r} is that of line {first} too")
        line_of[case.case_id] = number
        cases.append(case)
    if not cases:
        raise ConfigError(f"{name}: there are no cases in it; a case is one JSON object a line")
    return cases


def save_cases(cases: Sequence[Case], file: Path) -> None:
    """Write a file of cases: UTF-8, one case a line.

    Raises:
        ConfigError: when it cannot be written.
    """
    write_text(file, "".join(f"{case.line}\n" for case in cases))


def _case(data: dict[str, Any], where: str) -> Case:
    try:
        case = parse_arguments(Case, _own(data, where))
    except ToolError as error:
        raise ConfigError(f"{where}: {error}") from error
    for path, _ in case.expected_lines:
        if path not in case.expected_paths:
            raise ConfigError(f"{where}: {path!r} of expected_lines is not in expected_paths")
    return case


def _own(data: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the keys of a case. Other keys are allowed, unless they look like a misspelling."""
    keys = list(Case.model_fields)
    for key in data:
        if key not in keys and (hint := did_you_mean(key, keys, "", cutoff=_MISSPELT)):
            raise ConfigError(f"{where}: there is no key {key!r}; {hint}")
    return {key: value for key, value in data.items() if key in keys}
