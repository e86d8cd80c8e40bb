"""Settings of a plugin's stage: their defaults, and the variables that decide them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manuals import RULES, Done, fumishirube, write
from strangers import stranger

PLUGIN = """
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, SecretStr

from fumishirube import Env, Stage, hook

class Deep(BaseModel):
    c: Annotated[int, Env("OWN_DEEP")] = 1
    d: int = 1

class Inner(BaseModel):
    a: int
    b: Annotated[str, Env("OWN_INNER")] = "x"
    deep: Deep = Deep(d=6)

class Login(BaseModel):
    password: Annotated[SecretStr, Field(min_length=30)] = SecretStr("-" * 30)

class Own(Stage):
    inner: Inner = Inner(a=5, b="mine", deep=Deep(d=7))
    made: Annotated[Inner, Field(default_factory=lambda: Inner(a=8))]
    key: Annotated[SecretStr | None, Field(min_length=30), Env("OWN_KEY")] = None
    keys: Annotated[tuple[SecretStr, ...], Field(min_length=9), Env("OWN_KEYS")] = ()
    login: Login = Login()
    level: Annotated[Literal[1, 2], Env("OWN_LEVEL")] = 1
    mode: Annotated[Literal["a", 3] | None, Env("OWN_MODE")] = None
    names: Annotated[list[str], Env("OWN_NAMES")] = []
    pages: Annotated[set[int] | None, Env("OWN_PAGES")] = None
    kinds: Annotated[frozenset[Literal["a", "b"]], Env("OWN_KINDS")] = frozenset()
    usual: tuple[str, ...] = ("a",)
    usual_more: int = 1
    flag: Annotated[bool | None, Env("OWN_FLAG")] = None
    size: Annotated[int, BeforeValidator(lambda given: int(str(given), 0)), Env("OWN_SIZE")] = 1
    ratio: Annotated[float, Field(alias="share"), Env("OWN_SHARE")] = 0.5

    def refine(self, query, ranking, corpus):
        return ranking

class Lost(Stage):
    root: ClassVar = "nowhere"
    pipeline: ClassVar = {}
    size: int = 1

    def tools(self, context):
        return []

@hook
def register_refiners(register):
    register("own", Own)

@hook
def register_surfaces(register):
    register("lost", Lost)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    stranger(tmp_path / "plugins", "owner", PLUGIN)
    return write(tmp_path / "work", {"m/a.md": RULES})


def show(workspace: Path, use: str = "own", **environ: str) -> Done:
    """Show the configuration with one refiner, as it would be written in a file."""
    text = f"pipelines: {{manual: {{refiners: [{use}]}}}}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")
    path = str(workspace.parent / "plugins")
    words = ("config", "show", "--json")
    return fumishirube(*words, cwd=workspace, environ={"PYTHONPATH": path, **environ})


def settings(workspace: Path, use: str = "own", **environ: str) -> dict[str, Any]:
    done = show(workspace, use, **environ)
    assert done.code == 0, done.err
    values: dict[str, Any] = done.json["config"]["pipelines"]["manual"]["refiners"][0]["with"]
    return values


def refusal(workspace: Path, use: str = "own", **environ: str) -> str:
    done = show(workspace, use, **environ)
    assert done.code == 2
    message: str = done.json["message"]
    return message


INNER = {"a": 5, "b": "mine", "deep": {"c": 1, "d": 7}}
MADE = {"a": 8, "b": "x", "deep": {"c": 1, "d": 6}}


def test_settings_within_settings_have_the_default_of_the_whole(workspace: Path) -> None:
    for use in ("own", "{use: own, with: {inner: }}"):
        told = settings(workspace, use)
        assert (told["inner"], told["made"]) == (INNER, MADE)
    told = settings(workspace, "{use: own, with: {inner: {a: 3}}}")
    assert (told["inner"], told["made"]) == ({"a": 3, "b": "x", "deep": {"c": 1, "d": 6}}, MADE)


def test_a_variable_changes_one_value_of_a_default_within(workspace: Path) -> None:
    told = settings(workspace, OWN_INNER="said")
    assert (told["inner"], told["made"]) == (INNER | {"b": "said"}, MADE | {"b": "said"})
    told = settings(workspace, OWN_DEEP="2")
    assert told["inner"] == INNER | {"deep": {"c": 2, "d": 7}}
    assert told["made"] == MADE | {"deep": {"c": 2, "d": 6}}
    told = settings(workspace, "{use: own, with: {inner: {a: 3}}}", OWN_DEEP="2")
    assert told["inner"] == {"a": 3, "b": "x", "deep": {"c": 2, "d": 6}}


@pytest.mark.parametrize("value", ["false", "0", "''", "[]"])
def test_what_is_no_settings_is_refused_where_settings_are_expected(
    workspace: Path, value: str
) -> None:
    said = refusal(workspace, f"{{use: own, with: {{inner: {value}}}}}")
    assert said.startswith("pipelines.manual.refiners[0].with.inner: must be an object")


@pytest.mark.parametrize("name", ["OWN_KEY", "OWN_KEYS"])
def test_an_unusable_secret_in_a_variable_is_not_shown(workspace: Path, name: str) -> None:
    said = refusal(workspace, **{name: "hunter2secret"})
    assert said.startswith(f"{name}: expected ")
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ("key: hunter2secret", "key"),
        ("login: {password: hunter2secret}", "login.password"),
        ("keys: [[hunter2secret]]", "keys[0]"),
    ],
)
def test_an_unusable_secret_in_the_file_is_not_shown(
    workspace: Path, settings: str, where: str
) -> None:
    said = refusal(workspace, f"{{use: own, with: {{{settings}}}}}")
    assert said.startswith(f"pipelines.manual.refiners[0].with.{where}: ")
    assert "hunter2" not in said


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("name", "text", "setting", "value"),
    [
        ("OWN_LEVEL", "2", "level", 2),
        ("OWN_MODE", "3", "mode", 3),
        ("OWN_MODE", "a", "mode", "a"),
        ("OWN_NAMES", "x, y", "names", ["x", "y"]),
        ("OWN_NAMES", "x", "names", ["x"]),
        ("OWN_PAGES", "1,2", "pages", [1, 2]),
        ("OWN_KINDS", "b", "kinds", ["b"]),
        ("OWN_FLAG", "yes", "flag", True),
        ("OWN_SIZE", "0x10", "size", 16),
        ("OWN_SHARE", "0.7", "share", 0.7),
    ],
)
def test_a_variable_is_read_as_the_setting_it_decides(
    workspace: Path, name: str, text: str, setting: str, value: object
) -> None:
    default = settings(workspace)
    done = show(workspace, **{name: text})
    assert done.code == 0, done.out
    told = done.json["config"]["pipelines"]["manual"]["refiners"][0]["with"]
    assert told == {**default, setting: value}
    assert set(done.json["from_environment"].values()) == {name}
    where = f"pipelines.manual.refiners[0].with.{setting}"
    origins = [said for at, said in done.json["origins"].items() if at.startswith(where)]
    assert set(origins) == {name}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("OWN_LEVEL", "3", "1 or 2"),
        ("OWN_PAGES", "1,x", "values between commas, or none"),
        ("OWN_KINDS", "c", "none, or any of a, b"),
        ("OWN_SHARE", "x", "number"),
    ],
)
def test_an_unusable_variable_says_what_it_takes(
    workspace: Path, name: str, text: str, expected: str
) -> None:
    assert refusal(workspace, **{name: text}) == f'{name}: expected {expected}, got "{text}"'


def test_a_surface_that_is_left_out_takes_no_origin_of_the_next(workspace: Path) -> None:
    path = {"PYTHONPATH": str(workspace.parent / "plugins")}
    text = (
        "surfaces:\n- use: lost\n  with: {size: 3}\n- use: manual\n  with: {scan_max_chars: 9000}\n"
    )
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")
    told = fumishirube("config", "show", "--json", cwd=workspace, environ=path)
    origins = {at: said for at, said in told.json["origins"].items() if at.startswith("surfaces")}
    assert {at: said for at, said in origins.items() if said != "default"} == {
        "surfaces[0].use": "fumishirube.yaml line 4",
        "surfaces[0].with.scan_max_chars": "fumishirube.yaml line 5",
    }


def test_a_difference_has_no_origin_of_a_setting_whose_name_goes_on(workspace: Path) -> None:
    path = {"PYTHONPATH": str(workspace.parent / "plugins")}
    for name, more in (("one.yaml", ""), ("other.yaml", "usual: [b], ")):
        use = f"{{use: own, with: {{{more}usual_more: 5}}}}"
        (workspace / name).write_text(f"pipelines: {{manual: {{refiners: [{use}]}}}}\n")
    words = ("config", "diff", "one.yaml", "other.yaml", "--json")
    done = fumishirube(*words, cwd=workspace, environ=path)
    (difference,) = done.json
    assert difference["coordinate"] == "pipelines.manual.refiners[0].with.usual"
    assert (difference["a_from"], difference["b_from"]) == ("default", "other.yaml line 1")
