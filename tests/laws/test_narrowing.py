"""Parameters that a configuration withholds are unknown, and read as their defaults."""

from __future__ import annotations

import pytest

from fumishirube import InvalidParameter, Params
from fumishirube.tools.calls import parse_arguments
from fumishirube.tools.definitions import narrowed_params
from fumishirube.tools.schemas import arguments_shape


class Wanted(Params):
    """What is wanted."""

    name: str | int
    many: int = 3
    prefix: str | None = None

    @property
    def below(self) -> str:
        return f"{self.prefix}/"


def test_what_is_withheld_is_not_in_the_schema_and_refused() -> None:
    narrowed = narrowed_params(Wanted, {"prefix"})
    assert arguments_shape(narrowed)["properties"].keys() == {"name", "many"}
    with pytest.raises(InvalidParameter, match="prefix"):
        parse_arguments(narrowed, {"name": "a", "prefix": "b"})


def test_a_body_reads_the_default_of_what_is_withheld() -> None:
    params = parse_arguments(narrowed_params(Wanted, {"prefix"}), {"name": "a"})
    assert (params.name, params.many, params.prefix) == ("a", 3, None)
    assert params.below == "None/"


def test_what_remains_keeps_its_schema_but_for_types_that_are_replaced() -> None:
    whole, narrowed = arguments_shape(Wanted), arguments_shape(narrowed_params(Wanted, {"many"}))
    assert {name: whole["properties"][name] for name in ("name", "prefix")} == narrowed[
        "properties"
    ]
    replaced = arguments_shape(narrowed_params(Wanted, {"many"}, {"name": str}))
    assert replaced["properties"]["name"] == {"type": "string"}
    assert replaced["required"] == ["name"]


def test_what_nothing_is_taken_from_stays_itself() -> None:
    assert narrowed_params(Wanted, ()) is Wanted
