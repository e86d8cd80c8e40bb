"""The types of what stages and surfaces offer, checked before anything else reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from types import UnionType
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fumishirube.corpus import Bool, Everything, Holds, Pages, Part, Phrase, Term
from fumishirube.documents import Source
from fumishirube.engine.stage_results import MOST_ITEMS, document_fault
from fumishirube.errors import ToolError
from fumishirube.optional_attributes import (
    APPLIES,
    AS_WRITTEN,
    GENERATES,
    LAST,
    NEEDS,
    PARSED_FINGERPRINT,
    PLACED,
    PREPARATION,
    REMEMBERED,
)
from fumishirube.plugins.registry import StageKind
from fumishirube.stages import Chapter, Contents, Stage
from fumishirube.surfaces import Diagnostic, Surface
from fumishirube.text.encoding import has_surrogates
from fumishirube.tools.definitions import Answer, Params, Question, Tool, View
from fumishirube.tools.resources import (
    Content,
    Prompt,
    PromptParameter,
    Resource,
    Resources,
    Template,
)

T = TypeVar("T")

WrittenTerms: TypeAlias = tuple[str, str, Collection[str]]

_KINDS = (
    *(Tool, Resources, Prompt, Resource, Template, Content, PromptParameter, Question, View),
    *(Diagnostic, Contents, Chapter),
)
_DESCRIBED = (Tool, Prompt, PromptParameter, Template, View)
"""Kinds with texts of the plugin alone; those of others may come from names of files."""


def all_of(items: Iterable[T], most: int = MOST_ITEMS) -> tuple[T, ...]:
    """Return what a plugin yields; raise a :class:`ValueError` for more items than so many."""
    taken = tuple(islice(items, most + 1))
    if len(taken) > most:
        raise ValueError(f"it yields more than {most} items")
    return taken


@cache
def _fields(kind: type) -> Mapping[str, tuple[Any, ...]]:
    """Return the types of the fields of a kind, as its annotations say."""
    hints = get_type_hints(kind) if kind in _KINDS else {}
    return {name: _types(hint) for name, hint in hints.items()}


def _types(hint: Any) -> tuple[Any, ...]:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(get_origin(part) or part for part in parts)


_MEMBERS: Mapping[type, Mapping[str, type]] = {
    Tool: {"examples": Mapping},
    Resources: {"templates": Template},
    Prompt: {"arguments": PromptParameter},
    Contents: {"chapters": Chapter, "warnings": str},
}


_UNGUARDED = (
    *(NEEDS, GENERATES, LAST, APPLIES, PLACED, PREPARATION),
    *(REMEMBERED, PARSED_FINGERPRINT, AS_WRITTEN),
)
_OF_STAGES = tuple(each.name for each in _UNGUARDED)
"""What is read of a stage where no guard names its faults; a plugin may compute it."""

_OF_SURFACES = ("lifespan", "diagnostics", "search_statistics", "evidence", "with_evidence")
"""The same of surfaces; what else they may have is read where it is left out alone."""


def check_stage(stage: Stage) -> None:
    """Check the types of what identifies a stage, and read what it says of itself."""
    json.dumps(stage.model_dump(mode="json", by_alias=True))
    for name, kind in (("revision", int), ("fingerprint", str)):
        value = getattr(stage, name)
        if not isinstance(value, kind):
            raise TypeError(f"{name!r} is of the type {type(value).__name__}")
    needs = NEEDS.of(stage) or ()
    if isinstance(needs, str):
        raise TypeError(f"'needs' is the text {needs!r}, not several; a tuple of one has a comma")
    if not all(isinstance(need, str) for need in needs):
        raise TypeError("'needs' has something else than texts")
    _read_of(stage, _OF_STAGES)


def check_running(running: object, kind: StageKind) -> None:
    """Check that what a stage opened is of its kind, and read what it says of itself."""
    if method := kind.lacking(running):
        name = type(running).__name__
        raise TypeError(f"its open() yields a {name}, which is no {kind.noun}: no {method}()")
    _read_of(running, _OF_STAGES)


def _read_of(stage: object, names: Iterable[str]) -> None:
    for name in names:
        getattr(stage, name, None)


def check_surface(surface: Surface, roots: Collection[str]) -> None:
    """Check the class variables of a surface, whose root is one of these."""
    for name in ("pipeline", "root"):
        if not hasattr(surface, name):
            raise TypeError(f"it has no class variable {name!r}")
    pipeline: object = surface.pipeline
    if surface.root not in roots:
        raise TypeError(f"its root {surface.root!r} is none of {', '.join(roots)}")
    if not isinstance(pipeline, Mapping):
        raise TypeError(f"'pipeline' is of the type {type(pipeline).__name__}")
    _read_of(surface, _OF_SURFACES)


def check_offers(offers: object, kind: type) -> None:
    """Check the types of a sequence of what a surface offers, with all fields."""
    if not isinstance(offers, Sequence) or isinstance(offers, str):
        raise TypeError(f"a sequence was expected, not {type(offers).__name__}")
    for offer in offers:
        _check(offer, kind)


def _check(offer: object, kind: type) -> None:
    if not isinstance(offer, kind):
        raise TypeError(f"{kind.__name__} was expected, not {type(offer).__name__}")
    for name, types in _fields(kind).items():
        value = getattr(offer, name)
        if not isinstance(value, types):
            raise TypeError(f"{name!r} of {_called(offer)} is of the type {type(value).__name__}")
        if kind in _DESCRIBED and isinstance(value, str) and has_surrogates(value):
            raise TypeError(f"{name!r} of {_called(offer)} holds half of a surrogate pair")
    for name, member in _MEMBERS.get(kind, {}).items():
        check_offers(getattr(offer, name), member)
    if isinstance(offer, Tool):
        _check_tool(offer)


def _check_tool(tool: Tool[Any, Any]) -> None:
    for name, base in (("params", Params), ("answer", Answer)):
        if not issubclass(getattr(tool, name), base):
            raise TypeError(f"{name!r} of {_called(tool)} is no subclass of {base.__name__}")
    if tool.pages is not None and tool.pages not in tool.answer.model_fields:
        raise TypeError(f"'pages' of {_called(tool)}: its answer has no field {tool.pages!r}")
    if tool.http is not None:
        check_offers(tool.http, str)
    if tool.view is not None:
        _check(tool.view, View)
        if not tool.view.uri.startswith("ui://"):
            raise TypeError(f"'view' of {_called(tool)} has a URI that does not begin with ui://")


def checking(check: Callable[[Any], T], call: Callable[..., Any]) -> Callable[..., T]:
    """Return a function that returns what a call returns, after a check that may raise."""

    def checked(*arguments: Any, **named: Any) -> T:
        return check(call(*arguments, **named))

    return checked


def check_text(returned: object) -> str:
    """Return a text; raise a :class:`TypeError` if it is none."""
    if not isinstance(returned, str):
        raise TypeError(f"it returned a {type(returned).__name__} and no text")
    return returned


def check_error(returned: object) -> ToolError:
    """Return an error for a caller; raise a :class:`TypeError` if it is none."""
    if not isinstance(returned, ToolError):
        raise TypeError(f"it returned a {type(returned).__name__} and no ToolError")
    return returned


def check_texts(returned: Iterable[str], most: int = MOST_ITEMS) -> tuple[str, ...]:
    """Return texts that a plugin returned, as plain strings; raise for what cannot be encoded."""
    texts = all_of(returned, most)
    if isinstance(returned, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError("it returned something else than texts")
    if not all(map(str.isascii, texts)):
        "\n".join(texts).encode()
    if all(type(text) is str for text in texts):
        return texts
    return tuple(str.join("", [text]) for text in texts)  # f"{text}" would call its own method


def is_source(source: object) -> bool:
    """Tell whether something is a source, with values of the right types."""
    return (
        isinstance(source, Source)
        and isinstance(source.path, str)
        and isinstance(source.governed_by, tuple | list)
        and all(isinstance(path, str) for path in source.governed_by)
    )


def check_toc(method: str, result: Any) -> Any:
    """Return the table of contents, or the chapter, that a method of a loader returned."""
    if method == "contents":
        check_offers((result,), Contents)
    if method == "chapter" and (fault := document_fault(result, getattr(result, "path", ""))):
        raise TypeError(fault)
    return result


def check_writing(written: Any) -> WrittenTerms:
    """Return the terms, characters and parts of a text; raise a :class:`TypeError` for others."""
    joined, characters, parts = written
    joined, characters = check_texts((joined, characters))
    return joined, characters, {*check_texts(parts)}


def require(name: str, value: Any, kind: type, of: str = "index") -> Any:
    """Return what a method of an index, or of a part of it, gave; raise if it is another type."""
    if not isinstance(value, kind):
        wanted = kind.__name__
        raise TypeError(f"{name!r} of its {of} gave a {type(value).__name__} and no {wanted}")
    return value


def require_clause(clause: object) -> None:
    """Raise a :class:`TypeError` unless it is a clause, with all that is in it."""
    match clause:
        case Term(str(), None | str()) | Part(str(), None | str()) | Holds(str()) | Everything():
            return
        case Phrase(tuple() as texts, None | str()) | Pages(tuple() as texts):
            check_texts(texts)
        case Bool(tuple() as should, tuple() as must, tuple() as must_not):
            for inner in (*should, *must, *must_not):
                require_clause(inner)
        case _:
            raise TypeError(f"it returned no clause with the right values: {type(clause).__name__}")


def check_question(returned: object) -> Question | None:
    """Return a question, or ``None``; raise a :class:`TypeError` if it is neither."""
    if returned is None:
        return None
    _check(returned, Question)
    question = cast("Question", returned)
    return question._replace(choices=check_texts(question.choices))


def check_listed(returned: Iterable[Resource]) -> Sequence[Resource]:
    """Return resources; raise a :class:`TypeError` if they are none."""
    listed = all_of(returned)
    check_offers(listed, Resource)
    return listed


def check_contents(returned: object) -> Sequence[Content]:
    """Return the content of a resource; raise a :class:`TypeError` if it is none."""
    check_offers(returned, Content)
    return cast("Sequence[Content]", returned)


def _called(offer: object) -> str:
    name = getattr(offer, "name", getattr(offer, "scheme", None))
    kind = type(offer).__name__
    return f"{kind} {name!r}" if isinstance(name, str) else kind
