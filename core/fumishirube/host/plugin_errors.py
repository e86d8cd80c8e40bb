"""Errors that plugins raise, as callers may get them: without absolute paths, and as JSON."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from fumishirube.errors import ConfigError, FumishirubeError, ToolError

_END = r"\s'\"`<>|,;()\[\]{}"
_PATH = re.compile(rf"(?<![\w./:\\-])(?:/[^{_END}]+|[A-Za-z]:[\\/][^{_END}]+|\\\\[^{_END}]+)")
"""What may be an absolute path: of POSIX, of a drive, or of a share."""


def drop_paths(error: FumishirubeError) -> None:
    """Replace absolute paths in the message and the details of an error by their last names."""
    error.args = tuple(_without_paths(argument) for argument in error.args)
    if isinstance(error, ToolError):
        error.details = {key: _without_paths(value) for key, value in error.details.items()}
    if isinstance(error, ConfigError):
        error.problem, error.at = _without_paths(error.problem), _without_paths(error.at)


def is_answer(error: FumishirubeError) -> bool:
    """Tell whether an error is one that a caller can get: with a code, and details of JSON."""
    try:
        payload = error.payload() if isinstance(error, ToolError) else {}
        json.dumps(payload, allow_nan=False)
        return isinstance(payload.get("code", ""), str)
    except Exception:  # a plugin may define the payload
        return False


def _without_paths(value: Any) -> Any:
    match value:
        case str():
            return _PATH.sub(lambda match: _name(match[0]), value)
        case dict():
            return {key: _without_paths(each) for key, each in value.items()}
        case list() | tuple():
            return [_without_paths(each) for each in value]
        case _:
            return value


def _name(path: str) -> str:
    """Return the last name of an absolute path; of another text, such as ``/l/``, all of it."""
    if path.startswith("/"):
        top = path.split("/")[1]
        return PurePath(path).name if top and _exists(f"/{top}") else path
    return PureWindowsPath(path).name


@cache
def _exists(folder: str) -> bool:
    return Path(folder).exists()
