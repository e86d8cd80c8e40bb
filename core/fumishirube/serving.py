"""The API for ways to serve: the application, its calls, its catalog, and its log."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from fumishirube.config.configuration import LoadedConfig
from fumishirube.config.process import process_settings
from fumishirube.config.validation import build_model
from fumishirube.disk.absolute_paths import absolute_paths
from fumishirube.disk.rights import Rights
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.serve import (
    add_log_level,
    announce,
    claim_standard_output,
    finish,
    log_level,
    reloading,
    run_process,
    serve,
    serve_stdio,
    starting_state,
)
from fumishirube.faces.cli.workspace import configuration
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.host.logs import (
    JsonLinesFormatter,
    escaped,
    log_event,
    start_logs,
)
from fumishirube.host.memory import PeerProcesses
from fumishirube.host.people import PersonalTools
from fumishirube.host.reload.inputs import ConfigInForce
from fumishirube.host.reload.reloader import Reloader, Served, ToolWrapper
from fumishirube.host.scheduler import SWITCH_SECONDS, Scheduler
from fumishirube.host.standard_streams import exit_within
from fumishirube.host.startup import open_application, open_scratch_application, server_name
from fumishirube.host.tool_host import ToolHost
from fumishirube.plugins.discovery import PluginReport, Plugins, load_plugins
from fumishirube.plugins.hookspecs import GROUP
from fumishirube.plugins.registry import KINDS, RegisteredStage, StageKind
from fumishirube.surfaces import HasEvidence
from fumishirube.text.encoding import replace_surrogates
from fumishirube.tools.argument_errors import refusal
from fumishirube.tools.calls import parse_arguments, plain
from fumishirube.tools.definitions import InnerCalls, Schema, accepted
from fumishirube.tools.schemas import arguments_shape, input_schema, output_schema
from fumishirube.traces.records import CacheOutcome

if TYPE_CHECKING:
    from fumishirube.faces.mcp.requests import CallReporter
    from fumishirube.faces.mcp.streamable import Streamable

__all__ = [
    "GROUP",
    "KINDS",
    "SWITCH_SECONDS",
    "CacheOutcome",
    "CatalogPublisher",
    "ConfigInForce",
    "HasEvidence",
    "InnerCalls",
    "JsonLinesFormatter",
    "LoadedConfig",
    "PeerProcesses",
    "PersonalTools",
    "PluginReport",
    "Plugins",
    "RegisteredStage",
    "Reloader",
    "Rights",
    "Scheduler",
    "Schema",
    "Served",
    "StageKind",
    "ToolHost",
    "ToolWrapper",
    "WebServer",
    "absolute_paths",
    "accepted",
    "add_log_level",
    "announce",
    "arguments_shape",
    "build_model",
    "claim_standard_output",
    "configuration",
    "escaped",
    "exit_within",
    "finish",
    "import_mcp",
    "input_schema",
    "load_plugins",
    "log_event",
    "log_level",
    "open_application",
    "open_scratch_application",
    "output_schema",
    "parse_arguments",
    "plain",
    "process_settings",
    "refusal",
    "reloading",
    "replace_surrogates",
    "run_process",
    "serve",
    "serve_stdio",
    "start_logs",
    "starting_state",
    "streamable_mcp",
    "web_server",
]


class WebServer(Protocol):
    """Serves the pages of other commands; a way to serve names its class as ``web_server``."""

    def listen(self, host: str, port: int, setting: str) -> socket.socket:
        """Return a listening socket; ``setting`` names the address in errors.

        Raises:
            ConfigError: when the address cannot be used.
        """
        ...

    def guarded(self, app: Any) -> Any:
        """Return an ASGI application that refuses requests from other machines and other pages."""
        ...

    def run(self, app: Any, listening: socket.socket, ready: Callable[[str, int], None]) -> None:
        """Serve an ASGI application until the process is asked to stop.

        It gets the messages of ``lifespan`` too. ``ready`` is called with host and port as soon as
        connections are accepted. What a page raises is logged, and answered as 500.

        Raises:
            RuntimeError: when the application does not start, or does not end, as it should.
        """
        ...


def web_server(plugins: Plugins, needed_by: str) -> WebServer:
    """Return the web server that an installed way to serve offers to other commands.

    Raises:
        ConfigError: when none is installed, or it lacks a package.
    """
    for command in plugins.commands.ways_to_serve().values():
        if command.web_server:
            module, _, name = command.web_server.partition(":")
            try:
                return cast("WebServer", getattr(import_module(module), name)())
            except ModuleNotFoundError as error:
                raise ConfigError(
                    f"{needed_by}: {error.name} is not installed; install its extra `http`"
                ) from error
    raise ConfigError(f"{needed_by}: no plugin offers a web server; install one that does")


def import_mcp() -> None:
    """Import what :func:`streamable_mcp` needs, before the processes of a server are forked."""
    import_module("fumishirube.faces.mcp.streamable")


def streamable_mcp(
    application: ToolHost,
    publisher: CatalogPublisher,
    *,
    report: CallReporter,
    inner: InnerCalls | None = None,
) -> Streamable:
    """Return what answers requests of MCP; the import takes most of a second.

    The caller has checked the Host and Origin headers, against rebound names (DNS rebinding), and
    read the body. ``report`` is called after every call, ``inner`` for those that a tool makes for
    one call.
    """
    from fumishirube.faces.mcp import streamable  # noqa: PLC0415 - half of a start's time

    name = server_name(application)
    return streamable.Streamable(publisher, name=name, report=report, inner=inner)
