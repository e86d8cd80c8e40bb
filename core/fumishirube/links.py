"""What a document says of others, and what a loader has to say of it."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

LinkKind = Literal["references", "depends_on", "implements", "extends", "conflicts_with"]

LINK_KINDS: tuple[LinkKind, ...] = get_args(LinkKind)
"""What one document can be to another; the first where nothing is said."""


class Link(NamedTuple):
    """A reference from a document to another, as written.

    ``text`` is its label, ``anchor`` the heading it names, ``kind`` one of ``LINK_KINDS``. A
    ``wiki`` link names a page, any other one a path.
    """

    target: str
    text: str
    line: int
    anchor: str = ""
    kind: LinkKind = LINK_KINDS[0]
    wiki: bool = False


class LoaderRemark(NamedTuple):
    """Something in a file that its author may want to mend; it was read nevertheless."""

    code: str
    line: int
    message: str
