"""The types of what stages and surfaces offer and return, checked before anything reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from fumishirube.engine.shapes import Shapes
from fumishirube.stages import Stage
from fumishirube.surfaces import Surface
from fumishirube.tools.definitions import Answer, Params, Question, Tool

T = TypeVar("T")

_DESCRIBED = Shapes()
"""For texts of the plugin alone."""
_LISTED = Shapes(str)
"""For texts that may come from names of files, which may be no Unicode."""
_MOST_ITEMS = 1_000_000
"""So many items may an iterator of a plugin yield: one without an end would fill the memory."""
_READ_OF_STAGES = ("needs", "generates", "last", "applies", "placed", "preparation")
"""What is read of a stage beside its methods; a plugin may compute it."""


def all_of(items: Iterable[T]) -> tuple[T, ...]:
    """Return what a plugin yields; raise a :class:`ValueError` after a million items."""
    taken = tuple(islice(items, _MOST_ITEMS + 1))
    if len(taken) > _MOST_ITEMS:
        raise ValueError(f"it yields more than {_MOST_ITEMS} items")
    return taken


def check_shape(value: Any, hint: Any, name: str = "", shapes: Shapes = _LISTED) -> Any:
    """Return a value; raise a :class:`TypeError` with the path to what is not as annotated."""
    if fault := shapes.fault(value, hint, name):
        raise TypeError(fault)
    return value


# --- what is offered ------------------------------------------------------------------------


def check_stage(stage: Stage) -> None:
    """Check the types of what identifies a stage, and read what it says of itself."""
    json.dumps(stage.model_dump(mode="json", by_alias=True))
    check_shape(stage.revision, int, "revision")
    check_shape(stage.fingerprint, str, "fingerprint")
    for name in _READ_OF_STAGES:
        getattr(stage, name, None)


def check_surface(surface: Surface, roots: Collection[str]) -> None:
    """Check the class variables of a surface, whose root is one of these."""
    for name in ("pipeline", "root"):
        if not hasattr(surface, name):
            raise TypeError(f"it has no class variable {name!r}")
    if surface.root not in roots:
        raise TypeError(f"its root {surface.root!r} is none of {', '.join(roots)}")
    if not isinstance(surface.pipeline, Mapping):
        raise TypeError(f"pipeline is {type(surface.pipeline).__name__} instead of Mapping")


def check_offers(offers: object, kind: type) -> None:
    """Check the types of a sequence of what a surface offers, with all fields."""
    for offer in check_shape(offers, Sequence[object], "a list of offers"):
        known = isinstance(offer, kind)
        check_shape(offer, kind, _called(offer) if known else "an offer", _DESCRIBED)
        if isinstance(offer, Tool):
            _check_tool(offer)


def _check_tool(tool: Tool[Any, Any]) -> None:
    for name, base in (("params", Params), ("answer", Answer)):
        if not issubclass(getattr(tool, name), base):
            raise TypeError(f"{_called(tool)}.{name} is no subclass of {base.__name__}")
    if tool.pages is not None and tool.pages not in tool.answer.model_fields:
        raise TypeError(f"{_called(tool)}.pages: its answer has no field {tool.pages!r}")


def _called(offer: object) -> str:
    name = getattr(offer, "name", getattr(offer, "scheme", None))
    kind = type(offer).__name__
    return f"{kind} {name!r}" if isinstance(name, str) else kind


# --- what is returned -----------------------------------------------------------------------


def check_result(kind: type, name: str, result: Any) -> Any:
    """Return what a function of an offer returned; raise if it is not as the kind's field says."""
    hint = _result_of(kind, name)
    if hint is type(None):
        return None
    if hint == Iterable[str]:
        return check_texts(result)
    result = check_shape(all_of(result) if get_origin(hint) is Iterable else result, hint)
    if isinstance(result, Question):
        return result._replace(choices=check_texts(result.choices))
    return result


@cache
def _result_of(kind: type, name: str) -> Any:
    """Return the type of what a function in a field returns."""
    hint = get_type_hints(kind)[name]
    function = next(each for each in (hint, *get_args(hint)) if get_origin(each) is Callable)
    return get_args(function)[-1]


def check_texts(returned: Iterable[str]) -> tuple[str, ...]:
    """Return texts that a plugin returned, as plain strings; raise for what cannot be encoded."""
    texts = all_of(returned)
    if isinstance(returned, str):
        raise TypeError("its result is a text instead of several")
    check_shape(texts, tuple[str, ...], shapes=_DESCRIBED)
    if {*map(type, texts)} <= {str}:
        return texts
    return tuple(str.join("", [text]) for text in texts)  # f"{text}" would call its own method
