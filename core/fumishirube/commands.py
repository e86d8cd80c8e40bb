"""The API for commands: their parser, the opened application, and their output."""

from fumishirube.config.trust import TrustRequest, record_trust
from fumishirube.engine.indexed_files import digest
from fumishirube.errors import did_you_mean
from fumishirube.faces.cli import main
from fumishirube.faces.cli.call import call_by_name, show
from fumishirube.faces.cli.exit_codes import FAILURE, OK, USAGE_ERROR
from fumishirube.faces.cli.folders import serve_command
from fumishirube.faces.cli.messages import filled, translated, word
from fumishirube.faces.cli.output import (
    Emphasised,
    clipped,
    command,
    complain,
    counted,
    emphasised,
    listed,
    print_json,
    print_line,
    strip_controls,
    table,
    terminal_width,
    width,
)
from fumishirube.faces.cli.parser import (
    Parser,
    add_json,
    add_subcommand,
    at_least,
    not_known,
    one_of,
    suggest,
)
from fumishirube.faces.cli.plugins import reports_of
from fumishirube.faces.cli.progress import Bar
from fumishirube.faces.cli.reasons import reason_text
from fumishirube.faces.cli.workspace import (
    chosen_manuals,
    known_manual,
    opened,
    search_context,
    use_only,
)
from fumishirube.host.application import Application
from fumishirube.plugins.installation import start_command
from fumishirube.tools.calls import call_tool, error_payload
from fumishirube.tools.citations import SCHEME
from fumishirube.traces.fates import FateStep, SectionFate, section_at, section_fate

__all__ = [
    "FAILURE",
    "OK",
    "SCHEME",
    "USAGE_ERROR",
    "Application",
    "Bar",
    "Emphasised",
    "FateStep",
    "Parser",
    "SectionFate",
    "TrustRequest",
    "add_json",
    "add_subcommand",
    "at_least",
    "call_by_name",
    "call_tool",
    "chosen_manuals",
    "clipped",
    "command",
    "complain",
    "counted",
    "did_you_mean",
    "digest",
    "emphasised",
    "error_payload",
    "filled",
    "known_manual",
    "listed",
    "main",
    "not_known",
    "one_of",
    "opened",
    "print_json",
    "print_line",
    "reason_text",
    "record_trust",
    "reports_of",
    "search_context",
    "section_at",
    "section_fate",
    "serve_command",
    "show",
    "start_command",
    "strip_controls",
    "suggest",
    "table",
    "terminal_width",
    "translated",
    "use_only",
    "width",
    "word",
]
