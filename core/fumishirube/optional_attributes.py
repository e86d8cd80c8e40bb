"""What stages and other objects of plugins may have beyond their protocol; it is read from here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class OptionalAttribute(Generic[T]):
    """An attribute or a method; an object without it is treated as if it had the ``default``.

    ``owner`` is the kind of object that may have it, ``meaning`` sentences for the reference.
    """

    owner: str
    name: str
    meaning: str
    default: T

    def of(self, owner: object) -> T:
        """Return the attribute of an object or a class, or the default; ``None`` is none."""
        value: T | None = getattr(owner, self.name, None)
        return self.default if value is None else value


Method: TypeAlias = OptionalAttribute[Callable[..., Any] | None]


def optional_attributes() -> Iterator[OptionalAttribute[Any]]:
    """Yield each of them, in the order of this module."""
    return (value for value in globals().values() if isinstance(value, OptionalAttribute))


def _flag(owner: str, name: str, meaning: str) -> OptionalAttribute[bool]:
    return OptionalAttribute(owner, name, meaning, default=False)


def _method(owner: str, name: str, meaning: str) -> Method:
    return OptionalAttribute(owner, name, meaning, None)


PLACED = _flag("loader", "placed", "Its documents have places, such as pages.")
ISOLATED = _flag(
    "loader",
    "isolated",
    "It reads files in other processes, so that several may be loaded at a time.",
)
REMEMBERED = _flag(
    "loader", "remembered", "The engine stores its documents by the content of their files."
)
PARSED_FINGERPRINT = OptionalAttribute[object](
    "loader",
    "parsed_fingerprint",
    "With `remembered`: changes when stored documents are to be made again, instead of the "
    "fingerprint of the stage.",
    None,
)
DRAWS_PAGES = _flag(
    "loader", "draws_pages", "Its `picture(root, source, view)` draws the pages of its files."
)
CACHING = _method(
    "loader",
    "caching",
    "With `remembered`: `caching(texts)` returns the loader that is used instead; it may store "
    "texts of parts of files in the `TextCache`.",
)
BY_NAME = _flag(
    "loader",
    "by_name",
    "Its `sources` depend on the names of the files alone; only its own class may say so.",
)
READS_IF = OptionalAttribute[Mapping[str, str]](
    "loader",
    "reads_if",
    "For each suffix that it reads on a condition, what to do: a proposal for unread files, in "
    "which `{loaders}` stands for the setting of the loaders. The suffixes that it reads without "
    "one are the default of a setting `suffixes`, a tuple.",
    {},
)
QUERY_TERMS = _method(
    "tokenizer or corpus",
    "query_terms",
    "`query_terms(text)` returns the terms by which a text of a query is scored, if not all terms "
    "are parts of the text, such as stems.",
)
FORM_FINDER = _method(
    "tokenizer or corpus",
    "form_finder",
    "For such terms: `form_finder(term)` returns a function that returns the words of a folded "
    "text that stand for the term, with repetitions; none for a term that is matched literally.",
)
WRITTEN_TERMS = _method(
    "tokenizer",
    "written_terms",
    "For speed: `written_terms(text)` returns what an index stores of a text: its terms joined by "
    "spaces; its non-ASCII characters that are in terms, some repeatedly; and the terms of ASCII "
    "letters and digits that are only parts of words.",
)
WRITTEN_BESIDE = _method(
    "tokenizer",
    "written_beside",
    "For speed: `written_beside(text, others)` returns that and the set of the other terms that "
    "it lacks.",
)
INSIDE = _flag(
    "tokenizer", "inside", "The clause of its `narrow` also matches a text inside words."
)
WAS_REBUILT = OptionalAttribute[object](
    "open index",
    "rebuilt",
    "True if opening it made it anew, because it was unusable; the next answer says so.",
    default=False,
)
PREPARATION = _method(
    "open index",
    "preparation",
    "A function that other processes call during large updates. It can be pickled, and makes of a "
    "passage what `sync` takes instead of it: a plain tuple of texts, bytes, numbers and such "
    "tuples and lists.",
)
REBUILDING = _method(
    "open index",
    "rebuilding",
    "`rebuilding(budget)` does what `writing` does, and empties the index; what was committed "
    "before answers until the next commit.",
)
UNSEARCHED = _method(
    "corpus",
    "unsearched",
    "`unsearched(since)` returns which part did not answer since a time of `time.monotonic`, if "
    "any; the answer says so.",
)
GENERATES = _flag("scorer", "generates", "It may add candidates, and not only score them.")
LAST = _flag("scorer", "last", "It needs the candidates of all others.")
AS_WRITTEN = _flag(
    "scorer, fuser or refiner",
    "as_written",
    "It may answer texts differently that are equal when folded, as patterns do. For stages of "
    "other packages this is always assumed.",
)
APPLIES = _method(
    "fuser",
    "applies",
    "`applies(query)` tells whether a query has more than one run: a fuser with nothing to do is "
    "skipped.",
)
NEEDS = OptionalAttribute[Any](
    "stage",
    "needs",
    "What it needs of its surface, of what surfaces have in `uses`; otherwise it needs that the "
    "surface uses its kind.",
    None,
)
LACKING = _method(
    "stage",
    "lacking",
    "`lacking(stages)` returns what is missing in its pipeline, whose stages it gets by their key, "
    "such as `scorers`; none if nothing is.",
)
PLACE_SETTINGS = OptionalAttribute[tuple[str, ...]](
    "stage",
    "place_settings",
    "The names of its settings that are paths of files or folders: one outside the workspace needs "
    "trust.",
    (),
)
TRUSTED_SETTINGS = OptionalAttribute[tuple[str, ...]](
    "stage",
    "trusted_settings",
    "The names of its settings of which any value but the default needs trust, such as hosts.",
    (),
)
USES = OptionalAttribute[Any](
    "surface",
    "uses",
    "The kinds of stages that it uses, and further needs of stages that it fulfils, such as "
    "`vectors`; without it, all.",
    None,
)
UNUSED = _method(
    "surface",
    "unused",
    "`unused(key, name, stage)` returns why a stage of its pipeline has no effect; none if it has.",
)
PIPELINE_NAME = OptionalAttribute[Any](
    "surface",
    "pipeline_name",
    "The key of its stages below `pipelines`, otherwise its own name; it may be a setting.",
    None,
)
INSTRUCTIONS = OptionalAttribute[str](
    "surface",
    "instructions",
    "Sentences for the model of a client, which reads them before it calls a tool.",
    "",
)
SERVER_NAME = OptionalAttribute[str](
    "surface", "server_name", "The name of a server that serves this surface alone.", ""
)
