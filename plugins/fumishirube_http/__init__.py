"""The tools over HTTP, and tools that run at such a server; ``create_app`` is the application."""

from typing import TYPE_CHECKING

from fumishirube import Command, CommandRegister, hook

if TYPE_CHECKING:
    from fastapi import FastAPI

    from fumishirube.serving import LoadedConfig

__all__ = ["create_app", "register_commands"]


@hook
def register_commands(register: CommandRegister) -> None:
    """Offer ``serve --http``, and the bridge to another server that a variable names."""
    register(
        Command(
            "http",
            "serve the tools over HTTP",
            "fumishirube_http.command",
            serves=True,
            web_server="fumishirube_http.server:LocalServer",
        )
    )
    register(
        Command(
            "bridge",
            "serve tools that run at another server",
            "fumishirube_http.bridge_command",
            serves=True,
            variable="MANUAL_TOOLS_BASE_URL",
        )
    )


def create_app(config: "LoadedConfig | None" = None) -> "FastAPI":
    """Return the application for a configuration, or for the workspace of the environment.

    Raises:
        ConfigError: when the configuration asks for what cannot be.
    """
    from fumishirube_http.application import create_app as created  # noqa: PLC0415 - over a second

    return created(config)
