"""The command line: the same tools as every other face, for people and for scripts."""

from __future__ import annotations

import gc
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from fumishirube.errors import (
    AlreadyServed,
    Cancelled,
    ConfigError,
    InternalError,
    PluginError,
    ToolError,
)
from fumishirube.faces.cli.output import print_json
from fumishirube.faces.cli.parser import COMMANDS, Parser, add_ways_to_serve, build_parser
from fumishirube.faces.cli.streams import (
    PluginFaultHandler,
    PrintableFormatter,
    complain,
    discard_output,
    use_utf8_streams,
)
from fumishirube.host.wire import claim_output, exit_now
from fumishirube.plugins.commands import SERVE

OK, FAILURE, USAGE_ERROR, LOCKED, INTERRUPTED = 0, 1, 2, 4, 130
"""Exit codes: all well; something is off; wrong usage or configuration; held; interrupted."""

_LOG = logging.getLogger("fumishirube")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code. Nothing escapes but a line on standard error.

    Without ``argv`` the process's own arguments count, and the process ends with the command.
    """
    if argv is None:
        # What a short process makes, it keeps: looking for garbage would take a tenth of its time,
        # and so would taking everything apart at the end.
        gc.disable()
        exit_now(_guarded(sys.argv[1:], own_process=True))
    return _guarded(argv)


def _guarded(argv: Sequence[str], *, own_process: bool = False) -> int:
    """Run one command; whatever goes wrong becomes an exit code and a line."""
    use_utf8_streams()
    try:
        return _run([_repaired(word) for word in argv], own_process=own_process)
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
    except BaseException:  # an engine's own panic is no Exception
        failure = InternalError()
        _LOG.debug("error_id %s", failure.error_id, exc_info=True)
        hint = "--verbose shows the details"
        complain(f"error: something unexpected happened; {hint} (error_id {failure.error_id})")
        return FAILURE


def _run(words: Sequence[str], *, own_process: bool) -> int:
    # Before the command's module: what goes wrong with its import is to be told as well.
    _set_up_logs(verbose="--verbose" in words[: words.index("--") if "--" in words else None])
    parser, options = _parsed(words)
    if "run" not in options:
        parser.print_help()
        return OK
    if own_process and not getattr(options, "claims_streams", False):
        claim_output(raw=getattr(options, "raw", False))
    try:
        code: int = options.run(options)
    except ToolError as error:
        _tell(error, as_json=getattr(options, "json", False))
        code = FAILURE
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _tell(error: ToolError, *, as_json: bool) -> None:
    """Say what a tool refused: as the tool itself does, or as a line; then what to do instead."""
    if as_json:
        print_json(error.payload())
    else:
        complain(f"error: {error} [{error.code}]")
    for note in getattr(error, "__notes__", ()):
        complain(note)


def _parsed(words: Sequence[str]) -> tuple[Parser, Namespace]:
    """Build the parser of the chosen command alone; its module is the only one imported.

    Plugins are loaded for the sake of a command that is not the framework's own, or of the list of
    all. Those that were loaded are the ``plugins`` of the options.
    """
    from fumishirube.faces.cli.workspace import early_plugins  # noqa: PLC0415 - --version needs none of it

    parser, commands = build_parser()
    chosen = parser.command_in(words)
    known, plugins = dict(COMMANDS), None
    if chosen not in COMMANDS and "--version" not in words:
        plugins = early_plugins(words)
        known = plugins.commands.verbs() | known
    if chosen in known:
        added = commands.add(known[chosen])
        if chosen == SERVE and added.lacks(words):
            plugins = early_plugins(words)
            add_ways_to_serve(added, plugins.commands, words)
    elif chosen is not None:
        parser.refuse_word("command", chosen, known)
    commands.add_remaining(known.values())
    parser.set_defaults(plugins=plugins)
    return parser, parser.parse(words)


def _set_up_logs(*, verbose: bool) -> None:
    """Keep every library from printing by itself; ``--verbose`` shows what this one tells."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.captureWarnings(capture=True)
    _LOG.addHandler(PluginFaultHandler(logging.WARNING))
    if verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(PrintableFormatter("%(levelname)s %(name)s: %(message)s"))
        _LOG.addHandler(handler)
        _LOG.setLevel(logging.DEBUG)


def _repaired(word: str) -> str:
    """Read an argument as UTF-8 although the locale did not."""
    if word.isascii():
        return word
    return os.fsencode(word).decode("utf-8", "replace")
