"""``fumishirube serve`` with tools that run at a backend."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from fumishirube.serving import Application, ToolWrapper, serve_stdio
from fumishirube_http.backend import configured_backend


def add_arguments(parser: ArgumentParser) -> None:
    """Add no option: a command line would show the secrets of the address."""


def run(options: Namespace) -> int:
    """Serve over standard input and output; the backend runs the tools with endpoints."""
    return serve_stdio(options, _through)


def _through(application: Application) -> ToolWrapper:
    from fumishirube_http.bridge import bridge_tools  # noqa: PLC0415 - its client takes a while

    return partial(bridge_tools, backend=configured_backend(application.loaded))
