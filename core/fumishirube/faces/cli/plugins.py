"""``fumishirube plugins``: the status of every plugin."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain

from pydantic import JsonValue

from fumishirube.faces.cli.call import show
from fumishirube.faces.cli.messages import filled, translated, word
from fumishirube.faces.cli.parser import add_json, add_subcommand
from fumishirube.faces.cli.workspace import plugins_and_faults
from fumishirube.host.faults import Fault
from fumishirube.plugins.discovery import PluginReport, Plugins


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options and its subcommand; without one, the plugins are listed."""
    from fumishirube.faces.cli import plugin_doctor  # noqa: PLC0415 - it imports this module

    add_json(parser)
    inner = parser.add_subparsers(title="commands", metavar="COMMAND")
    help_text = "say why a plugin, or one of its stages, has no effect"
    plugin_doctor.add_arguments(add_subcommand(inner, "doctor", plugin_doctor.run, help_text))


def run(options: Namespace) -> int:
    """List the plugins; bad ones are listed with their problems and do not fail the command."""
    plugins, faults = plugins_and_faults(options)
    plain = [_plain(report, plugins, faults) for report in plugins.reports]
    lines = (_report_lines(report, plugins, faults) for report in plugins.reports)
    return show(plain, options, lambda _: chain.from_iterable(lines))


def _plain(report: PluginReport, plugins: Plugins, faults: Sequence[Fault]) -> JsonValue:
    offers: list[JsonValue] = [{"kind": kind, "name": name} for kind, name in report.offers]
    return {
        **asdict(report),
        "offers": offers,
        "problems": [*_problems(report, plugins)],
        "faults": [fault.finding for fault in faults_of(report, faults)],
    }


def _report_lines(report: PluginReport, plugins: Plugins, faults: Sequence[Fault]) -> Iterator[str]:
    status = word("status", report.status)
    yield f"{report.plugin}  {report.distribution} {report.version}  {status}"
    by_kind: dict[str, list[str]] = {}
    for kind, name in report.offers:
        by_kind.setdefault(kind, []).append(name)
    if any(plugin == report.plugin for plugin, _ in plugins.observers()):
        by_kind["observer"] = ["search_finished"]
    for kind, names in by_kind.items():
        yield f"  {kind}: {', '.join(names)}"
    findings = [fault.finding for fault in faults_of(report, faults)]
    for problem in (*_problems(report, plugins), *findings):
        yield f"  {filled('problem: {0}', translated(problem))}"
    for deprecation in report.deprecations:
        yield f"  {filled('deprecated: {0}', translated(deprecation))}"


def reports_of(plugins: Plugins, name: str) -> Sequence[PluginReport]:
    """Return the report on the plugin of this name, or those on the plugins of a package."""
    own = [report for report in plugins.reports if report.plugin == name]
    if own:
        return own
    return [report for report in plugins.reports if _same(report.distribution) == _same(name)]


def _same(name: str) -> str:
    """Return the normalized name of a distribution, for comparison."""
    return re.sub(r"[-_.]+", "-", name).lower()


def faults_of(report: PluginReport, faults: Sequence[Fault]) -> Iterator[Fault]:
    """Yield the faults of one plugin's code in earlier runs."""
    named = (report.plugin, report.distribution)
    yield from (fault for fault in faults if (fault.plugin, fault.distribution) == named)


def _problems(report: PluginReport, plugins: Plugins) -> Iterator[str]:
    yield from (problem.sentence for problem in report.problems)
    yield from (problem for plugin, problem in plugins.left_out if plugin == report.plugin)
