"""``fumishirube conform``: run the contract tests on the stages of an installed plugin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree as ET

from pydantic import JsonValue

from fumishirube import ConfigError, NotFound, install_command
from fumishirube.commands import (
    FAILURE,
    OK,
    add_json,
    counted,
    not_known,
    print_json,
    reports_of,
    table,
)
from fumishirube.serving import (
    GROUP,
    PluginReport,
    Plugins,
    RegisteredStage,
    StageKind,
    build_model,
    load_plugins,
)

_TESTS = """
from pathlib import Path
from fumishirube.testing.installed_contracts import contracts
globals().update(contracts(Path(__file__).with_name("stages.json"), __name__))
"""
_QUIET = ("-q", "-p", "no:cacheprovider", "-c", os.devnull)


class Result(NamedTuple):
    """The result of one stage: tests passed, failed and skipped, with reasons."""

    stage: str
    kind: str
    status: Literal["passed", "failed", "not checked"]
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reason: str = ""


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = "an installed package, or the name under which 'fumishirube plugins' lists it"
    parser.add_argument("package", metavar="PACKAGE", help=help_text)
    help_text = """settings of a stage, such as borda='{"term_weight": 0.7}'; may be repeated"""
    parser.add_argument(
        "--with", metavar="STAGE=JSON", dest="given", action="append", default=[], help=help_text
    )
    help_text = "a small manual that the loaders are to read; without it they are not checked"
    parser.add_argument("--files", metavar="DIR", type=Path, help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Run the contracts, print a line for each stage, and return 1 if a test failed.

    Raises:
        NotFound: when the package is not installed, or registers nothing.
        ConfigError: when settings are unusable, or pytest is not installed.
    """
    plugins = load_plugins()
    reports = _reports(plugins, options.package)
    problems = [problem.sentence for report in reports for problem in report.problems]
    if find_spec("pytest") is None:
        raise ConfigError(f"conform needs pytest; install it with: {install_command('testing')}")
    results = list(_checked(plugins, reports, options))
    if options.json:
        stages: list[JsonValue] = [result._asdict() for result in results]
        print_json({"package": options.package, "stages": stages, "problems": [*problems]})
    else:
        _print(results, problems)
    passed = not problems and all(result.status == "passed" for result in results)
    return OK if passed else FAILURE


def _reports(plugins: Plugins, package: str) -> Sequence[PluginReport]:
    """Return the reports on the plugin or the package of this name."""
    if matching := reports_of(plugins, package):
        return matching
    try:
        version = distribution(package).version
    except (PackageNotFoundError, ValueError) as error:
        names = [
            name for report in plugins.reports for name in (report.plugin, report.distribution)
        ]
        message = not_known("plugin", package, dict.fromkeys(names))
        raise NotFound(f"{message}; install it into this environment first") from error
    raise NotFound(
        f"{package} {version} offers nothing: it has no entry point in the group {GROUP!r}"
    )


def _checked(
    plugins: Plugins, reports: Sequence[PluginReport], options: Namespace
) -> Iterator[Result]:
    """Yield the result of each stage, in the order of the kinds."""
    ids = {report.plugin for report in reports}
    offers = [
        (kind, offered) for kind, offered in plugins.registry.offers() if offered.plugin in ids
    ]
    stage_settings = _settings_by_stage(options.given, [offer.name for _, offer in offers])
    entries: list[dict[str, Any]] = []
    unchecked: dict[str, str] = {}
    for kind, offer in offers:
        name = _class(kind, offer)
        if lacking := _lacking(kind, offer, stage_settings, options.files):
            unchecked[name] = lacking
            continue
        settings = stage_settings.get(offer.name, {})
        build_model(offer.stage, settings, f"--with {offer.name}", {}, {})
        files = str(options.files.resolve()) if kind.kind_name == "loaders" else None
        stage = {"kind": kind.kind_name, "name": offer.name, "settings": settings}
        entries.append({"class": name, **stage, "files": files})
    cases = _run(entries) if entries else {}
    for kind, offer in offers:
        name = _class(kind, offer)
        if name in unchecked:
            yield Result(offer.name, kind.noun, "not checked", reason=unchecked[name])
        else:
            yield _result(offer.name, kind.noun, cases.get(name, []))


def _class(kind: StageKind, offer: RegisteredStage) -> str:
    return f"Test_{kind.noun}_{offer.name.replace('-', '_')}"


def _settings_by_stage(
    pairs: Sequence[str], names: Sequence[str]
) -> Mapping[str, Mapping[str, Any]]:
    stage_settings: dict[str, Mapping[str, Any]] = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        if name not in names:
            raise ConfigError(f"--with: {not_known('stage', name, names)}")
        try:
            stage_settings[name] = json.loads(text)
        except (ValueError, RecursionError) as error:
            message = f"expected a JSON object after {name}=; put it in single quotes"
            raise ConfigError(f"--with: {message}") from error
        if not isinstance(stage_settings[name], dict):
            raise ConfigError(f"--with: expected a JSON object after {name}=")
    return stage_settings


def _lacking(
    kind: StageKind,
    offer: RegisteredStage,
    stage_settings: Mapping[str, Mapping[str, Any]],
    files: Path | None,
) -> str:
    """Return what a stage needs before it can be checked, if anything."""
    needed = [name for name, field in offer.stage.model_fields.items() if field.is_required()]
    if needed and offer.name not in stage_settings:
        return f"it needs settings: {', '.join(needed)}; give --with {offer.name}='{{…}}'"
    if kind.kind_name == "loaders" and files is None:
        return "a loader needs files to read; give --files DIR"
    if kind.kind_name == "loaders" and files is not None and not files.is_dir():
        raise ConfigError(f"--files: there is no folder {files.name!r}")
    return ""


def _run(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, list[ET.Element]]:
    """Run the contracts with pytest in another process; return the test cases by class."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "stages.json").write_text(json.dumps(entries), encoding="utf-8")
        (folder / "test_conform.py").write_text(_TESTS, encoding="utf-8")
        report = folder / "report.xml"
        command = [sys.executable, "-m", "pytest", *_QUIET, f"--junit-xml={report}", str(folder)]
        done = subprocess.run(  # noqa: S603 - pytest, over what was just written
            command,
            cwd=folder,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if not report.exists():
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            raise ConfigError(f"pytest could not run the contracts: {' '.join(last)}")
        cases: dict[str, list[ET.Element]] = {}
        for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest has just written it
            cases.setdefault(case.attrib["classname"].rpartition(".")[2], []).append(case)
        return cases


def _result(stage: str, kind: str, cases: Sequence[ET.Element]) -> Result:
    outcome = [_outcome(case) for case in cases]
    failed = [reason for what, reason in outcome if what == "failed"]
    failed.sort(key=lambda reason: reason.startswith("test_it_has_a_docstring"))  # the mildest last
    skipped = [reason for what, reason in outcome if what == "skipped"]
    passed = len(outcome) - len(failed) - len(skipped)
    if not passed and not failed:
        return Result(stage, kind, "not checked", 0, 0, len(skipped), "no test could be run")
    status: Literal["passed", "failed"] = "failed" if failed else "passed"
    reason = (*failed, *skipped, "")[0]
    return Result(stage, kind, status, passed, len(failed), len(skipped), reason)


def _outcome(case: ET.Element) -> tuple[str, str]:
    for tag, what in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        element = case.find(tag)
        if element is not None:
            message = (element.attrib.get("message", "").strip().splitlines() or [""])[0]
            return what, f"{case.attrib['name']}: {message}"
    return "passed", ""


def _print(results: Sequence[Result], problems: Sequence[str]) -> None:
    head = ("stage", "kind", "result", "passed", "failed", "skipped", "")
    for line in table([head, *(tuple(map(str, result)) for result in results)]) if results else ():
        print(line)
    for problem in problems:
        print(f"problem: {problem}")
    passed_stages = sum(result.status == "passed" for result in results)
    print(f"{passed_stages} of {counted(len(results), 'stage')} passed")
