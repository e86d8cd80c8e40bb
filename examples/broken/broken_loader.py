"""A plugin that loads, but whose loader fails on some files, and later on all of them."""

from collections.abc import Iterable

from fumishirube import (
    Document,
    Loader,
    Register,
    Root,
    Source,
    Stage,
    divide_at_headings,
    hook,
)


class Failing(Stage):
    """Reads ``.note`` files as one section each.

    It fails on files that contain "unreadable". When there is a file ``fails``, it fails on all of
    them, and when there is a file ``fails-listing``, it fails to list its files.
    """

    def sources(self, root: Root) -> Iterable[Source]:
        names = [file.path for file in root.files()]
        if "fails-listing" in names:
            raise KeyError("the loader has lost its list")
        return [Source(name) for name in names if name.endswith(".note")]

    def load(self, root: Root, source: Source) -> Document:
        text = root.read_bytes(source.path).decode()
        if "unreadable" in text or any(file.path == "fails" for file in root.files()):
            raise ZeroDivisionError("the loader has divided by zero")
        sections = tuple(divide_at_headings(text, [], source.path))
        return Document(source.path, "note", text, sections)


@hook
def register_loaders(register: Register[Loader]) -> None:
    register("failing-loader", Failing)
