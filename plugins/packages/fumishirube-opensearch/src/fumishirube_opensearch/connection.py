"""The connection to a cluster: its client, TLS, and the errors that failures become."""

from __future__ import annotations

import gzip
import logging
import ssl
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import opensearchpy
import urllib3
from opensearchpy import exceptions

from fumishirube import Forbidden

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch, Tls

_UNAUTHORIZED, _NO_RIGHT = 401, 403
_CONNECT_SECONDS = 1.0

# The client warns of each attempt, and can log texts; we raise an error when all have failed.
for _name in ("opensearch", "opensearchpy"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class _Connection(opensearchpy.Urllib3HttpConnection):  # type: ignore[misc,unused-ignore]  # untyped in some versions
    """Compresses requests fast: the default takes as long as the engine does to index them."""

    def _gzip_compress(self, body: bytes) -> bytes:
        return gzip.compress(body, compresslevel=1)


class Unavailable(Forbidden):
    """The cluster, or a part of it that is needed, does not answer."""

    code = "unavailable"


def client_of(settings: OpenSearch) -> opensearchpy.OpenSearch:
    """Return the client of a cluster; it connects with the first request.

    Raises:
        Unavailable: when a file that ``tls`` names cannot be used.
    """
    options: dict[str, Any] = {}
    if any(host.startswith("https:") for host in settings.hosts):
        options["ssl_context"] = _tls_context(settings.tls)
    if settings.token is not None:
        options["headers"] = {"authorization": f"Bearer {settings.token.get_secret_value()}"}
    elif settings.user and settings.password is not None:
        name_and_password = f"{settings.user}:{settings.password.get_secret_value()}"
        # urllib3 would encode it as Latin-1; OpenSearch decodes UTF-8.
        encoded = b64encode(name_and_password.encode()).decode("ascii")
        options["headers"] = {"authorization": f"Basic {encoded}"}
    patience = settings.request_seconds
    return opensearchpy.OpenSearch(
        hosts=list(settings.hosts),
        http_compress=True,
        timeout=urllib3.Timeout(connect=min(_CONNECT_SECONDS, patience), read=patience),
        max_retries=len(settings.hosts),
        retry_on_timeout=True,
        retry_on_status=(502, 503, 504),
        dead_timeout=2,
        pool_maxsize=8,
        connection_class=_Connection,
        **options,
    )


def _tls_context(tls: Tls) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=tls.authority)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise Unavailable(
            "tls.authority of the index: the file cannot be read as certificates in PEM"
        ) from error
    if not tls.verify:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # one each request
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.certificate:
        try:
            context.load_cert_chain(tls.certificate, tls.key)
        except (OSError, ValueError) as error:
            raise Unavailable(
                "tls.certificate of the index: the certificate and its key cannot be read as PEM, "
                "or do not belong together"
            ) from error
    return context


def request_error(error: exceptions.TransportError) -> Forbidden:
    """Return the error for a failed request: what to do, and no secret."""
    if isinstance(error, exceptions.SSLError):
        return Unavailable(_tls_fault(error))
    if isinstance(error, exceptions.ConnectionError):
        return Unavailable("no node of the OpenSearch cluster answers; see its health")
    if error.status_code == _UNAUTHORIZED:
        return Forbidden(
            "OpenSearch refuses the user or token (401); correct OPENSEARCH_USER and "
            "OPENSEARCH_PASSWORD, or OPENSEARCH_TOKEN, of this server"
        )
    if error.status_code == _NO_RIGHT and "block" not in str(error.error):
        return Forbidden(
            "the user or token lacks a right in OpenSearch (403); it needs to read and write the "
            "indexes that begin with the namespace, and to create them"
        )
    return Unavailable(
        f"the OpenSearch cluster cannot do that now ({error.status_code}); see its health"
    )


def _tls_fault(error: exceptions.TransportError) -> str:
    """Return what is wrong with TLS, and what to do, from the first cause that tells."""
    cause = _certificate_error(error.info)
    if cause is None:
        return (
            "TLS with OpenSearch fails; check that the port speaks TLS (else write http://), and "
            "whether it wants a certificate of this side (tls.certificate, tls.key)"
        )
    if "ostname mismatch" in cause or "IP address mismatch" in cause:
        return (
            "the certificate of OpenSearch is for another host; in hosts, write a name that the "
            "certificate has"
        )
    if "expired" in cause:
        return "the certificate of OpenSearch has expired; renew it there"
    return (
        "the certificate of OpenSearch is not trusted; name the file of its authority in "
        "tls.authority"
    )


def _certificate_error(error: object) -> str | None:
    while isinstance(error, BaseException):
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        inner = [part for part in error.args if isinstance(part, BaseException)]
        error = inner[0] if inner else error.__cause__ or error.__context__
    return None
