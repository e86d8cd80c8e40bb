"""``fumishirube eval``: measures how well known answers are found, and compares configurations.

``fumishirube eval agents`` measures an agent that uses the tools.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from fumishirube import ConfigError
from fumishirube.commands import (
    FAILURE,
    OK,
    Application,
    Bar,
    add_json,
    at_least,
    chosen_manuals,
    complain,
    counted,
    filled,
    opened,
    print_json,
    search_context,
    translated,
)
from fumishirube.serving import load_plugins, open_scratch_application
from fumishirube_eval.agent_report import agent_lines, plain_report, totals
from fumishirube_eval.agent_runs import AgentRun
from fumishirube_eval.agents import (
    AGENTS,
    ONLY_CASES,
    add_agent_arguments,
    check_agent_options,
    run_agents,
    write_report,
)
from fumishirube_eval.case_notes import case_notes
from fumishirube_eval.cases import Case, load_cases, save_cases
from fumishirube_eval.files import check_distinct, check_writable, write_text
from fumishirube_eval.gates import DEFAULT, NONE, Gate, load_gate
from fumishirube_eval.known_item import known_items
from fumishirube_eval.report import EvaluationReport, Measurement
from fumishirube_eval.report_lines import report_lines
from fumishirube_eval.runs import InProcessClient, result_line, run_cases

K = 5
KNOWN_ITEMS = 100


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options."""
    help_text = (
        "cases as JSON Lines: case_id, query, manual_id, required_terms, expected_paths, …; or "
        "the word agents, to measure an agent"
    )
    parser.add_argument("cases", metavar="CASES", type=Path, nargs="?", help=help_text)
    help_text = f"make N cases from the manuals themselves instead (default: {KNOWN_ITEMS})"
    parser.add_argument(
        "--known-item", metavar="N", nargs="?", type=at_least(1), const=KNOWN_ITEMS, help=help_text
    )
    help_text = (
        "with --known-item: write the cases there, and measure nothing yet; with agents: the "
        "folder for the run, the report and its chart"
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help=help_text)
    help_text = "with --known-item: from this manual only (default: all)"
    parser.add_argument("--manual", metavar="ID", action="append", default=[], help=help_text)
    help_text = (
        "a configuration to compare that of --config with, case by case; with agents: the "
        "run.json of another run"
    )
    parser.add_argument("--against", metavar="FILE", type=Path, help=help_text)
    help_text = f"how many rows of a ranking count (default: {K})"
    parser.add_argument("--k", metavar="K", type=at_least(1), help=help_text)
    help_text = "let searches use the cache, and report how often they do"
    parser.add_argument("--cache", action="store_true", help=help_text)
    help_text = "search all manuals at once for each case, not only the one it is of"
    parser.add_argument("--everywhere", action="store_true", help=help_text)
    help_text = "write what came of each case there, as JSON Lines"
    parser.add_argument("--rows", metavar="FILE", type=Path, help=help_text)
    help_text = f"what has to be reached: {DEFAULT}, {NONE}, or a TOML file (default: {DEFAULT})"
    parser.add_argument("--gate", metavar="GATE", help=help_text)
    add_agent_arguments(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Measure and print the report, or only make cases."""
    check_agent_options(options)
    if options.cases == AGENTS:
        return _measure_agent(options)
    _check(options)
    cases = load_cases(options.cases) if options.cases else []
    named = options.gate or DEFAULT
    gate = load_gate(named, cases) if cases else None
    if options.known_item:
        with opened(options) as application:
            cases = _made(application, options)
        if options.out:
            return _write_cases(cases, options)
    with ExitStack() as stack:
        ours = _application(options.config, options, stack)
        theirs = _application(options.against, options, stack) if options.against else None
        if options.cases:
            for note in case_notes(search_context(ours), cases):
                complain(note)
        report = _measured(cases, ours, theirs, gate or load_gate(named, cases), options)
    if options.json:
        print_json(report.plain())
    else:
        for line in report_lines(report):
            print(line)
    return OK if report.passed else FAILURE


def _measure_agent(options: Namespace) -> int:
    theirs = AgentRun.load(options.against) if options.against else None
    ours = run_agents(options, theirs)
    if options.out:
        write_report(options.out, ours, theirs)
    if options.json:
        print_json(plain_report(ours, theirs))
    else:
        print(*agent_lines(ours, theirs), sep="\n")
    return FAILURE if totals(ours)["failed"] else OK


def _check(options: Namespace) -> None:
    if bool(options.cases) == bool(options.known_item):
        options.parser.error("give either a file of CASES or --known-item")
    for name in ("out", "manual"):
        if getattr(options, name) and not options.known_item:
            options.parser.error(f"--{name} goes with --known-item")
    for name in ("against", *ONLY_CASES):
        if options.out and getattr(options, name):
            options.parser.error(f"--{name} does not go with --out, which measures nothing")
    if options.against and not options.against.is_file():
        raise ConfigError(f"--against: there is no file {options.against.name!r}")
    if options.rows:
        read = (options.cases, options.config, options.against, options.gate)
        check_distinct(options.rows, map(Path, filter(None, read)))
        check_writable(options.rows)
    if options.out and options.out.is_file() and options.out.stat().st_size:
        raise ConfigError(
            f"--out {options.out.name}: it exists already; name another file, or delete it"
        )
    if options.out:
        check_writable(options.out)


def _application(file: Path | None, options: Namespace, stack: ExitStack) -> Application:
    """Open an application for measurements, without side effects; the stack closes it."""
    with opened(Namespace(**{**vars(options), "config": file})) as original:
        loaded = original.loaded
    # Observers get every search of a plugin manager: this application loads its own.
    plugins = load_plugins(strangers=not options.no_plugins)
    return stack.enter_context(open_scratch_application(loaded, plugins))


def _made(application: Application, options: Namespace) -> list[Case]:
    context = search_context(application)
    manuals = [context.manual(name) for name in chosen_manuals(context, options.manual)]
    cases = known_items(manuals, options.known_item)
    if len(cases) < options.known_item:
        complain(f"note: only {counted(len(cases), 'section')} could be made a case of")
    return cases


def _write_cases(cases: Sequence[Case], options: Namespace) -> int:
    save_cases(cases, options.out)
    if options.json:
        print_json({"cases": len(cases), "file": options.out.name})
    else:
        number = translated(counted(len(cases), "case"))
        print(filled("wrote {0} to {1}", number, options.out.name))
    return OK


def _measured(
    cases: Sequence[Case],
    ours: Application,
    theirs: Application | None,
    gate: Gate,
    options: Namespace,
) -> EvaluationReport:
    applications = [item for item in (ours, theirs) if item is not None]
    with closing(Bar()) as indexing, closing(Bar(expected=True)) as bar:
        clients = [InProcessClient.of(item, indexing.progress) for item in applications]
        runs = run_cases(
            clients, cases, bar.progress, use_cache=options.cache, everywhere=options.everywhere
        )
    files, k = [item.loaded.file for item in applications], options.k or K
    if options.rows:
        sides = zip(("config", "against"), runs, strict=False)
        lines = [result_line(item, k, side) for side, results in sides for item in results]
        write_text(options.rows, "".join(f"{line}\n" for line in lines))
    measurements = [
        Measurement(file.name if file else "the defaults", results)
        for file, results in zip(files, runs, strict=True)
    ]
    return EvaluationReport(k, measurements[0], (*measurements, None)[1], gate)
