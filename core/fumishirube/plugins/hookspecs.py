"""The hooks of the plugin API. The entry-point group is the API's version."""

from __future__ import annotations

import pluggy

from fumishirube.plugins.commands import CommandRegister
from fumishirube.plugins.registry import DefaultRegister, Register
from fumishirube.stages import (
    Embedder,
    Fuser,
    Index,
    Loader,
    Refiner,
    Scorer,
    Tokenizer,
)
from fumishirube.surfaces import Surface
from fumishirube.traces.records import Trace

GROUP = "fumishirube.v1"

_spec = pluggy.HookspecMarker(GROUP)
hook = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin module as an implementation of the hook of the same name."""


@_spec
def register_loaders(register: DefaultRegister[Loader]) -> None:
    """Offer loaders, which turn the files of a manual into documents made of sections."""


@_spec
def register_tokenizers(register: Register[Tokenizer]) -> None:
    """Offer tokenizers, which turn folded text into the terms that an index keeps."""


@_spec
def register_embedders(register: Register[Embedder]) -> None:
    """Offer embedders, which turn texts into vectors."""


@_spec
def register_indexes(register: Register[Index]) -> None:
    """Offer indexes, which keep sections and answer weighted-term queries."""


@_spec
def register_scorers(register: Register[Scorer]) -> None:
    """Offer scorers, which score passages for a query."""


@_spec
def register_fusers(register: Register[Fuser]) -> None:
    """Offer fusers, which split a query into runs and merge their rankings."""


@_spec
def register_refiners(register: Register[Refiner]) -> None:
    """Offer refiners, which reorder or shorten a ranking."""


@_spec
def register_surfaces(register: DefaultRegister[Surface]) -> None:
    """Offer surfaces, which offer tools to callers."""


@_spec
def register_commands(register: CommandRegister) -> None:
    """Offer verbs of the command line, and ways to serve besides standard input and output."""


@_spec
def search_finished(trace: Trace) -> None:
    """Watch a finished search. Observers never change it; what they raise is logged and dropped."""
