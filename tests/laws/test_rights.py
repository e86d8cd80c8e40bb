"""What a person gets is what a server with only that person's files would answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from manuals import opened
from team import EVERYTHING, FILES, PEOPLE, Caller, Team, workspace
from torture import THOROUGH

from fumishirube import Forbidden, Root, ToolError
from fumishirube.config.personal import OwnManuals
from fumishirube.disk import FolderRights, WritableRoot
from fumishirube.host.application import Application
from fumishirube.host.people import PersonalTools
from fumishirube.tools.schemas import input_schema

NAMES = [
    "給付編",
    "事務編",
    "秘密編",
    "secret",
    "契約編",
    "nothing",
    "manuals",
    "*",
    "秘密",
    "給付編/秘密編",
]
PATHS = [
    *("01.md", "01.md", "03.md", "03.md", "sub/02.md", "table.json", "01.txt", "sub"),
    *("04.md", "05.md", "nope.md"),
    *("team", "team/plan.md", "team/deep/note.md", "aiko/daily.md", "boss", "boss/salary.md"),
    *("guide.md", "index.md", "../secret/05.md", "", "給付編/01.md", "秘密編/04.md"),
]
TEXTS = [
    *(
        "期限",
        "入院の期限",
        "極秘査定",
        "暗号名ペガサス",
        "Pegasus",
        "zebrafish password",
        "pegasas",
    ),
    *(
        "対象外になる場合",
        "手術と請求の違い",
        "査定基準は？",
        "例外",
        ".",
        "(?i)pegasus|期限",
        "Plan",
    ),
]
KNOWN: Mapping[str, list[Any]] = {
    "manual_id": NAMES,
    "manual_name": NAMES,
    "id": [*NAMES, "dir::給付編::c3Vi", "file::秘密編::MDQubWQ", "file::給付編::MDEubWQ", "1"],
    "path": PATHS,
    "filepath": PATHS,
    "path_prefix": PATHS,
    "query": TEXTS,
    "pattern": TEXTS,
    "text": TEXTS,
    "required_terms": [
        ["期限"],
        ["ペガサス"],
        ["Pegasus", "zebrafish"],
        ["入院", "期限"],
        ["きげん"],
        ["pegasas"],
        ["zebrafysh"],
        ["underwritin"],
        ["極秘査定", "暗号"],
    ],
    "time_ms": [60_000],
    "section_id": ["1", "2", "9"],
    "cite": ["manual://秘密編/04.md#L1-L2", "manual://給付編/01.md#L1-L2"],
}
"""Values of arguments, of which each person may use some."""
USUAL: Mapping[str, list[dict[str, Any]]] = {
    "manual_find": [
        {"manual_id": "", "query": "", "required_terms": ["期限"]},
        {"manual_id": "*", "query": "", "required_terms": [""]},
    ],
    "manual_grep": [
        {"manual_id": "", "any": ["期限", "Pegasus", "ペガサス"]},
        {"manual_id": "*", "any": ["期限", "Pegasus", "pegasas", "ペガサス"]},
        {"manual_id": ["給付編", "秘密編"], "any": [""]},
    ],
    "manual_batch": [
        {
            "calls": [
                {"tool": "manual_find", "arguments": {"manual_id": "*", "query": "期限"}},
                {"tool": "manual_grep", "arguments": {"manual_id": "", "any": ["期限"]}},
                {"tool": "manual_toc", "arguments": {"manual_id": ""}},
            ]
        }
    ],
    "manual_read": [{"ref": {"manual_id": "", "path": "", "start_line": 1}}],
    "manual_scan": [{"manual_id": "", "path": ""}],
    "manual_toc": [{"manual_id": ""}],
    "search_text": [{"manual_name": "契約編", "query": ""}],
    "get_section": [{"manual_name": "契約編", "section_id": "1"}],
    "vault_read": [{"path": "", "full": True}],
    "vault_scan": [{"path": ""}],
}
"""Arguments that chance puts together too rarely; empty texts stand for any."""
FINDS = 4
"""How much more often than other tools the one is called that makes traces."""
WRITING = ("vault_create", "vault_replace", "vault_undo")


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with Team(tmp_path_factory.mktemp("team")) as running:
        yield running


def _filled(chance: Random, person: str, tool: str) -> Any:
    """Fill the empty texts of usual arguments, mostly with one file that the person may read."""
    of = "vault" if tool.startswith("vault") else "manuals"
    mine = [path for path in FILES if path.startswith(of) and _readable(person, path)]
    root, _, path = chance.choice(mine or ["vault/none.md"]).partition("/")
    manual, _, inside = path.partition("/")
    use = {"manual_id": manual, "path": inside} if root == "manuals" else {"path": path}
    return _with(chance, chance.choice(USUAL[tool]), use if chance.random() < 0.8 else {}, "")


def _with(chance: Random, arguments: Any, use: Mapping[str, str], name: str) -> Any:
    if isinstance(arguments, dict):
        return {key: _with(chance, value, use, key) for key, value in arguments.items()}
    if isinstance(arguments, list):
        return [_with(chance, value, use, "query") for value in arguments]
    if arguments != "":
        return arguments
    return use.get(name) or chance.choice(KNOWN.get(name, TEXTS))


def _readable(person: str, path: str) -> bool:
    root, _, inside = path.partition("/")
    return PEOPLE[person].get(root, FolderRights()).readable(inside)


def _value(chance: Random, name: str, schema: Mapping[str, Any], top: Mapping[str, Any]) -> Any:
    if name in KNOWN:
        return chance.choice(KNOWN[name])
    if "$ref" in schema:
        schema = top["$defs"][schema["$ref"].rpartition("/")[2]]
    for arm in schema.get("anyOf", ()):
        return _value(chance, name, arm, top)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            return _arguments(chance, schema, top)
        case "array":
            return [_value(chance, "", schema.get("items", {}), top)]
        case "integer":
            least = schema.get("minimum", 0)
            return chance.randint(least, least + 20)
        case "boolean":
            return chance.random() < 0.5
    return chance.choice([*TEXTS, *NAMES, *PATHS])


def _arguments(chance: Random, schema: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    needed = schema.get("required", ())
    return {
        name: _value(chance, name, inner, top)
        for name, inner in schema.get("properties", {}).items()
        if name in needed or chance.random() < 0.25
    }


class Comparison(NamedTuple):
    """A call, what it is answered among all people, and by a server of this person alone."""

    call: Any
    together: Any
    alone: Any


def _read(chance: Random, together: Caller, alone: Caller) -> Comparison:
    scheme, name = chance.choice(["manual", "trace"]), chance.choice(NAMES)
    uri = f"{scheme}://{name}/{chance.choice(PATHS)}"
    return Comparison(uri, *([it.read(uri), it.stamped(uri)] for it in (together, alone)))


def _question(chance: Random, together: Caller, alone: Caller) -> Comparison:
    name = chance.choice(["manual_find", "manual_grep"])
    use = chance.choice([{}, {"manual_id": ""}, {"manual_id": chance.choice(NAMES)}])
    return Comparison((name, use), together.question(name, use), alone.question(name, use))


def _prompt(chance: Random, together: Caller, alone: Caller) -> Comparison:
    name = chance.choice(sorted(together.prompts))
    use = {"manual": chance.choice(NAMES), "topic": chance.choice(TEXTS)}
    typed = chance.choice(["", "秘", "s", "給", "nothing"])
    arguments = (name, use, "manual", typed)
    return Comparison(arguments, together.prompt(*arguments), alone.prompt(*arguments))


def _complete(chance: Random, together: Caller, alone: Caller) -> Comparison:
    typed, name = chance.choice(["", "秘", "s", "給", "04", "0"]), chance.choice(NAMES)
    place = chance.choice(["manual", "path"])
    return Comparison(
        (place, typed, name), *(it.completed(place, typed, name) for it in (together, alone))
    )


def _tool(chance: Random, team: Team, person: str) -> Comparison:
    together, alone = team.people[person], team.alone[person]
    names = sorted(set(together.tools) - set(WRITING))
    finding = ["manual_find"] * (FINDS if "manual_find" in names else 0)
    name = chance.choice([*names, *finding])
    schema = input_schema(together.tools[name])
    mine = _arguments(chance, schema, schema)
    if name in USUAL and chance.random() < 0.8:
        mine = _filled(chance, person, name)
    mine.pop("cursor", None)
    own = dict(mine)
    if "trace_id" in mine and together.traces and chance.random() < 0.7:
        place = chance.randrange(len(together.traces))
        mine["trace_id"], own["trace_id"] = together.traces[place], alone.traces[place]
    elif "trace_id" in mine:
        others = [trace for other in team.people.values() for trace in other.traces]
        strange = [trace for trace in others if trace not in together.traces]
        mine["trace_id"] = own["trace_id"] = chance.choice([*strange[-3:], "0" * 32])
    return Comparison((name, mine), together.tool(name, mine), alone.tool(name, own))


def _compared(chance: Random, team: Team, person: str) -> Comparison:
    """Make the same call for a person in the team and alone."""
    together, alone = team.people[person], team.alone[person]
    match chance.randrange(16):
        case 0:
            return _read(chance, together, alone)
        case 1:
            return _complete(chance, together, alone)
        case 2:
            return _question(chance, together, alone)
        case 3:
            return _prompt(chance, together, alone)
        case _:
            return _tool(chance, team, person)


@pytest.mark.property
@pytest.mark.timeout(600)
def test_answers_are_those_of_a_server_with_only_these_files(team: Team) -> None:
    chance, refused = Random(20), 0
    calls = 10_000 if THOROUGH else 500
    for _ in range(calls):
        person = chance.choice(sorted(PEOPLE))
        compared = _compared(chance, team, person)
        assert compared.together == compared.alone, (person, compared.call)
        assert "internal_error" not in str(compared.together), compared.call
        refused += isinstance(compared.together, dict) and "code" in compared.together
    assert refused < calls / 2, "most calls were refused, and so tell little"
    assert sum(len(caller.traces) for caller in team.people.values()) > calls / 50


def test_lists_are_those_of_a_server_with_only_these_files(team: Team) -> None:
    for person, caller in team.people.items():
        assert caller.listed() == team.alone[person].listed()
    assert ["給付編"] in team.people["aiko"].completed("manual", "", "")
    assert ["01.md"] in team.people["aiko"].completed("path", "01", "給付編")
    assert team.people["aiko"].completed("path", "0", "秘密編")["code"] == "not_found"
    assert "ubp_search" not in team.people["aiko"].tools
    assert "vault_create" not in team.people["ben"].tools
    assert "vault_create" in team.people["aiko"].tools


@pytest.fixture
def vault(tmp_path: Path) -> Root:
    for path in ("team/plan.md", "team/deep/note.md", "aiko/a.md", "boss/b.md", "top.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    to = FolderRights(frozenset({"team/deep"}), frozenset({"aiko"}))
    return Root(tmp_path, rights=to)


def test_a_root_shows_what_may_be_read_and_the_way_there(vault: Root) -> None:
    assert [entry.path for entry in vault.entries()] == ["aiko", "team"]
    assert [entry.path for entry in vault.entries("team")] == ["team/deep"]
    survey = vault.survey()
    assert [entry.path for entry in survey.files] == ["aiko/a.md", "team/deep/note.md"]
    assert survey.folders == ["aiko", "team", "team/deep"]
    assert [entry.path for entry in vault.child("team").survey().files] == ["deep/note.md"]
    assert vault.child("team").child("deep").read_bytes("note.md")


@pytest.mark.parametrize("path", ["team/plan.md", "boss/b.md", "boss", "top.md", "boss/../top.md"])
def test_what_is_hidden_is_missing_like_what_is_not_there(vault: Root, path: str) -> None:
    missing = path.replace("b", "c").replace("p", "q")
    for use in (vault.stat, vault.read_bytes, vault.entries, vault.survey, vault.child):
        with pytest.raises(ToolError) as hidden:
            use(path)
        with pytest.raises(ToolError) as absent:
            use(missing)
        assert hidden.value.code == absent.value.code
        assert str(hidden.value) == str(absent.value)


def test_links_lead_to_nothing_hidden(vault: Root) -> None:
    (vault.path / "aiko" / "way").symlink_to(vault.path / "boss")
    (vault.path / "aiko" / "home").symlink_to(vault.path / "team" / "deep")
    with pytest.raises(Forbidden):
        vault.followed("aiko/way", [vault.path])
    assert vault.followed("aiko/home", [vault.path])[1] == "team/deep"


def test_nothing_is_written_without_the_right(vault: Root) -> None:
    writable = WritableRoot(vault, ".locks")
    before = sorted(path for path in vault.path.rglob("*"))
    for path in ("team/deep/new.md", "team/new.md", "boss/b.md", "new.md", "boss/new/c.md"):
        with writable.locked(writable.lock_of(path)), pytest.raises(Forbidden):
            writable.make_folder(path + "/sub")
        with pytest.raises(Forbidden):
            writable.swap(path, None, b"x", "mark")
        with pytest.raises(Forbidden):
            writable.create(path, b"x")
        for change in (writable.remove, lambda it: writable.rename(it, "z"), vault.make):
            with pytest.raises(Forbidden):
                change(path)
    left = [path for path in vault.path.rglob("*") if ".locks" not in path.parts]
    assert sorted(left) == before
    writable.make_folder("aiko/new")
    writable.swap("aiko/new/note.md", None, b"x", "mark")
    assert vault.read_bytes("aiko/new/note.md") == b"x"


def test_notes_are_written_and_undone_in_own_folders_only(tmp_path: Path) -> None:
    with Team(tmp_path) as team:
        aiko, chie, boss = (team.people[name] for name in ("aiko", "chie", "boss"))
        vault = team.workspace / "vault"
        for path in ("team/new.md", "boss/new.md", "new.md", "boss/salary.md"):
            answer = aiko.tool("vault_create", {"path": path, "content": "mine"})
            assert (answer["code"], answer["message"]) == (
                "forbidden",
                "you have no right to write here",
            )
        change = {"path": "team/plan.md", "find": "Ship", "replace": "Sink"}
        assert aiko.tool("vault_replace", change)["code"] == "forbidden"
        hidden = {"path": "boss/salary.md", "find": "a", "replace": "b"}
        assert aiko.tool("vault_replace", hidden)["code"] == "not_found"
        assert "mine" not in "".join(path.read_text() for path in vault.rglob("*.md"))
        made = aiko.tool("vault_create", {"path": "aiko/new.md", "content": "mine"})
        assert made["written_path"] == "aiko/new.md"
        assert boss.tool("vault_create", {"path": "boss/new.md", "content": "top secret"})

        seen = [item["path"] for item in aiko.tool("vault_history", {})["items"]]
        assert seen == ["aiko/new.md"]
        assert chie.tool("vault_history", {})["items"] == []
        write = boss.tool("vault_history", {"path": "boss/new.md"})["items"][0]["id"]
        for person in (aiko, chie):
            assert person.tool("vault_undo", {"id": write})["code"] == "not_found"
        assert (vault / "boss/new.md").read_text() == "top secret"
        assert aiko.tool("vault_undo", {})["path"] == "aiko/new.md"
        assert not (vault / "aiko/new.md").exists()


def test_rights_to_a_folder_are_not_rights_to_names_that_begin_alike() -> None:
    to = FolderRights(frozenset({"team"}), frozenset({"a/b"}))
    assert to.readable("team/x/y")
    assert to.readable("team")
    assert not to.readable("teams")
    assert not to.visible("teams")
    assert not to.visible("tea")
    assert to.visible("a")
    assert not to.readable("a")
    assert not to.writable("a")
    assert to.writable("a/b/c")
    assert not to.writable("a/bc")
    assert EVERYTHING.whole
    assert EVERYTHING.writable("x")
    assert not FolderRights().visible("x")
    assert not FolderRights().some


def test_manuals_outside_the_workspace_need_a_right_too(tmp_path: Path) -> None:
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\nThe {name} deadline.\n")
    own = OwnManuals({name: tmp_path / name for name in ("open", "closed")}, tmp_path / "cache")
    (tmp_path / "all").mkdir()
    with closing(opened(workspace(tmp_path / "all"))) as usual:
        whole = Application(replace(usual.loaded, own=own), usual.plugins)
    to = {"manuals": FolderRights(frozenset({"open"}))}
    with closing(whole), closing(PersonalTools(whole, "aiko", to)) as tools:
        aiko = Caller(tools.catalog)
        assert [item["name"] for item in aiko.tool("manual_ls", {})["items"]] == ["open"]
        query = {"manual_id": "*", "query": "deadline", "required_terms": ["deadline"]}
        assert "closed" not in str(aiko.tool("manual_find", query))
        closed = aiko.tool("manual_toc", {"manual_id": "closed"})
        assert closed["message"] == aiko.tool("manual_toc", {"manual_id": "none"})["message"]
