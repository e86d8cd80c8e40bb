"""All errors that Fumishirube raises.

::

    FumishirubeError
    ├── ConfigError            an unusable configuration; it stops the start
    ├── PluginError            a refused plugin; it is reported, the start goes on
    ├── AlreadyServed          another process holds what only one may hold
    ├── Cancelled              the caller no longer waits for the answer
    ├── IndexDamaged           an index on disk is missing or damaged; it is rebuilt
    └── ToolError              an answer with a code
        ├── InvalidParameter   invalid_parameter
        ├── InvalidPath        invalid_path
        ├── OutOfScope         out_of_scope
        ├── NeedsNarrowScope   needs_narrow_scope
        ├── NotFound           not_found
        ├── Forbidden          forbidden
        ├── InvalidScope       invalid_scope
        │   └── Unreadable     invalid_scope, with the reason: undecodable, too_large
        ├── Conflict           conflict
        └── InternalError      internal_error
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import ClassVar

from pydantic import JsonValue

MESSAGE_LIMIT = 300
_LONGEST, _HEAD, _TAIL = 2_000, 400, 200


class FumishirubeError(Exception):
    """The root of the tree; ``str(error)`` is one English sentence for the reader."""


class ConfigError(FumishirubeError):
    """An unusable setting. The message starts with its coordinate in the file or its variable.

    Name the coordinate with ``at``; then the message also says in which line of the file it is, and
    ``problem`` is the rest. Long quotations of a file are shortened in the middle.
    """

    def __init__(self, problem: str = "", *, at: str = "") -> None:
        cut = len(problem) > _LONGEST
        self.problem = f"{problem[:_HEAD]}…{problem[-_TAIL:]}" if cut else problem
        self.at = at
        self.place = ""
        super().__init__(self.problem)

    def __str__(self) -> str:
        located = f"{self.at}: {self.problem}" if self.at else self.problem
        return f"{located} ({self.place})" if self.place else located


class UnknownStage(ConfigError):
    """A stage is named that no plugin offers."""


class PluginError(FumishirubeError):
    """A plugin, or a stage of it, was refused, or failed where nothing can replace it."""


class Cancelled(FumishirubeError):
    """The caller cancelled the request or closed the connection."""


class IndexDamaged(FumishirubeError):
    """The files of an index are missing or not as written; never a fault of a stage.

    The index is rebuilt when its folder is opened the next time.
    """


class AlreadyServed(FumishirubeError):
    """Another process holds a resource for one process; ``pid`` is its id, if known."""

    def __init__(self, message: str, pid: int | None = None) -> None:
        super().__init__(message)
        self.pid = pid


class ToolError(FumishirubeError):
    """An error that the caller receives with a code, as in ``NotFound("no such page", path=path)``.

    ``details`` name the offending parameter, its bounds, or what to call first; they never contain
    absolute paths, stack traces or messages of the operating system.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **details: JsonValue) -> None:
        super().__init__(message)
        self.details = {key: value for key, value in details.items() if value is not None}

    def payload(self) -> dict[str, JsonValue]:
        """Return ``{"code", "message", "details"?}``, as every face answers it."""
        message = str(self)
        if len(message) > MESSAGE_LIMIT:
            message = message[: MESSAGE_LIMIT - 1] + "…"
        details: dict[str, JsonValue] = {"details": dict(self.details)} if self.details else {}
        return {"code": self.code, "message": message, **details}


class InvalidParameter(ToolError):
    """An argument has the wrong type, is out of range, is unknown, or discovery is missing."""

    code = "invalid_parameter"

    @classmethod
    def unless_within(cls, parameter: str, value: int, least: int, most: int) -> None:
        """Check an argument whose bounds depend on the text.

        Raises:
            InvalidParameter: ``value`` is below ``least`` or above ``most``.
        """
        if not least <= value <= most:
            raise cls(
                f"{parameter} must be within {least}..{most}",
                parameter=parameter,
                min=least,
                max=most,
            )


class InvalidPath(ToolError):
    """A path is missing, not a string, or malformed."""

    code = "invalid_path"


class OutOfScope(ToolError):
    """The resolved location lies outside its root although no link was followed."""

    code = "out_of_scope"


class NeedsNarrowScope(ToolError):
    """The request would list too much; it must name a part."""

    code = "needs_narrow_scope"


class NotFound(ToolError):
    """Well formed, but absent, unlisted, expired, or of the wrong kind."""

    code = "not_found"


class Forbidden(ToolError):
    """A symlink, a reserved area, a naming rule, or the operating system's permissions."""

    code = "forbidden"


class InvalidScope(ToolError):
    """The file exists, but this tool cannot serve it."""

    code = "invalid_scope"


class Unreadable(InvalidScope):
    """The text of a listed file cannot be read, as in ``Unreadable("it is cut off", "damaged")``.

    The second argument says why in a word, as does ``details["reason"]``.
    """

    def __init__(self, message: str, reason: str, **details: JsonValue) -> None:
        super().__init__(message, reason=reason, **details)
        self.reason = reason


class Conflict(ToolError):
    """Something else changed or already exists there."""

    code = "conflict"


class InternalError(ToolError):
    """An unexpected failure: the caller gets an id, under which the log has the details.

    Pass an ``error_id`` if the log of another server has the details.
    """

    def __init__(
        self, error_id: str | None = None, problem: str = "an unexpected error occurred"
    ) -> None:
        self.error_id = error_id or uuid.uuid4().hex[:12]
        super().__init__(
            f"{problem}; the server log has the details under this error_id", error_id=self.error_id
        )


def first_line(error: BaseException) -> str:
    """Return an exception's type and the beginning of its message's first line, if it has one."""
    try:
        message = str(error).strip()
    except KeyboardInterrupt:
        raise
    except BaseException:  # the code of a plugin may write the message
        message = ""
    first = (message.splitlines() or [""])[0][:_LONGEST]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def did_you_mean(
    word: str,
    names: Iterable[str],
    otherwise: str | None = None,
    *,
    cutoff: float = 0.6,
    shown: Callable[[str], str] = str,
) -> str:
    """Return a hint for an unknown word: the nearest name, ``otherwise``, or all names.

    ``cutoff`` is the least similarity, from 0 to 1, by :func:`difflib.get_close_matches`. ``shown``
    is how the hint writes a name.
    """
    known = list(names)
    near = get_close_matches(word, known, n=1, cutoff=cutoff)
    if near:
        return f"did you mean {shown(near[0])!r}?"
    return f"there are: {', '.join(known) or 'none'}" if otherwise is None else otherwise
