"""Checks values against annotations, to the innermost value, and names the path to a wrong one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from types import MappingProxyType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from fumishirube.text.encoding import has_surrogates

_NOTHING_ELSE: Mapping[type, tuple[type, ...]] = MappingProxyType({})


class _AllowedType(NamedTuple):
    """One of the types of an annotation, such as ``tuple``, and those of its arguments."""

    kind: Any
    arguments: tuple[_Types, ...]


_Types: TypeAlias = tuple[_AllowedType, ...]


class Shapes:
    """Checks values against annotations.

    What it does not check: values of the ``opaque`` classes, literals, the keys of mappings, and
    values of any type, such as JSON. ``instead`` are the classes that pass where an annotation
    names another one.
    """

    def __init__(
        self, *opaque: type, instead: Mapping[type, tuple[type, ...]] = _NOTHING_ELSE
    ) -> None:
        self._opaque = opaque
        self._instead = {float: (int, float), **instead}

    def fault(self, value: object, hint: Any, name: str = "") -> str:
        """Return why a value of this name is not as annotated; empty if it is.

        The path to what is wrong comes first; no text is quoted.
        """
        problem = self._fault((value,), _types(hint))
        if name or not problem.startswith("."):
            return problem and f"{name or 'its result'}{problem}"
        return problem[1:]

    def _fault(self, values: Sequence[Any], types: _Types) -> str:
        """Check values of one annotation together: there may be thousands, of few types."""
        if not values:
            return ""
        unknown = {*map(type, values)}
        if len(types) == 1 and unknown == {types[0].kind}:
            return self._within(values, types[0])
        for allowed in types:
            own = {kind for kind in unknown if self._is_of(kind, allowed)}
            of_allowed = (
                values if own == unknown else [each for each in values if type(each) in own]
            )
            if own and (problem := self._within(of_allowed, allowed)):
                return problem
            unknown -= own
        return f" is {unknown.pop().__name__} instead of {_named(types)}" if unknown else ""

    def _is_of(self, kind: type, allowed: _AllowedType) -> bool:
        wanted = allowed.kind
        if kind is wanted or not isinstance(wanted, type) or wanted is Any:
            return True
        if (wanted is int and kind is bool) or (allowed.arguments and issubclass(kind, str)):
            return False  # True is no line, and a text is no sequence of texts
        return issubclass(kind, self._instead.get(wanted, wanted))

    def _within(self, values: Sequence[Any], allowed: _AllowedType) -> str:
        """Check values whose own type is right."""
        kind, arguments = allowed
        if kind in self._opaque:
            return ""
        if kind is str:
            return " is no Unicode text" if has_surrogates("\n".join(values)) else ""
        if kind is float:
            return "" if all(map(math.isfinite, values)) else " is no finite number"
        if not arguments or not isinstance(kind, type):
            return self._in_fields(values, kind)
        if kind is tuple and _REPEATED not in arguments:
            return self._in_order(values, arguments)
        if issubclass(kind, Mapping):
            inner = [each.values() for each in values]
            problem = self._fault([*chain.from_iterable(inner)], arguments[1])
            return problem and f".values(){problem}"
        if issubclass(kind, Iterable):
            return self._among(values, arguments[0])
        return self._in_fields(values, kind)

    def _in_fields(self, values: Sequence[Any], kind: Any) -> str:
        for name, value_of, types in _fields(kind):
            if problem := self._fault([*map(value_of, values)], types):
                return f".{name}{problem}"
        return ""

    def _in_order(self, values: Sequence[tuple[Any, ...]], arguments: tuple[_Types, ...]) -> str:
        if {*map(len, values)} != {len(arguments)}:
            return f" is a tuple, but not of {len(arguments)} values"
        for number, types in enumerate(arguments):
            if problem := self._fault([each[number] for each in values], types):
                return f"[{number}]{problem}"
        return ""

    def _among(self, values: Sequence[Iterable[Any]], types: _Types) -> str:
        """Check the items of all values together; look for the first wrong one only if one is."""
        if not self._fault([*chain.from_iterable(values)], types):
            return ""
        for number, item in chain.from_iterable(map(enumerate, values)):
            if problem := self._fault([item], types):
                return f"[{number}]{problem}"
        return " changes while it is read"


@cache
def _types(hint: Any) -> _Types:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return tuple(chain.from_iterable(map(_types, arguments)))
    inner = () if origin in (Literal, Callable) else tuple(map(_types, arguments))
    return (_AllowedType(origin or hint, inner),)


_REPEATED = _types(...)


@cache
def _fields(kind: Any) -> Sequence[tuple[str, Any, _Types]]:
    """Return name, getter and types of the fields of a named tuple or a dataclass."""
    names = getattr(kind, "_fields", ())
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
    hints = get_type_hints(kind) if names else {}
    return [(name, attrgetter(name), _types(hints[name])) for name in names]


def _named(types: _Types) -> str:
    names = [getattr(allowed.kind, "__name__", str(allowed.kind)) for allowed in types]
    return " or ".join(names).replace("NoneType", "None")
