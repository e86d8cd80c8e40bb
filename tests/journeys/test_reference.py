"""The reference is what ``docs/generate.py`` writes, and leaves nothing out."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from contextlib import closing
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from fumishirube.faces.cli.config import all_variables
from fumishirube.host.startup import open_application
from fumishirube.optional_attributes import optional_attributes
from fumishirube.plugins.discovery import load_plugins
from fumishirube.plugins.registry import StageRegistry

DOCS = Path(__file__).parents[2] / "docs"
CORE = DOCS.parent / "core"


@cache
def generator() -> Any:
    spec = spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


@cache
def pages() -> dict[str, str]:
    made: dict[str, str] = generator().pages()
    return made


def test_what_is_optional_is_read_at_its_place_alone() -> None:
    names = "|".join(each.name for each in optional_attributes())
    elsewhere = re.compile(rf"""(?:get|has)attr\([^()]*,\s*"(?:{names})\"""")
    found = [file.name for file in CORE.rglob("*.py") if elsewhere.search(file.read_text("utf-8"))]
    assert not found, "import it from optional_attributes"


@cache
def registry() -> StageRegistry:
    return load_plugins(strangers=False).registry


def test_the_reference_is_as_the_code_is() -> None:
    written = {file.name: file.read_text("utf-8") for file in (DOCS / "reference").iterdir()}
    outdated = {name for name in {*written, *pages()} if written.get(name) != pages().get(name)}
    assert not outdated, "run: python docs/generate.py"


def test_every_setting_of_every_stage_is_there() -> None:
    for kind, offer in registry().offers():
        page = pages()[f"{kind.kind_name}.md"]
        _, found, rest = page.partition(f"### `{offer.name}`\n")
        assert found, offer
        section = rest.partition("\n### ")[0]
        for name, info in offer.stage.model_fields.items():
            assert f"| `{info.alias or name}` |" in section, (offer.name, name)


def test_the_pipeline_of_manuals_has_the_loaders_that_are_in_force(tmp_path: Path) -> None:
    section = pages()["surfaces.md"].partition("### `manual`\n")[2]
    shown = json.loads(section.partition("```json\n")[2].partition("\n```")[0])
    (tmp_path / "manuals").mkdir()
    with closing(open_application(tmp_path, strangers=False, environ={})) as application:
        (manual,) = [one for one in application.surfaces if one.name == "manual"]
    used = [one.name for one in manual.stages["loaders"]]
    assert [use["use"] for use in shown["loaders"]] == used


def test_every_verb_of_every_kind_is_there() -> None:
    for kind in registry().values():
        page = pages()[f"{kind.kind.kind_name}.md"]
        assert f"`register_{kind.kind.kind_name}`" in page
        for verb in kind.kind.verbs:
            assert f"def {verb}(" in page


def test_every_variable_is_there() -> None:
    for row in all_variables(registry()):
        assert f"| `{row.name}` | {row.takes} |" in pages()["environment.md"].replace("\\|", "|")


def test_every_public_name_is_on_one_page() -> None:
    api = {name: text for name, text in pages().items() if name.startswith("api-")}
    headings = [
        name for text in api.values() for name in re.findall(r"^## `(\w+)`$", text, re.MULTILINE)
    ]
    parts = ("text", "disk", "tools", "parsing", "agreed_names", "commands", "serving", "testing")
    modules = ("fumishirube", *(f"fumishirube.{part}" for part in parts))
    public = {name for module in modules for name in importlib.import_module(module).__all__}
    assert sorted(headings) == sorted(public)


def test_every_public_function_has_an_example() -> None:
    api = "\n".join(text for name, text in pages().items() if name.startswith("api-"))
    for module in map(
        importlib.import_module, ("fumishirube", "fumishirube.text", "fumishirube.disk")
    ):
        for name in module.__all__:
            value = inspect.unwrap(getattr(module, name))
            if inspect.isfunction(value):
                section = api.partition(f"## `{name}`\n")[2].partition("\n## ")[0]
                assert section.count("```python") == 2, f"{module.__name__}.{name}"


def test_how_to_make_change_and_use_public_objects_is_there() -> None:
    assert "| field of a named tuple | type | default |" in section("api-corpus", "## `Document`")
    assert "| `searched` | `str \\| None` | `None` |" in section("api-corpus", "## `Section`")
    assert "| field of a dataclass | type | default |" in section("api-stages", "## `Query`")
    assert "* `async run(" in section("api-serving", "## `Scheduler`")
    assert "| `trace` | `Trace` |" in section("api-tools", "### `SearchResult`")
    assert "class HasDiagnostics(Protocol)" in pages()["surfaces.md"]


def test_all_that_a_method_says_is_there_and_what_its_class_inherits() -> None:
    corpus = section("api-corpus", "## `Corpus`")
    assert "  Sections without a body are counted here and in ``frequencies``" in corpus
    assert "ConfigError: when the address" in section("api-serving", "## `WebServer`")
    assert "It derives from `ToolHost`." in section("api-commands", "## `Application`")


def section(page: str, heading: str) -> str:
    """Return what follows a heading of a page, up to the next one."""
    return pages()[f"{page}.md"].partition(f"{heading}\n")[2].partition("\n##")[0]


def test_a_public_name_says_what_it_means() -> None:
    for name, text in pages().items():
        if name.startswith("api-"):
            for section in text.split("\n## ")[1:]:
                assert len(section.split("\n\n")) > 2, section


def test_every_tool_of_the_built_ins_is_there() -> None:
    headings = re.findall(r"^## `(\w+)`$", pages()["tools.md"], re.MULTILINE)
    assert {"manual_find", "vault_undo", "resolve_reference", "ubp_search"} <= {*headings}
    assert len(headings) == len({*headings})


@pytest.mark.parametrize("name", sorted(page.name for page in (DOCS / "reference").iterdir()))
def test_a_page_has_no_hole_and_no_foreign_path(name: str) -> None:
    text = pages()[name]
    if not name.startswith("api-"):  # signatures may say None
        assert "None" not in text.replace("None]", "").replace("| None", "").replace("-> None", "")
    assert str(DOCS.parent) not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
