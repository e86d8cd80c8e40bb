"""Pictures of pages: loaders that draw them, with lines of the text marked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.errors import FumishirubeError, NotFound, Unreadable
from fumishirube.places import PlaceRange, lines_of
from fumishirube.stages import ClaimedFile, Loader
from fumishirube.text.folding import Lines

_log = logging.getLogger("fumishirube")


class PageView(NamedTuple):
    """A page, by its number from 1, and what of it is to be marked.

    ``lines`` are the lines of the document's text on this page, in order; ``marked`` are the
    numbers, from 0, of those to mark.
    """

    page: int
    lines: tuple[str, ...]
    marked: tuple[int, ...]


class Picture(NamedTuple):
    """A page as a PNG file, and how many of the lines are marked on it.

    A line is not marked where the loader cannot tell its place, as on a scanned page.
    """

    data: bytes
    marked: int


@runtime_checkable
class PictureLoader(Loader, Protocol):
    """A loader that also draws the pages of its files; ``draws_pages`` is whether it can."""

    @property
    def draws_pages(self) -> bool:
        """Whether it draws pages."""
        ...

    def picture(self, root: Root, source: Source, view: PageView) -> Picture:
        """Draw a page.

        Raises:
            Unreadable: when the file cannot be drawn.
        """
        ...


class PagePictures:
    """Draws the pages of one file."""

    def __init__(
        self, loader: PictureLoader, root: Root, source: Source, document: Callable[[], Document]
    ) -> None:
        self._loader = loader
        self._root = root
        self._source = source
        self._document = document

    def draw(self, page: int, lines: Sequence[int] = ()) -> Picture:
        """Draw a page by its number, with some lines of the document's text marked.

        Raises:
            NotFound: when the document has no text on such a page.
            Unreadable: when it cannot be drawn.
        """
        document = self._document()
        text = Lines(document.text)
        ends = lines_of(document.places, PlaceRange("page", page, page), text.total)
        if ends is None:
            raise NotFound(f"the file has no page {page}", path=self._source.path)
        first, last = ends
        shown = (document.text[text.start(n) : text.start(n + 1)] for n in range(first, last + 1))
        marked = tuple(line - first for line in sorted({*lines}) if first <= line <= last)
        view = PageView(page, tuple(line.rstrip("\r\n") for line in shown), marked)
        try:
            return self._loader.picture(self._root, self._source, view)
        except FumishirubeError:
            raise
        except Exception as error:
            _log.exception("a loader failed on a page: %s", type(self._loader).__name__)
            raise Unreadable(
                "the loader failed on this page; the server log says why",
                "loader_failed",
                path=self._source.path,
            ) from error


def page_pictures(
    claimed: ClaimedFile, root: Root, document: Callable[[], Document]
) -> PagePictures | None:
    """Return what draws the pages of a file; ``None`` if its loader does not."""
    loader = claimed.loader
    if isinstance(loader, PictureLoader) and loader.draws_pages:
        return PagePictures(loader, root, claimed.source, document)
    return None
