"""The surface over notes: list, create, read, scan, replace and undo."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from fumishirube import Env, Stage, SurfaceContext, Tool
from fumishirube.tools import listed

_MIB = 1024 * 1024


class VaultSurface(Stage):
    """Offers the five ``vault_*`` tools; with ``history`` also the tools that list and undo writes.

    With ``append`` in ``extras`` there is also ``vault_append``, which adds to the end of a note.

    Notes are not written below names that begin with a dot, except those in ``allow_hidden``; some,
    such as ``.git`` and ``.ssh``, are never allowed. A note has at most ``note_bytes`` bytes. The
    ``journal_*`` settings limit the writes, bytes and days in the journal. Without ``cursor`` in
    ``extras``, long lists are returned whole.
    """

    root: ClassVar[str] = "vault"
    trusted_settings: ClassVar[tuple[str, ...]] = ("allow_hidden",)
    instructions: ClassVar[str] = (
        "Vault: notes that outlast the conversation. vault_create writes a new one, vault_replace "
        "changes one; vault_ls, vault_read and vault_scan show what was written before."
    )
    uses: ClassVar[tuple[str, ...]] = ()
    pipeline: ClassVar[Mapping[str, Any]] = {}

    history: bool = False
    extras: Annotated[
        tuple[Literal["cursor", "append"], ...], Env("FUMISHIRUBE_SURFACE_EXTRAS", shared=True)
    ] = ("cursor",)
    allow_hidden: tuple[str, ...] = ()
    note_bytes: Annotated[int, Field(ge=1)] = 10 * _MIB
    journal_writes: Annotated[int, Field(ge=1)] = 1000
    journal_bytes: Annotated[int, Field(ge=1)] = 64 * _MIB
    journal_days: Annotated[int, Field(ge=1)] = 90

    @field_validator("allow_hidden")
    @classmethod
    def _may_be_opened(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        from fumishirube_vault.hidden_names import is_never_opened

        for name in names:
            if not name.startswith(".") or "/" in name or is_never_opened(name):
                raise ValueError(f"must name folders such as '.notes'; {name!r} stays closed")
        return names

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools, in the order in which clients list them."""
        from fumishirube_vault.tool_list import tools

        return listed(tools(context, self), self.extras)

    def commands(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools of the journal, and those that preview, append and read to the end."""
        from fumishirube_vault.tool_list import commands

        return commands(context, self)

    def lifespan(self, context: SurfaceContext) -> AbstractContextManager[None]:
        """Finish or roll back interrupted writes at the start."""
        from fumishirube_vault.tool_list import recovered

        return recovered(context, self)
