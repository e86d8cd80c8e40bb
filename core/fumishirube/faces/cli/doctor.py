"""``fumishirube doctor``: check the installation and the workspace, and name remedies."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import Literal

from fumishirube.config.notices import missing_folders
from fumishirube.config.personal import USERS_FOLDER
from fumishirube.disk.folders import is_full
from fumishirube.disk.roots import Root
from fumishirube.disk.survey import UnlistedEntry, UnlistedReason
from fumishirube.engine.recoverable_index import IndexState
from fumishirube.engine.vectors.manual_vectors import EmbeddedCorpus
from fumishirube.errors import ConfigError, PluginError, ToolError
from fumishirube.faces.cli.checks import (
    Check,
    check_writable,
    installation,
    leftovers,
    print_checks,
)
from fumishirube.faces.cli.exit_codes import FAILURE, OK, USAGE_ERROR
from fumishirube.faces.cli.folders import written_configuration
from fumishirube.faces.cli.output import counted, listed
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.progress import Bar
from fumishirube.faces.cli.reasons import (
    AGAIN,
    reason_text,
    remedy_of_skipped,
    remedy_of_unlisted,
)
from fumishirube.faces.cli.workspace import opened, plugins_for, refused_by_servers, use_only
from fumishirube.host.application import Application
from fumishirube.host.context import PipelineContext
from fumishirube.host.offered_types import all_of, check_offers
from fumishirube.host.surfaces import MANUALS, ConfiguredSurface
from fumishirube.model import UnreadFiles
from fumishirube.plugins.discovery import Plugins
from fumishirube.plugins.registry import SURFACES
from fumishirube.query import Query
from fumishirube.surfaces import Diagnostic, HasDiagnostics
from fumishirube.tools.citations import SCHEME

_OTHER_PLUGIN = "update or uninstall the plugin, or leave it out of the configuration"


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    add_json(parser)


def run(options: Namespace) -> int:
    """Print a line for each check; return 1 if one fails, 2 if the configuration is unusable."""
    options.plugins = plugins_for(options)
    checks = [*installation(), *_plugins(options.plugins), *_servers(options)]
    stopped = False
    try:
        with opened(_chosen(options)) as application:
            checks += _application(application)
    except ConfigError as error:
        stopped = True
        remedy = "see 'fumishirube config schema'" if error.at else ""
        checks.append(Check("FAIL", "configuration", str(error), remedy))
    print_checks(checks, options)
    if stopped:
        return USAGE_ERROR
    return FAILURE if any(check.status == "FAIL" for check in checks) else OK


def _chosen(options: Namespace) -> Namespace:
    """Without configuration and manuals, choose a surface whose root folder exists."""
    loaded = written_configuration(options)
    if loaded.file is None and not loaded.own.folders and not loaded.folder(MANUALS).is_dir():
        for offer in options.plugins.registry[SURFACES]:
            root = getattr(offer.stage, "root", MANUALS)
            if not offer.default and loaded.folder(root).is_dir():
                use_only(options, offer.name)
                return options
    return options


def _plugins(plugins: Plugins) -> Iterator[Check]:
    observing = {plugin for plugin, _ in plugins.observers()}
    for report in plugins.reports:
        subject = f"plugin {report.plugin}"
        for problem in report.problems:
            remedy = f"update or uninstall {report.distribution}"
            yield Check("FAIL", subject, problem.sentence, remedy)
        for deprecation in report.deprecations:
            yield Check("warn", subject, deprecation, f"update {report.distribution}")
        if not report.problems:
            offers = counted(len(report.offers) + (report.plugin in observing), "part")
            finding = f"{report.status}, {report.distribution} {report.version}, offers {offers}"
            yield Check("ok", subject, finding)


def _application(application: Application) -> Iterator[Check]:
    file = application.loaded.file
    origins = application.loaded.origins.values()
    decided = sum(origin != USERS_FOLDER for origin in origins)
    finding = file.name if file else "defaults; there is no fumishirube.yaml, and none is needed"
    by = f"; {counted(decided, 'setting')} from the environment" if decided else ""
    yield Check("ok", "configuration", finding + by)
    for warning in application.warnings:
        yield Check("warn", "configuration", warning)
    yield from _no_manuals(application)
    application.find_left_out()
    catalog = application.drop_faulty_tools()
    left_out = application.plugins.left_out
    for plugin, problem in left_out:
        yield Check("FAIL", f"plugin {plugin}", problem, _OTHER_PLUGIN)
    of_plugins = {*application.plugins.problems, *(problem for _, problem in left_out)}
    for problem in application.problems:
        if problem not in of_plugins:
            yield Check("FAIL", "tools", problem, "update the plugin that offers the tool")
    yield Check("ok", "tools", listed([tool.name for tool in catalog.listed], 20) or "none")
    yield from _state(application)
    for configured in application.surfaces:
        if _writes(application, configured):
            yield _check_root(application.contexts[configured.name].root, configured.surface.root)
        if configured.indexed:
            yield from _surface(application, configured)
        yield from _diagnostics(application, configured)
    for fault in application.guard.log.faults():  # now, or since the last good run
        remedy = f"update or uninstall {fault.distribution}, or leave it out of the configuration"
        yield Check("FAIL", f"plugin {fault.plugin}", fault.finding, remedy)


def _writes(application: Application, configured: ConfiguredSurface) -> bool:
    context = application.contexts[configured.name]
    with suppress(PluginError), application.guarded.building(application.work(configured)):
        return any(not tool.read_only for tool in configured.surface.tools(context))
    return False  # a surface that fails has a line of its own


def _diagnostics(application: Application, configured: ConfiguredSurface) -> Iterator[Check]:
    surface, context = configured.surface, application.contexts[configured.name]
    if not isinstance(surface, HasDiagnostics):
        return
    try:
        with application.guarded.building(application.work(configured)):
            diagnostics = all_of(surface.diagnostics(context))
            check_offers(diagnostics, Diagnostic)
    except PluginError as error:
        yield Check("FAIL", f"surface {configured.name}", str(error), _OTHER_PLUGIN)
        return
    for diagnostic in diagnostics:
        status: Literal["warn", "FAIL"] = "FAIL" if diagnostic.serious else "warn"
        yield Check(status, diagnostic.subject, diagnostic.finding, diagnostic.remedy)


def _servers(options: Namespace) -> Iterator[Check]:
    for server in refused_by_servers(options):
        finding = (
            f"process {server.process} still serves the former configuration; "
            f"it refused: {server.why}"
        )
        yield Check("warn", "server", finding, "repair that, and the server reloads")


def _no_manuals(application: Application) -> Iterator[Check]:
    """Yield a warning for each folder and file that may be meant to be searched, and is not."""
    for warning in missing_folders(application.loaded):
        yield Check("warn", "manuals", warning)
    for finding in application.rejected_folders():
        yield Check("warn", "manuals", finding, "rename or move it, if it is to be one")
    for name in application.loose_files():
        finding = f"{name} is directly in the folder, and so in no manual"
        yield Check("warn", "manuals", finding, "make a folder for it there, and move it in")


def _state(application: Application) -> Iterator[Check]:
    remedy = "make it writable, or set roots.state or FUMISHIRUBE_STATE_ROOT to a folder that is"
    try:
        yield check_writable(application.state.make(), "state folder", remedy)
    except ToolError:
        yield Check("FAIL", "state folder", "cannot be written", remedy)


def _check_root(root: Root, name: str) -> Check:
    """Check a root that tools write to; the first write creates it."""
    if not root.exists:
        return Check("ok", f"root {name}", "is not there yet; the first write makes it")
    return check_writable(root, f"root {name}", f"make it writable, or set roots.{name}")


def _surface(application: Application, configured: ConfiguredSurface) -> Iterator[Check]:
    root = configured.surface.root
    subject = f"root {root}"
    folder = application.loaded.folder(root)
    context = application.contexts[configured.name]
    elsewhere = configured.of_manuals and application.loaded.own.folders
    if not elsewhere and not folder.is_dir():
        setting = application.loaded.origins.get(f"roots.{root}", f"roots.{root}")
        remedy = f"create it, or set {setting} to the right folder"
        yield Check("FAIL", subject, f"there is no folder {folder.name!r}", remedy)
        return
    if not configured.of_manuals:
        # A surface that reads this root indexes it as a whole, not by manual.
        yield Check("ok", subject, f"the folder {folder.name!r} is there")
        return
    try:
        manuals = context.manuals()
    except ToolError as error:
        yield Check("FAIL", subject, str(error), "let this user read it")
        return
    if not manuals:
        yield Check(
            "warn", subject, "it contains no manuals", "make a folder in it for each manual"
        )
        return
    yield Check("ok", subject, f"{counted(len(manuals), 'manual')}: {listed(manuals)}")
    for manual in manuals:
        yield from _manual(application, context, manual)
        command = f"fumishirube index {manual} --rebuild"
        yield from leftovers(context.index_folders.others(manual), f"manual {manual}", command)


def _manual(application: Application, context: PipelineContext, manual: str) -> Iterator[Check]:
    subject = f"manual {manual}"
    began = time.time()
    try:
        with closing(Bar(expected=True)) as bar:
            state = context.prepare(manual, Query(""), bar.progress, vectors=True)
    except ToolError as error:
        yield Check("FAIL", subject, str(error))
        return
    except ConfigError:
        raise
    except PluginError as error:
        yield Check("FAIL", subject, str(error), _OTHER_PLUGIN)
        return
    except Exception as error:
        faults = [fault for fault in application.guard.log.faults() if fault.last >= began]
        if faults:
            finding = f"plugin {faults[0].plugin}: {faults[0].sentence}"
            yield Check("FAIL", subject, finding, _OTHER_PLUGIN)
        else:
            finding = f"its index fails ({type(error).__name__})"
            remedy = "free some space where the state folder is"
            if not is_full(error):
                remedy = f"run 'fumishirube index {manual} --rebuild'"
            yield Check("FAIL", subject, finding, remedy)
        return
    yield from _indexed(manual, subject, state)
    yield from _unread(subject, context.unread_files(manual))
    yield from _unlisted(subject, context.manual(manual).unlisted())


def _indexed(manual: str, subject: str, state: IndexState) -> Iterator[Check]:
    files = counted(state.files - len(state.skipped), "file")
    sections = counted(state.corpus.size, "section")
    if state.degraded:
        yield Check("FAIL", subject, state.degraded, AGAIN)
    if state.corpus.size:
        yield Check("ok", subject, f"indexed: {sections} in {files}")
    else:
        remedy = "put .md, .json or chapter .txt files with 00_目次.json into it"
        yield Check("warn", subject, "nothing in it can be searched", remedy)
    if isinstance(state.corpus, EmbeddedCorpus) and state.corpus.comparison:
        yield Check("ok", subject, f"vectors are compared {state.corpus.comparison}")
    reasons: dict[str, list[str]] = {}
    for row in state.skipped:
        reasons.setdefault(row.reason, []).append(row.path)
    for reason, paths in sorted(reasons.items()):
        skipped = f"skipped {counted(len(paths), 'file')}, {reason_text(reason)}: {listed(paths)}"
        remedy = remedy_of_skipped(reason, f"{SCHEME}{manual}/{paths[0]}")
        yield Check("FAIL" if remedy else "ok", subject, skipped, remedy)


def _unread(subject: str, rows: Sequence[UnreadFiles]) -> Iterator[Check]:
    for row in rows:
        if row.reader:
            finding = f"{counted(row.number, f'{row.suffix} file')} not read"
            yield Check("warn", subject, finding, f"to read such files: {row.reader}")


def _unlisted(subject: str, passed: Sequence[UnlistedEntry]) -> Iterator[Check]:
    groups: dict[tuple[UnlistedReason, str], list[str]] = {}
    for entry in passed:
        groups.setdefault((entry.reason, entry.unit), []).append(entry.path)
    for (reason, unit), paths in sorted(groups.items()):
        finding = f"{counted(len(paths), unit)} not listed, {reason_text(reason)}: {listed(paths)}"
        remedy = remedy_of_unlisted(reason)
        yield Check("warn" if remedy else "ok", subject, finding, remedy)
