"""The exit codes of processes, and which failure has which code."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube.disk.folders import why_unwritten
from fumishirube.errors import (
    AlreadyServed,
    Cancelled,
    ConfigError,
    InternalError,
    PluginError,
    ToolError,
)
from fumishirube.faces.cli.output import complain, discard_output, print_json
from fumishirube.host.standard_streams import UnwritableOutput

OK, FAILURE, USAGE_ERROR, LOCKED, INTERRUPTED = 0, 1, 2, 4, 130
"""Success; failure; wrong usage or configuration; locked; interrupted."""

_LOG = logging.getLogger("fumishirube")

_UNUSABLE = "configuration error"
_GONE = "the current folder does not exist any more; change to another one"
_TOO_LONG = "a name of a file or folder is too long for this system"


def guarded(run: Callable[[], int], *, as_json: bool = False) -> int:
    """Run the work of a process; turn every failure into an exit code and a line.

    With ``as_json`` every failure is also an error object on standard output.
    """
    try:
        return run()
    except SystemExit as leaving:
        if isinstance(leaving.code, int | None):
            return leaving.code or 0
        complain(str(leaving.code))
        return FAILURE
    except (KeyboardInterrupt, Cancelled):
        return INTERRUPTED
    except (BrokenPipeError, UnwritableOutput) as error:
        return _without_output(error)
    except ToolError as error:
        if as_json:
            print_json(error.payload())
        else:
            complain(f"error: {error} [{error.code}]")
        for note in getattr(error, "__notes__", ()):
            complain(note)
        return FAILURE
    except BaseException as error:  # panics of extensions in Rust are no Exception
        failure = _failure(error)
        _LOG.debug("a command: error_id %s", failure.error_id, exc_info=True)
        if as_json:
            print_json(failure.payload())
        complain(f"{failure.title}: {failure.sentence}")
        return failure.exit_code


def _without_output(error: OSError) -> int:
    """Return the exit code of a command whose output was lost; say why if its reader is there."""
    discard_output()
    if isinstance(error, BrokenPipeError):
        return INTERRUPTED
    complain(f"error: standard output cannot be written: {why_unwritten(error)}")
    return FAILURE


class _Failure(NamedTuple):
    exit_code: int
    code: str
    sentence: str
    title: str = "error"
    error_id: str | None = None

    def payload(self) -> dict[str, JsonValue]:
        """Return an object like that of a tool's error."""
        error_id = self.error_id
        details: dict[str, JsonValue] = {"details": {"error_id": error_id}} if error_id else {}
        return {"code": self.code, "message": self.sentence, **details}


def _failure(error: BaseException) -> _Failure:
    if isinstance(error, AlreadyServed):
        return _Failure(LOCKED, "conflict", str(error))
    if isinstance(error, ConfigError):
        return _Failure(USAGE_ERROR, "configuration_error", str(error), _UNUSABLE)
    if isinstance(error, PluginError):
        return _Failure(FAILURE, InternalError.code, str(error))
    if isinstance(error, FileNotFoundError) and _folder_is_gone():
        return _Failure(USAGE_ERROR, "configuration_error", _GONE, _UNUSABLE)
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return _Failure(USAGE_ERROR, "configuration_error", _TOO_LONG, _UNUSABLE)
    error_id = InternalError().error_id
    text = f"something unexpected happened; --verbose shows the details (error_id {error_id})"
    return _Failure(FAILURE, InternalError.code, text, error_id=error_id)


def _folder_is_gone() -> bool:
    """Tell whether the folder in which this process was started is deleted."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False
