"""An index for Fumishirube that keeps sections in an OpenSearch cluster, for several servers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from fumishirube import Env, Fields, Index, OpenIndex, Register, Root, Stage, hook

if TYPE_CHECKING:
    from fumishirube_opensearch.traces import SharedTraces


def _with_name(host: str) -> str:
    """Return a host that has a name, and whose port, if it has one, can be connected to."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - few workspaces need it

    try:
        parts = urlsplit(host)
        usable = bool(parts.hostname) and parts.port != 0 and not host.endswith(":")
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("a host is https://NAME or https://NAME:PORT, with a port from 1 to 65535")
    return host


_Host = Annotated[str, Field(pattern=r"^https?://[^\s/@?#]+$"), AfterValidator(_with_name)]


class Tls(BaseModel):
    """How hosts with ``https`` prove who they are, and this side does.

    Each is a path: ``authority`` of certificates to trust instead of the system's, ``certificate``
    and ``key`` of this client. ``verify: false`` trusts anybody, for tests.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = True


class OpenSearch(Stage):
    """Keeps the sections of each manual in an index of an OpenSearch cluster.

    All servers with the same ``hosts`` and ``namespace`` share the indexes of manuals of one id;
    of those that may write, one writes at a time, and one with ``writes: false`` never does.
    ``password`` and ``token`` belong into the environment. ``request_seconds`` bounds each
    request; a writer that dies is replaced after ``lease_seconds``. With ``files`` the files are
    stored too, and a server that may not write reads those of manuals that it has no folder of; all
    servers have to set it alike. With ``knn`` vectors are stored and compared in the cluster if all
    nodes have its k-NN plugin, else by each server. ``verified`` is up to how many
    matches a text is looked up in the sections themselves, where terms alone cannot tell.
    """

    distant: ClassVar[bool] = True
    trusted_settings: ClassVar[tuple[str, ...]] = ("hosts", "tls")

    layout: Literal[2] = 2
    hosts: Annotated[tuple[_Host, ...], Field(min_length=1), Env("OPENSEARCH_HOSTS")] = (
        "http://127.0.0.1:9200",
    )
    namespace: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")] = "fumishirube"
    shards: Annotated[int, Field(ge=1, le=1024)] = 1
    replicas: Annotated[int, Field(ge=0, le=10)] = 1
    user: Annotated[str | None, Env("OPENSEARCH_USER")] = None
    password: Annotated[SecretStr | None, Env("OPENSEARCH_PASSWORD")] = None
    token: Annotated[SecretStr | None, Env("OPENSEARCH_TOKEN")] = None
    tls: Tls = Tls()
    request_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    files: bool = True
    knn: bool = True
    writes: bool = True
    lease_seconds: Annotated[float, Field(ge=1, le=600)] = 6.0
    writer_wait_ms: Annotated[int, Field(ge=0)] = 2000
    bulk_bytes: Annotated[int, Field(ge=10_000, le=80_000_000)] = 4_000_000
    verified: Annotated[int, Field(ge=0, le=5000)] = 500

    @model_validator(mode="after")
    def _check(self) -> OpenSearch:
        if self.tls != Tls() and not all(host.startswith("https:") for host in self.hosts):
            raise ValueError("tls is for hosts that begin with https://")
        if self.token is not None and (self.user or self.password):
            raise ValueError("give a token, or a user and a password, and not both")
        if bool(self.user) != (self.password is not None):
            raise ValueError("a user needs a password, and a password a user")
        if ":" in (self.user or ""):
            raise ValueError("a user has no colon")
        password = self.password.get_secret_value() if self.password else ""
        if any("\ud800" <= sign <= "\udfff" for sign in f"{self.user}{password}"):
            raise ValueError("a user and a password are written in UTF-8")
        token = self.token.get_secret_value() if self.token else ""
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("a token consists of printable ASCII characters without spaces")
        return self

    def open(self, folder: Root, fields: Fields) -> OpenIndex:
        """Open the index that the cluster has under the name of this folder's manual."""
        from fumishirube_opensearch.index import SharedIndex  # noqa: PLC0415 - the client is heavy

        return SharedIndex(self, folder, fields)

    def stored_manuals(self, fields: Fields) -> Sequence[str]:
        """Return the manuals whose files are stored, for a server that may not write.

        Raises:
            Unavailable: when the cluster does not answer.
        """
        if self.writes or not self.files:
            return ()
        from fumishirube_opensearch.manuals import stored_manuals  # noqa: PLC0415 - as above

        return stored_manuals(self, fields)

    def forget_manuals(
        self, state: Root, present: Collection[str], fields: Fields
    ) -> Sequence[str]:
        """Delete the manuals that this workspace has indexed and that are not present.

        Raises:
            Unavailable: when the cluster does not answer.
        """
        if not self.writes:
            return ()
        from fumishirube_opensearch.manuals import forget_manuals  # noqa: PLC0415 - as above
        from fumishirube_opensearch.names import origin_of  # noqa: PLC0415 - as above

        return forget_manuals(self, origin_of(state), present, fields)

    def open_archive(self, seconds: float) -> SharedTraces:
        """Return the traces of all servers with these hosts and this namespace."""
        from fumishirube_opensearch.traces import SharedTraces  # noqa: PLC0415 - as above

        return SharedTraces(self, seconds)


@hook
def register_indexes(register: Register[Index]) -> None:
    """Register the index."""
    register("opensearch", OpenSearch)
