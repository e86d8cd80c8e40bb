"""The hooks of the plugin API. The entry-point group is the API's version."""

from __future__ import annotations

import pluggy

from fumishirube.plugins.commands import CommandRegister
from fumishirube.plugins.registry import DefaultRegister, Register
from fumishirube.stages import Embedder, Fuser, Index, Loader, Refiner, Scorer, Tokenizer
from fumishirube.surfaces import Surface
from fumishirube.traces.records import Trace

GROUP = "fumishirube.v1"

_spec = pluggy.HookspecMarker(GROUP)
hook = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin module as an implementation of the hook of the same name."""


@_spec
def register_loaders(register: DefaultRegister[Loader]) -> None:
    """Register loaders, which turn the files of a manual into documents made of sections."""


@_spec
def register_tokenizers(register: Register[Tokenizer]) -> None:
    """Register tokenizers, which turn folded text into the terms of an index."""


@_spec
def register_embedders(register: Register[Embedder]) -> None:
    """Register embedders, which turn texts into vectors."""


@_spec
def register_indexes(register: Register[Index]) -> None:
    """Register indexes, which store sections and answer weighted-term queries."""


@_spec
def register_scorers(register: Register[Scorer]) -> None:
    """Register scorers, which score passages for a query."""


@_spec
def register_fusers(register: Register[Fuser]) -> None:
    """Register fusers, which split a query into runs and merge their rankings."""


@_spec
def register_refiners(register: Register[Refiner]) -> None:
    """Register refiners, which reorder or shorten a ranking."""


@_spec
def register_surfaces(register: DefaultRegister[Surface]) -> None:
    """Register surfaces, which offer tools to callers."""


@_spec
def register_commands(register: CommandRegister) -> None:
    """Register verbs of the command line, and ways to serve besides standard streams."""


@_spec
def search_finished(trace: Trace) -> None:
    """Observe a finished search. Observers cannot change it; their errors are logged."""
