"""Defaults, then the file, then the environment; and errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import ConfigError
from fumishirube.config.configuration import Config, load_config
from fumishirube.config.environment import variables
from fumishirube.config.validation import build_model
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube_manual.surface import Extra, ManualSurface
from fumishirube_stages.refiners.exploration import Exploration
from fumishirube_stages.scorers.lexical import Lexical

Opened = Callable[..., Application]

DEFAULT = {kind: ManualSurface.pipeline[kind] for kind in ("scorers", "fusers", "refiners")}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "manuals" / "handbook").mkdir(parents=True)
    (tmp_path / "manuals" / "handbook" / "leave.md").write_text("# Leave\nTen days.\n", "utf-8")
    return tmp_path


@pytest.fixture
def opened(workspace: Path) -> Opened:
    def opening(yaml: str = "", environ: Mapping[str, str] | None = None) -> Application:
        (workspace / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
        return open_application(workspace, strangers=False, environ=environ or {})

    return opening


def refusal(opened: Opened, yaml: str, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        opened(yaml, environ)
    return str(caught.value)


def names(application: Application, kind_name: str, surface: int = 0) -> list[str]:
    return [named.name for named in application.surfaces[surface].stages[kind_name]]


def stage(application: Application, kind_name: str, name: str) -> Any:
    stages = application.surfaces[0].stages[kind_name]
    return next(named.stage for named in stages if named.name == name)


# --- defaults -------------------------------------------------------------------------------


def test_no_file_is_needed(workspace: Path) -> None:
    application = open_application(workspace, strangers=False, environ={})
    assert application.loaded.file is None
    assert names(application, "scorers") == DEFAULT["scorers"]
    assert names(application, "fusers") == DEFAULT["fusers"]
    assert application.contexts["manual"].manuals() == ["handbook"]


@pytest.mark.parametrize("yaml", ["", "# nothing\n", "{}", "\ufeffversion: 1\n", "version: 1"])
def test_an_empty_file_is_no_file(opened: Opened, workspace: Path, yaml: str) -> None:
    without = open_application(workspace, strangers=False, environ={}).config
    assert opened(yaml).config == without
    assert without.model_copy(update={"surfaces": ()}) == Config()


def test_the_default_configuration_has_no_unknown_names(workspace: Path) -> None:
    application = open_application(workspace, strangers=False, environ={})
    assert application.problems == []
    assert set(application.tools) >= {"manual_ls", "manual_find", "manual_read"}


def test_a_folder_without_anything_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--workspace"):
        open_application(tmp_path, strangers=False, environ={})


def test_roots_are_taken_from_the_workspace(workspace: Path) -> None:
    loaded = load_config(workspace, None, {})
    assert loaded.folder("manuals") == workspace.resolve() / "manuals"
    other = load_config(workspace, None, {"FUMISHIRUBE_STATE_ROOT": str(workspace / "elsewhere")})
    assert other.folder("state") == workspace.resolve() / "elsewhere"


def test_a_root_that_is_a_file_is_refused(workspace: Path) -> None:
    (workspace / "notes.txt").write_text("x", encoding="utf-8")
    (workspace / "fumishirube.yaml").write_text("roots: {manuals: notes.txt}", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"roots\.manuals: it names a file"):
        load_config(workspace, None, {})


# --- choosing stages ------------------------------------------------------------------------


def test_a_kind_that_is_not_named_keeps_its_default(opened: Opened) -> None:
    application = opened("pipelines: {manual: {fusers: [{use: rrf}]}}")
    assert names(application, "fusers") == ["rrf"]
    assert names(application, "refiners") == DEFAULT["refiners"]


def test_an_empty_list_means_none(opened: Opened) -> None:
    application = opened("pipelines: {manual: {fusers: [], refiners: []}}")
    assert names(application, "fusers") == names(application, "refiners") == []
    assert names(application, "scorers")


def test_stages_run_in_the_order_written(opened: Opened) -> None:
    scorers = "[{use: plain}, {use: phrase}, {use: lexical}]"
    application = opened(f"pipelines: {{manual: {{scorers: {scorers}}}}}")
    assert names(application, "scorers") == ["plain", "phrase", "lexical"]


def test_settings_reach_the_stage(opened: Opened) -> None:
    application = opened(
        "pipelines:\n  manual:\n    refiners:\n      - {use: cutoff, with: {limit: 7}}\n"
        "    tokenizer: {use: ngram, with: {n: 4}}\n"
    )
    assert stage(application, "refiners", "cutoff").limit == 7
    assert stage(application, "tokenizers", "ngram").n == 4


def test_as_names_a_second_use(opened: Opened) -> None:
    application = opened(
        "pipelines: {manual: {refiners: [{use: fuzzy},"
        " {use: fuzzy, as: twice, with: {weight: 0.9}}]}}"
    )
    assert names(application, "refiners") == ["fuzzy", "twice"]
    assert stage(application, "refiners", "twice").weight == 0.9


def test_one_name_is_one_use(opened: Opened) -> None:
    said = refusal(opened, "pipelines: {manual: {refiners: [{use: fuzzy}, {use: fuzzy}]}}")
    assert said.startswith("pipelines.manual.refiners[1]: 'fuzzy' is used twice")


def test_a_surface_under_another_name_has_its_own_pipeline(opened: Opened) -> None:
    application = opened(
        "surfaces: [{use: manual, as: shelf}]\npipelines: {shelf: {fusers: [{use: rrf}]}}"
    )
    assert [surface.name for surface in application.surfaces] == ["shelf"]
    assert names(application, "fusers") == ["rrf"]


def test_the_index_depends_on_what_it_is_made_of(opened: Opened) -> None:
    """Another tokenizer needs another index; another limit does not."""

    def fingerprint(yaml: str) -> str:
        return opened(yaml).surfaces[0].index_fingerprint

    plain = fingerprint("")
    assert fingerprint("pipelines: {manual: {refiners: []}}") == plain
    assert fingerprint("pipelines: {manual: {tokenizer: {use: ngram}}}") != plain
    assert fingerprint("pipelines: {manual: {loaders: [{use: json}]}}") != plain


# --- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yaml", "start", "hint"),
    [
        (
            "pipelines: {manual: {fusers: [{use: rrff}]}}",
            "pipelines.manual.fusers[0]: no fuser is called 'rrff'",
            "did you mean 'rrf'?",
        ),
        (
            "pipelines: {manual: {scorers: [{use: lexical}, {use: zzz}]}}",
            "pipelines.manual.scorers[1]: no scorer is called 'zzz'",
            "there are: addressed, exceptions, fulltext, graph",
        ),
        (
            "pipelines: {manual: {index: {use: tantivi}}}",
            "pipelines.manual.index: no index is called 'tantivi'",
            "did you mean 'tantivy'?",
        ),
        ("surfaces: [{use: manuel}]", "surfaces[0]: no surface is called", "'manual'?"),
        (
            "pipelines: {manuel: {}}",
            "pipelines.manuel: no surface has this name",
            "did you mean 'manual'?",
        ),
        ("pipelines: {docs: {}}", "pipelines.docs: no surface", "{use: vault}, {use: graph}]"),
        (
            "surfaces: [{use: vault}]\npipelines: {docs: {}}",
            "pipelines.docs: no surface",
            "add {use: graph} to surfaces",
        ),
        ("pipelines: {zzz: {}}", "pipelines.zzz: no surface", "there are: manual, vault"),
        (
            "surfaces: [{use: graph}]\npipelines: {graph: {fusers: []}}",
            "pipelines.graph: no surface has this name",
            "there are: docs",
        ),
        ("piplines: {}", "piplines: there is no such setting", "did you mean 'pipelines'?"),
        ("roots: {manual: x}", "roots.manual: there is no such setting", "'manuals'?"),
        (
            "pipelines: {manual: {scorer: []}}",
            "pipelines.manual.scorer: there is no such setting",
            "did you mean 'scorers'?",
        ),
        (
            "pipelines: {manual: {refiners: [{use: cutoff, whit: {}}]}}",
            "pipelines.manual.refiners[0].whit: there is no such setting",
            "did you mean 'with'?",
        ),
        (
            "pipelines: {manual: {refiners: [{use: cutoff, with: {limits: 1}}]}}",
            "pipelines.manual.refiners[0].with.limits: there is no such setting",
            "did you mean 'limit'?",
        ),
        (
            "pipelines: {manual: {refiners: [{use: cutoff, with: {limit: 0}}]}}",
            "pipelines.manual.refiners[0].with.limit: must be at least 1, got 0",
            "",
        ),
        (
            "pipelines: {manual: {scorers: [{use: lexical, with: {pool: many}}]}}",
            "pipelines.manual.scorers[0].with.pool: must be an integer, got",
            '"many"',
        ),
        (
            "pipelines: {manual: {index: {use: tantivy, with: {writer_memory: 4294967296}}}}",
            "pipelines.manual.index.with.writer_memory: must be within 15000000..4293967295, got",
            "4294967296 (fumishirube.yaml line 1)",
        ),
        ("pipelines: {manual: {fusers: [{}]}}", "pipelines.manual.fusers[0].use: ", "required"),
        ("pipelines: {manual: {fusers: {use: rrf}}}", "pipelines.manual.fusers: ", ""),
        ("traces: {keep: 0}", "traces.keep: must be at least 1, got 0", ""),
        ("traces: {keep: yes}", "traces.keep: expected integer >= 1, got true", "line 1"),
        ('traces: {keep: "1_0"}', 'traces.keep: expected integer >= 1, got "1_0"', "line 1"),
        ("limits: {file_bytes: on}", "limits.file_bytes: must be an integer or a string", "true"),
        (
            "pipelines: {manual: {scorers: [{use: lexical, with: {k1: no}}]}}",
            "pipelines.manual.scorers[0].with.k1: expected number >= 0",
            "got false",
        ),
        ("traces: {keep: 1.5}", "traces.keep: must be an integer, got 1.5", ""),
        ("strict: 7", "strict: must be a boolean", ""),
        ("cache: {similarity: 2}", "cache.similarity: must be within 0..1", ""),
        ("roots: [a]", "roots: must be an object", ""),
        ("roots: 0", "roots: must be an object, got 0", "(fumishirube.yaml line 1)"),
        ("server: false", "server: must be an object, got false", "line 1"),
        ("limits: ''", 'limits: must be an object, got ""', "line 1"),
        ("limits: []", "limits: must be an object", "line 1"),
        ("roots: {manuals: ''}", "roots.manuals: it is empty; name a folder", "'manuals'"),
        ('roots: {vault: " "}', "roots.vault: it is empty; name a folder", "'vault'"),
        *(
            (f"roots: {{{roots}}}", f"roots.state: it is in the folder of {where}", "line 1")
            for roots, where in (
                ("state: manuals", "manuals"),
                ("state: docs/state", "docs"),
                ("manuals: ., state: state", "manuals"),
            )
        ),
        ("roots: {manuals: 5}", "roots.manuals: must be a string, got 5", ""),
        (
            "surfaces: [{use: manual, with: {extras: [cites]}}]",
            "surfaces[0].with.extras[0]: must be one of plain, lines, also",
            "",
        ),
        ("traces: {seconds: .nan}", "traces.seconds: ", ""),
        ("version: 2", "version: ", "1"),
        ("strict: true\n1: 2", "1: the key 1 is no text; put it in quotes", "yaml line 2"),
        ("strict: true\nnull: 1", "null: the key null is no text", "yaml line 2"),
        ("roots: {2: x}", "roots.2: the key 2 is no text", "yaml line 1"),
        ("pipelines: {3: {}}", "pipelines.3: the key 3 is no text", "yaml line 1"),
        (
            "surfaces:\n- use: manual\n  with:\n    4: x",
            "surfaces[0].with.4: the key 4 is no text",
            "yaml line 4",
        ),
        ("surfaces: [{use: manual, 2024-01-01: 2}]", "surfaces[0].", "is no text"),
        ("[a, b]", "fumishirube.yaml: expected keys such as 'pipelines', got a list", ""),
        ("just words", "fumishirube.yaml: expected keys", "a single value"),
        ("a: b: c", "fumishirube.yaml line 1: ", ""),
        ("version: 1\nroots: {", "fumishirube.yaml line ", ""),
    ],
)
def test_an_error_says_where_and_what_was_meant(
    opened: Opened, yaml: str, start: str, hint: str
) -> None:
    said = refusal(opened, yaml)
    assert said.startswith(start)
    assert hint in said
    assert "\n" not in said
    assert "pydantic" not in said
    assert "nput should" not in said


def test_a_list_may_contain_the_defaults_and_names_alone(opened: Opened) -> None:
    default = DEFAULT["scorers"]
    without = [name for name in ("regex", "plain") if name not in default]
    more = opened(f"pipelines: {{manual: {{scorers: [{without[0]}, defaults, {without[1]}]}}}}")
    assert names(more, "scorers") == [without[0], *default, without[1]]
    assert names(more, "fusers") == DEFAULT["fusers"]
    assert names(opened("pipelines: {manual: {scorers: [lexical]}}"), "scorers") == ["lexical"]
    assert (
        names(opened("pipelines: {manual: {refiners: [defaults]}}"), "refiners")
        == (DEFAULT["refiners"])
    )


def test_a_stage_beside_the_defaults_takes_the_place_of_its_name(opened: Opened) -> None:
    own = "{use: lexical, with: {coverage_weight: 0.7}}"
    application = opened(f"pipelines: {{manual: {{scorers: [{own}, defaults]}}}}")
    assert names(application, "scorers") == DEFAULT["scorers"]
    assert stage(application, "scorers", "lexical").coverage_weight == 0.7
    place = "pipelines.manual.scorers[1].with.coverage_weight"
    wrong = own.replace("0.7", "-1")
    said = refusal(opened, f"pipelines: {{manual: {{scorers: [defaults, {wrong}]}}}}")
    assert said.startswith(f"{place}: must be at least 0, got -1")


@pytest.mark.parametrize(
    ("scorers", "said"),
    [
        ("[defaults, defaults]", "pipelines.manual.scorers[1]: 'defaults' is used twice"),
        (
            "[{use: defaults, with: {a: 1}}]",
            "pipelines.manual.scorers[0]: 'defaults' takes neither 'as' nor 'with'",
        ),
        (
            "[defaults, {use: defaults, as: b}]",
            "pipelines.manual.scorers[1]: 'defaults' takes neither 'as' nor 'with'",
        ),
        ("[defaults, plain, plain]", "pipelines.manual.scorers[2]: 'plain' is used twice"),
        ("[defaults, lexicall]", "pipelines.manual.scorers[1]: no scorer is called 'lexicall'"),
        ("[5]", "pipelines.manual.scorers[0]: must be an object, got 5"),
    ],
)
def test_a_list_with_the_defaults_is_checked_as_written(
    opened: Opened, scorers: str, said: str
) -> None:
    assert refusal(opened, f"pipelines: {{manual: {{scorers: {scorers}}}}}").startswith(said)


def test_a_file_that_is_no_text_is_refused(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"fumishirube\.yaml: it is not valid YAML"):
        load_config(workspace, None, {})


def test_a_named_file_that_is_absent_is_refused(workspace: Path) -> None:
    with pytest.raises(ConfigError, match=r"--config: there is no file .other\.yaml."):
        load_config(workspace, workspace / "other.yaml", {})


def test_a_file_makes_no_objects(opened: Opened) -> None:
    said = refusal(opened, "version: !!python/object/apply:os.getcwd []")
    assert said.startswith("fumishirube.yaml")


KEYS = st.sampled_from(["use", "with", "as", "manual", "scorers", "x"])
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)


@given(st.recursive(scalars, nested, max_leaves=8))
def test_whatever_is_given_the_error_is_the_projects_own(value: object) -> None:
    for key in Config.model_fields:
        try:
            build_model(Config, {key: value}, "", {}, {})
        except ConfigError as error:
            said = str(error)
            assert said.startswith(key), said


# --- the environment ------------------------------------------------------------------------


def test_the_environment_wins_over_the_file(opened: Opened) -> None:
    yaml = "pipelines: {manual: {scorers: [{use: lexical, with: {coverage_weight: 0.7}}]}}"
    assert stage(opened(yaml), "scorers", "lexical").coverage_weight == 0.7
    application = opened(yaml, {"LEXICAL_COVERAGE_WEIGHT": " 0.9 "})
    assert stage(application, "scorers", "lexical").coverage_weight == 0.9
    coordinate = "pipelines.manual.scorers[0].with.coverage_weight"
    assert application.loaded.origins == {coordinate: "LEXICAL_COVERAGE_WEIGHT"}


def test_the_environment_wins_over_defaults(opened: Opened) -> None:
    environ = {
        "TRACE_MAX_KEEP": "7",
        "FUMISHIRUBE_STRICT": "yes",
        "MANUAL_FIND_EXPLORATION_ENABLED": "OFF",
    }
    application = opened("", environ)
    assert application.config.traces.keep == 7
    assert application.config.strict is True
    assert stage(application, "refiners", "exploration").enabled is False


@pytest.mark.parametrize("value", ["", " ", "\t"])
def test_a_blank_variable_is_none(opened: Opened, value: str) -> None:
    assert opened("", {"TRACE_MAX_KEEP": value}).config == opened("").config


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("TRACE_MAX_KEEP", "0", "integer >= 1"),
        ("TRACE_MAX_KEEP", "1.5", "integer >= 1"),
        ("TRACE_TTL_SEC", "soon", "integer >= 1"),
        ("TRACE_TTL_SEC", "1.0", "integer >= 1"),
        ("TRACE_TTL_SEC", "1_0", "integer >= 1"),
        ("TRACE_TTL_SEC", "1e1", "integer >= 1"),
        ("FUMISHIRUBE_STRICT", "maybe", "true or false"),
        ("LEXICAL_COVERAGE_WEIGHT", "-1", "number >= 0"),
        ("LEXICAL_COVERAGE_WEIGHT", "nan", "number >= 0"),
        ("LEXICAL_COVERAGE_WEIGHT", "inf", "number >= 0"),
        ("MANUAL_FIND_EXPLORATION_RATIO", "1.1", "number >= 0 <= 1"),
        ("MANUAL_FIND_QUERY_DECOMP_MAX_SUB_QUERIES", "9", "integer >= 1 <= 8"),
        (
            "FUMISHIRUBE_SURFACE_EXTRAS",
            "site",
            f"none, or any of {', '.join((*get_args(Extra), 'append'))}",
        ),
    ],
)
def test_an_unusable_variable_stops_the_start_and_is_named(
    opened: Opened, variable: str, value: str, expected: str
) -> None:
    said = refusal(opened, "", {variable: value})
    assert said == f'{variable}: expected {expected}, got "{value}"'


def test_a_list_of_names_with_plus_is_added_to_the_default(opened: Opened) -> None:
    default = ManualSurface().extras
    yaml = "surfaces: [{use: manual, with: {extras: [+coverage, +cite, +addressed]}}]"
    assert opened(yaml).surfaces[0].surface.extras == (*default, "coverage", "addressed")
    named = {"FUMISHIRUBE_SURFACE_EXTRAS": "+addressed, +append"}
    manual, vault = opened("", named).surfaces
    assert manual.surface.extras == (*default, "addressed")
    assert vault.surface.extras == ("cursor", "append")
    named = {"FUMISHIRUBE_SURFACE_EXTRAS": "+append"}
    assert opened("", named).surfaces[0].surface.extras == default


@pytest.mark.parametrize("names", ["+site", "+", "+none"])
def test_a_name_with_plus_that_cannot_be_added_is_refused(opened: Opened, names: str) -> None:
    yaml = f"surfaces: [{{use: manual, with: {{extras: [{names}]}}}}]"
    assert refusal(opened, yaml).startswith("surfaces[0].with.extras[")
    said = refusal(opened, "", {"FUMISHIRUBE_SURFACE_EXTRAS": names})
    assert said.startswith("FUMISHIRUBE_SURFACE_EXTRAS: expected none, or ")


def test_names_with_and_without_plus_are_not_mixed(opened: Opened) -> None:
    rule = "write + before every name, to add them to the default, or before none"
    yaml = "surfaces: [{use: manual, with: {extras: [+coverage, cite]}}]"
    assert refusal(opened, yaml).startswith(f"surfaces[0].with.extras: {rule}")
    variable = "FUMISHIRUBE_SURFACE_EXTRAS"
    assert refusal(opened, "", {variable: "grep,+addressed"}) == f"{variable}: {rule}"


@pytest.mark.parametrize("model", [Config, Lexical, Exploration])
def test_every_variable_can_say_the_default(model: type[Any]) -> None:
    """A value copied from the documentation into the environment changes nothing."""
    written = {}
    for variable, _, field in variables(model):
        default = "none" if field.get_default() == () else field.get_default()
        written[variable] = str(default).lower() if isinstance(default, bool) else str(default)
    origins: dict[str, str] = {}
    assert build_model(model, {}, "", written, origins) == model()
    assert {*origins} == {coordinate for _, coordinate, _ in variables(model)}


@given(st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9))
def test_any_value_of_a_variable_is_used_or_named(value: object) -> None:
    try:
        built = build_model(Exploration, {}, "", {"MANUAL_FIND_EXPLORATION_RATIO": str(value)}, {})
    except ConfigError as error:
        said = str(error)
        assert "MANUAL_FIND_EXPLORATION_RATIO" in said
    else:
        assert 0 <= built.ratio <= 1


def test_the_process_s_own_environment_is_read_unless_another_is_given(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACE_MAX_KEEP", "3")
    assert load_config(workspace).config.traces.keep == 3
    assert load_config(workspace, None, {}).config.traces.keep == 100
