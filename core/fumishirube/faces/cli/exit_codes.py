"""The exit codes of processes, and which failure has which code."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from fumishirube.errors import AlreadyServed, Cancelled, ConfigError, InternalError, PluginError
from fumishirube.faces.cli.streams import complain, discard_output

OK, FAILURE, USAGE_ERROR, LOCKED, INTERRUPTED = 0, 1, 2, 4, 130
"""Success; failure; wrong usage or configuration; locked; interrupted."""

_LOG = logging.getLogger("fumishirube")

_GONE = "the current folder does not exist any more; change to another one"


def guarded(run: Callable[[], int]) -> int:
    """Run the work of a process; turn every failure into an exit code and a line."""
    try:
        return run()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE_ERROR
    except (KeyboardInterrupt, Cancelled):
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return INTERRUPTED
    except AlreadyServed as error:
        complain(f"error: {error}")
        return LOCKED
    except ConfigError as error:
        text = str(error)
        complain(text if text.startswith("configuration error") else f"configuration error: {text}")
        return USAGE_ERROR
    except PluginError as error:
        _LOG.debug("a command", exc_info=True)
        complain(f"error: {error}")
        return FAILURE
    except BaseException as error:  # panics of extensions in Rust are no Exception
        if isinstance(error, FileNotFoundError) and _folder_is_gone():
            complain(f"configuration error: {_GONE}")
            return USAGE_ERROR
        failure = InternalError()
        _LOG.debug("error_id %s", failure.error_id, exc_info=True)
        hint = "--verbose shows the details"
        complain(f"error: something unexpected happened; {hint} (error_id {failure.error_id})")
        return FAILURE


def _folder_is_gone() -> bool:
    """Tell whether the folder in which this process was started is deleted."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False
