"""A proxy that speaks TLS and wants a password, in front of a node that has neither."""

from __future__ import annotations

import http.client
import ssl
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from certificates import Certificate
from cluster_nodes import Node

_PASSED = ("content-type", "content-encoding", "accept")
_SECONDS = 30


class TlsProxy(ThreadingHTTPServer):
    """Passes on the requests of those it knows, and counts those that it answers itself."""

    daemon_threads = True

    def __init__(self, node: Node, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=True)
        self.node = node
        self.context = context
        self.users: dict[str, str] = {}
        self.tokens: set[str] = set()
        self.forbidden: set[str] = set()
        self.refused = 0
        self.passed = 0

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Shake hands in the thread of the connection."""
        request.settimeout(_SECONDS)
        try:
            secured = self.context.wrap_socket(request, server_side=True)
        except OSError:
            self.refused += 1
            return
        with secured:
            super().finish_request(secured, client_address)

    def status(self, authorization: str) -> int:
        """Return the status of the refusal of a request, or 200."""
        scheme, _, credentials = authorization.partition(" ")
        if scheme == "Bearer" and credentials in self.tokens:
            return 200
        if scheme == "Basic":
            user, _, password = b64decode(credentials).decode().partition(":")
            if password and self.users.get(user) == password:
                return 403 if user in self.forbidden else 200
        return 401


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TlsProxy

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._pass_on
        raise AttributeError(name)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        status = self.server.status(self.headers.get("authorization", ""))
        if status != http.HTTPStatus.OK:
            self.server.refused += 1
            self._answer(status, "text/plain", b"Unauthorized")
            return
        self.server.passed += 1
        node = self.server.node
        inner = http.client.HTTPConnection(node.host, node.port, timeout=_SECONDS)
        try:
            headers = {name: self.headers[name] for name in _PASSED if name in self.headers}
            inner.request(self.command, self.path, body or None, headers)
            answer = inner.getresponse()
            kind = answer.headers.get("content-type", "application/json")
            self._answer(answer.status, kind, answer.read())
        finally:
            inner.close()

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def tls_proxy(
    node: Node, certificate: Certificate, clients: Certificate | None = None
) -> Iterator[TlsProxy]:
    """Serve a proxy with a certificate; with ``clients`` it wants that certificate of them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.pem, certificate.key)
    if clients is not None:
        context.load_verify_locations(clients.pem)
        context.verify_mode = ssl.CERT_REQUIRED
    with TlsProxy(node, context) as proxy:
        thread = Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
