"""Builds HTML with functions; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

Content: TypeAlias = "str | int | Markup | Iterable[Content] | None"
Value: TypeAlias = "str | float | bool | None"

_EMPTY = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Markup:
    """Escaped HTML; only :func:`tag` creates it."""

    __slots__ = ("_html",)

    def __init__(self, html: str) -> None:
        self._html = html

    def __str__(self) -> str:
        return self._html


def tag(element: str, /, *content: Content, **attributes: Value) -> Markup:
    """Return an element. ``class_`` and ``data_key`` become ``class`` and ``data-key``.

    An attribute with ``True`` has no value; one with ``None`` or ``False`` is omitted.
    """
    rendered = "".join(_attribute(key, value) for key, value in attributes.items())
    if element in _EMPTY:
        return Markup(f"<{element}{rendered}>")
    return Markup(f"<{element}{rendered}>{_html(content)}</{element}>")


def meter(share: float, class_: str, height: int = 10, colour: str | None = None) -> Markup:
    """Return a bar whose length is a share of the width, which the page's style decides."""
    rect = tag("rect", width=round(100 * share, 3), height=height, class_=colour)
    return stretched(rect, f"0 0 100 {height}", class_)


def stretched(shapes: Content, box: str, class_: str) -> Markup:
    """Return a picture as wide as its place, for those alone who see it."""
    return tag(
        "svg", shapes, viewBox=box, preserveAspectRatio="none", class_=class_, aria_hidden="true"
    )


def table_of(heads: Iterable[tuple[Content, str]], rows: Content, class_: str) -> Markup:
    """Return a table; each head has its content and its class."""
    cells = [tag("th", content, class_=name or None, scope="col") for content, name in heads]
    return tag("table", tag("thead", tag("tr", cells)), tag("tbody", rows), class_=class_)


def page(*content: Content) -> bytes:
    """Return a whole document; characters that cannot be encoded are replaced."""
    return f"<!doctype html>{_html(content)}".encode("utf-8", "replace")


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(shown)}"'


def _html(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, (str, int)):
        return escape(str(content))
    if isinstance(content, Markup):
        return str(content)
    return "".join(map(_html, content))
