"""YAML files as they were written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shirube.errors import ConfigError


def read_yaml(file: Path) -> dict[str, Any]:
    """Return the keys of a file; none when it is empty.

    Raises:
        ConfigError: when it cannot be read, or is no YAML that has keys.
    """
    import yaml  # noqa: PLC0415 - 12 ms that a workspace without a file does not need

    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8-sig"))
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(
            f"{file.name}{line}: {error.problem or 'it is not valid YAML'}"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name}: it is not valid YAML in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; check its permissions") from error
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ConfigError(f"{file.name}: expected keys such as 'pipelines', got {_kind(given)}")
    return given


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"
