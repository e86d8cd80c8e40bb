"""``fumishirube plugins``: what became of every plugin."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict

from pydantic import JsonValue

from fumishirube.faces.cli.output import print_json
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.workspace import plugins_of
from fumishirube.plugins.discovery import PluginReport


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    add_json(parser)


def run(options: Namespace) -> int:
    """List the plugins; a bad one is told, and is no reason to fail."""
    reports = plugins_of(options).reports
    if options.json:
        print_json([_plain(report) for report in reports])
    else:
        for report in reports:
            for line in _report_lines(report):
                print(line)
    return 0


def _plain(report: PluginReport) -> JsonValue:
    offers: list[JsonValue] = [{"kind": kind, "name": name} for kind, name in report.offers]
    return {**asdict(report), "offers": offers}


def _report_lines(report: PluginReport) -> Iterator[str]:
    yield f"{report.plugin}  {report.distribution} {report.version}  {report.status}"
    by_kind: dict[str, list[str]] = {}
    for kind, name in report.offers:
        by_kind.setdefault(kind, []).append(name)
    for kind, names in by_kind.items():
        yield f"  {kind}: {', '.join(names)}"
    for problem in report.problems:
        yield f"  problem: {problem}"
    for deprecation in report.deprecations:
        yield f"  deprecated: {deprecation}"
