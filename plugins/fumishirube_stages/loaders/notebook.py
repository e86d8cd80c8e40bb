"""Jupyter notebooks: their texts and code as Markdown, and outputs on demand."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, ClassVar, NamedTuple

from fumishirube import Document, Root, Source, Stage, Unreadable
from fumishirube.text import decode, unify_line_ends
from fumishirube_stages.divisions import divided, passages, without_surrogates
from fumishirube_stages.source_files import left_nothing, sources_ending

_BACKTICKS = re.compile("`{3,}")
_LANGUAGES = (("kernelspec", "language"), ("language_info", "name"))
"""Where the metadata of a notebook name its language; the first lacks it in many of R and C++."""
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class _NotebookBlock(NamedTuple):
    """The lines of a cell, or of what it printed."""

    lines: Sequence[str]
    headed: bool
    """Whether lines of it may be headings: those of code and of raw cells are none."""


class Notebook(Stage):
    """Claims Jupyter notebooks. They are read as Markdown, with the code of cells in fences.

    With ``outputs`` the text that cells printed or returned follows their code; pictures never do.
    """

    remembered: ClassVar[bool] = True
    by_name: ClassVar[bool] = True
    revision: ClassVar[int] = 5  # ends front matter at three dots only below settings

    suffixes: tuple[str, ...] = (".ipynb",)
    outputs: bool = False

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return the message for suffixes that belong to earlier loaders, or ``None``."""
        return left_nothing(self, self.suffixes, stages)

    def sources(self, root: Root) -> list[Source]:
        """Return the files with one of the suffixes, in any case."""
        return sources_ending(root, self.suffixes)

    def load(self, root: Root, source: Source) -> Document:
        """Read a notebook, and divide it at the headings of its texts.

        Front matter in its first cell, as Quarto writes it, may give its title.

        Raises:
            Unreadable: when it is no notebook of version 4.
        """
        from fumishirube_stages.loaders.markdown_files import front_matter, headings  # noqa: PLC0415 - new files

        path = source.path
        lines: list[str] = []
        texts: list[tuple[int, str]] = []
        for block in self._blocks(_notebook(decode(root.read_bytes(path)))):
            if block.headed:
                texts.append((len(lines), "".join(f"{line}\n" for line in block.lines)))
            lines += [*block.lines, ""]
        text = "".join(f"{line}\n" for line in lines)
        facts = front_matter.reader_texts(text, ("title",)).facts
        title = without_surrogates(str(facts.get("title", PurePosixPath(path).stem)))
        titles = headings.headings_of_each(texts)
        sections = divided(text, titles, title) if titles else passages(text, title)
        return Document(path, "ipynb", text, sections, facts=facts)

    def _blocks(self, notebook: Mapping[str, Any]) -> Iterator[_NotebookBlock]:
        language = _language(notebook)
        for cell in notebook["cells"]:
            written = _joined(cell.get("source"))
            if not isinstance(cell.get("cell_type"), str) or not written.strip():
                continue
            code = cell["cell_type"] == "code"
            lines = _fenced(written, language) if code else written.rstrip().split("\n")
            yield _NotebookBlock(lines, headed=cell["cell_type"] == "markdown")
            for printed in _printed(cell) if code and self.outputs else ():
                yield _NotebookBlock(_fenced(printed, "output"), headed=False)


def _notebook(text: str) -> Mapping[str, Any]:
    try:
        # As a float, since Python refuses whole numbers of thousands of digits.
        notebook = json.loads(text, parse_int=float)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is no JSON, and so no notebook", reason="damaged") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("it has no cells: open it in Jupyter, and save it", reason="damaged")
    return dict(notebook)


def _language(notebook: Mapping[str, Any]) -> str:
    for keys in _LANGUAGES:
        about: Any = notebook
        for key in ("metadata", *keys):
            about = about.get(key) if isinstance(about, dict) else None
        if isinstance(about, str) and _LANGUAGE.fullmatch(about):
            return about
    return "python"


def _joined(source: Any) -> str:
    """Return a text that is a string or a list of its lines, with LF for every line end.

    Lone surrogates, which cut emoji leave, become U+FFFD.
    """
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    return without_surrogates(unify_line_ends(text))


def _printed(cell: Mapping[str, Any]) -> Iterator[str]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        forms = data if isinstance(data, dict) else {}
        # What displays Markdown has the name of a class as its plain text.
        shown = forms.get("text/markdown") or forms.get("text/plain")
        text = _joined(shown or (output.get("text") if isinstance(output, dict) else None))
        if text.strip():
            yield _COLOURS.sub("", text)


def _fenced(text: str, language: str) -> list[str]:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return [fence + language, *text.strip("\n").split("\n"), fence]
