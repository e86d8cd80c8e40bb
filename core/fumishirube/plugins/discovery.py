"""Discover and load plugins one by one, and report those that fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stdout,
    suppress,
)
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from pathlib import Path
from threading import current_thread, main_thread
from typing import Literal, NamedTuple, TypeAlias

import pluggy

from fumishirube.errors import PluginError, UnknownStage, first_line
from fumishirube.interrupts import is_interrupt
from fumishirube.plugins import hookspecs
from fumishirube.plugins.commands import (
    OWN_NAMES,
    Command,
    CommandRegister,
    CommandRegistry,
    plugin_errors,
)
from fumishirube.plugins.deprecation import collect_deprecations
from fumishirube.plugins.entry_points import (
    DISTRIBUTION,
    InstalledPlugin,
    installed,
    of_other_versions,
    plugin_points,
)
from fumishirube.plugins.hookspecs import GROUP
from fumishirube.plugins.registry import (
    KINDS,
    LOADERS,
    NOUNS,
    SURFACES,
    DefaultRegister,
    RefusedStage,
    Register,
    RegisteredStage,
    StageRegistry,
)

_MOST_CAUSES = 3
"""Refused plugins that a configuration error names, at most."""
_COMMANDS = "commands"
_LAZY = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)

Status = Literal["loaded", "refused", "disabled"]


class PluginProblem(NamedTuple):
    """Why a plugin, or its ``stage`` of this noun and name, cannot be used."""

    sentence: str
    stage: tuple[str, str] | None = None
    imported: bool = True


@dataclass(frozen=True)
class PluginReport:
    """The result of loading one plugin."""

    plugin: str
    distribution: str
    version: str
    status: Status
    offers: tuple[tuple[str, str], ...] = ()
    problems: tuple[PluginProblem, ...] = ()
    deprecations: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"plugin {self.plugin}: {'; '.join(problem.sentence for problem in self.problems)}"

    @property
    def builtin(self) -> bool:
        """Whether it comes with the framework."""
        return self.distribution == DISTRIBUTION


@dataclass
class Plugins:
    """The loaded plugins: their registry, their observers, and a report on each.

    ``revision`` counts how often this process imported their code again. ``left_out`` lists the
    parts that could not be built, by plugin.
    """

    registry: StageRegistry
    manager: pluggy.PluginManager
    reports: list[PluginReport] = field(default_factory=list)
    revision: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)
    commands: CommandRegistry = field(default_factory=CommandRegistry)

    @property
    def code(self) -> str:
        """The names and versions of the plugins that may affect an answer."""
        loaded = [report for report in self.reports if report.status == "loaded"]
        names = " ".join(
            f"{report.plugin}={report.distribution}-{report.version}" for report in loaded
        )
        return f"{names} #{self.revision}" if self.revision else names

    def foreign(self, plugin: str) -> PluginReport | None:
        """Return the report on a plugin; ``None`` for a built-in, and for a name of none."""
        report = next((report for report in self.reports if report.plugin == plugin), None)
        return None if report is None or report.builtin else report

    def observers(self) -> Iterator[tuple[str, pluggy.HookCaller]]:
        """Yield each plugin that observes searches, with the caller of its hook."""
        observing = self.manager.hook.search_finished.get_hookimpls()
        for plugin in dict.fromkeys(hook.plugin_name for hook in observing):
            yield plugin, _hook_of(self.manager, plugin, "search_finished")

    def check_against(self, former: Plugins) -> None:
        """Raise a :class:`PluginError` if a plugin of an earlier load cannot be loaded any more."""
        loaded = {report.plugin for report in former.reports if report.status == "loaded"}
        for report in self.reports:
            if report.plugin in loaded and report.status == "refused":
                raise PluginError(str(report))

    def take(self, kind_name: str, name: str, coordinate: str) -> RegisteredStage:
        """Return the stage of this name.

        Raises:
            UnknownStage: with the coordinate, the nearest name, and the problems of plugins that
                may have meant to register it.
        """
        try:
            return self.registry[kind_name].take(name, coordinate)
        except UnknownStage as error:
            noun = self.registry[kind_name].kind.noun
            causes = self._causes(noun, name)
            if not causes:
                raise
            raise UnknownStage("; ".join((error.problem, *causes)), at=coordinate) from error

    def _causes(self, noun: str, name: str) -> list[str]:
        """Return the problems of plugins that may explain a missing stage.

        Those are of the plugins that registered it in vain, or else of refused ones whose entry
        point or distribution has its name, or else of all refused ones.
        """
        claimed = [r for r in self.reports if any(p.stage == (noun, name) for p in r.problems)]
        refused = [r for r in self.reports if r.status == "refused"]
        refused.sort(key=lambda report: report.problems[0].imported)
        alike = [r for r in refused if name in r.plugin or name in r.distribution]
        shown = claimed or alike or refused
        causes = [*map(str, shown[:_MOST_CAUSES])]
        if len(shown) > _MOST_CAUSES:
            causes.append("see 'fumishirube plugins' for the others")
        return causes

    @property
    def problems(self) -> list[str]:
        """Return every problem as one line that names its plugin."""
        return [f"plugin {r.plugin}: {p.sentence}" for r in self.reports for p in r.problems]


def load_plugins(
    *,
    strangers: bool = True,
    revision: int = 0,
    importing: Callable[[InstalledPlugin], AbstractContextManager[None]] | None = None,
) -> Plugins:
    """Load the built-ins and, with ``strangers``, every installed plugin of this API version.

    A plugin that cannot be loaded, or that registers something invalid, is rolled back and
    reported. A built-in's name cannot be taken; if two other plugins claim one name, neither gets
    it. The order of installation has no effect. Each plugin is loaded inside the context that
    ``importing`` returns, if given.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    plugins = Plugins(StageRegistry(), manager, revision=revision)
    offered: list[_LoadedPlugin] = []
    points = plugin_points()
    for plugin in installed(points):
        if not strangers and not plugin.builtin:
            plugins.reports.append(_report(plugin, "disabled"))
            continue
        try:
            context = importing(plugin) if importing else nullcontext()
            deprecated = collect_deprecations()
            with context, _stdout_to_stderr(), deprecated as deprecations, _same_folder() as left:
                offers = _load(manager, plugin)
            offered.append(_LoadedPlugin(plugin, offers, deprecations, left))
        except PluginError as error:
            stage = error.stage if isinstance(error, RefusedStage) else None
            problem = PluginProblem(str(error), stage, not isinstance(error, _Unimportable))
            plugins.reports.append(_report(plugin, "refused", problems=[problem]))
    _resolve_clashes(plugins, offered)
    plugins.reports += _of_other_versions(points) if strangers else ()
    plugins.reports.sort(key=lambda report: (not report.builtin, report.plugin))
    return plugins


_Offer: TypeAlias = tuple[str, str, RegisteredStage | Command]
"""The name of a kind, the name of a stage or the words of a command, and that."""


class _LoadedPlugin(NamedTuple):
    """A plugin, what it registers by kind, the deprecated things that it uses, and problems."""

    plugin: InstalledPlugin
    offers: list[_Offer]
    deprecations: list[str]
    problems: list[PluginProblem]


def _of_other_versions(points: Sequence[EntryPoint]) -> Iterator[PluginReport]:
    """Report the plugins of other API versions, which are never imported."""
    for plugin, remedy in of_other_versions(points):
        problem = f"it is for the plugin API {plugin.point.group}, and this is {GROUP}: {remedy}"
        yield _report(plugin, "refused", problems=[PluginProblem(problem)])


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Redirect output to standard error, that of extensions and child processes too."""
    with redirect_stdout(sys.stderr):
        _flush()
        try:
            stdout_copy = os.dup(1)
        except OSError:  # there is no standard output to protect
            yield
            return
        try:
            os.dup2(2, 1)
            yield
        finally:
            _flush()
            os.dup2(stdout_copy, 1)
            os.close(stdout_copy)


@contextmanager
def _same_folder() -> Iterator[list[PluginProblem]]:
    """Undo a change of the current folder, in which commands look for the workspace.

    Beside the main thread, as while a server reloads, it may be a call that changes it.
    """
    problems: list[PluginProblem] = []
    folder = _current_folder()
    try:
        yield problems
    finally:
        if current_thread() is main_thread() and folder and _current_folder() != folder:
            with suppress(OSError):  # it has been removed
                os.chdir(folder)
                problems.append(PluginProblem("it changed the current folder, which was undone"))


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it has been removed
        return None


def _flush() -> None:
    with suppress(ValueError):  # closed or detached
        if sys.__stdout__:
            sys.__stdout__.flush()


class _Unimportable(PluginError):
    """The module of a plugin cannot be imported."""


def _load(manager: pluggy.PluginManager, plugin: InstalledPlugin) -> list[_Offer]:
    """Import and register one plugin; roll back everything if it fails.

    Any exception becomes the plugin's problem, even one that is no ``Exception``: a module may
    exit, and extensions written in Rust panic.
    """
    if plugin.module is None:
        value = plugin.point.value
        raise _Unimportable(
            f"its entry point {value!r} is no dotted name of a module, such as 'my_package.plugin'"
        )
    with plugin_errors("cannot be imported", _Unimportable):
        module = plugin.point.load()
    if manager.is_registered(module):
        raise PluginError(f"its module is loaded already, as {manager.get_name(module)!r}")
    try:
        manager.register(module, name=plugin.id)
        manager.check_pending()
        hooks = {caller.name: caller for caller in manager.get_hookcallers(module) or ()}
        for caller in hooks.values():
            _require_functions(caller, module)
        offers = _collect(manager, plugin.id)
        if not offers and "search_finished" not in hooks:
            raise PluginError("it registers nothing; add a hook such as register_scorers")
    except BaseException as error:
        if manager.is_registered(module):
            manager.unregister(module)
        if isinstance(error, PluginError) or is_interrupt(error):
            raise
        if isinstance(error, pluggy.PluginValidationError):
            raise PluginError(_unknown_hook(error)) from error
        raise PluginError(f"a hook failed: {first_line(error)}") from error
    return offers


def _require_functions(caller: pluggy.HookCaller, module: object) -> None:
    """Raise for a hook of a module whose call would run nothing of it."""
    for made in caller.get_hookimpls():
        exempt = made.plugin is not module or made.wrapper or made.hookwrapper
        if not exempt and any(is_lazy(made.function) for is_lazy in _LAZY):
            name = caller.name
            raise PluginError(f"{name}() is a coroutine or a generator: make it a plain function")


def _hook_of(manager: pluggy.PluginManager, plugin: str, hook: str) -> pluggy.HookCaller:
    """Return the caller of a hook in one plugin alone."""
    others = [other for name, other in manager.list_name_plugin() if name != plugin]
    return manager.subset_hook_caller(hook, others)


def _collect(manager: pluggy.PluginManager, plugin: str) -> list[_Offer]:
    offers: list[_Offer] = []
    for kind_name, register in _registers(plugin):
        _hook_of(manager, plugin, f"register_{kind_name}")(register=register)
        named = [(o.words if isinstance(o, Command) else o.name, o) for o in register.offers]
        names = [name for name, _ in named]
        for name in names:
            if names.count(name) > 1:
                noun = NOUNS.get(kind_name, "command")
                raise RefusedStage(noun, name, f"it registers two {kind_name} called {name!r}")
        offers.extend((kind_name, *pair) for pair in named)
    return offers


def _registers(plugin: str) -> Iterator[tuple[str, Register[object] | CommandRegister]]:
    """Yield the argument of each hook, by the name of the kind."""
    for kind in KINDS:
        defaults = kind.kind_name in (SURFACES, LOADERS)
        yield kind.kind_name, (DefaultRegister if defaults else Register)(kind, plugin)
    yield _COMMANDS, CommandRegister(plugin)


def _resolve_clashes(plugins: Plugins, offered: list[_LoadedPlugin]) -> None:
    claims: dict[tuple[str, str], list[InstalledPlugin]] = {}
    for plugin, offers, _, _ in offered:
        for kind_name, name, _ in offers:
            claims.setdefault((kind_name, name), []).append(plugin)
    for plugin, offers, deprecations, left in offered:
        problems, accepted = [*left], []
        for kind_name, name, offer in offers:
            rivals = [other for other in claims[kind_name, name] if other != plugin]
            noun = NOUNS.get(kind_name, "command")
            own = isinstance(offer, Command) and name in OWN_NAMES
            if own or (not plugin.builtin and any(other.builtin for other in rivals)):
                problem = f"{noun} {name!r} is the name of a built-in; choose another"
                problems.append(PluginProblem(problem, (noun, name)))
            elif rivals and not plugin.builtin:
                names = " and ".join(other.id for other in rivals)
                problem = f"{noun} {name!r} is also offered by {names}; none gets it"
                problems.append(PluginProblem(problem, (noun, name)))
            else:
                if isinstance(offer, Command):
                    plugins.commands.put(offer)
                else:
                    plugins.registry[kind_name].put(offer)
                accepted.append((noun, name))
        plugins.reports.append(_report(plugin, "loaded", accepted, problems, deprecations))


def _report(
    plugin: InstalledPlugin,
    status: Status,
    offers: Iterable[tuple[str, str]] = (),
    problems: Iterable[PluginProblem] = (),
    deprecations: Iterable[str] = (),
) -> PluginReport:
    identity = (plugin.id, plugin.distribution, plugin.version)
    return PluginReport(*identity, status, tuple(offers), tuple(problems), tuple(deprecations))


def _unknown_hook(error: pluggy.PluginValidationError) -> str:
    kinds = (*(kind.kind_name for kind in KINDS), _COMMANDS)
    known = ", ".join([*(f"register_{name}" for name in kinds), "search_finished"])
    text = str(error)
    if "unknown hook" in text:
        name = text.split("unknown hook")[1].split("'")[1]
        return f"there is no hook {name!r}; the hooks are: {known}"
    return f"a hook is declared incorrectly: {text.splitlines()[-1]}"
