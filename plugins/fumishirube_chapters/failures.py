"""The errors of the chapters' tools, with the codes of their HTTP contract."""

from __future__ import annotations

from pydantic import JsonValue

from fumishirube import InternalError, InvalidParameter, NotFound, ToolError

_SHOWN = 80


class _CodeTwice(ToolError):
    def payload(self) -> dict[str, JsonValue]:
        """Return the usual object, with the code also under ``error``."""
        payload = super().payload()
        return {**payload, "error": payload["code"]}


class InvalidRequest(_CodeTwice, InvalidParameter):
    """A missing or invalid argument."""

    code = "invalid_request"


class ChapterNotFound(_CodeTwice, NotFound):
    """An unknown manual or chapter, or an unusable table of contents or file."""


class ChapterInternalError(_CodeTwice, InternalError):
    """An internal error, logged under the same id."""

    def __init__(self, error: InternalError) -> None:
        super().__init__()
        self.args = error.args
        self.error_id = error.error_id
        self.details = error.details


def refused(error: ToolError, arguments: object) -> ToolError:
    """Translate an error into the errors of these tools."""
    if isinstance(error, InternalError):
        return ChapterInternalError(error)
    name = arguments.get("manual_name") if isinstance(arguments, dict) else None
    if error.details.get("parameter") == "manual_name" and isinstance(name, str):
        error = no_manual(name)  # it has lone surrogates, as no manual's name has
    if isinstance(error, NotFound):
        return ChapterNotFound(str(error), **error.details)
    return InvalidRequest(str(error), **error.details)


def no_manual(name: str) -> NotFound:
    """Return the error for an unknown manual."""
    return NotFound(f"manual {quoted(name)} was not found")


def no_contents(name: str, toc: str, reason: str) -> NotFound:
    """Return the error for an unusable table of contents."""
    return NotFound(f"manual {quoted(name)} has no usable {toc}: {reason}")


def no_section(section_id: str, name: str) -> NotFound:
    """Return the error for an unknown chapter id."""
    return NotFound(f"section {quoted(section_id)} was not found in manual {quoted(name)}")


def no_file(section_id: str, name: str, file: str, reason: str) -> NotFound:
    """Return the error for an unreadable chapter file."""
    return NotFound(
        f"section {quoted(section_id)} of manual {quoted(name)} has no readable file "
        f"{quoted(file)}: {reason}"
    )


def quoted(value: str) -> str:
    """Return a value in quotes, cut to 80 characters."""
    return f"'{value if len(value) <= _SHOWN else value[: _SHOWN - 1] + '…'}'"
