"""People and their rights, as the people file has them."""

import unicodedata
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from fumishirube import InvalidPath
from fumishirube.disk import FolderRights, clean_path
from fumishirube.serving import Rights

MANUALS, VAULT, DOCS = "manuals", "vault", "docs"
PER_MINUTE = 600
"""Requests of one person in a minute, unless the file says otherwise."""


def _readable(path: str) -> str:
    root, inside = _parts(path)
    if root == MANUALS and "/" in inside:
        raise ValueError("a right to manuals is one to 'manuals' or to 'manuals/NAME'")
    if root == DOCS and inside:
        raise ValueError("a right to documents is one to all of them: 'docs'")
    return "/".join(filter(None, (root, inside)))


def _writable(path: str) -> str:
    root, inside = _parts(path)
    if root != VAULT:
        raise ValueError("only the vault, or a folder such as 'vault/team', can be written")
    return "/".join(filter(None, (root, inside)))


def _parts(path: str) -> tuple[str, str]:
    """Return the root and the path below it of a right such as ``vault/team``."""
    try:
        root, _, inside = clean_path(path).partition("/")
    except InvalidPath as error:
        raise ValueError(str(error)) from error
    if root not in (MANUALS, VAULT, DOCS):
        raise ValueError(
            "a right begins with manuals, vault or docs: 'manuals/NAME', 'vault/FOLDER'"
        )
    return root, unicodedata.normalize("NFC", inside)


PersonName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$", strict=True)
]
Readable = Annotated[str, AfterValidator(_readable)]
Writable = Annotated[str, AfterValidator(_writable)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoredToken(_Record):
    """A token: its public id, its SHA-256, and until when it counts."""

    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    created: AwareDatetime
    expires: AwareDatetime | None = None

    def counts(self) -> bool:
        """Tell whether the token has not expired."""
        return self.expires is None or datetime.now(UTC) < self.expires


class Person(_Record):
    """A person: the token, or the ``subject`` at the identity provider; and the rights.

    ``metrics`` is the right to read ``/metrics``.
    """

    token: StoredToken | None = None
    subject: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    read: tuple[Readable, ...] = ()
    write: tuple[Writable, ...] = ()
    metrics: bool = False
    per_minute: Annotated[int, Field(ge=1)] = PER_MINUTE

    @property
    def rights(self) -> Rights:
        """The rights, by root."""
        return {
            root: FolderRights(_inside(root, self.read), _inside(root, self.write))
            for root in (MANUALS, VAULT, DOCS)
        }


class PeopleRecord(_Record):
    """All people, by name."""

    version: Literal[1] = 1
    people: dict[PersonName, Person] = Field(default_factory=dict)


def _inside(root: str, paths: tuple[str, ...]) -> frozenset[str]:
    """Return the paths below one root; the root itself is the empty path."""
    parted = (path.partition("/") for path in paths)
    return frozenset(inside for name, _, inside in parted if name == root)
