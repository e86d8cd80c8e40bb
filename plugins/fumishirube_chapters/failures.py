"""How the chapters' tools say that they cannot: in the codes of their HTTP bodies."""

from __future__ import annotations

from pydantic import JsonValue

from fumishirube import InternalError, InvalidParameter, NotFound, ToolError

_SHOWN = 80


class InvalidRequest(InvalidParameter):
    """An argument is missing or unusable."""

    code = "invalid_request"

    def payload(self) -> dict[str, JsonValue]:
        """The usual object, with the code under ``error`` too."""
        return _twice(super().payload())


class ChapterNotFound(NotFound):
    """There is no such manual, table of contents, chapter or file."""

    def payload(self) -> dict[str, JsonValue]:
        """The usual object, with the code under ``error`` too."""
        return _twice(super().payload())


class ChapterInternalError(InternalError):
    """Something went wrong, and was logged under the same id."""

    def __init__(self, error: InternalError) -> None:
        super().__init__()
        self.error_id = error.error_id
        self.details = error.details

    def payload(self) -> dict[str, JsonValue]:
        """The usual object, with the code under ``error`` too."""
        return _twice(super().payload())


def refused(error: ToolError, _arguments: object) -> ToolError:
    """Return a failure as these tools' callers know it."""
    if isinstance(error, InternalError):
        return ChapterInternalError(error)
    if isinstance(error, NotFound):
        return ChapterNotFound(str(error), **error.details)
    return InvalidRequest(str(error), **error.details)


def required(parameter: str) -> InvalidParameter:
    """Return the complaint that an argument is missing, or as good as missing."""
    return InvalidParameter(f"{parameter} is required", parameter=parameter)


def no_manual(name: str) -> NotFound:
    """Return the complaint that there is no manual of this name."""
    return NotFound(f"manual {quoted(name)} was not found")


def no_contents(name: str, toc: str, reason: str) -> NotFound:
    """Return the complaint that a manual's table of contents cannot be used."""
    return NotFound(f"manual {quoted(name)} has no usable {toc}: {reason}")


def no_section(section_id: str, name: str) -> NotFound:
    """Return the complaint that a manual's table of contents has no such id."""
    return NotFound(f"section {quoted(section_id)} was not found in manual {quoted(name)}")


def no_file(section_id: str, name: str, file: str, reason: str) -> NotFound:
    """Return the complaint that a chapter's file cannot be read."""
    return NotFound(
        f"section {quoted(section_id)} of manual {quoted(name)} has no readable file "
        f"{quoted(file)}: {reason}"
    )


def quoted(value: str) -> str:
    """Return a value between quotes, cut to 80 characters."""
    return f"'{value if len(value) <= _SHOWN else value[: _SHOWN - 1] + '…'}'"


def _twice(payload: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {**payload, "error": payload["code"]}
