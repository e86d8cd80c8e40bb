"""``fumishirube eval agents``: runs an agent on questions, grades and compares its answers."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from fumishirube import ConfigError
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.commands import (
    Bar,
    at_least,
    chosen_manuals,
    complain,
    opened,
    search_context,
    serve_command,
)
from fumishirube_eval.agent_commands import PLACEHOLDERS, PROMPT, AgentCommand
from fumishirube_eval.agent_grading import Grader, grade_by_model, grade_by_words
from fumishirube_eval.agent_questions import AgentQuestion, chosen_questions, load_agent_questions
from fumishirube_eval.agent_report import chart_svg, markdown
from fumishirube_eval.agent_runs import CAMPS, SHELL, AgentAnswer, AgentRun, AgentSetup, run_agent
from fumishirube_eval.files import check_writable, name_of, write_text

AGENTS = Path("agents")
"""The word in place of a file of cases."""

TIMEOUT = 900
_MOST_SECONDS = 1_000_000
RUN_FILE, REPORT_FILE, CHART_FILE = "run.json", "report.md", "chart.svg"
ONLY_CASES = ("rows", "cache", "everywhere", "k", "gate")
"""Options of a measurement of cases alone."""
_NEEDED = ("agent", "questions", "gold", "tools")


def add_agent_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``eval agents`` to those of ``eval``."""
    help_text = (
        "agents: the agent's command; {prompt}, {mcp_config}, {workspace} and {tools} are filled in"
    )
    parser.add_argument("--agent", metavar="COMMAND", help=help_text)
    help_text = "agents: questions as JSON Lines: id, manual, kind, question"
    parser.add_argument("--questions", metavar="FILE", type=Path, help=help_text)
    help_text = "agents: what right answers hold, as JSON Lines: id, answer, must_have"
    parser.add_argument("--gold", metavar="FILE", type=Path, help=help_text)
    help_text = "agents: the tools of this program, or a shell"
    parser.add_argument("--tools", choices=CAMPS, help=help_text)
    help_text = "agents: a command that judges the answers by their facts; {prompt} is filled in"
    parser.add_argument("--grader", metavar="COMMAND", help=help_text)
    help_text = "agents: only this question (may be repeated)"
    parser.add_argument("--id", metavar="ID", action="append", default=[], help=help_text)
    help_text = f"agents: seconds an agent may take for a question (default: {TIMEOUT})"
    parser.add_argument("--timeout", metavar="S", type=at_least(1, _MOST_SECONDS), help=help_text)


def check_agent_options(options: Namespace) -> None:
    """Exit with a usage error when an option is missing, or belongs to the other kind of run."""
    with_agent = options.cases == AGENTS
    for name in _NEEDED:
        if with_agent and not getattr(options, name):
            options.parser.error(f"eval agents needs --{name}")
    for name in (*_NEEDED, "grader", "id", "timeout"):
        if not with_agent and getattr(options, name):
            options.parser.error(f"--{name} goes with eval agents")
    for name in ("known_item", "manual", *ONLY_CASES):
        if with_agent and getattr(options, name):
            word = name.replace("_", "-")
            options.parser.error(f"--{word} does not go with eval agents")


def run_agents(options: Namespace, theirs: AgentRun | None) -> AgentRun:
    """Run the agent on every question and grade its answers; with ``--out``, save the run.

    Raises:
        ConfigError: when a file or a command cannot be used, or another run that it is to be
            compared with has none of the questions.
    """
    questions = load_agent_questions(options.questions, options.gold)
    questions = chosen_questions(questions, options.id)
    names = {question.id for question in questions}
    if theirs and names.isdisjoint(answer.id for answer in theirs.answers):
        raise ConfigError("--against: the two runs have no question in common")
    setup = _setup(options, questions)
    judge = options.grader and AgentCommand.parsed("--grader", options.grader, (PROMPT,))
    if options.out:
        _make_folder(options.out)
    run = AgentRun(options.tools, options.agent, options.grader or "figures and words")
    with closing(Bar(expected=True)) as bar:
        for number, question in enumerate(questions, start=1):
            run = replace(run, answers=(*run.answers, run_agent(question, setup)))
            if options.out:  # save after every answer: a run costs money
                run.save(options.out / RUN_FILE)
            if bar.progress:
                bar.progress(number, len(questions), "questions")
    with TemporaryDirectory(prefix="judge-") as folder:
        grader = partial(grade_by_model, judge, Path(folder)) if judge else grade_by_words
        run = replace(run, answers=tuple(_graded(run.answers, questions, grader)))
    if options.out:
        run.save(options.out / RUN_FILE)
    return run


def write_report(folder: Path, ours: AgentRun, theirs: AgentRun | None) -> None:
    """Write the report and its chart into the folder of the run.

    Raises:
        ConfigError: when they cannot be written.
    """
    report = "\n".join(markdown(ours, theirs, CHART_FILE)) + "\n"
    for name, text in ((REPORT_FILE, report), (CHART_FILE, chart_svg(ours, theirs))):
        write_text(folder / name, text)


def _setup(options: Namespace, questions: Sequence[AgentQuestion]) -> AgentSetup:
    command = AgentCommand.parsed("--agent", options.agent, PLACEHOLDERS)
    names = {question.manual for question in questions} - {EVERY_MANUAL}
    with opened(options) as application:
        manuals = application.loaded.folder("manuals")
        chosen_manuals(search_context(application), sorted(names))
    if options.tools == SHELL and not manuals.is_dir():
        raise ConfigError("--tools shell: it goes with a folder of manuals, and without --in")
    server = [*serve_command(options), *(["--trust"] if options.trust else [])]
    return AgentSetup(command, options.tools, tuple(server), manuals, options.timeout or TIMEOUT)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {name_of(folder)}: it cannot be made a folder") from error
    check_writable(folder / RUN_FILE)


def _graded(
    answers: Sequence[AgentAnswer], questions: Sequence[AgentQuestion], grader: Grader
) -> Iterator[AgentAnswer]:
    """Yield the graded answers; an answer that cannot be graded stays ungraded, with a warning."""
    for answer, question in zip(answers, questions, strict=True):
        try:
            yield replace(answer, facts=tuple(grader(question, answer.answer)))
        except ConfigError as error:
            complain(f"note: {error}")
            yield answer
