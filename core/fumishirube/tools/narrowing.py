"""Tool parameters without those that a configuration disables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar, cast

from pydantic import create_model

from fumishirube.tools.definitions import Params

P = TypeVar("P", bound=Params)


def narrowed_params(
    params: type[P],
    withheld: Collection[str],
    replaced: Mapping[str, Any] | None = None,
) -> type[P]:
    """Return parameters without the ``withheld`` ones, which are refused like unknown names.

    Withheld parameters must be optional: the tool uses their defaults. ``replaced`` gives other
    types to parameters that remain.
    """
    types = dict(replaced or {})
    if not withheld and not types:
        return params
    fields = {
        name: (types[name], ...) if name in types else (field.annotation, field)
        for name, field in params.model_fields.items()
        if name not in withheld
    }
    narrowed = create_model(  # type: ignore[call-overload]
        params.__name__, __base__=Params, __doc__=params.__doc__, **fields
    )
    for name in withheld:
        setattr(narrowed, name, params.model_fields[name].default)
    for name, member in vars(params).items():
        if isinstance(member, property):  # the tool reads the defaults of withheld parameters
            setattr(narrowed, name, member)
    return cast("type[P]", narrowed)
