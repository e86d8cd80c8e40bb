"""The errors of tools that run at a backend."""

from __future__ import annotations

from pydantic import JsonValue

from fumishirube import ToolError


class BackendFailure(ToolError):
    """The backend could not be reached, or its answer is not one of the tool."""

    code = "backend_error"

    def payload(self) -> dict[str, JsonValue]:
        """Return the usual object, with the code also under ``error``, as the backend does."""
        return {**super().payload(), "error": self.code}


class BackendUnavailable(BackendFailure):
    """The backend cannot be reached."""

    code = "backend_unavailable"


class BackendTimeout(BackendFailure):
    """The backend did not answer in time."""

    code = "backend_timeout"


class BackendError(BackendFailure):
    """The backend answered with an unexpected status or body."""


class InvalidResponse(BackendFailure):
    """The backend's answer does not fit the tool's schema."""

    code = "invalid_response"
