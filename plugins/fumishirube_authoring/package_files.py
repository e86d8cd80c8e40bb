"""The package that ``fumishirube new-plugin`` writes, made of ``templates``."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from string import Template

from fumishirube import InvalidParameter
from fumishirube.disk import clean_new_path
from fumishirube.serving import GROUP, KINDS, Plugins, StageKind

LONGEST = 32
"""The longest name, in characters, so that the lines of the package stay short."""

KEYWORD = "fumishirube-plugin"
"""The keyword by which a plugin is found on a package index."""

_KINDS = {kind.noun: kind for kind in KINDS}
_STAGES = {**_KINDS, "detector": _KINDS["scorer"]}
"""The kind of the stage that a package of each kind has; those of the others have none."""
NOUNS = (*_STAGES, "command", "observer")
"""What a package may offer."""

_PACKAGE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_CONFORM = {"loader": " --files tests/manual"}
_FURTHER = {
    "loader": {"tests/manual/rules.adoc": "loader.sample"},
    "surface": {"src/{module}/command.py": "surface.command"},
    "command": {"src/{module}/command.py": "command.command"},
}
"""Further files of a kind: their paths, and their templates."""


def package_files(name: str, noun: str, plugins: Plugins) -> Mapping[str, str]:
    """Return the files of a package by path: one stage, command or observer, named after it.

    Raises:
        InvalidParameter: when the package, its module or its stage cannot have that name.
        Forbidden: when some operating system takes it for something else than a folder.
    """
    names = _names(name, noun, plugins)
    if noun in {"surface", "command"} and names["stage"] in plugins.commands.taken:
        taken = f"there is a command {names['stage']!r}"
        raise InvalidParameter(f"NAME {name!r}: {taken}; choose another")
    texts = {
        f"src/{names['module']}/__init__.py": f"{noun}.py",
        f"tests/test_{names['module']}.py": f"{noun}.test",
        "README.md": "README.md",
        "pyproject.toml": "pyproject.toml",
        "tox.ini": "tox.ini",
    }
    for path, text in _FURTHER.get(noun, {}).items():
        texts[path.format_map(names)] = text
    made = {path: _filled(text, names) for path, text in texts.items()}
    made[f"src/{names['module']}/py.typed"] = ""
    return made


def _names(name: str, noun: str, plugins: Plugins) -> Mapping[str, str]:
    if not _PACKAGE.fullmatch(name) or len(name) > LONGEST:
        expectation = (
            f"letters and digits, with - _ . between them, at most {LONGEST} characters, "
            "such as fumishirube-recent"
        )
        raise InvalidParameter(f"NAME {name[:60]!r} is no name of a package: {expectation}")
    clean_new_path(name, "NAME")
    plain = re.sub(r"[-_.]+", "-", name).lower()
    module, stage = plain.replace("-", "_"), plain.removeprefix("fumishirube-")
    kind = _STAGES.get(noun)
    wrong = _wrong(module, stage, kind or _STAGES["surface"], plugins)
    if wrong:
        raise InvalidParameter(f"NAME {name!r}: {wrong}; choose another")
    names = {
        "name": name,
        "module": module,
        "stage": stage,
        "tool": stage.replace("-", "_"),
        "kind": noun,
        "group": GROUP,
        "pin": _pin(version("fumishirube")),
        "keyword": KEYWORD,
        "conform": "",
        "checked": "",
        "usage": f"{noun}.usage",
    }
    if kind is not None:
        conform = f"fumishirube conform {name}{_CONFORM.get(noun, '')}\n"
        names |= {
            "class": _class(stage, noun),
            "kinds": kind.kind_name,
            "contract": f"{kind.noun.capitalize()}Contract",
            "conform": f"    {conform}",
            "checked": f"$ {conform}",
            "usage": "stage.usage",
        }
        names["yaml"] = _filled(f"{noun}.yaml", names)
    return {**names, "usage": _filled(names["usage"], names)}


def _wrong(module: str, stage: str, kind: StageKind, plugins: Plugins) -> str:
    """Return why the module or the stage cannot have this name, if so."""
    if module in sys.stdlib_module_names:
        return f"Python has a module {module!r}"
    if not module.isidentifier() or keyword.iskeyword(module):
        return f"a module cannot be called {module!r}"
    spec = find_spec(module)
    # Without an origin it is a namespace: any folder of the current directory.
    if spec is not None and spec.origin is not None:
        return f"a module {module!r} is installed already"
    return plugins.registry[kind.kind_name].refusal(stage)


def _class(stage: str, noun: str) -> str:
    """Return a class name that neither Python nor the template uses."""
    name = "".join(part.capitalize() for part in stage.split("-"))
    texts = [_text(f"{noun}.{what}") for what in ("py", "test")]
    while keyword.iskeyword(name) or name.startswith("Test") or _occurs(name, texts):
        name = f"A{name}" if name.startswith("Test") else f"{name}{noun.capitalize()}"
    return name


def _occurs(name: str, texts: list[str]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for text in texts)


def _pin(running: str) -> str:
    """Return the requirement on this package: its minor version."""
    major, minor = running.split(".")[:2]
    return f">={major}.{minor},<{major}.{int(minor) + 1}"


def _filled(text: str, names: Mapping[str, str]) -> str:
    return Template(_text(text)).substitute(names)


def _text(name: str) -> str:
    return (files(__package__) / "templates" / f"{name}.txt").read_text(encoding="utf-8")
