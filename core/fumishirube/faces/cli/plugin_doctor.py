"""``fumishirube plugins doctor``: why a plugin, or one of its stages, has no effect."""

from __future__ import annotations

import shlex
import sys
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from fumishirube.config.pipelines import PIPELINE_KEYS
from fumishirube.errors import ConfigError, PluginError, did_you_mean
from fumishirube.faces.cli.checks import Check, print_checks
from fumishirube.faces.cli.exit_codes import FAILURE, OK
from fumishirube.faces.cli.folders import written_configuration
from fumishirube.faces.cli.plugins import faults_of, reports_of
from fumishirube.faces.cli.stage_uses import how_to_use, longest_time, names_of, used_check, uses
from fumishirube.faces.cli.workspace import opened, plugins_for
from fumishirube.host.application import Application
from fumishirube.host.context import PipelineContext
from fumishirube.plugins.discovery import PluginReport, Plugins
from fumishirube.plugins.entry_points import PREFIX, installed
from fumishirube.plugins.hookspecs import GROUP
from fumishirube.plugins.registry import LOADERS, NOUNS, SURFACES, RegisteredStage
from fumishirube.stages import Loader

_PROJECT = "pyproject.toml"


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("name", metavar="NAME", help="a plugin, its package, or one of its stages")


def run(options: Namespace) -> int:
    """Print what was checked, and return 1 if something keeps the plugin from working."""
    checks = [*_checks(options.name, options)]
    print_checks(checks, options)
    return FAILURE if any(check.status == "FAIL" for check in checks) else OK


def _checks(name: str, options: Namespace) -> Iterator[Check]:
    plugins = plugins_for(options)
    whole = reports_of(plugins, name)
    reports = whole or _offering(plugins, name)
    if not reports:
        yield from _absent(name, plugins)
        yield from _named_in_file(name, "", options)
        return
    observing = {plugin for plugin, _ in plugins.observers()}
    for report in reports:
        yield from _loading(report)
        if whole and report.plugin in observing:
            yield Check("ok", "observer search_finished", "it is called after each search")
    if not any(report.offers for report in reports):
        return
    try:
        with opened(options, empty=True) as application:
            application.find_left_out()
            for report in reports:
                yield from _working(report, application, None if whole else name)
    except ConfigError as error:
        for report in reports:
            for noun, offered in report.offers:
                yield from _named_in_file(offered, noun, options)
        yield Check("FAIL", "configuration", str(error), "repair it; until then nothing starts")


# --- not installed --------------------------------------------------------------------------


def _offering(plugins: Plugins, name: str) -> list[PluginReport]:
    """Return the reports on plugins that offer a stage of this name, or tried to."""
    return [
        report
        for report in plugins.reports
        if any(name == offered for _, offered in report.offers)
        or any(problem.stage and problem.stage[1] == name for problem in report.problems)
    ]


def _absent(name: str, plugins: Plugins) -> Iterator[Check]:
    """Say why no plugin of this name is known to the environment."""
    try:
        package = distribution(name)
    except (PackageNotFoundError, ValueError):
        yield _uninstalled(name, plugins)
        return
    subject = f"package {package.name} {package.version}"
    others = sorted({p.group for p in package.entry_points if p.group.startswith(PREFIX[:-2])})
    if others:
        finding = f"its entry points are in the group {others[0]!r}, and this is {GROUP!r}"
        remedy = f"change the group in its {_PROJECT}, and install it again"
    else:
        finding = f"it is installed, but has no entry point in the group {GROUP!r}"
        remedy = f"""add '[project.entry-points."{GROUP}"]' to its {_PROJECT}, with a line such as
            {_suggested(package)}, and install it again"""
    yield Check("FAIL", subject, finding, " ".join(remedy.split()))


def _uninstalled(name: str, plugins: Plugins) -> Check:
    """Report a package that is not in this environment, with the command that installs it."""
    subject, finding = f"package {name}", f"it is not installed for {sys.executable}"
    source = next((place for place in (Path(), Path(name)) if _is_project(place, name)), None)
    installing = f"{shlex.quote(sys.executable)} -m pip install"
    if source is not None:
        return Check("FAIL", subject, finding, f"run: {installing} -e ./{source.as_posix()}")
    module = name.replace("-", "_")
    spec = find_spec(module) if module.isidentifier() else None
    if spec is not None and spec.origin is not None:
        finding = f"a module {module!r} can be imported, but no package with an entry point has it"
        return Check("FAIL", subject, finding, "install it with pip; a path is not enough")
    known = [of for report in plugins.reports for of in (report.plugin, report.distribution)]
    stages = [stage for report in plugins.reports for _, stage in report.offers]
    plugin_names = dict.fromkeys(report.plugin for report in plugins.reports)
    near = did_you_mean(name, [*known, *stages], f"plugins: {', '.join(plugin_names)}")
    finding = f"no plugin, package or stage has this name for {sys.executable}"
    remedy = f"{near}; a package is installed by {installing} PATH, its folder or wheel"
    return Check("FAIL", name, finding, remedy)


def _is_project(place: Path, name: str) -> bool:
    file = place / _PROJECT
    return file.is_file() and f'"{name}"' in file.read_text(encoding="utf-8", errors="replace")


def _suggested(package: Distribution) -> str:
    """Return the line of an entry point for a distribution."""
    module = package.name.replace("-", "_").lower()
    return f'{module.removeprefix("fumishirube_")} = "{module}"'


# --- loading --------------------------------------------------------------------------------


def _loading(report: PluginReport) -> Iterator[Check]:
    subject = f"plugin {report.plugin}"
    package = f"{report.distribution} {report.version}"
    if report.status == "disabled":
        yield Check("FAIL", subject, f"{package} is left out by --no-plugins", "run without it")
        return
    if report.status == "loaded":
        yield Check("ok", subject, f"{package} is imported")
    for problem in report.problems:
        place, remedy = _import_error(report)
        yield Check("FAIL", subject, f"{problem.sentence}{place}", remedy)
    for deprecation in report.deprecations:
        yield Check("warn", subject, deprecation)


def _import_error(report: PluginReport) -> tuple[str, str]:
    """Import a refused plugin again; return where that fails, and what to do."""
    plugin = next((p for p in installed() if p.id == report.plugin), None)
    module = plugin.module if plugin else None
    if report.status != "refused" or plugin is None or module is None:
        return "", ""
    try:
        plugin.point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may exit, and extensions in Rust panic
        place = _place(error, module)
        lacking = error.name if isinstance(error, ModuleNotFoundError) else None
        if lacking == module:
            return place, f"the package has no module {lacking!r}; check the wheel's packages"
        if lacking is not None:
            return place, f"add what has the module {lacking!r} to its dependencies, and install it"
        return place, f"correct the module {module}"
    return "", ""


def _place(error: BaseException, module: str) -> str:
    """Return the last line of a module, or of its package, on the way to an error."""
    spec = find_spec(module.partition(".")[0])
    origin = spec.origin if spec else None
    if origin is None:
        return ""
    code = Path(origin)
    own = code.parent if code.name == "__init__.py" else code
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(own):
            return f" ({frame.filename}, line {frame.lineno})"
    return ""


# --- working --------------------------------------------------------------------------------


def _working(
    report: PluginReport, application: Application, stage_name: str | None
) -> Iterator[Check]:
    """Check what a plugin offers, or one stage of it."""
    subject = f"plugin {report.plugin}"
    for plugin, problem in application.plugins.left_out:
        if plugin == report.plugin:
            yield Check("FAIL", subject, problem, "correct the surface")
    for fault in faults_of(report, application.guard.log.faults()):
        yield Check("FAIL", subject, fault.finding, "correct the stage, and search again")
    offers = [
        (kind, offer)
        for kind, offer in application.plugins.registry.offers()
        if offer.plugin == report.plugin and stage_name in (None, offer.name)
    ]
    used = {id(offer): [*uses(kind, offer, application)] for kind, offer in offers}
    traces, _ = application.traces.all_traces()
    unused: Literal["warn", "FAIL"] = "warn" if any(used.values()) else "FAIL"
    for kind, offer in offers:
        places, stage = used[id(offer)], f"{kind.noun} {offer.name}"
        if places:
            names = names_of(offer, application)
            yield used_check(stage, places, longest_time(traces, kind.noun, names))
            if kind.kind_name == LOADERS and not offer.default:
                yield from _reading(stage, offer, application)
        else:
            remedy = how_to_use(kind, offer, application)
            yield Check(unused, stage, "nothing in the configuration uses it", remedy)
    for noun, name in report.offers:
        if noun == "command" and stage_name in (None, name):
            yield _command(name, application.plugins)


def _reading(stage: str, offer: RegisteredStage, application: Application) -> Iterator[Check]:
    """Warn about a loader in a list if others before it claim all files that it could read."""
    for surface in application.surfaces:
        for place, named in enumerate(surface.stages[LOADERS]):
            if type(named.stage) is not offer.stage:
                continue
            context = application.contexts[surface.name]
            claims = [*_claims(context, context.index_loaders[place])]
            if claims and not any(claims):
                finding = "it reads no file: loaders before it in the list claim all it could"
                remedy = f"put it before them in pipelines.{surface.pipeline_name}.loaders"
                yield Check("warn", stage, finding, remedy)


def _claims(context: PipelineContext, loader: Loader) -> Iterator[bool]:
    """Yield for each file that a loader could read whether it is the one that does."""
    for manual in map(context.manual, context.manuals()):
        if not manual.stored:
            files = manual.sweep()
            sources = {source.path for source in loader.sources(manual.root)}
            yield from (files[path].loader is loader for path in sources & files.keys())


def _command(words: str, plugins: Plugins) -> Check:
    command = next(command for command in plugins.commands if command.words == words)
    try:
        command.load()
    except PluginError as error:
        return Check("FAIL", f"command {words}", str(error), "correct its module")
    finding = f"run it as 'fumishirube {words}'"
    if command.variable:
        finding = f"set {command.variable}, and run 'fumishirube serve'"
    return Check("ok", f"command {words}", finding)


# --- the file -------------------------------------------------------------------------------


def _named_in_file(name: str, noun: str, options: Namespace) -> Iterator[Check]:
    """Report where the file names a stage under a kind that it is not, or that nobody offers."""
    try:
        loaded = written_configuration(options)
    except ConfigError:
        return  # the error itself is reported
    nouns = {key: NOUNS[kind_name] for kind_name, key in PIPELINE_KEYS.items()}
    keys = {noun: key for key, noun in nouns.items()} | {NOUNS[SURFACES]: SURFACES}
    for pipeline, spec in loaded.config.pipelines.items():
        for key in PIPELINE_KEYS.values():
            for place, use in spec.uses(key):
                coordinate = f"pipelines.{pipeline}.{key}{place}"
                written = loaded.written.get(coordinate, coordinate)
                where = loaded.written.get(f"{coordinate}.use", written)
                if use.use != name or nouns[key] == noun:
                    continue
                finding = f"{coordinate} names {name!r} as a {nouns[key]} ({where})"
                remedy = "install its package, or leave it out"
                if noun in keys:
                    remedy = f"it is a {noun}; write it under {keys[noun]}"
                yield Check("FAIL", "configuration", finding, remedy)
