"""Discovering and loading plugins, one by one, surviving the bad ones."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

import pluggy

from shirube import hookspecs
from shirube.errors import PluginError
from shirube.hookspecs import GROUP
from shirube.registry import KINDS, Offer, Register, Registry

BUILTIN = "builtin"

Status = Literal["loaded", "refused", "disabled"]


@dataclass(frozen=True)
class Report:
    """What became of one plugin."""

    plugin: str
    distribution: str
    version: str
    status: Status
    offers: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()


@dataclass
class Plugins:
    """The loaded plugins: their shelves, their observers, and a report on each, good or bad."""

    registry: Registry
    manager: pluggy.PluginManager
    reports: list[Report] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """Return every problem as one line that names its plugin."""
        return [f"plugin {r.plugin}: {p}" for r in self.reports for p in r.problems]


def load_plugins(*, strangers: bool = True) -> Plugins:
    """Load the built-ins and, unless told otherwise, every installed plugin of this API version.

    A plugin that cannot be loaded, or that offers what it may not, is rolled back and reported.
    A built-in's name cannot be taken; of two strangers that claim one name neither is offered.
    Nothing depends on the order of installation.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    plugins = Plugins(Registry(), manager)
    points = sorted(entry_points(group=GROUP), key=lambda p: (p.name != BUILTIN, p.name, p.value))
    offered: list[tuple[EntryPoint, list[tuple[str, Offer]]]] = []
    seen: set[str] = set()
    for point in points:
        if not strangers and not _is_builtin(point):
            plugins.reports.append(_report(point, "disabled"))
            continue
        try:
            if point.name in seen or (point.name == BUILTIN and not _is_builtin(point)):
                raise PluginError(f"another plugin is called {point.name!r} already")
            offered.append((point, _load(manager, point)))
            seen.add(point.name)
        except PluginError as error:
            plugins.reports.append(_report(point, "refused", problems=[str(error)]))
    _settle(plugins, offered)
    plugins.reports.sort(key=lambda report: (report.plugin != BUILTIN, report.plugin))
    return plugins


def _is_builtin(point: EntryPoint) -> bool:
    return point.name == BUILTIN and point.module == "shirube_builtin"


def _load(manager: pluggy.PluginManager, point: EntryPoint) -> list[tuple[str, Offer]]:
    """Import and register one plugin, collect its offers, or leave no trace of it."""
    try:
        with redirect_stdout(sys.stderr):
            module = point.load()
    except (Exception, SystemExit) as error:
        raise PluginError(f"cannot be imported: {_said(error)}") from error
    try:
        with redirect_stdout(sys.stderr):
            manager.register(module, name=point.name)
            manager.check_pending()
            offers = _collect(manager, point)
            if not offers and "search_finished" not in _hooks(manager, module):
                raise PluginError("it registers nothing; add a hook such as register_scorers")
    except PluginError:
        _forget(manager, module)
        raise
    except pluggy.PluginValidationError as error:
        _forget(manager, module)
        raise PluginError(_unknown_hook(error)) from error
    except (Exception, SystemExit) as error:
        _forget(manager, module)
        raise PluginError(f"a hook failed: {_said(error)}") from error
    return offers


def _forget(manager: pluggy.PluginManager, module: object) -> None:
    if manager.is_registered(module):
        manager.unregister(module)


def _hooks(manager: pluggy.PluginManager, module: object) -> set[str]:
    return {caller.name for caller in manager.get_hookcallers(module) or ()}


def _collect(manager: pluggy.PluginManager, point: EntryPoint) -> list[tuple[str, Offer]]:
    others = [plugin for name, plugin in manager.list_name_plugin() if name != point.name]
    offers: list[tuple[str, Offer]] = []
    for kind in KINDS:
        register: Register[object] = Register(kind, point.name)
        caller = manager.subset_hook_caller(f"register_{kind.shelf}", others)
        caller(register=register)
        names = [offer.name for offer in register.offers]
        for name in names:
            if names.count(name) > 1:
                raise PluginError(f"it offers two {kind.shelf} called {name!r}")
        offers.extend((kind.shelf, offer) for offer in register.offers)
    return offers


def _settle(plugins: Plugins, offered: list[tuple[EntryPoint, list[tuple[str, Offer]]]]) -> None:
    claims: dict[tuple[str, str], list[str]] = {}
    for point, offers in offered:
        for shelf, offer in offers:
            claims.setdefault((shelf, offer.name), []).append(point.name)
    for point, offers in offered:
        problems, kept = [], []
        for shelf, offer in offers:
            rivals = [name for name in claims[shelf, offer.name] if name != point.name]
            noun = plugins.registry[shelf].kind.noun
            if not rivals or point.name == BUILTIN:
                plugins.registry[shelf].put(offer)
                kept.append((noun, offer.name))
            elif BUILTIN in rivals:
                problems.append(f"{noun} {offer.name!r} is the name of a built-in; choose another")
            else:
                problems.append(
                    f"{noun} {offer.name!r} is also offered by {rivals[0]!r}; neither is used"
                )
        plugins.reports.append(_report(point, "loaded", kept, problems))


def _report(
    point: EntryPoint,
    status: Status,
    offers: Iterable[tuple[str, str]] = (),
    problems: Iterable[str] = (),
) -> Report:
    distribution = point.dist
    name = distribution.name if distribution else "unknown"
    version = distribution.version if distribution else "unknown"
    return Report(point.name, name, version, status, tuple(offers), tuple(problems))


def _said(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _unknown_hook(error: pluggy.PluginValidationError) -> str:
    known = ", ".join([*(f"register_{kind.shelf}" for kind in KINDS), "search_finished"])
    text = str(error)
    if "unknown hook" in text:
        name = text.split("unknown hook")[1].split("'")[1]
        return f"there is no hook {name!r}; the hooks are: {known}"
    return f"a hook is declared wrongly: {text.splitlines()[-1]}"
