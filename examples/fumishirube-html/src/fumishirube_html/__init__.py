"""A loader for Fumishirube: HTML pages, divided at their headings."""

from __future__ import annotations

from pathlib import PurePosixPath

from fumishirube import Document, Loader, Register, Root, Source, Stage, divide_at_headings, hook
from fumishirube_html.encoding import text_of


class Html(Stage):
    """Speaks for HTML pages, and reads what they say as Markdown, divided at the headings.

    What is ``ignored`` is left out with all that it holds: elements by name, ``.class`` or ``#id``.
    With ``anchors`` the line of a heading ends in its anchor, such as ``{#install}``, so that it
    can be opened in a browser.
    """

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")
    ignored: tuple[str, ...] = ("nav", ".headerlink")
    anchors: bool = True

    def sources(self, root: Root) -> list[Source]:
        """Return every file that ends in one of the suffixes, whatever their case."""
        endings = tuple(suffix.lower() for suffix in self.suffixes)
        named = dict.fromkeys(
            entry.path for entry in root.files() if entry.name.lower().endswith(endings)
        )
        return [Source(path) for path in named]

    def load(self, root: Root, source: Source) -> Document:
        """Read a page.

        Raises:
            Unreadable: when it is too large, or in no known encoding.
        """
        from fumishirube_html.page import read  # noqa: PLC0415 - lxml, 20 ms that a search does not need

        page = read(text_of(root.read_bytes(source.path)), self.ignored, anchors=self.anchors)
        title = page.title or PurePosixPath(source.path).stem
        sections = tuple(divide_at_headings(page.text, page.headings, title))
        return Document(source.path, "html", page.text, sections)


@hook
def register_loaders(register: Register[Loader]) -> None:
    """Offer the loader."""
    register("html", Html)
