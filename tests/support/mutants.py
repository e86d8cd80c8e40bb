"""Changes the formulas of stages one small step at a time, and tells which changes no test sees.

``python tests/support/mutants.py [STAGE ...]`` takes each scorer, fuser and refiner, and what only
they use. Every mutant runs in a forked child against the stage's own tests, ``tests/stages``, and
has to die there. It ends with 1 when less than 95 % of them die.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import signal
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from time import monotonic
from types import CodeType, ModuleType
from typing import NamedTuple

os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "stages"
EQUIVALENTS = HERE / "equivalent_mutants.toml"

HELPERS = {
    "fumishirube.engine.rankings": "rrf",
    "fumishirube_stages.document_scores": "vector",
    "fumishirube_stages.fused_scores": "rrf",
    "fumishirube_stages.long_questions": "required_terms",
    "fumishirube_stages.picked_terms": "picked_terms",
    "fumishirube_stages.scorers.lexical_search.candidates": "candidates",
    "fumishirube_stages.scorers.lexical_search.query_analysis": "lexical",
    "fumishirube_stages.scorers.lexical_search.search_scores": "lexical",
    "fumishirube_stages.scorers.pattern_search.line_patterns": "regex",
    "fumishirube_stages.scorers.pattern_search.patterns": "regex",
    "fumishirube_stages.text_hits": "plain",
}
"""What stages share, and whose tests it has to fail."""

PLUGIN = HERE.parents[1] / "plugins" / "fumishirube_stages"
STAGES = {
    kind: sorted(file.stem for file in (PLUGIN / kind).glob("[!_]*.py"))
    for kind in ("scorers", "fusers", "refiners")
}
"""The modules under test, each with a test module of its name, or several that begin with it."""

GOAL = 0.95
MEMORY = 2 * 1024**3
CPU_SECONDS, WALL_SECONDS = 10, 120
NO_TESTS = 5
_PARTS_OF_A_SUM = (ast.Add, ast.Sub, ast.Mult, ast.Div)

_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CALCULATED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor"}


class Mutant(NamedTuple):
    """A changed module: where, what was changed, and the code of it."""

    line: int
    change: str
    code: CodeType


class Survivor(NamedTuple):
    """A mutant that no test saw: its line, the text of it, and what was changed."""

    line: int
    source: str
    change: str


class Result(NamedTuple):
    """What became of the mutants of one module."""

    module: str
    total: int
    survivors: Sequence[Survivor]
    equivalents: int

    @property
    def killed(self) -> int:
        """How many died."""
        return self.total - self.equivalents - len(self.survivors)


# --- what is changed ------------------------------------------------------------------------


def mutants_of(source: str, name: str) -> Iterator[Mutant]:
    """Yield every mutant of a module's source that is not the module itself."""
    tree = ast.parse(source)
    original = ast.dump(tree)
    for holder, field, place, node in list(_nodes(tree)):
        for change, new in _changes(node):
            _put(holder, field, place, ast.copy_location(new, node))
            ast.fix_missing_locations(tree)
            if ast.dump(tree) != original:
                text = f"{change}: {_short(node)} -> {_short(new)}"
                yield Mutant(_line(node), text, compile(tree, name, "exec"))
            _put(holder, field, place, node)


def _line(node: ast.AST) -> int:
    placed = node.target if isinstance(node, ast.comprehension) else node
    return placed.lineno if isinstance(placed, ast.expr | ast.stmt) else 0


def _put(holder: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[place] = node


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Yield every statement and expression with its place; types and decorators are left alone."""
    for field, value in ast.iter_fields(tree):
        if field in {"annotation", "returns", "decorator_list", "bases"}:
            continue
        members = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, node in members:
            if isinstance(node, ast.Import | ast.ImportFrom) or not isinstance(node, ast.AST):
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            if isinstance(node, ast.expr | ast.stmt | ast.comprehension):
                yield tree, field, place, node
            yield from _nodes(node)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.stmt):
        yield from _changed_statements(node)
    elif isinstance(node, ast.Constant | ast.UnaryOp | ast.BinOp):
        yield from _changed_calculations(node)
    elif isinstance(node, ast.Call):
        yield from _changed_calls(node)
    else:
        yield from _changed_conditions(node)


def _changed_calculations(node: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Constant(bool() as value):
            yield "other", ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield "more", ast.Constant(value + 1)
            yield "less", ast.Constant(value - 1)
            if value:
                yield "sign", ast.Constant(-value)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield "sign", operand
        case ast.BinOp(left, operator, right):
            if type(operator) in _CALCULATED:
                yield "operator", ast.BinOp(left, _CALCULATED[type(operator)](), right)
            if isinstance(operator, _PARTS_OF_A_SUM):
                yield "dropped", left
                yield "dropped", right


def _changed_calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    match node.func:
        case ast.Name(name) if name in _CALLED:
            other: ast.expr = ast.Name(_CALLED[name], ast.Load())
            yield "bound", ast.Call(other, node.args, node.keywords)
        case ast.Attribute(value, name) if name in _CALLED:
            other = ast.Attribute(value, _CALLED[name], ast.Load())
            yield "bound", ast.Call(other, node.args, node.keywords)


def _changed_conditions(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.BoolOp(operator, values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "operator", ast.BoolOp(other, values)
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield "dropped", rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
        case ast.Compare(left, operators, comparators):
            for place, operator in enumerate(operators):
                swapped = [*operators]
                swapped[place] = _COMPARED[type(operator)]()
                yield "bound", ast.Compare(left, swapped, comparators)
        case ast.IfExp(test, body, orelse):
            yield "branch", ast.IfExp(test, orelse, body)
        case ast.Slice(lower, upper, step):
            if lower is not None:
                yield "bound", ast.Slice(None, upper, step)
            if upper is not None:
                yield "bound", ast.Slice(lower, None, step)
        case ast.comprehension(target, iterated, [_, *_], is_async):
            yield "condition", ast.comprehension(target, iterated, [], is_async)


def _changed_statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.FunctionDef(body=[first, *_]):
            early = ast.FunctionDef(**dict(ast.iter_fields(node)))
            early.body = [ast.copy_location(ast.Return(), first), *node.body]
            yield "early return", early
        case ast.Return(ast.expr() as value) if ast.unparse(value) != "None":
            yield "nothing", ast.Return()
        case ast.If(test, body, orelse):
            yield "branch", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Break():
            yield "loop", ast.Continue()
        case ast.Continue():
            yield "loop", ast.Break()
        case ast.Expr(ast.Constant(str())):
            return
        case ast.Expr() | ast.AugAssign() | ast.Raise():
            yield "removed", ast.Pass()
        case ast.Assign(targets=[ast.Subscript()]):
            yield "removed", ast.Pass()


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    text = ast.unparse(node)
    return " ".join(text.split("\n", maxsplit=1)[0].split())[:80]


# --- what becomes of it ---------------------------------------------------------------------


def probe(
    module: ModuleType, tests: Sequence[Path], excused: Mapping[tuple[str, str], str]
) -> Result:
    """Return what became of the mutants of a module.

    Raises:
        SystemExit: when its tests fail as it is, or an excuse excuses nothing.
    """
    path = Path(str(module.__file__))
    source = path.read_text(encoding="utf-8")
    if not tests:
        rows = [Survivor(0, path.name, "there are no tests of it")] * len(_all(source, path))
        return Result(module.__name__, len(rows), rows, 0)
    if _outcome(module, None, tests) != 0:
        raise SystemExit(f"{tests[0]}: these tests fail without a mutant")
    lines = source.splitlines()
    total, survivors, used = 0, [], set()
    for mutant in _all(source, path):
        total += 1
        if _outcome(module, mutant.code, tests) == 0:
            text = lines[mutant.line - 1].strip()
            used.add((text, mutant.change))
            survivors.append(Survivor(mutant.line, text, mutant.change))
    stale = excused.keys() - used
    if stale:
        raise SystemExit(f"{EQUIVALENTS.name}: {module.__name__}: these die, or are gone: {stale}")
    left = [row for row in survivors if (row.source, row.change) not in excused]
    return Result(module.__name__, total, left, len(survivors) - len(left))


def _all(source: str, path: Path) -> Sequence[Mutant]:
    return list(mutants_of(source, str(path)))


def _outcome(module: ModuleType, code: CodeType | None, tests: Sequence[Path]) -> int:
    """Run the tests in a child with the mutant in the module's place; 0 when nobody sees it."""
    child = os.fork()
    if not child:
        status = 1
        try:
            _limit()
            _silence()
            if code is not None:
                _install(module, code)
            status = _run(tests)
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == NO_TESTS:
        raise SystemExit(f"{tests[0]}: there is no test in it")
    return status


def _run(tests: Sequence[Path]) -> int:
    options = ("-x", "-q", "--tb=no", "--noconftest", "-p", "no:cacheprovider")
    return int(pytest.main([*options, "-c", os.devnull, f"--rootdir={TESTS}", *map(str, tests)]))


def _limit() -> None:
    """End a mutant that never ends, or takes all there is.

    What counts is its processor time, so that a busy machine kills nothing.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(WALL_SECONDS)


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)


def _install(module: ModuleType, code: CodeType) -> None:
    """Run a mutant in place of a module, and hand what it defines to all who imported that."""
    mutant = ModuleType(module.__name__)
    mutant.__file__, mutant.__package__ = module.__file__, module.__package__
    sys.modules[module.__name__] = mutant
    exec(code, vars(mutant))
    package, _, name = module.__name__.rpartition(".")
    setattr(sys.modules[package], name, mutant)
    for other in [*sys.modules.values()]:
        if other is mutant or not getattr(other, "__name__", "").startswith("fumishirube"):
            continue
        for member, value in vars(module).items():
            if not member.startswith("__") and vars(other).get(member) is value:
                setattr(other, member, vars(mutant).get(member))


# --- the table ------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """Probe the stages that are named, or all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", help="names of test modules; all without any")
    wanted = parser.parse_args(arguments).stages
    modules = {
        f"fumishirube_stages.{kind}.{name}": name
        for kind, names in STAGES.items()
        for name in names
    } | HELPERS
    unknown = set(wanted) - set(modules.values())
    if unknown:
        parser.error(f"there are no stages {', '.join(sorted(unknown))}")
    excuses = _excuses()
    loaded = {name: import_module(name) for name in modules}
    import_module("fumishirube.testing")
    results = []
    for name, stage in modules.items():
        if wanted and stage not in wanted:
            continue
        start = monotonic()
        tests = sorted({*TESTS.glob(f"test_{stage}.py"), *TESTS.glob(f"test_{stage}_*.py")})
        result = probe(loaded[name], tests, excuses.get(name, {}))
        results.append(result)
        _write_result(result, monotonic() - start)
    dead = sum(result.killed for result in results)
    mortal = sum(result.total - result.equivalents for result in results)
    _write(f"{dead} of {mortal} mutants die: {dead / mortal:.1%}")
    return 0 if dead >= GOAL * mortal else 1


def _excuses() -> dict[str, dict[tuple[str, str], str]]:
    """Return the mutants that mean the same as the original, by module, each with the reason."""
    excuses: dict[str, dict[tuple[str, str], str]] = {}
    for row in tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("mutant", []):
        known = excuses.setdefault(row["module"], {})
        known[row["source"], row["change"]] = row["reason"]
    return excuses


def _write_result(result: Result, seconds: float) -> None:
    _write(
        f"{result.module:<56} {result.total:4} mutants {result.killed:4} killed "
        f"{len(result.survivors):4} survive {result.equivalents:4} equivalent {seconds:6.1f} s"
    )
    for row in dict.fromkeys(result.survivors):
        _write(f"    {row.line:4}  {row.source}\n          {row.change}")


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
