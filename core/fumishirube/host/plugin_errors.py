"""Errors that plugins raise, as callers may get them: without absolute paths, and as JSON."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import PurePath, PureWindowsPath
from typing import Any

from fumishirube.errors import ConfigError, FumishirubeError, ToolError

_END = r"\s'\"`<>|,;()\[\]{}"
_PATH = re.compile(
    rf"(?<![A-Za-z0-9_./\\-])(?:(?P<drive>/*[A-Za-z]:[\\/])[^{_END}]+|/[^{_END}]+|\\\\[^{_END}]+)"
)
"""What may be an absolute path: of a drive, of POSIX, or of a share; also in a URL of a file."""


def drop_paths(error: FumishirubeError) -> None:
    """Replace absolute paths in the message and the details of an error by their last names."""
    error.args = tuple(_without_paths(argument) for argument in error.args)
    if isinstance(error, ToolError):
        error.details = _without_paths(dict(error.details))
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
            return _PATH.sub(_name, value)
        case dict():
            return {_without_paths(key): _without_paths(each) for key, each in value.items()}
        case list():
            return [_without_paths(each) for each in value]
        case tuple():
            return tuple(_without_paths(each) for each in value)
        case _:
            return value


def _name(match: re.Match[str]) -> str:
    """Return the last name of an absolute path; of another text, such as ``/l/``, all of it."""
    path, before = match[0], match.string[: match.start()][-1:]
    if match["drive"] or not path.startswith("/"):
        return PureWindowsPath(path).name
    names = path.strip("/").split("/")
    of_host = before == ":" and path[2:] == path.lstrip("/")  # as in http://host/a
    if of_host or not names[0]:
        return path
    known = names[: 2 if before.isalpha() else 1]  # 資料/lib/a.md is hardly in a folder /lib
    return PurePath(path).name if _exists("/" + "/".join(known)) else path


@cache
def _exists(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - unlike that of a Path, it takes names of any length
