"""Serves the tools over HTTP, and calls tools of another such server."""

from typing import TYPE_CHECKING

from fumishirube import Command, CommandRegister, hook

if TYPE_CHECKING:
    from fastapi import FastAPI

    from fumishirube.serving import LoadedConfig

__all__ = ["create_app", "register_commands"]


@hook
def register_commands(register: CommandRegister) -> None:
    """Register ``serve --http``, ``users``, and the bridge to the server in a variable."""
    module, server = "fumishirube_http.command", "fumishirube_http.server:LocalServer"
    register(Command("http", "serve the tools over HTTP", module, serves=True, web_server=server))
    help_text = "list and change who may use the server, with tokens and rights"
    example = "fumishirube users add aiko --read manuals/handbook --write vault/aiko"
    register(Command("users", help_text, "fumishirube_http.people.users_command", example))
    help_text = "serve tools that run at another server"
    module, variable = "fumishirube_http.backend", "MANUAL_TOOLS_BASE_URL"
    register(Command("bridge", help_text, module, serves=True, variable=variable))


def create_app(config: "LoadedConfig | None" = None) -> "FastAPI":
    """Return the application of a configuration, or of the workspace in the environment.

    Raises:
        ConfigError: when the configuration cannot be used.
    """
    from fumishirube_http.application import create_app as created  # noqa: PLC0415 - over a second

    return created(config)
