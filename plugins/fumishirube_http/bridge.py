"""The bridge: forwards calls of tools with HTTP endpoints to the server that runs them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count, repeat
from threading import Thread
from types import MappingProxyType
from typing import Any, TypeVar

import h11
import httpx2
from pydantic import JsonValue, ValidationError

from fumishirube import (
    Answer,
    Call,
    Cancelled,
    InternalError,
    InvalidParameter,
    NotFound,
    Params,
    Tool,
    ToolError,
)
from fumishirube.serving import arguments_shape
from fumishirube_http.backend import Backend

P = TypeVar("P", bound=Params)
A = TypeVar("A", bound=Answer)

LARGEST = 32 * 1024 * 1024
"""The most bytes of an answer."""
QUOTED = 200
"""The most characters of a body that a message quotes."""

_PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\",<>]+){2,}")
_PAUSES = (0.05, 0.2)
_POLL, _PATIENCE = 0.05, 1.0


class BackendFailure(ToolError):
    """The backend could not be reached, or its answer is not one of the tool.

    Those of no other kind are an unexpected status or body.
    """

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


class InvalidResponse(BackendFailure):
    """The backend's answer does not fit the tool's schema."""

    code = "invalid_response"


@dataclass(frozen=True)
class _BackendRequest:
    method: str
    path: str
    arguments: Mapping[str, Any]
    parameters: Collection[str]


@dataclass
class _RequestAttempt:
    """The state of one attempt, from the events of the connection pool."""

    connected: bool = False
    status: int | None = None
    garbled: bool = False

    async def trace(self, event: str, details: Mapping[str, Any]) -> None:
        self.connected |= event.startswith("connection.connect_")
        if event.endswith("receive_response_headers.complete"):
            self.status = details["return_value"][1]
        elif event.endswith("receive_response_headers.failed"):
            cause = details["exception"].__cause__  # none where the connection just ended
            self.garbled = isinstance(cause, h11.RemoteProtocolError)


@contextmanager
def bridge_tools(
    tools: Sequence[Tool[Any, Any]], backend: Backend | None
) -> Iterator[list[Tool[Any, Any]]]:
    """Yield the tools; with a backend, those with endpoints run there.

    The backend need not run: a call that cannot reach it fails with a code, and the next one tries
    again.
    """
    if backend is None:
        yield [*tools]
        return
    with closing(Bridge(backend)) as bridge:
        yield [tool if tool.http is None else bridge.forwarded(tool) for tool in tools]


class Bridge:
    """Sends requests to one backend over persistent connections, on an event loop in a thread."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._name = f"the backend at {backend.name}"
        self._loop = asyncio.new_event_loop()
        headers = {b"accept-encoding": b"identity"}
        if backend.token:
            headers[b"authorization"] = f"Bearer {backend.token}".encode()
        self._client = httpx2.AsyncClient(
            base_url=backend.url,
            headers=headers,
            timeout=None,  # that of the whole call is enough
            follow_redirects=False,
            trust_env=False,
        )
        self._thread = Thread(target=self._loop.run_forever, name="fumishirube bridge", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the connections; abandon what does not end in time."""
        closing = asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop)
        wait([closing], timeout=_PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        if not self._loop.is_running():
            self._loop.close()

    def forwarded(self, tool: Tool[P, A]) -> Tool[P, A]:
        """Return a tool that checks its arguments here and runs at the backend."""
        assert tool.http is not None
        method, path = tool.http
        parameters = arguments_shape(tool.params)["properties"].keys()

        def run(params: P, call: Call) -> A:
            arguments = params.model_dump(mode="json", exclude_unset=True)
            request = _BackendRequest(method, path, arguments, parameters)
            return _fitting(tool, self._request(request, call))

        def refused(error: ToolError, arguments: object) -> ToolError:
            if tool.refused is None or isinstance(error, BackendFailure):
                return error
            return tool.refused(error, arguments)

        return replace(tool, run=run, refused=refused)

    def _request(self, request: _BackendRequest, call: Call) -> Any:
        """Return the JSON of an answer; abort the request when the caller goes away."""
        future = asyncio.run_coroutine_threadsafe(self._send(request), self._loop)
        while not wait([future], timeout=_POLL).done:
            if call.budget.cancelled.is_set():
                future.cancel()
                raise Cancelled("the request was cancelled")
        return future.result()

    async def _send(self, request: _BackendRequest) -> Any:
        seconds = self._backend.timeout
        try:
            async with asyncio.timeout(seconds):
                return await self._tried(request)
        except TimeoutError as error:
            raise BackendTimeout(f"{self._name} did not answer within {seconds:g} s") from error
        except httpx2.InvalidURL as error:  # the backend's own is checked at the start
            longest = max(request.arguments, key=lambda name: len(str(request.arguments[name])))
            raise InvalidParameter(f"{longest} is too long", parameter=longest) from error

    async def _tried(self, request: _BackendRequest) -> Any:
        """Send a request, and retry it where that is safe and useful."""
        for tries, pause in zip(count(), chain(_PAUSES, repeat(_PAUSES[-1]))):
            attempt = _RequestAttempt()
            try:
                return await self._answered(request, attempt)
            except httpx2.TransportError as error:
                if not self._once_more(request, attempt, tries):
                    raise self._failed(attempt) from error
            if request.method == "GET":
                await asyncio.sleep(pause)
        raise AssertionError

    def _once_more(self, request: _BackendRequest, attempt: _RequestAttempt, tries: int) -> bool:
        """Return whether to retry: a GET several times, a POST only after a closed connection."""
        if request.method == "GET":
            return tries < self._backend.retries
        return tries == 0 and not attempt.connected and attempt.status is None

    async def _answered(self, request: _BackendRequest, attempt: _RequestAttempt) -> Any:
        method, path, body = request.method, request.path, bytearray()
        content: dict[str, Any] = {"params" if method == "GET" else "json": request.arguments}
        trace = {"trace": attempt.trace}
        async with self._client.stream(method, path, extensions=trace, **content) as answer:
            try:
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > LARGEST:
                        raise self._wrong(answer.status_code, "its answer is too large")
            except httpx2.DecodingError:
                why = "in an encoding that it does not keep to"
                raise self._wrong(answer.status_code, why) from None
        return self._decoded_answer(request, answer.status_code, bytes(body))

    def _decoded_answer(self, request: _BackendRequest, status: int, body: bytes) -> Any:
        """Return the JSON of a successful answer, or raise the error of another."""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            quoted = _quoted(body.decode("utf-8", "replace"))
            raise self._wrong(status, f"with what is no JSON: {quoted}") from None
        if status == httpx2.codes.OK:
            return value
        body_fields = value if isinstance(value, dict) else {}
        message, error_id = body_fields.get("message"), body_fields.get("error_id")
        if status == httpx2.codes.BAD_REQUEST and isinstance(message, str):
            text = _quoted(message, request.arguments)
            name = text.partition(" ")[0]
            raise InvalidParameter(text, parameter=name if name in request.parameters else None)
        if status == httpx2.codes.UNPROCESSABLE_ENTITY:
            raise _misfit(body_fields)
        if status == httpx2.codes.NOT_FOUND and isinstance(message, str):
            raise NotFound(_quoted(message, request.arguments))
        if status == httpx2.codes.INTERNAL_SERVER_ERROR and isinstance(error_id, str):
            raise InternalError(error_id[:80])
        raise self._wrong(status, _quoted(json.dumps(value, ensure_ascii=False)))

    def _failed(self, attempt: _RequestAttempt) -> BackendFailure:
        if attempt.status is not None:
            return self._wrong(attempt.status, "and broke off")
        if attempt.garbled:
            return BackendFailure(f"{self._name} answered with what is no HTTP")
        return BackendUnavailable(f"{self._name} cannot be reached; is it running?")

    def _wrong(self, status: int, why: str) -> BackendFailure:
        return BackendFailure(f"{self._name} answered {status}, {why}", status=status)


def _misfit(body: Mapping[str, Any]) -> ToolError:
    """Return the first validation error of a 422 as an invalid parameter."""
    try:
        first = body["detail"][0]
        name = ".".join(map(str, first["loc"][1:]))[:80] or "arguments"
        return InvalidParameter(f"{name}: {_quoted(first['msg'])}", parameter=name)
    except (LookupError, TypeError, AttributeError):
        return InvalidParameter("the backend refused the arguments, and did not say which")


def _fitting(tool: Tool[P, A], value: Any) -> A:
    """Return an answer that fits the tool's schema, without unknown keys.

    Raises:
        InvalidResponse: naming the first invalid place.
    """
    whole = value if tool.http_body is None else {tool.http_body: value}
    try:
        return tool.answer.model_validate_json(json.dumps(whole), strict=True, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise InvalidResponse(
            f"Output validation error (-32602): {where[:80]}: {first['msg']}"
        ) from error


def _quoted(text: str, arguments: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Quote a text on one line, with only those paths and addresses that the caller sent."""
    own = [value for value in arguments.values() if isinstance(value, str)]

    def shown(path: re.Match[str]) -> str:
        return path.group() if any(path.group() in value for value in own) else "…"

    text = _PATH.sub(shown, text[: 2 * QUOTED])
    short = text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"
    return "".join(c if c.isprintable() or any(c in value for value in own) else " " for c in short)
