"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import lowest
import pytest
import readme_blocks
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import fumishirube
from fumishirube import Env, Stage
from fumishirube.config.configuration import Config
from fumishirube.config.environment import choices, variables
from fumishirube.plugins import hookspecs
from fumishirube.plugins.discovery import load_plugins
from fumishirube.plugins.registry import KINDS, NAME, RegisteredStage

PROJECT = Path(__file__).parents[2]
CORE = PROJECT / "core" / "fumishirube"
BUILT_INS = sorted((PROJECT / "plugins").glob("fumishirube_*"))
PACKAGES = {package.name for package in BUILT_INS}
MODULES = sorted([*CORE.rglob("*.py"), *(f for p in BUILT_INS for f in p.rglob("*.py"))])
OWN_PACKAGES = sorted((PROJECT / "plugins" / "packages").glob("*/src/**/*.py"))
HOOKS = [name for name, one in vars(hookspecs).items() if hasattr(one, f"{hookspecs.GROUP}_spec")]

MOST_LINES = 400
"""No module of the core or the built-ins is longer."""
LONG_LINES = 300
LONG = {
    "core/fumishirube/disk/roots.py": "the one way to files, with all that it refuses",
    "core/fumishirube/engine/pipeline.py": "one recursion with its guards",
    "core/fumishirube/corpus.py": "clauses, their meaning, and the interface of corpora",
    "core/fumishirube/engine/manual_folder.py": "one manual: its files, in which versions",
    "core/fumishirube/engine/folder_index.py": "one index, and how it follows its files",
    "core/fumishirube/host/application.py": "all that a configuration builds",
    "core/fumishirube/host/context.py": "one capability: all that a surface may use",
    "core/fumishirube/plugins/discovery.py": "how plugins are loaded, one by one, and reported",
    "core/fumishirube/stages.py": "the protocols of all kinds of stages",
    "core/fumishirube/surfaces.py": "the capability of a surface, and its optional abilities",
    "core/fumishirube/text/folding.py": "which texts are equal: in general, and script by script",
    "core/fumishirube/text/query_concepts.py": "concepts of a query, and what a text has of them",
    "core/fumishirube/text/references.py": "the kinds of references, and what each points at",
    "core/fumishirube/traces/store.py": "one store: in memory, in files, and in the archive",
    "plugins/fumishirube_graph/docs.py": "the states of one index, and what leads to the next",
    "plugins/fumishirube_stages/scorers/lexical.py": "one formula with its shortcuts",
}
"""The modules over 300 lines, and why each is one idea nevertheless."""

BANNED = {"told", "asked", "kept", "found", "given", "spoken", "standing", "held", "one", "such"}
"""Words that say nothing about what they name."""
BANNED_WORDS = {
    *("ask", "asks", "asked", "tell", "tells", "told", "speak", "speaks", "spoken", "heard"),
    *("stands", "stood", "standing", "kept", "hang", "hangs", "such", "who", "whose", "nobody"),
    *("board", "desk", "errand", "furnish", "furnished", "house", "menu", "shelf", "shelves"),
    *("anew", "complaint", "mend", "trouble", "witness"),
}
"""Words of persons and of furniture, which no part of a name needs."""
BANNED_MODULES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}

# The one place that keeps each library; import-linter says the same of whole packages.
ONLY_IN = {
    "mcp": ("core/fumishirube/faces/mcp/",),
    "mcp_types": ("core/fumishirube/faces/mcp/",),
    "pluggy": ("core/fumishirube/plugins/hookspecs.py", "core/fumishirube/plugins/discovery.py"),
    "yaml": (
        "core/fumishirube/config/yaml_file.py",
        "plugins/fumishirube_stages/loaders/markdown_files/front_matter.py",
    ),
    "pathspec": ("core/fumishirube/disk/ignore_rules.py",),
    "tantivy": (
        "plugins/fumishirube_stages/indexes/",
        "plugins/fumishirube_stages/tokenizers/ngram.py",  # its stemmer
    ),
    "markdown_it": ("plugins/fumishirube_stages/loaders/markdown_files/headings.py",),
    "rapidfuzz": (
        "core/fumishirube/engine/spellings.py",
        "plugins/fumishirube_graph/snapshot.py",
        "plugins/fumishirube_stages/",
    ),
    "inotify_simple": ("core/fumishirube/disk/watches.py",),
    "re2": ("plugins/fumishirube_stages/scorers/regex.py",),
    "regex": ("plugins/fumishirube_stages/pattern_worker.py",),
    "sqlite3": (
        "core/fumishirube/disk/databases.py",
        "plugins/fumishirube_chapters/projection_store.py",
        "core/fumishirube/engine/vectors/vector_file.py",
        "core/fumishirube/engine/vectors/section_vectors.py",
        "plugins/fumishirube_http/people/rates.py",
    ),
    "pytest": ("core/fumishirube/testing/",),
    "httpx2": ("plugins/fumishirube_http/bridge.py", "plugins/fumishirube_http/people/provider.py"),
    "fastapi": ("plugins/fumishirube_http/",),
    "fastapi_offline": ("plugins/fumishirube_http/application.py",),
    "starlette": (
        "plugins/fumishirube_http/",
        "plugins/fumishirube_inspect/",
        "core/fumishirube/faces/mcp/streamable.py",
    ),
    "uvicorn": ("plugins/fumishirube_http/protocol.py", "plugins/fumishirube_http/server.py"),
    "sentence_transformers": ("plugins/fumishirube_stages/embedders/sentence_transformers.py",),
    "huggingface_hub": ("plugins/fumishirube_stages/embedders/sentence_transformers.py",),
    "hypothesis": ("core/fumishirube/testing/corpus_contract.py",),
}

WRITERS = re.compile(r"core/fumishirube/faces/cli/|plugins/fumishirube_\w+/commands?[./]")
"""Who may print: the command line and the commands of plugins, whose output it is."""

CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
CHANGING = {"append", "add", "update", "setdefault", "pop", "clear", "extend", "remove"}

DOORS = {"fumishirube", "fumishirube.commands", "fumishirube.serving"}
"""What plugins import: the facade, and what only those need that bring commands or serve tools."""

PROCESS_WIDE = {
    "core/fumishirube/disk/no_follow.py",
    "core/fumishirube/engine/owned_locks.py",
    "core/fumishirube/host/left_behind.py",
    "core/fumishirube/host/standard_streams.py",
}
"""What belongs to the process: streams, what it does before it ends, which folders it opened, its
threads."""

HEAVY = {
    "anyio",
    "fastapi",
    "inotify_simple",
    "mcp",
    "pathspec",
    "pytest",
    "re2",
    "regex",
    "sentence_transformers",
    "fumishirube_stages",
    "sqlite3",
    "tantivy",
    "tqdm",
    "yaml",
}
"""What no public name imports, so that the command line starts at once."""


@functools.cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes(file: Path) -> Sequence[ast.AST]:
    return tuple(ast.walk(tree(file)))


def called(file: Path) -> str:
    return file.relative_to(PROJECT).as_posix()


@functools.cache
def imported(file: Path) -> Sequence[tuple[str, str | None]]:
    """Return every ``(module, name)`` that is imported, wherever in the file."""
    return tuple(_imported(nodes(file)))


def _imported(within: Sequence[ast.AST]) -> Iterator[tuple[str, str | None]]:
    for node in within:
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            yield from ((node.module or "", alias.name) for alias in node.names)


@functools.cache
def offers() -> Sequence[tuple[str, RegisteredStage]]:
    return [(kind.noun, o) for kind, o in load_plugins(strangers=False).registry.offers()]


def stages() -> list[Any]:
    return [pytest.param(offer, id=f"{noun} {offer.name}") for noun, offer in offers()]


def interpreted(code: str) -> Any:
    """Run some Python in a fresh interpreter, and return what it printed as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout)


# --- files ----------------------------------------------------------------------------------


def test_modules_are_short() -> None:
    lengths = {called(f): len(f.read_text(encoding="utf-8").splitlines()) for f in MODULES}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}
    assert {name for name, n in lengths.items() if n > LONG_LINES} <= LONG.keys(), "two ideas?"


def test_a_module_begins_with_a_sentence_about_it() -> None:
    first = {called(f): (ast.get_docstring(tree(f)) or "").partition("\n")[0] for f in MODULES}
    assert {name: said for name, said in first.items() if not said.endswith((".", "?"))} == {}


def test_a_finding_of_a_checker_is_silenced_with_a_reason() -> None:
    silenced = re.compile(r"# noqa: [A-Z0-9, ]+$|# type: ignore\[[a-z, -]+\]$|# noqa$")
    bare = [
        f"{called(file)}:{number}"
        for file in [*MODULES, *OWN_PACKAGES]
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if silenced.search(line)
    ]
    assert bare == []


def test_nobody_prints_but_the_command_line() -> None:
    prints = [
        f"{called(file)}:{node.lineno}"
        for file in MODULES
        if not WRITERS.match(called(file))
        for node in nodes(file)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"
    ]
    assert not prints


def test_nothing_at_the_top_of_a_module_changes() -> None:
    """A container there is named as a constant, and its module never writes into it."""
    faults = [
        f"{called(file)}: {fault}"
        for file in MODULES
        if called(file) not in PROCESS_WIDE
        for fault in _changing(file)
    ]
    assert not faults


def _changing(file: Path) -> Iterator[str]:
    kept = dict(_containers(tree(file)))
    yield from (
        f"line {line}: {name} is no constant"
        for name, line in kept.items()
        if not name.strip("_").isupper() and name != "__all__"
    )
    yield from (f"line {line}: {name} is changed" for name, line in _written(nodes(file), kept))
    yield from (f"line {n.lineno}: global" for n in nodes(file) if isinstance(n, ast.Global))


def _containers(module: ast.Module) -> Iterator[tuple[str, int]]:
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, CONTAINERS):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((t.id, node.lineno) for t in targets if isinstance(t, ast.Name))


def _written(within: Sequence[ast.AST], kept: Collection[str]) -> Iterator[tuple[str, int]]:
    for node in within:
        changed: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.value if node.func.attr in CHANGING else None
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed = node.value
        if isinstance(changed, ast.Name) and changed.id in kept:
            yield changed.id, changed.lineno


# --- names ----------------------------------------------------------------------------------


def test_a_class_has_a_name_of_its_own() -> None:
    """Whoever reads a class's name in a message or a trace knows which class it is."""
    places: dict[str, list[str]] = {}
    for file in (*MODULES, *OWN_PACKAGES):
        for node in nodes(file):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{called(file)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_nothing_has_a_name_that_says_nothing() -> None:
    faults = [
        f"{called(file)}:{line} {name}"
        for file in (*MODULES, *OWN_PACKAGES)
        for name, line in bound(file)
        if name.strip("_").lower() in BANNED
    ]
    assert not faults


def test_no_part_of_a_name_is_a_metaphor() -> None:
    faults = [
        f"{called(file)}:{line} {name}"
        for file in (*MODULES, *OWN_PACKAGES)
        for name, line in bound(file)
        if BANNED_WORDS.intersection(words_of(name))
    ]
    assert not faults


@functools.cache
def words_of(name: str) -> list[str]:
    """Return the words of a name in snake case, camel case or capitals, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def test_a_name_has_words() -> None:
    assert words_of("_kept_name2") == ["kept", "name"]
    assert words_of("HTTPDesk_TOLD") == ["http", "desk", "told"]
    assert words_of("whole") == ["whole"]


@pytest.mark.parametrize(
    "code",
    [
        "kept = 1",
        "Kept: int = 1",
        "_kept_ += 1",
        "self.kept = 1",
        "(kept := 1)",
        "def kept(): ...",
        "async def kept(): ...",
        "class Kept: ...",
        "def f(kept): ...",
        "lambda *kept: 1",
        "import json as kept",
        "from m import x as kept",
        "for kept in (): ...",
        "[0 for kept in ()]",
        "with m as kept: ...",
        "try: ...\nexcept OSError as kept: ...",
        "match m:\n case [*kept]: ...",
        "match m:\n case {**kept}: ...",
        "match m:\n case kept: ...",
        "from typing import TypeVar\nKEPT = TypeVar('KEPT')",
    ],
)
def test_a_name_is_seen_wherever_it_is_bound(code: str) -> None:
    names = {name.strip("_").lower() for name, _ in _bound([*ast.walk(ast.parse(code))])}
    assert "kept" in names


@functools.cache
def bound(file: Path) -> Sequence[tuple[str, int]]:
    """Return every name that a module binds, and its line."""
    return tuple(_bound(nodes(file)))


def _bound(within: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in within:
        line: int = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, line
            case ast.arg(arg=name):
                yield name, line
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, line
            case ast.ClassDef(name=name):
                yield name, line
            case ast.alias(asname=str(name)):
                yield name, line
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name, line
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name, line


def test_a_module_is_named_after_what_it_holds() -> None:
    names = {part for file in MODULES for part in called(file).removesuffix(".py").split("/")}
    assert names & (BANNED | BANNED_MODULES) == set()
    assert BANNED_WORDS.intersection(word for name in names for word in words_of(name)) == set()


# --- imports --------------------------------------------------------------------------------


def test_a_library_is_imported_in_its_one_place() -> None:
    faults = [
        f"{called(file)} imports {module}"
        for file in MODULES
        for module, _ in imported(file)
        if not called(file).startswith(ONLY_IN.get(module.partition(".")[0], ("",)))
    ]
    assert not faults


def test_the_core_does_not_know_the_built_ins() -> None:
    faults = [
        called(file)
        for file in MODULES
        if file.is_relative_to(CORE)
        for module, _ in imported(file)
        if module.partition(".")[0] in PACKAGES
    ]
    assert not faults


PUBLIC = (
    "fumishirube",
    "fumishirube.agreed_names",
    "fumishirube.disk",
    "fumishirube.parsing",
    "fumishirube.text",
    "fumishirube.tools",
)
FACES = ("fumishirube.commands", "fumishirube.serving")
"""What verbs of the command line, and faces that serve tools, may use besides."""


def test_the_facade_stays_small_and_no_name_is_in_two_of_its_modules() -> None:
    names = [name for module in PUBLIC for name in importlib.import_module(module).__all__]
    assert len(fumishirube.__all__) <= 100
    assert len(names) == len(set(names))


def test_built_ins_import_the_facade_only_like_strangers() -> None:
    faults = [
        f"{called(file)} imports {name} from {module}"
        for file in MODULES
        if not file.is_relative_to(CORE)
        for module, name in imported(file)
        if module.partition(".")[0] == "fumishirube"
        if module not in (*PUBLIC, *FACES)
        or name not in (*importlib.import_module(module).__all__, "__version__")
    ]
    assert not faults


def test_the_packages_of_the_built_ins_do_not_import_each_other() -> None:
    faults = [
        f"{called(file)} imports {module}"
        for file in MODULES
        if not file.is_relative_to(CORE)
        for module, _ in imported(file)
        if module.partition(".")[0] in PACKAGES
        if module.partition(".")[0] != file.relative_to(PROJECT / "plugins").parts[0]
    ]
    assert not faults


def test_the_kinds_of_stages_do_not_import_each_other() -> None:
    stages = PROJECT / "plugins" / "fumishirube_stages"
    faults = [
        f"{called(file)} imports {module}"
        for file in MODULES
        if file.is_relative_to(stages) and file.parent != stages
        for module, _ in imported(file)
        if module.partition(".")[0] == stages.name
        if module.split(".")[1:2] != [file.relative_to(stages).parts[0]]
        if not (PROJECT / "plugins" / module.replace(".", "/")).with_suffix(".py").is_file()
        or module.count(".") > 1
    ]
    assert not faults


def test_the_core_does_not_import_its_own_facade() -> None:
    """But for the version; and the authors' kit shows how a plugin imports."""
    submodules = {module.name for module in pkgutil.iter_modules(fumishirube.__path__)}
    faults = [
        f"{called(file)} imports {name}"
        for file in MODULES
        if file.is_relative_to(CORE) and not file.is_relative_to(CORE / "testing")
        for module, name in imported(file)
        if module == "fumishirube" and name not in {*submodules, "__version__"}
    ]
    assert not faults


def test_the_public_names_import_nothing_heavy() -> None:
    loaded = interpreted(
        "import json, sys; from fumishirube import *; print(json.dumps(sorted(sys.modules)))"
    )
    assert "fumishirube.stages" in loaded
    assert HEAVY.intersection(loaded) == set()


def test_a_module_is_imported_when_a_public_name_of_it_is_used() -> None:
    seen = "[name for name in sys.modules if name.startswith(('fumishirube.', 'pydantic'))]"
    before, after = interpreted(
        f"import json, sys, fumishirube; before = {seen}; "
        f"fumishirube.Span; print(json.dumps([before, {seen}]))"
    )
    assert set(before) == {"fumishirube.plugins", "fumishirube.plugins.deprecation"}
    assert "fumishirube.traces.records" in after


@pytest.mark.slow
def test_every_public_name_can_be_the_first_that_is_imported() -> None:
    """A cycle of imports fails, or not, depending on the module that comes first."""
    modules = [f"fumishirube.{name}" for name in fumishirube._MODULES]
    faults = interpreted(
        "import importlib, json, sys\nfaults = {}\n"
        f"for name in {modules!r}:\n"
        "    for loaded in [one for one in sys.modules if one.startswith('fumishirube')]:\n"
        "        del sys.modules[loaded]\n"
        "    try:\n        importlib.import_module(name)\n"
        "    except ImportError as error:\n        faults[name] = str(error)\n"
        "print(json.dumps(faults))"
    )
    assert faults == {}


# --- the façade -----------------------------------------------------------------------------


def test_the_facade_is_sorted_and_complete() -> None:
    assert fumishirube.__all__ == sorted(set(fumishirube.__all__), key=_as_ruff_sorts)
    modules = {module.name for module in pkgutil.iter_modules(fumishirube.__path__)}
    public = {name for name in dir(fumishirube) if not name.startswith("_")} - modules
    assert public == set(fumishirube.__all__)
    assert all(hasattr(fumishirube, name) for name in public)
    typed = {
        (module.removeprefix("fumishirube."), name)
        for module, name in imported(CORE / "__init__.py")
        if module.startswith("fumishirube.") and name != "resolve_former_name"
    }
    assert {(module, name) for name, module in fumishirube._MODULE_OF.items()} == typed
    assert {name for _, name in typed} == public
    for module in map(importlib.import_module, PUBLIC[1:]):
        assert sorted(module.__all__, key=_as_ruff_sorts) == module.__all__
        assert all(hasattr(module, name) for name in module.__all__)


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name


def test_the_facade_offers_what_its_protocols_speak_of() -> None:
    """Whatever a signature names, a plugin author can import and annotate with."""
    rooms = [
        importlib.import_module(f"fumishirube.{name}") for name in ("stages", "model", "disk.roots")
    ]
    ours = {n for room in rooms for n, one in vars(room).items() if _is_public_class(n, one)}
    spoken: set[str] = set()
    for name in ours:
        one = getattr(fumishirube, name, None)
        for method in vars(one).values() if getattr(one, "_is_protocol", False) else ():
            annotations = getattr(method, "__annotations__", {}).values()
            spoken |= ours.intersection(re.findall(r"\w+", " ".join(map(str, annotations))))
    assert "Ranking" in spoken
    assert spoken <= set(fumishirube.__all__)


def _is_public_class(name: str, one: object) -> bool:
    return inspect.isclass(one) and one.__module__.startswith("fumishirube.") and name[0] != "_"


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module in PUBLIC for name in importlib.import_module(module).__all__],
)
def test_what_the_facade_offers_says_what_it_is(module: str, name: str) -> None:
    offered = getattr(importlib.import_module(module), name)
    if inspect.isclass(offered) or inspect.isfunction(offered):
        assert (offered.__doc__ or "").strip()


# --- hooks and stages -----------------------------------------------------------------------


def test_there_is_a_hook_for_every_shelf_and_one_for_observers() -> None:
    assert sorted(HOOKS) == sorted(
        [*(f"register_{k.kind_name}" for k in KINDS), "register_commands", "search_finished"]
    )


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_documented(name: str) -> None:
    assert (getattr(hookspecs, name).__doc__ or "").strip().endswith(".")
    for page in (PROJECT / "CONTRIBUTING.md", PROJECT / "docs" / "plugins.md"):
        if page.exists():
            assert name in page.read_text(encoding="utf-8"), f"{page.name} does not speak of it"


def modules_of(packages: Collection[str]) -> Iterator[ModuleType]:
    for package in packages:
        folders = importlib.import_module(package).__path__
        for found in pkgutil.walk_packages(folders, f"{package}."):
            yield importlib.import_module(found.name)


def test_no_module_with_models_postpones_its_annotations() -> None:
    """Pydantic would compile and evaluate each of them again, at every start."""
    models = {
        module.__name__: vars(module).get("annotations") is annotations
        for module in modules_of({*PACKAGES, "fumishirube.tools"})
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
    }
    assert models["fumishirube_manual.tools.find_answers"] is False
    assert [name for name, postponed in models.items() if postponed] == []


def test_every_hook_that_offers_built_ins_offers_all_of_them() -> None:
    """A stage class in the package that no hook offers would be dead code."""
    offered = {offer.stage for _, offer in offers()}
    written = {
        value
        for module in modules_of(PACKAGES)
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Stage) and value is not Stage
    }
    assert written == offered


@pytest.mark.parametrize("offer", stages())
def test_a_stage_is_named_documented_and_has_defaults(offer: RegisteredStage) -> None:
    assert NAME.fullmatch(offer.name)
    assert (vars(offer.stage).get("__doc__") or "").strip().endswith(".")
    for name, field in offer.stage.model_fields.items():
        assert not field.is_required(), f"{name} has no default"


@pytest.mark.parametrize("offer", stages())
def test_a_stage_survives_json(offer: RegisteredStage) -> None:
    stage = offer.stage()
    again = offer.stage.model_validate_json(stage.model_dump_json())
    assert again == stage
    assert again.fingerprint == stage.fingerprint


@pytest.mark.parametrize("offer", stages())
def test_a_stage_is_one_file_named_after_it(offer: RegisteredStage) -> None:
    package, _, module = offer.stage.__module__.rpartition(".")
    own = f"fumishirube_{offer.name}"
    name = offer.name.replace("-", "_")
    assert module == name or (package, module) == (own, "surface")


@pytest.mark.parametrize("kind", [kind.kind_name for kind in KINDS])
def test_the_folder_of_a_kind_has_no_files_but_its_stages(kind: str) -> None:
    folder = PROJECT / "plugins" / "fumishirube_stages" / kind
    stages = {offer.stage.__module__.rpartition(".")[2] for _, offer in offers()}
    assert {file.stem for file in folder.glob("[!_]*.py")} <= stages


def test_a_variable_means_one_thing() -> None:
    """Two settings that share a variable share its default too, as far as both know its values."""
    defaults: dict[str, set[str]] = {}
    partial: list[tuple[str, FieldInfo]] = []
    models: list[type[BaseModel]] = [Config, *(offer.stage for _, offer in offers())]
    for model in models:
        for variable, _, field in variables(model):
            if Env(variable, shared=True) in field.metadata:
                partial.append((variable, field))
            else:
                defaults.setdefault(variable, set()).add(repr(field.get_default()))
    assert defaults
    assert {name: values for name, values in defaults.items() if len(values) > 1} == {}
    for variable, field in partial:
        (whole,) = defaults[variable]
        assert field.get_default() == tuple(
            n for n in ast.literal_eval(whole) if n in choices(field)
        )


def test_variables_are_named_in_capitals() -> None:
    for _, offer in offers():
        for variable, _, _ in variables(offer.stage):
            assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+", variable), variable


# --- what others rely on --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["main-job", "tests"])
def test_the_readme_has_the_blocks_that_ci_runs(name: str) -> None:
    commands = readme_blocks.block(readme_blocks.README.read_text(encoding="utf-8"), name)
    assert "venv" in commands
    assert f"readme {name}" in (PROJECT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "<!-- tests -->\n", "<!-- tests -->\n```bash\na\n```\n" * 2])
def test_a_block_that_is_not_there_once_is_an_error(text: str) -> None:
    with pytest.raises(LookupError):
        readme_blocks.block(text, "tests")


def test_a_block_is_taken_verbatim() -> None:
    text = "# x\n<!-- other -->\n```bash\nb\n```\n<!-- tests -->\n```bash\na 'b' \\\n  c\n```\n"
    assert readme_blocks.block(text, "tests") == "a 'b' \\\n  c\n"


def test_every_dependency_has_a_lower_bound() -> None:
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    assert "pluggy==1.5" in lowest.lowest(text)
    with pytest.raises(ValueError, match="pluggy"):
        lowest.lowest(text.replace('"pluggy>=1.5"', '"pluggy"'))


# --- what the repository says ---------------------------------------------------------------

# Spelt so that this file does not hold what it looks for.
_FOREIGN = re.compile(
    "/" + r"work/|\b" + "seed" + r"s/|\b" + "issue" + r" #?\d|MEA" + r"SURED\.md|DES" + r"IGN\.md"
)
_UNREAD = {".png", ".ico", ".svg", ".woff2"}


def _tracked() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout")
    names = [PROJECT / name for name in done.stdout.decode().split("\0") if name]
    return [file for file in names if file.is_file() and file.suffix not in _UNREAD]


def test_the_files_speak_of_the_project_only() -> None:
    """A reader has the repository and nothing else: no workplace, no ticket, no private paper."""
    found = [
        f"{called(file)}:{number}: {line.strip()[:80]}"
        for file in _tracked()
        if file.name != "CHANGELOG.md"
        for number, line in enumerate(_text(file).splitlines(), start=1)
        if _FOREIGN.search(line)
    ]
    assert not found, "\n".join(found)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def test_texts_end_with_one_line_end_and_hold_no_carriage_returns() -> None:
    for file in _tracked():
        if file.suffix in {".py", ".md", ".toml", ".ini", ".yaml"} and "manuals" not in file.parts:
            text = _text(file)
            assert "\r" not in text, called(file)
            assert not text or (text.endswith("\n") and not text.endswith("\n\n")), called(file)


def test_the_skill_in_the_plugin_for_clients_is_the_skill() -> None:
    copy = PROJECT / "packaging" / "clients" / "fumishirube" / "skills" / "fumishirube" / "SKILL.md"
    skill = (PROJECT / "skills" / "fumishirube" / "SKILL.md").read_text(encoding="utf-8")
    assert copy.read_text(encoding="utf-8") == skill, "run python packaging/client_plugin.py"


def test_every_decision_has_a_number_of_its_own() -> None:
    pages = sorted((PROJECT / "docs" / "decisions").glob("[0-9]*.md"))
    numbers = [page.name[:4] for page in pages]
    assert len({*numbers}) == len(numbers)
    for page in pages:
        assert page.read_text(encoding="utf-8").startswith(f"# {int(page.name[:4])}. "), page.name
