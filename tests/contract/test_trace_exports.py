"""A trace is a file that replays to the same ranking, or says what has changed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import fumishirube, opened, write
from strangers import PLUGIN, stranger
from test_traces import a_trace

from fumishirube import InvalidParameter, Span, TraceRow
from fumishirube_inspect.commands.difference_lines import difference_lines
from fumishirube_inspect.differences import TraceDifference, settings_between
from fumishirube_inspect.exports import (
    FORMAT_VERSION,
    WITHHELD,
    ExportedTrace,
    decode_export,
    encode_export,
    withheld_coordinates,
    withhold_paths,
)

MANUAL = {
    "m1/leave.md": "# Leave\n\n## Parental leave\nApply a month before parental leave begins.\n"
    "## Sick leave\nCall in sick before nine. Sick leave is paid.\n",
    "m1/travel.md": "# Travel\n\n## Allowance\nThe travel allowance is paid with the leave.\n",
}
QUERY = "when does parental leave begin"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, MANUAL)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace after one search, whose trace is in ``f.json``."""
    folder = write(tmp_path_factory.mktemp("searched"), MANUAL)
    exported(folder)
    return folder


@pytest.fixture
def exporting(searched: Path, tmp_path: Path) -> Path:
    """A copy of that workspace."""
    return shutil.copytree(searched, tmp_path, dirs_exist_ok=True)


def document_of(exporting: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((exporting / "f.json").read_text(encoding="utf-8"))
    return document


def found(workspace: Path, query: str = QUERY, **environ: str) -> str:
    """Search, and return the trace's id."""
    done = fumishirube("find", query, "--json", cwd=workspace, environ=environ)
    trace_id: str = done.json["traces"]["m1"]
    return trace_id


def exported(workspace: Path, **environ: str) -> dict[str, Any]:
    """Search, export what came of it to ``found.json``, and return that."""
    words = ("trace", "export", found(workspace, **environ), "-o", "f.json")
    done = fumishirube(*words, cwd=workspace, environ=environ)
    assert done.code == 0, done.err
    return document_of(workspace)


def replay(workspace: Path, *words: str, **environ: str) -> Any:
    done = fumishirube(
        "trace", "replay", "f.json", "--json", *words, cwd=workspace, environ=environ
    )
    assert done.code == (0 if done.json["same_ranking"] else 1), done.err
    return done.json


def causes(told: Any) -> set[str]:
    return {one["cause"] for one in told["changes"]}


def configure(workspace: Path, manual: str) -> None:
    (workspace / "fumishirube.yaml").write_text(f"pipelines: {{manual: {manual}}}\n")


# --- the file -------------------------------------------------------------------------------


def test_a_file_holds_all_that_decided_the_answer(exporting: Path) -> None:
    document = document_of(exporting)
    assert document["query"]["text"] == QUERY
    assert document["manual_id"] == "m1"
    assert len(document["corpus"]["fingerprint"]) == len(document["corpus"]["content"]) == 16
    assert document["pipeline"]["stages"]["tokenizer"] == {
        "use": "bigram",
        "with": {"n": 2, "stems": True},
    }
    assert document["pipeline"]["fingerprint"]
    assert re.fullmatch(r"fumishirube \S+", document["pipeline"]["makers"]["stages"])
    assert re.fullmatch(r"3\.\d+\.\d+.*", document["program"]["python"])
    first = document["ranking"][0]
    assert (first["path"], first["start_line"]) == ("leave.md", 3)
    assert first["score"] > 0
    assert first["signals"]["lexical"] > 0
    assert document["search"]["rows"][0] == 0
    assert {child["kind"] for child in document["search"]["children"]} >= {"run", "refiner"}


def test_no_file_names_a_place_on_this_machine(workspace: Path) -> None:
    configure(workspace, "{loaders: [{use: markdown, with: {exclude: [/home/me/secret.md]}}]}")
    done = fumishirube("trace", "export", found(workspace), cwd=workspace)
    assert str(workspace) not in done.out
    assert "secret" not in done.out + done.err
    assert "note: loaders[0].with.exclude[0] contains an absolute path" in done.err
    assert WITHHELD in done.out


@pytest.mark.parametrize(
    "path",
    [
        "/a/b",
        "/a",
        "//a/b",
        "C:\\a\\b",
        "\\\\server\\share\\a",
        "~/a",
        "~me/a",
        "~me",
        "file:///a/b",
        "C:/a",
        "FILE:///a/b",
        "--root=/a/b",
        "-v /a/b",
        "PATH=x,~/a",
        "sqlite:////a/b.db",
        "-d:/a/b",
        "x.txt:/a/b",
        "d:C:\\a\\b",
        "[/a/b]",
        "`/a`",
        "<file:///a/b>",
        "</a/b>",
        "「/a/b」",
        "/ a",
        "/(a)/b",
        "(words)/usr/lib/a",
        "#!/usr/lib/a",
        "設定ファイル/usr/lib/a.db が開けません",
        "辞書はC:\\a\\b.db です",
    ],
)
def test_an_absolute_path_is_withheld_wherever_it_stands(path: str) -> None:
    stages = {"a": [{"with": {"x": path, "y": ["b/c", path]}}], "b": "kept"}
    plain = withhold_paths(stages)
    assert path not in json.dumps(plain)
    assert [*withheld_coordinates(plain)] == ["a[0].with.x", "a[0].with.y[1]"]
    assert "b/c" in json.dumps(plain)


def test_a_mapping_with_a_path_as_a_key_is_withheld_whole() -> None:
    plain = withhold_paths({"a": [{"with": {"x": {"/home/me/a": 1}, "y": {"b/c": 1}}}]})
    assert plain == {"a": [{"with": {"x": WITHHELD, "y": {"b/c": 1}}}]}
    assert [*withheld_coordinates(plain)] == ["a[0].with.x"]


@pytest.mark.parametrize(
    "text",
    [
        *("/", "//", "~", "~=", "~ ", "a/b", "C:", "files", "a / b", "https://a/b", "x = y"),
        *("a=b/c", "http://localhost:9200/a", "</a>", "[a-z]/b", "[/]", "(a|b)/c"),
        *("資料/規程", "**/tmp/**", "**/lib"),
    ],
)
def test_a_text_that_names_no_place_is_exported(text: str) -> None:
    stages = {"a": [{"with": {"separator": text}}]}
    assert withhold_paths(stages) == stages


def test_what_stages_and_surfaces_tell_is_exported_without_paths() -> None:
    told = {"x": ["/usr/b"], "/usr/b": 1, "y": {"/usr/b": 1}, "kept": "c/d"}
    run = Span("g0", "run", 0, 0, diagnostics=told, error="語/usr/lib/b が無い; no file '/usr/b'")
    trace = a_trace(
        search=replace(run, name="search", kind="search", children=(run,)),
        annotations=told,
        degraded="x: cannot read /usr/b",
    )
    data = encode_export(ExportedTrace(trace, None, {}))
    assert b"/usr" not in data
    again = decode_export(data, "f").trace
    assert again.annotations["kept"] == again.search.children[0].diagnostics["kept"] == "c/d"


def test_terms_of_the_query_and_routes_of_an_api_are_exported() -> None:
    told = {"kept": ["/usr/share", "/v1/users"], "said": "`/help`, mailto:/x, 入力・/終了"}
    trace = a_trace(search=Span("search", "search", 0, 0, diagnostics=told), text="/USR/share")
    again = decode_export(encode_export(ExportedTrace(trace, None, {})), "f").trace
    assert again.search.diagnostics == told


def test_a_trace_survives_its_file() -> None:
    one = ExportedTrace(a_trace(), "0" * 16, {"fumishirube": "1", "python": "3"})
    again = decode_export(encode_export(one), "f.json")
    assert again == one
    assert type(again.trace.origin) is type(one.trace.origin)


@given(st.lists(st.tuples(st.text(), st.integers(1), st.floats(allow_nan=False)), max_size=5))
def test_any_ranking_survives_its_file(hits: list[tuple[str, int, float]]) -> None:
    rows = tuple(
        TraceRow(path, line, line, "t", "d", score, 0.0, frozenset(), (), {"s": score})
        for path, line, score in hits
        if abs(score) != float("inf")
    )
    run = Span("g0", "run", 0, 0, rows[::-1])
    trace = a_trace(search=Span("search", "search", 0, 0, rows, children=(run,)))
    assert decode_export(encode_export(ExportedTrace(trace, None, {})), "f").trace == trace


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda data: b"", "f.json is damaged or no JSON"),
        (lambda data: data[: len(data) // 2], "f.json is damaged or no JSON"),
        (lambda data: b"\xff\xfe", "f.json is damaged or no JSON"),
        (lambda data: b"[" * 100_000, "f.json is damaged or no JSON"),
        (lambda data: b"[]", "f.json is no exported trace"),
        (lambda data: b"{}", "f.json is no exported trace"),
        (lambda data: b'{"fumishirube_trace": 1}', "f.json is damaged"),
        (lambda data: data.replace(b'_trace": 1', b'_trace": 2'), "by a later version"),
        (lambda data: data.replace(b'"score": 0.3', b'"score": "x'), "damaged"),
        (lambda data: data.replace(b'"kind": "run"', b'"kind": "walk"'), "damaged at trace.search"),
        (lambda data: data.replace(b'"rows": [\n', b'"rows": [\n-1,'), "damaged"),
        (lambda data: data.replace(b'"rows": [\n', b'"rows": [\n7,'), "damaged"),
    ],
)
def test_a_damaged_file_is_named(spoil: Any, told: str) -> None:
    data = encode_export(ExportedTrace(a_trace(text="q"), None, {}))
    assert spoil(data) != data
    with pytest.raises(InvalidParameter, match=re.escape(told)):
        decode_export(spoil(data), "f.json")
    assert FORMAT_VERSION == 1


@pytest.mark.slow
def test_the_command_line_names_a_file_that_is_damaged_or_missing(workspace: Path) -> None:
    (workspace / "bad.json").write_text("{")
    for words in (("replay", "bad.json"), ("diff", "bad.json", "bad.json")):
        done = fumishirube("trace", *words, cwd=workspace)
        assert (done.code, done.out) == (1, "")
        assert "bad.json is damaged" in done.err
        assert "invalid_parameter" in done.err
    done = fumishirube("trace", "replay", "none.json", "--json", cwd=workspace)
    assert (done.code, done.json["code"]) == (1, "not_found")
    assert fumishirube("trace", "export", "0" * 32, cwd=workspace).code == 1
    done = fumishirube("trace", "export", found(workspace), "-o", "no/f.json", cwd=workspace)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "f.json: it cannot be written" in done.err


# --- running it again -----------------------------------------------------------------------


def test_it_replays_to_the_same_ranking(exporting: Path) -> None:
    told = replay(exporting)
    assert told["same_ranking"]
    assert told["same_scores"]
    assert told["changes"] == []
    done = fumishirube("trace", "replay", "f.json", cwd=exporting)
    assert done.code == 0
    assert "the same ranking" in done.out
    assert "neither corpus, configuration nor plugins have changed" in done.out


def test_a_replay_leaves_no_marks(exporting: Path) -> None:
    before = sorted((exporting / ".fumishirube" / "traces").iterdir())
    statistics = exporting / "vault" / ".system" / "adaptive_stats.jsonl"
    noted = statistics.read_text() if statistics.exists() else ""
    replay(exporting)
    assert sorted((exporting / ".fumishirube" / "traces").iterdir()) == before
    assert (statistics.read_text() if statistics.exists() else "") == noted


def test_it_replays_elsewhere_whatever_the_time_stamps(exporting: Path, tmp_path: Path) -> None:
    document = document_of(exporting)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(exporting / "manuals", elsewhere / "manuals", copy_function=shutil.copy)
    shutil.copy(exporting / "f.json", elsewhere)
    told = replay(elsewhere)
    assert told["same_scores"]
    assert told["changes"] == []
    assert told["after"]["corpus"] != document["corpus"]["fingerprint"]


def test_a_changed_corpus_is_named(exporting: Path) -> None:
    leave = exporting / "manuals" / "m1" / "leave.md"
    leave.write_text(leave.read_text().replace("Apply a month before", "Tell us when"))
    travel = exporting / "manuals" / "m1" / "travel.md"
    travel.write_text("# Parental leave\nWhen does parental leave begin? Parental leave begins.\n")
    told = replay(exporting)
    assert causes(told) == {"corpus"}
    assert not told["same_ranking"]
    assert "other text: " in told["changes"][0]["explanation"]
    assert "leave.md#L3" in told["changes"][0]["explanation"]
    assert any(hit["rank"]["before"] is None for hit in told["hits"])
    done = fumishirube("trace", "replay", "f.json", cwd=exporting)
    assert (done.code, "the ranking differs" in done.out) == (1, True)


def test_a_section_inserted_above_others_as_long_moves_none(workspace: Path) -> None:
    texts = ("zebra zebra zebra one", "zebra zebra and two", "zebra and three and more words here")
    sections = "".join(f"# {place}\n\n{text}.\n\n" for place, text in enumerate(texts))
    write(workspace, {"m1/z.md": sections})
    trace_id = found(workspace, "zebra")
    fumishirube("trace", "export", trace_id, "-o", "f.json", cwd=workspace)
    write(workspace, {"m1/z.md": f"# New\n\nnothing here to see.\n\n{sections}"})
    told = replay(workspace)
    assert told["same_ranking"]
    assert [hit["rank"]["before"] for hit in told["hits"]] == [1, 2, 3]
    assert not any(hit["text_changed"] for hit in told["hits"])


def test_a_corpus_that_changed_before_the_export_is_told(exporting: Path) -> None:
    workspace, trace_id = exporting, document_of(exporting)["id"]
    (workspace / "manuals" / "m1" / "new.md").write_text("# New\nparental leave\n")
    done = fumishirube("trace", "export", trace_id, "-o", "f.json", cwd=workspace)
    assert "the files have changed since" in done.err
    assert json.loads((workspace / "f.json").read_text())["corpus"]["content"] is None
    assert causes(replay(workspace)) == {"corpus"}


def test_the_file_s_configuration_counts_unless_the_current_one_is_asked_for(
    exporting: Path,
) -> None:
    configure(exporting, "{scorers: [{use: lexical, with: {coverage_weight: 0.9}}], refiners: []}")
    (exporting / "glossary.yaml").write_text("begin: [allowance, travel]\n")
    told = replay(exporting)
    assert told["same_scores"]
    assert (told["changes"], told["query_fields"]) == ([], [])
    told = replay(exporting, "--current")
    assert causes(told) == {"configuration"}
    glossary = "glossary: nothing then, begin = allowance = travel now"
    assert glossary in [one["explanation"] for one in told["changes"]]
    assert told["query_fields"] == ["synonyms"]
    assert {one["name"] for one in told["settings"]} == {
        "scorers",
        "scorers.lexical.coverage_weight",
        "refiners",
    }


@pytest.mark.slow
def test_the_environment_does_not_overrule_the_file(workspace: Path) -> None:
    exported(workspace, LEXICAL_COVERAGE_WEIGHT="0.9")
    told = replay(workspace, LEXICAL_COVERAGE_WEIGHT="0.1")
    assert told["same_scores"]
    assert told["changes"] == []
    told = replay(workspace, "--current", LEXICAL_COVERAGE_WEIGHT="0.1")
    assert [one["name"] for one in told["settings"]] == ["scorers.lexical.coverage_weight"]
    assert not told["same_scores"]


@pytest.mark.slow
def test_a_path_that_was_not_exported_is_taken_from_here(workspace: Path) -> None:
    configure(workspace, "{loaders: [{use: markdown, with: {exclude: [/x/secret.md]}}]}")
    exported(workspace)
    told = replay(workspace)
    assert told["same_scores"]
    assert causes(told) == {"configuration"}
    assert "was not exported" in told["changes"][0]["explanation"]


@pytest.mark.slow
def test_a_path_that_was_not_exported_and_is_not_set_here_is_the_default(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    code = PLUGIN.format(name="placed").replace("(Stage):", '(Stage):\n    place: str = "here"')
    site = str(stranger(tmp_path_factory.mktemp("plugins") / "site", "placed", code))
    configure(workspace, "{refiners: [{use: placed, with: {place: /x/secret}}]}")
    exported(workspace, PYTHONPATH=site)
    configure(workspace, "{refiners: []}")
    told = replay(workspace, PYTHONPATH=site)
    assert told["same_scores"]
    assert "was not exported" in told["changes"][0]["explanation"]


def test_all_that_a_client_asked_is_asked_again(workspace: Path) -> None:
    application = opened(workspace)
    try:
        arguments = {"query": QUERY, "manual_id": "m1", "required_terms": ["leave"]}
        asked = json.dumps({**arguments, "budget": {"max_candidates": 1}})
        first = fumishirube("call", "--json", "manual_find", asked, cwd=workspace).json["trace_id"]
        asked = json.dumps({**arguments, "only_unscanned_from_trace_id": first})
        second = fumishirube("call", "--json", "manual_find", asked, cwd=workspace).json["trace_id"]
    finally:
        application.close()
    for trace_id, hits in ((first, 1), (second, 2)):
        fumishirube("trace", "export", trace_id, "-o", "f.json", cwd=workspace)
        told = replay(workspace)
        assert told["same_scores"]
        assert len(told["hits"]) == hits
        assert told["before"]["required_terms"] == told["after"]["required_terms"] == ["leave"]


def test_a_kept_trace_is_replayed_without_a_file(exporting: Path) -> None:
    trace_id = document_of(exporting)["id"]
    assert fumishirube("trace", "replay", trace_id, cwd=exporting).code == 0


def test_what_cannot_be_asked_again_is_told_with_a_code(exporting: Path) -> None:
    document = document_of(exporting)

    def replayed(**changes: Any) -> Any:
        changed = {**document, **changes}
        (exporting / "f.json").write_text(json.dumps(changed), encoding="utf-8")
        return fumishirube("trace", "replay", "f.json", "--json", cwd=exporting)

    asked = replayed(rest={**document["rest"], "own": True})
    assert (asked.code, asked.json["code"]) == (1, "invalid_scope")
    gone = replayed(manual_id="m2")
    assert (gone.code, gone.json["code"]) == (1, "not_found")
    elsewhere = replayed(pipeline={**document["pipeline"], "surface": "other"})
    assert (elsewhere.code, elsewhere.json["code"]) == (1, "invalid_scope")
    stages = {**document["pipeline"]["stages"], "refiners": [{"use": "cutof"}]}
    makers = {"stages": "fumishirube 0.1.0", "gone": "fumishirube-gone 1.0"}
    missing = replayed(pipeline={**document["pipeline"], "stages": stages, "makers": makers})
    assert missing.code == 2
    assert "made with gone (fumishirube-gone 1.0), which is not loaded" in missing.err
    assert "did you mean 'cutoff'?" in missing.err
    assert "--current" in missing.err


# --- plugins --------------------------------------------------------------------------------


def test_another_version_of_a_plugin_is_named(exporting: Path) -> None:
    document = document_of(exporting)
    makers = {"stages": "fumishirube 0.0.1", "gone": "fumishirube-gone 1.0"}
    document["pipeline"]["makers"] = makers
    document["program"]["fumishirube"] = "0.0.1"
    (exporting / "f.json").write_text(json.dumps(document), encoding="utf-8")
    told = replay(exporting)
    assert causes(told) == {"plugins", "program"}
    sentences = [one["explanation"] for one in told["changes"]]
    assert any(
        re.match(r"stages: fumishirube 0\.0\.1 then, fumishirube \S+ now", s) for s in sentences
    )
    assert "gone: fumishirube-gone 1.0 then, none now" in sentences


# --- two of them ----------------------------------------------------------------------------


@pytest.mark.slow
def test_two_searches_are_compared_by_file_and_by_id(exporting: Path) -> None:
    configure(exporting, "{scorers: [{use: lexical, with: {coverage_weight: 0.9}}]}")
    later = found(exporting)
    done = fumishirube("trace", "diff", "f.json", later, "--json", cwd=exporting)
    assert done.code == 0
    told = done.json
    assert told["same_corpus"]
    assert told["before"]["pipeline"] != told["after"]["pipeline"]
    weights = {one["name"]: (one["before"], one["after"]) for one in told["settings"]}
    assert weights["scorers.lexical.coverage_weight"] == (0.5, 0.9)
    assert weights["scorers"][1] == ["lexical"]
    first = told["hits"][0]
    assert first["rank"]["after"] == 1
    assert first["score"]["before"] != first["score"]["after"]
    assert {"before", "after"} == first["signals"]["lexical"].keys()
    offset_maps = {tuple(one["stage"]): one["ms"] for one in told["stages"]}
    assert offset_maps["search",]["before"] > 0
    lost = next(ms for way, ms in offset_maps.items() if way[-1] == "scorer phrase")
    assert lost["before"] is not None
    assert lost["after"] is None
    text = fumishirube("trace", "diff", "f.json", later, cwd=exporting).out
    assert "scorers.lexical.coverage_weight  0.5 -> 0.9" in text
    assert "unchanged" in text


def test_one_question_in_two_manuals_is_told_as_that(workspace: Path) -> None:
    write(workspace, {"m2/leave.md": "# Leave\n\nParental leave begins in May.\n"})
    ids = fumishirube("find", QUERY, "--json", "--manual", "m1", cwd=workspace).json["traces"]
    ids |= fumishirube("find", QUERY, "--json", "--manual", "m2", cwd=workspace).json["traces"]
    lines = fumishirube("trace", "diff", *ids.values(), cwd=workspace).out.splitlines()
    assert lines[2] == "they searched different manuals"
    assert not [line for line in lines if line.startswith(("their queries differ", "they saw"))]


def test_two_files_need_no_workspace(exporting: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    shutil.copy(exporting / "f.json", empty)
    done = fumishirube("trace", "diff", "f.json", "f.json", cwd=empty)
    assert done.code == 0
    assert "the ranking is the same, scores included" in done.out


@pytest.mark.slow
def test_the_kept_traces_are_listed_newest_first(workspace: Path) -> None:
    assert fumishirube("trace", cwd=workspace).out.startswith("no traces are stored")
    first, second = found(workspace), found(workspace, "travel")
    (workspace / ".fumishirube" / "traces" / f"{'0' * 32}.json").write_text("{")
    done = fumishirube("trace", "ls", "--json", cwd=workspace)
    assert [one["trace_id"] for one in done.json] == [second, first]
    assert f"{'0' * 32}.json cannot be read" in done.err
    assert fumishirube("trace", cwd=workspace).out.splitlines()[0].startswith(second[:8])


def test_a_list_in_a_pipe_has_the_whole_queries(workspace: Path) -> None:
    query = f"{QUERY} and {'allowance ' * 20}"
    trace_id = found(workspace, query)
    [line] = fumishirube("trace", "ls", cwd=workspace).out.splitlines()
    assert line.endswith(f"  {query.strip()}")
    exported = fumishirube("trace", "export", line.partition(" ")[0], cwd=workspace)
    assert exported.json["id"] == trace_id


@pytest.mark.slow
def test_the_command_after_an_export_is_one_that_works(workspace: Path) -> None:
    (workspace / "in").mkdir()
    (workspace / "in" / "fumishirube.yaml").write_text("roots: {manuals: ../manuals}\n")
    given = ("--workspace", "in", "--trust")
    trace_id = fumishirube("find", QUERY, "--json", *given, cwd=workspace).json["traces"]["m1"]
    words = ("trace", "export", trace_id, "-o", "in/my file.json", *given)
    wrote, _, following = fumishirube(*words, cwd=workspace).out.strip().partition("; next: ")
    assert wrote == "wrote in/my file.json"
    assert following == "fumishirube trace replay 'in/my file.json' --workspace in --trust"
    replayed = fumishirube(*shlex.split(following)[1:], cwd=workspace)
    assert replayed.code == 0, replayed.err
    assert fumishirube(*words, "--json", cwd=workspace).json["file"] == "in/my file.json"


def test_a_place_where_no_file_can_be_written_is_named(exporting: Path) -> None:
    trace_id = document_of(exporting)["id"]
    done = fumishirube("trace", "export", trace_id, "-o", ".", cwd=exporting)
    assert (done.code, done.out) == (2, "")
    assert "configuration error: .: it cannot be written there" in done.err


# --- laws -----------------------------------------------------------------------------------


def rows(*places: tuple[str, int, float]) -> Span:
    found = (
        TraceRow(path, line, line, "t", f"{path}{line}", score, 0.0, frozenset(), (), {"s": score})
        for path, line, score in places
    )
    return Span("search", "search", 0, 1, tuple(found))


PLACES = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.floats(0, 9)),
    max_size=6,
    unique_by=lambda place: place[:2],
)


@given(PLACES, PLACES)
def test_a_difference_names_every_hit_of_both_once(one: Any, other: Any) -> None:
    before, after = a_trace(search=rows(*one)), a_trace(search=rows(*other))
    difference = TraceDifference(before, after)
    for side, places in ((0, one), (1, other)):
        ranks = [moved[side].rank for moved in difference.rows if moved[side]]
        assert sorted(ranks) == [*range(1, len(places) + 1)]
    assert difference.same_ranking == ([p[:2] for p in one] == [p[:2] for p in other])
    assert TraceDifference(before, before).same_scores
    assert TraceDifference(before, before).changed == ()


@given(PLACES, PLACES)
def test_sections_of_two_manuals_are_never_the_same(one: Any, other: Any) -> None:
    before = a_trace(search=rows(*one), manual_id="m1")
    after = a_trace(search=rows(*other), manual_id="m2")
    difference = TraceDifference(before, after)
    assert len(difference.rows) == len(one) + len(other)
    assert all(row.ranks_gained is None for row in difference.rows)


@given(PLACES, PLACES)
def test_a_section_is_the_same_in_its_manual_and_in_several(one: Any, other: Any) -> None:
    prefixed = [(f"m1/{path}", line, score) for path, line, score in other]
    alone = a_trace(search=rows(*one), manual_id="m1")
    among = a_trace(search=rows(*prefixed), manual_id="*", manuals=("m1", "m2"))
    plain = TraceDifference(alone, a_trace(search=rows(*other), manual_id="m1"))
    told = [row.ranks_gained for row in TraceDifference(alone, among).rows]
    assert told == [row.ranks_gained for row in plain.rows]


def test_a_section_that_only_moved_in_its_file_is_the_same() -> None:
    one, other = rows(("a", 1, 2.0)), rows(("a", 1, 2.0))
    moved = replace(other, rows=(other.rows[0]._replace(start_line=9),))
    difference = TraceDifference(a_trace(search=one), a_trace(search=moved))
    assert difference.same_scores
    assert not difference.changed


@given(PLACES, st.integers(1, 3))
def test_lines_inserted_above_change_no_ranking(places: Any, inserted: int) -> None:
    """Though each section then stands where its neighbour stood."""
    before = rows(*places)
    moved = tuple(row._replace(start_line=row.start_line + inserted) for row in before.rows)
    difference = TraceDifference(
        a_trace(search=before), a_trace(search=replace(before, rows=moved))
    )
    assert difference.same_scores
    assert not difference.changed


@given(PLACES, PLACES)
def test_rewritten_sections_are_known_by_their_lines(one: Any, other: Any) -> None:
    before, after = rows(*one), rows(*other)
    written = tuple(row._replace(digest=f"{row.digest} anew") for row in after.rows)
    difference = TraceDifference(
        a_trace(search=before), a_trace(search=replace(after, rows=written))
    )
    both = {place[:2] for place in one} & {place[:2] for place in other}
    pairs = [row for row in difference.rows if row.before and row.after]
    assert {(row.row.path, row.row.start_line) for row in pairs} == both
    assert all(row.rewritten for row in pairs)


def test_queries_are_compared_by_every_field() -> None:
    before = a_trace(text="q")
    assert TraceDifference(before, a_trace(text="q")).query_fields == ()
    query = replace(before.origin.query, within=frozenset({"a.md"}), limit=3, text="other")
    after = replace(before, origin=replace(before.origin, query=query))
    difference = TraceDifference(before, after)
    assert difference.query_fields == ("text", "limit", "within")
    assert "their queries differ: text, limit, within" in [*difference_lines(difference)]


def test_stages_stand_where_they_ran() -> None:
    def tree(*names: str) -> Span:
        return replace(rows(), children=tuple(Span(n, "scorer", 0, 1) for n in names))

    before, after = a_trace(search=tree("a", "b", "c", "d")), a_trace(search=tree("a", "x", "d"))
    stages = TraceDifference(before, after).stages
    told = [(one.path[-1], one.before is not None, one.after is not None) for one in stages[1:]]
    assert told == [
        ("scorer a", True, True),
        ("scorer x", False, True),
        ("scorer b", True, False),
        ("scorer c", True, False),
        ("scorer d", True, True),
    ]


def test_settings_are_compared_by_the_names_of_stages() -> None:
    one = {"scorers": [{"use": "a", "with": {"x": 1}}, {"use": "b", "with": {"y": 1}}]}
    other = {"scorers": [{"use": "c", "as": "b", "with": {"y": 1}}, {"use": "a", "with": {"x": 2}}]}
    told = {s.name: (s.before, s.after) for s in settings_between(one, other)}
    assert told == {
        "scorers": (["a", "b"], ["b", "a"]),
        "scorers.a.x": (1, 2),
        "scorers.b.use": (None, "c"),
    }
    assert settings_between(one, one) == ()
    gone = {s.name for s in settings_between(one, {"scorers": one["scorers"][:1]})}
    assert gone == {"scorers"}
