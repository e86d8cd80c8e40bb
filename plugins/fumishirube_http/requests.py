"""Parses requests with a bounded head and an unambiguous length."""

from __future__ import annotations

import re
from typing import Any

import h11

HEAD = 16 * 1024
"""The most bytes of a request line with headers, without the query."""
QUERY = 64 * 1024
"""The most bytes of a query, as many as of a small body."""
PARAMETERS = 1000
"""The most parameters of a query: they are divided in the event loop."""

_END = re.compile(rb"\n\r?\n")
_QUERY = re.compile(rb"[^ \n]* [^ ?\n]*\?([^ \n]*)")
_LENGTH = re.compile(rb"(?im)^content-length[ \t]*:(.*(?:\n[ \t].*)*)")
_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
_ABSOLUTE = re.compile(rb"(?i)https?://([^/?]*)(.*)")


class RequestParser(h11.Connection):
    """h11's server parser, which also refuses long heads and contradicting lengths.

    ``problem`` says why a request is refused.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEAD + QUERY)
        self.problem = ""

    def next_event(self) -> Any:
        """Return the next event.

        Raises:
            h11.RemoteProtocolError: when the input is not an acceptable request.
        """
        try:
            return self._next()
        except h11.RemoteProtocolError as error:
            self.problem = str(error).partition(": b")[0]  # without the bytes that h11 quotes
            raise

    def _next(self) -> Any:
        if self.their_state is h11.IDLE:
            self._check_head(self.trailing_data[0])
        event = super().next_event()
        if not isinstance(event, h11.Request):
            return event
        if {name for name, _ in event.headers} >= _LENGTHS:
            # A proxy may have used the other length (request smuggling).
            self._refuse("Content-Length and Transfer-Encoding may not be together")
        return _with_path(event)

    def _check_head(self, unread: bytes) -> None:
        end = _END.search(unread)
        line = _QUERY.match(unread)
        query = line[1] if line else b""
        if len(query) > QUERY:
            self._refuse(f"the query is over {QUERY:,} bytes")
        if query.count(b"&") >= PARAMETERS:
            self._refuse(f"the query has over {PARAMETERS:,} parameters")
        # h11 limits only incomplete heads; one that arrives in one piece may be longer.
        if (end.end() if end else len(unread)) > HEAD + len(query):
            self._refuse(f"the request line and the headers are over {HEAD:,} bytes")
        # h11 merges equal lengths; a proxy may have used one of them otherwise.
        if end is not None and b",".join(_LENGTH.findall(unread[: end.end()])).count(b","):
            self._refuse("a request has one Content-Length")

    def _refuse(self, message: str) -> None:
        self._process_error(self.their_role)
        raise h11.RemoteProtocolError(message)


def _with_path(request: h11.Request) -> h11.Request:
    """Return a request for an address, as clients send it to proxies, as one for its path."""
    address = _ABSOLUTE.fullmatch(request.target)
    if address is None:
        return request
    host, path = address.groups()
    headers = [(name, value) for name, value in request.headers if name != b"host"]
    return h11.Request(
        method=request.method,
        target=path if path.startswith(b"/") else b"/" + path,
        headers=[(b"host", host), *headers],
        http_version=request.http_version,
    )
