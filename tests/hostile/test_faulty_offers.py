"""What plugins do wrong in surfaces, commands and observers: named, and confined to them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from manuals import Done, fumishirube, write
from stdio import Wire
from strangers import PLUGIN, stranger


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return the folder in which plugins are installed."""
    return tmp_path / "plugins"


def run(workspace: Path, *words: str) -> Done:
    return fumishirube(*words, cwd=workspace, environ=installed(workspace))


def installed(workspace: Path) -> dict[str, str]:
    """Return the environment in which the test's plugins can be imported."""
    return {"PYTHONPATH": str(workspace.parent / "plugins")}


def configure(workspace: Path, text: str) -> None:
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def report(workspace: Path, plugin: str) -> Any:
    """Return what ``plugins`` says of a plugin."""
    done = run(workspace, "plugins", "--json")
    assert done.code == 0, done.err
    return next(report for report in done.json if report["plugin"] == plugin)


def doctor_names(workspace: Path, plugin: str, problem: str) -> bool:
    """Tell whether ``doctor`` fails with a problem of a plugin."""
    done = run(workspace, "doctor", "--json")
    assert done.code == 1, done.err
    failures = [check for check in done.json if check["status"] == "FAIL"]
    return any(c["subject"] == f"plugin {plugin}" and problem in c["finding"] for c in failures)


# --- surfaces -----------------------------------------------------------------------------------

SURFACE = """
import itertools
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, ClassVar
from fumishirube import Answer, ClassicSettings, Diagnostic, NotFound, Params, Stage, Tool, hook
from fumishirube.tools import Content, Prompt, PromptParameter, Resource, Resources, Template, View
from pydantic import Field

class Reply(Answer):
    value: Any = None
    number: int = 0

class Unknown(Params):
    size: Annotated[int, Field(json_schema_extra=dict(type="real"))] = 0

class Leaving(Params):
    @classmethod
    def __get_pydantic_json_schema__(cls, *_):
        raise SystemExit

SLEPT = []

class Slow(Params):
    @classmethod
    def __get_pydantic_json_schema__(cls, core, handler):
        SLEPT or SLEPT.append(__import__("time").sleep(7))
        return handler(core)

def reply(params, call):
    return {reply}

TOOL = Tool("own_tool", "Own", "A tool.", Params, Reply, reply)
PROMPT = Prompt("own", "Own", "A prompt.", lambda arguments: "text")
RESOURCES = Resources("own", lambda: (), lambda uri, call: ())

def refuse(*_):
    raise NotFound("nothing is there")

def refuse_with_object(*_):
    raise NotFound("nothing is there", thing=object())

class Own(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict[str, Any]] = {pipeline}

    def tools(self, context):
        return [TOOL]

{body}

@hook
def register_surfaces(register):
    register("own", Own, default=True)
"""


def offer(plugins: Path, body: str = "", *, reply: str = "Reply()", pipeline: str = "{}") -> None:
    """Install a plugin with a default surface, ``own``, whose class has a further line."""
    code = SURFACE.replace("{reply}", reply).replace("{pipeline}", pipeline)
    stranger(plugins, "offerer", code.replace("{body}", f"    {body}"))


NAMED = "surface 'own' of plugin offerer: "


@pytest.mark.parametrize(
    ("diagnostics", "problem"),
    [
        ("[1]", "TypeError: Diagnostic was expected, not int"),
        (
            "[Diagnostic('a page', None, 'mend it')]",
            "TypeError: 'finding' of Diagnostic is of the type NoneType",
        ),
        ("itertools.count()", "ValueError: it yields more than 1000000 items"),
    ],
)
def test_findings_of_a_surface_that_are_none_are_named_by_doctor(
    workspace: Path, plugins: Path, diagnostics: str, problem: str
) -> None:
    offer(plugins, f"diagnostics = lambda self, context: {diagnostics}")
    done = run(workspace, "doctor", "--json")
    assert done.code == 1, done.err
    (finding,) = (check["finding"] for check in done.json if check["subject"] == "surface own")
    assert finding == f"{NAMED}{problem}"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("tools = lambda self, context: ['x']", "TypeError: Tool was expected, not str"),
        (
            "tools = lambda self, context: [replace(TOOL, name=3)]",
            "TypeError: 'name' of Tool is of the type int",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, summary=None)]",
            "TypeError: 'summary' of Tool 'own_tool' is of the type NoneType",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, params=dict)]",
            "TypeError: 'params' of Tool 'own_tool' is no subclass of Params",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, examples=3)]",
            "TypeError: 'examples' of Tool 'own_tool' is of the type int",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, view=View('http://own', '<p>'))]",
            "TypeError: 'view' of Tool 'own_tool' has a URI that does not begin with ui://",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, pages='absent')]",
            "TypeError: 'pages' of Tool 'own_tool': its answer has no field 'absent'",
        ),
        ("tools = lambda self, context: refuse()", "NotFound: nothing is there"),
        (
            "tools = lambda self, context: [TOOL, context.folder('vaults')]",
            "ValueError: 'vaults' is none of workspace, manuals, vault, docs, runtime, state",
        ),
        (
            r"tools = lambda self, context: [replace(TOOL, summary='\ud83d')]",
            "TypeError: 'summary' of Tool 'own_tool' holds half of a surrogate pair",
        ),
        (r"instructions: ClassVar[str] = '\ud83d'", "UnicodeEncodeError: "),
        ("resources = lambda self, context: None", "TypeError: Resources was expected, not None"),
        (
            "resources = lambda self, context: replace(RESOURCES, scheme=None)",
            "TypeError: 'scheme' of Resources is of the type NoneType",
        ),
        (
            "resources = lambda self, context: replace(RESOURCES, templates=['own:x'])",
            "TypeError: Template was expected, not str",
        ),
        ("resources = lambda self, context: refuse()", "NotFound: nothing is there"),
        ("prompts = lambda self, context: ['x']", "TypeError: Prompt was expected, not str"),
        (
            "prompts = lambda self, context: [replace(PROMPT, arguments=('x',))]",
            "TypeError: PromptParameter was expected, not str",
        ),
        ("instructions: ClassVar[Any] = 3", "TypeError: 'instructions' is of the type int"),
        ("instructions = property(refuse)", "NotFound: nothing is there"),
        ("del pipeline", "TypeError: it has no class variable 'pipeline'"),
        ("del root", "TypeError: it has no class variable 'root'"),
        (
            "root: ClassVar[str] = 'absent'",
            "TypeError: its root 'absent' is none of manuals, vault, docs, runtime, state",
        ),
        ("pipeline: ClassVar[Any] = 'x'", "TypeError: 'pipeline' is of the type str"),
        (
            "pipeline: ClassVar[Any] = {'scorer': []}",
            "its own pipeline.scorer: there is no such setting; did you mean 'scorers'?",
        ),
        ("model_post_init = lambda self, context: 1 / 0", "ZeroDivisionError: division by zero"),
        ("adopted = classmethod(refuse)", "NotFound: nothing is there"),
        ("adopted = classmethod(lambda *_: None)", "AttributeError: 'NoneType' object has no"),
        (
            "adopted = classmethod(lambda *_: ClassicSettings('x', {'doc': 'y'}))",
            "TypeError: roots.doc: there is no such setting; did you mean 'docs'?",
        ),
        (
            "adopted = classmethod(lambda *_: ClassicSettings('x', {'docs': 5}))",
            "TypeError: roots.docs: must be a string, got 5",
        ),
    ],
)
@pytest.mark.many_cases
def test_a_surface_that_offers_wrong_things_is_named_and_the_rest_is_served(
    workspace: Path, plugins: Path, body: str, problem: str
) -> None:
    offer(plugins, body)
    with Wire(workspace, **installed(workspace)) as wire:
        assert wire.ok("manual_ls")
        for method in ("tools/list", "resources/list", "prompts/list"):
            assert wire.request(method, {})["result"]
        stderr = wire.hang_up()
    told = [line for line in stderr.splitlines() if line.startswith("problem: ")]
    assert [f"{NAMED}{problem}" in line for line in told] == [True], stderr
    (listed,) = report(workspace, "offerer")["problems"]
    assert f"{NAMED}{problem}" in listed
    assert doctor_names(workspace, "offerer", problem)


def test_a_root_that_a_surface_adopts_is_read_as_one_of_the_file_is(
    workspace: Path, plugins: Path
) -> None:
    offer(plugins, "adopted = classmethod(lambda *_: ClassicSettings('x', {'docs': b'y'}))")
    done = run(workspace, "config", "show", "--json")
    assert done.code == 0, done.err
    assert done.json["config"]["roots"]["docs"] == "y"


def test_a_surface_that_computes_its_pipeline_offers_its_tools(
    workspace: Path, plugins: Path
) -> None:
    get = "lambda self, name: {} if name == 'pipeline' else Stage.__getattr__(self, name)"
    offer(plugins, f"del pipeline; __getattr__ = {get}")
    assert "own_tool" in run(workspace, "tools").out


@pytest.mark.parametrize(
    ("lifespan", "problem"),
    [
        ("lifespan = contextmanager(refuse)", "NotFound: nothing is there; it does not go on"),
        ("lifespan: ClassVar[Any] = 5", "TypeError: 'int' object is not callable; it does not go"),
        ("lifespan = property(lambda self: 1 / 0)", "ZeroDivisionError: division by zero; it is"),
    ],
)
def test_a_surface_whose_background_work_does_not_begin_is_named_and_all_else_served(
    workspace: Path, plugins: Path, lifespan: str, problem: str
) -> None:
    offer(plugins, lifespan)
    with Wire(workspace, **installed(workspace)) as wire:
        assert wire.ok("manual_ls")
        stderr = wire.hang_up()
    assert f"{NAMED}{problem}" in stderr


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            "tools = lambda self, context: [replace(TOOL, name='manual_ls')]",
            "tool manual_ls of plugin offerer: left out: another surface offers a tool",
        ),
        (
            "tools = lambda self, context: [TOOL, TOOL]",
            "tool own_tool of plugin offerer: left out: a tool of this name is there twice",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, examples=({'no': 1},))]",
            "tool own_tool of plugin offerer: left out: examples[0].no: ",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, examples=({'no': object()},))]",
            "tool own_tool of plugin offerer: left out: examples[0] is not JSON: ",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, params=Unknown)]",
            "tool own_tool of plugin offerer: left out: input schema: $.size has the type 'real'",
        ),
        (
            "tools = lambda self, context: [replace(TOOL, params=Leaving)]",
            f"tool own_tool of plugin offerer: left out: {NAMED}SystemExit",
        ),
        (
            "resources = lambda self, context: replace(RESOURCES, scheme='manual')",
            "resources manual of plugin offerer: left out: another surface offers ",
        ),
        (
            "prompts = lambda self, context: [PROMPT, PROMPT]",
            "prompt own of plugin offerer: left out: a prompt of this name is there twice",
        ),
    ],
)
def test_what_is_left_out_of_an_offer_is_named_with_its_plugin(
    workspace: Path, plugins: Path, body: str, problem: str
) -> None:
    offer(plugins, body)
    with Wire(workspace, **installed(workspace)) as wire:
        assert wire.ok("manual_ls")
        assert f"problem: {problem}" in wire.hang_up()
    (listed,) = report(workspace, "offerer")["problems"]
    assert listed.startswith(problem)
    assert doctor_names(workspace, "offerer", problem)


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "listed",
    [
        "[Resource('own:a', 'A', 'text/plain'), 3]",
        "refuse()",
        "1 / 0",
        "None",
        "itertools.repeat(Resource('own:a', 'A'))",
    ],
)
def test_a_surface_that_cannot_list_its_resources_hides_no_others(
    workspace: Path, plugins: Path, listed: str
) -> None:
    own = f"resources = lambda self, context: replace(RESOURCES, listed=lambda: {listed})"
    offer(plugins, own)
    with Wire(workspace, **installed(workspace)) as wire:
        listing = wire.request("resources/list", {})["result"]["resources"]
        assert [resource["uri"] for resource in listing] == ["manual://m/a.md"]
        assert "plugin offerer: resources 'own' failed: " in wire.hang_up()
    (fault,) = report(workspace, "offerer")["faults"]
    assert fault.startswith("resources 'own' failed: ")


def test_a_surface_that_fails_at_the_end_of_its_background_work_is_named(
    workspace: Path, plugins: Path
) -> None:
    offer(plugins, "lifespan = contextmanager(lambda self, context: (yield from [None, None]))")
    with Wire(workspace, **installed(workspace)) as wire:
        assert wire.ok("manual_ls")
        told = wire.hang_up()
    assert "plugin offerer: surface 'own' failed: RuntimeError" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("None", "own_tool answered NoneType"),
        ("{'value': 1}", "own_tool answered dict"),
        ("Reply.model_construct(number='x')", "Expected `int`"),
    ],
)
def test_a_tool_whose_answer_does_not_fit_is_named_as_a_fault_of_its_plugin(
    workspace: Path, plugins: Path, reply: str, told: str
) -> None:
    offer(plugins, reply=reply)
    done = run(workspace, "call", "own_tool", "{}")
    assert done.code == 1
    problem = "tool 'own_tool' failed: TypeError: "
    assert f"plugin offerer: {problem}" in done.err
    (fault,) = report(workspace, "offerer")["faults"]
    assert fault.startswith(problem)
    assert told in fault
    assert doctor_names(workspace, "offerer", problem)


@pytest.mark.parametrize(
    "body",
    [
        "tools = lambda self, context: [replace(TOOL, run=refuse, refused=lambda *_: 1 / 0)]",
        "tools = lambda self, context: [replace(TOOL, text=lambda *_: 1 / 0)]",
        "tools = lambda self, context: [replace(TOOL, run=refuse_with_object)]",
        "tools = lambda self, context: [replace(TOOL, run=lambda *_: None)]",
    ],
    ids=["refused", "text", "details", "answer"],
)
def test_the_error_id_of_an_answer_is_that_of_the_log(
    workspace: Path, plugins: Path, body: str
) -> None:
    offer(plugins, body)
    with Wire(workspace, **installed(workspace)) as wire:
        wire.ok("manual_ls")
        answer = wire.request("tools/call", {"name": "own_tool", "arguments": {}})["result"]
        error_id = answer["_meta"]["fumishirube/error"]["details"]["error_id"]
        stderr = wire.hang_up()
    assert {*re.findall(r"error_id\W+([0-9a-f]{12})", stderr)} == {error_id}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "method", "params"),
    [
        (
            "prompts = lambda self, context: [replace(PROMPT, write=lambda *_: leave())]",
            "prompts/get",
            {"name": "own"},
        ),
        (
            "resources = lambda self, context: replace(RESOURCES, read=lambda *_: leave())",
            "resources/read",
            {"uri": "own:a"},
        ),
        (
            "tools = lambda self, context: [replace(TOOL, text=lambda *_: leave())]",
            "tools/call",
            {"name": "own_tool", "arguments": {}},
        ),
    ],
    ids=["prompt", "resource", "text"],
)
def test_an_offer_that_exits_does_not_end_the_server(
    workspace: Path, plugins: Path, body: str, method: str, params: dict[str, Any]
) -> None:
    offer(plugins, f"{body}\n\ndef leave():\n    raise SystemExit(3)")
    with Wire(workspace, **installed(workspace)) as wire:
        answer = wire.request(method, params)
        assert "error" in answer or answer["result"]["isError"]
        assert wire.ok("manual_ls")
    (fault,) = report(workspace, "offerer")["faults"]
    assert "failed: SystemExit: 3" in fault


def test_a_call_whose_text_fails_is_reported_once(workspace: Path, plugins: Path) -> None:
    offer(plugins, "tools = lambda self, context: [replace(TOOL, text=lambda *_: 1 / 0)]")
    with Wire(workspace, **installed(workspace), FUMISHIRUBE_LOG_LEVEL="INFO") as wire:
        answer = wire.request("tools/call", {"name": "own_tool", "arguments": {}})
        assert answer["result"]["isError"]
        lines = [line for line in wire.hang_up().splitlines() if "elapsed_ms" in line]
    calls = [json.loads(line) for line in lines]
    assert [(call["tool"], call.get("code")) for call in calls] == [("own_tool", "internal_error")]


MISSING = "pipelines.own.scorers[0]: no scorer is called 'absent'"


def test_a_surface_whose_own_pipeline_names_a_missing_stage_is_left_out_and_named(
    workspace: Path, plugins: Path
) -> None:
    offer(plugins, pipeline='{"scorers": [{"use": "absent"}]}')
    done = run(workspace, "find", "oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert f"{NAMED}{MISSING}" in done.err
    (listed,) = report(workspace, "offerer")["problems"]
    assert f"{NAMED}{MISSING}" in listed
    assert doctor_names(workspace, "offerer", MISSING)


def test_a_pipeline_of_the_user_that_names_a_missing_stage_stops_the_start(
    workspace: Path, plugins: Path
) -> None:
    offer(plugins)
    configure(workspace, "pipelines: {own: {scorers: [{use: absent}]}}\n")
    done = run(workspace, "find", "oil")
    assert done.code == 2
    assert f"configuration error: {MISSING}" in done.err


# --- observers ----------------------------------------------------------------------------------

OBSERVER = """
from fumishirube import hook

@hook
def search_finished(trace):
    raise SystemExit(3)
"""


def test_an_observer_that_exits_costs_no_answer_and_is_named(
    workspace: Path, plugins: Path
) -> None:
    stranger(plugins, "watcher", OBSERVER)
    done = run(workspace, "find", "oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    problem = "its search_finished failed: SystemExit: 3"
    assert f"plugin watcher: {problem}" in done.err
    assert report(workspace, "watcher")["faults"][0].startswith(problem)


@pytest.mark.parametrize(
    "observer",
    [
        "@hook\ndef search_finished(): print('observed')\n",
        (
            "@hook(wrapper=True)\n"
            "def search_finished(trace):\n    print('observed')\n    return (yield)\n"
        ),
        (
            "@hook\ndef search_finished(trace): print('observed')\n"
            "@hook(specname='search_finished')\ndef also(trace): pass\n"
        ),
    ],
    ids=["without arguments", "wrapper", "two"],
)
def test_an_observer_in_any_form_that_pluggy_takes_is_called(
    workspace: Path, plugins: Path, observer: str
) -> None:
    stranger(plugins, "watcher", f"from fumishirube import hook\n{observer}")
    done = run(workspace, "find", "oil", "--json")
    assert done.json["hits"]
    assert done.err.count("observed") == 1
    assert "problem" not in done.err


# --- exceptions without a message ---------------------------------------------------------------

WORDLESS = """
class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no message")
"""


def test_an_exception_that_cannot_be_written_is_named_by_its_type(
    workspace: Path, plugins: Path
) -> None:
    code = PLUGIN.format(name="wordless").replace("return ranking", "raise Wordless")
    stranger(plugins, "first", WORDLESS + code)
    stranger(plugins, "second", WORDLESS + "raise Wordless\n")
    configure(workspace, "pipelines: {manual: {refiners: [{use: wordless}]}}\n")
    done = run(workspace, "find", "oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert "plugin first: refiner 'wordless' failed: Wordless" in done.err
    assert report(workspace, "second")["problems"] == ["cannot be imported: Wordless"]


# --- commands -----------------------------------------------------------------------------------

COMMAND = """
from fumishirube import Command, hook

@hook
def register_commands(register):
    more = {{"serves": True, "variable": "GREET"}} if {serves} else {{}}
    register(Command("greet", "be {help}", "greeting", **more))
"""
GREET, SERVES = (f"command {words!r} of plugin greeter" for words in ("greet", "GREET=… serve"))
MODULE = """
def add_arguments(parser):
    {arguments}

def run(options):
    return {returned}
"""


def greeter(
    plugins: Path,
    *,
    help_text: str = "kind",
    arguments: str = "...",
    returned: str = "0",
    serves: bool = False,
) -> None:
    """Install a plugin with one command, ``greet``."""
    stranger(plugins, "greeter", COMMAND.format(help=help_text, serves=serves))
    module = MODULE.format(arguments=arguments, returned=returned)
    (plugins / "greeting.py").write_text(module, encoding="utf-8")


@pytest.mark.parametrize("help_text", ["100% kind", "kind to %(prog)s, %d times", "%"])
def test_a_sign_of_percent_in_the_help_of_a_command_is_printed_as_it_is(
    workspace: Path, plugins: Path, help_text: str
) -> None:
    greeter(plugins, help_text=help_text)
    for words in (["--help"], ["greet", "--help"]):
        done = run(workspace, *words)
        assert done.code == 0, done.err
        assert f"e {help_text}" in done.out
    assert run(workspace, "man").code == 0


@pytest.mark.parametrize(
    ("returned", "named"),
    [("None", "NoneType"), ("'ok'", "str"), ("1.5", "float"), ("10 ** 20", str(10**20))],
)
@pytest.mark.parametrize("words", [["greet"], ["serve", "--greet"]])
def test_what_a_command_returns_is_named_if_it_is_no_exit_code(
    workspace: Path, plugins: Path, returned: str, named: str, words: list[str]
) -> None:
    serves = words[0] == "serve"
    option = 'parser.add_argument("--greet", action="store_true")' if serves else "..."
    greeter(plugins, returned=returned, serves=serves, arguments=option)
    done = run(workspace, *words)
    assert done.code == 1
    problem = f"greeting.run() returned {named}, which is no exit code"
    assert done.err == f"error: {SERVES if serves else GREET}: {problem}\n"


FAILING = "greeting.add_arguments() failed: KeyError: 'x'"


def test_a_command_that_cannot_add_its_arguments_is_named_and_the_others_remain(
    workspace: Path, plugins: Path
) -> None:
    greeter(plugins, arguments="raise KeyError('x')")
    done = run(workspace, "greet")
    assert (done.code, done.err) == (1, f"error: {GREET}: {FAILING}\n")
    for words in (["man"], ["completion", "bash"]):
        done = run(workspace, *words)
        assert done.code == 0
        assert done.err == f"problem: {GREET}: {FAILING}; it is left out\n"
        assert "find" in done.out
        assert "greet" not in done.out


def test_a_command_with_a_help_that_is_no_text_is_named_and_the_others_remain(
    workspace: Path, plugins: Path
) -> None:
    greeter(plugins, arguments="parser.add_argument('--loud', help=5)")
    failing = FAILING.partition("KeyError")[0]  # what follows are words of each Python's own
    done = run(workspace, "greet", "--help")
    assert done.code == 1
    assert done.err.startswith(f"error: {GREET}: {failing}")
    for words in (["man"], ["completion", "bash"]):
        done = run(workspace, *words)
        assert done.code == 0
        assert done.err.startswith(f"problem: {GREET}: {failing}")
        assert done.err.endswith("; it is left out\n")
        assert "find" in done.out
        assert "greet" not in done.out


def test_a_command_without_a_line_for_the_help_is_refused_and_the_help_remains(
    workspace: Path, plugins: Path
) -> None:
    code = COMMAND.format(help="kind", serves=False).replace('"be kind"', "None")
    stranger(plugins, "greeter", code)
    done = run(workspace, "--help")
    assert (done.code, done.err) == (0, "")
    assert "find" in done.out
    problem = "command 'greet': its help is no text"
    assert report(workspace, "greeter")["problems"] == [problem]
    assert doctor_names(workspace, "greeter", problem)


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("variable=5", "its variable 5 is malformed"),
        ("variable='A=B'", "its variable 'A=B' is malformed"),
        ("web_server=5", "its web_server 5 is malformed"),
        ("web_server='greeting'", "its web_server 'greeting' is malformed"),
    ],
)
def test_a_way_to_serve_with_a_field_of_another_form_is_refused_and_named(
    workspace: Path, plugins: Path, field: str, problem: str
) -> None:
    code = COMMAND.format(help="kind", serves=True)
    stranger(plugins, "greeter", code.replace("**more", f"**(more | dict({field}))"))
    assert run(workspace, "serve", "--help").code == 0
    assert report(workspace, "greeter")["problems"] == [f"command 'greet': {problem}"]


def test_a_way_to_serve_that_cannot_add_its_arguments_leaves_the_others(
    workspace: Path, plugins: Path
) -> None:
    greeter(plugins, arguments="raise KeyError('x')", serves=True)
    for words in (["serve", "--help"], ["man"]):
        done = run(workspace, *words)
        assert done.code == 0
        assert done.err == f"problem: {SERVES}: {FAILING}; it is left out\n"
        assert "http" in done.out
    done = run(workspace, "serve", "--greet")
    assert (done.code, done.err) == (
        1,
        f"error: {SERVES}: {FAILING}\n",
    )


@pytest.mark.parametrize(
    ("arguments", "returned", "end"),
    [
        ("...", "options.absent", (1, " failed: AttributeError: ")),
        ("raise KeyError('x')", "0", (1, f": {FAILING}")),
        ("parser.add_argument('--greet', type=int, default=7)", "options.greet", (7, "")),
    ],
    ids=["run", "arguments", "default"],
)
def test_a_way_to_serve_that_a_variable_chooses_has_its_options_and_is_named_if_it_fails(
    workspace: Path, plugins: Path, arguments: str, returned: str, end: tuple[int, str]
) -> None:
    greeter(plugins, arguments=arguments, returned=returned, serves=True)
    done = fumishirube("serve", cwd=workspace, environ=installed(workspace) | {"GREET": "1"})
    code, problem = end
    assert done.code == code, done.err
    assert (f"error: {SERVES}{problem}" in done.err) == bool(problem)


def test_a_sign_of_percent_in_the_help_of_an_option_breaks_no_other_command(
    workspace: Path, plugins: Path
) -> None:
    greeter(plugins, arguments='parser.add_argument("--sale", help="50% off")')
    assert "50% off" in run(workspace, "man").out
    assert "50% off" in run(workspace, "greet", "--help").out
    assert "[50\\% off]" in run(workspace, "completion", "zsh").out


@pytest.mark.parametrize(
    "failing", [{"returned": "fail()"}, {"arguments": "fail()"}], ids=["run", "arguments"]
)
@pytest.mark.parametrize("error", ["KeyboardInterrupt", "RuntimeError('hostile')"])
def test_a_command_that_fails_is_named_with_its_plugin(
    workspace: Path, plugins: Path, failing: dict[str, str], error: str
) -> None:
    greeter(plugins, **failing)
    with (plugins / "greeting.py").open("a", encoding="utf-8") as module:
        module.write(f"\ndef fail():\n    raise {error}\n")
    done = run(workspace, "greet")
    assert done.code == 1
    assert "command 'greet' of plugin greeter" in done.err
    assert error.partition("(")[0] in done.err
    assert "unexpected" not in done.err


def test_a_fault_of_a_command_is_known_until_it_works(workspace: Path, plugins: Path) -> None:
    greeter(plugins, returned="0 // int('WORKS' in __import__('os').environ)")
    assert run(workspace, "greet").code == 1
    problem = "command 'greet' failed: ZeroDivisionError: "
    assert report(workspace, "greeter")["faults"][0].startswith(problem)
    assert doctor_names(workspace, "greeter", problem)
    done = fumishirube("greet", cwd=workspace, environ=installed(workspace) | {"WORKS": "1"})
    assert done.code == 0, done.err
    assert report(workspace, "greeter")["faults"] == []


@pytest.mark.parametrize(
    "failing",
    [
        {"returned": "print('kind') or __import__('os')._exit(7)"},
        {"arguments": "__import__('os')._exit(7)"},
    ],
    ids=["run", "arguments"],
)
def test_a_command_that_ends_the_process_is_named_by_the_next_start(
    workspace: Path, plugins: Path, failing: dict[str, str]
) -> None:
    greeter(plugins, **failing)
    assert run(workspace, "greet").code == 7
    problem = "command 'greet' failed: the process ended while it ran"
    assert f"problem: plugin greeter: {problem}" in run(workspace, "find", "oil").err
    assert report(workspace, "greeter")["faults"][0].startswith(problem)


def test_a_command_that_ends_the_process_is_named_if_the_configuration_is_in_the_home_folder(
    workspace: Path, plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace.parent / "own.yaml").write_text("version: 1\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(workspace.parent))
    monkeypatch.setenv("USERPROFILE", str(workspace.parent))
    greeter(plugins, arguments="__import__('os')._exit(7)")
    assert run(workspace, "greet", "--config=~/own.yaml").code == 7
    assert report(workspace, "greeter")["faults"][0].startswith(
        "command 'greet' failed: the process ended"
    )


def test_a_command_that_ends_the_process_is_named_whatever_options_its_own_commands_have(
    workspace: Path, plugins: Path
) -> None:
    greeter(plugins, arguments="__import__('os')._exit(7)")
    assert run(workspace, "greet", "kindly", "--verbose=2", "--raw=x").code == 7
    assert report(workspace, "greeter")["faults"][0].startswith(
        "command 'greet' failed: the process ended"
    )


def test_a_command_that_exits_or_refuses_is_no_fault(workspace: Path, plugins: Path) -> None:
    greeter(plugins, returned="print('kind') or __import__('sys').exit(3)")
    done = run(workspace, "greet")
    assert (done.code, done.out, done.err) == (3, "kind\n", "")
    assert report(workspace, "greeter")["faults"] == []


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("part", "request_of", "problem"),
    [
        ("resources 'own'", "read=lambda uri, call: None", "a sequence was expected"),
        ("resources 'own'", "read=lambda uri, call: 'text'", "a sequence was expected"),
        ("resources 'own'", "read=lambda uri, call: [Content(uri, 5)]", "'body' of Content"),
        ("resources 'own'", "complete=lambda *_: 5", "'int' object is not iterable"),
        ("resources 'own'", "complete=lambda *_: [1, 2]", "something else than texts"),
        ("resources 'own'", "stamp=lambda uri: 1 / 0", "ZeroDivisionError: division by zero"),
        ("resources 'own'", "stamp=lambda uri: None", "it returned a NoneType and no text"),
        ("prompt 'own'", "write=lambda arguments: None", "it returned a NoneType and no text"),
        ("prompt 'own'", "complete=lambda *_: None", "'NoneType' object is not iterable"),
        ("tool 'own_tool'", "text=lambda answer: None", "it returned a NoneType and no text"),
        ("tool 'own_tool'", "refused=lambda *_: None", "it returned a NoneType and no ToolError"),
    ],
)
def test_what_a_surface_returns_is_checked_and_named(
    workspace: Path, plugins: Path, part: str, request_of: str, problem: str
) -> None:
    member, _, _ = request_of.partition("=")
    resources, prompt, tool = (
        f", {request_of}" if part.startswith(kind) else "" for kind in ("res", "pr", "tool")
    )
    lines = [
        "TEMPLATE: ClassVar[Any] = Template('own:{name}', 'own', 'Own', 'One.')",
        "    ARGUMENT: ClassVar[Any] = PromptParameter('name', 'A name.', required=False)",
        "    def resources(self, context):",
        "        offered = dict(templates=[self.TEMPLATE], stamp=lambda uri: 'x')",
        f"        return replace(RESOURCES, **(offered | dict({resources[2:]})))",
        "    def prompts(self, context):",
        f"        return [replace(PROMPT, arguments=[self.ARGUMENT]{prompt})]",
        "    def tools(self, context):",
        f"        return [replace(TOOL{tool})]",
    ]
    offer(plugins, "\n".join(lines))
    argument = {"name": "name", "value": ""}
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "read": ("resources/read", {"uri": "own:a"}),
        "stamp": ("resources/subscribe", {"uri": "own:a"}),
        "write": ("prompts/get", {"name": "own"}),
        "text": ("tools/call", {"name": "own_tool", "arguments": {}}),
        "refused": ("tools/call", {"name": "own_tool", "arguments": {"no": 1}}),
    }
    reference = (
        {"type": "ref/prompt", "name": "own"}
        if part.startswith("prompt")
        else {"type": "ref/resource", "uri": "own:{name}"}
    )
    method, params = calls.get(
        member, ("completion/complete", {"ref": reference, "argument": argument})
    )
    with Wire(workspace, **installed(workspace)) as wire:
        assert wire.ok("manual_ls")
        answer = wire.request(method, params)
        assert "division" not in str(answer)
        assert f"plugin offerer: {part} failed: " in wire.hang_up()
    (fault,) = report(workspace, "offerer")["faults"]
    assert problem in fault


SLOW_START = (
    "lifespan = contextmanager(lambda self, context: (__import__('time').sleep(7), (yield)))"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("member", "tool", "state"),
    [
        (
            "tools = lambda self, context: [__import__('time').sleep(7), TOOL][1:]",
            "own_tool",
            "open",
        ),
        (SLOW_START, "manual_ls", "open"),
        (
            "tools = lambda self, context: [replace(TOOL, params=Slow)]",
            "own_tool",
            "described",
        ),
    ],
)
def test_a_surface_that_makes_its_tools_or_begins_slowly_is_named_while_all_else_waits(
    workspace: Path, plugins: Path, member: str, tool: str, state: str
) -> None:
    offer(plugins, member)
    with Wire(workspace, **installed(workspace)) as wire:
        assert wire.ok(tool)
        told = wire.hang_up()
    assert f"plugin offerer: surface 'own' failed: it is not {state} after 5 s" in told
    assert report(workspace, "offerer")["faults"] == []
