"""What goes wrong with a tool that runs at another server: it is answered with a code."""

from __future__ import annotations

from pydantic import JsonValue

from fumishirube import ToolError


class BackendFailure(ToolError):
    """The server that runs the tool could not be asked, or answered as no tool does."""

    code = "backend_error"

    def payload(self) -> dict[str, JsonValue]:
        """The usual object, with the code under ``error`` too, as in the bodies of that server."""
        return {**super().payload(), "error": self.code}


class BackendUnavailable(BackendFailure):
    """The server that runs the tool cannot be reached."""

    code = "backend_unavailable"


class BackendTimeout(BackendFailure):
    """The server that runs the tool did not answer in time."""

    code = "backend_timeout"


class BackendError(BackendFailure):
    """The server that runs the tool answered with what no tool answers."""

    code = "backend_error"


class InvalidResponse(BackendFailure):
    """The server that runs the tool answered, but not as the tool does."""

    code = "invalid_response"
