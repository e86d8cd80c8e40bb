"""The contract of all stages, whatever their kind."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from pydantic import ValidationError

from fumishirube import Corpus, Index, Query, Stage
from fumishirube.stages import ResourceStage
from fumishirube.testing.corpora import MemoryCorpus
from fumishirube.testing.process_records import (
    is_recording_process,
    other_process_record,
    record,
    save_record,
)
from fumishirube.testing.samples import BLANK, PASSAGES, QUERIES, TEXTS, with_new_state
from fumishirube.testing.side_effects import side_effects

S = TypeVar("S")

_THREADS = 4


class StageContract(Generic[S]):
    """The contract of all stages; inherit the contract of a kind, not this.

    A subclass sets its stage as a class attribute, ``stage = Borda()``, or overrides :meth:`make`.
    Its name starts with ``Test``, so that pytest finds it.
    """

    protocol: ClassVar[type[Any]]
    stage: S

    def make(self) -> S:
        """Return the stage under test."""
        return self.stage

    @abstractmethod
    def exercise(self, stage: S, folder: Path) -> object:
        """Use the stage once, and return a result to compare with the next one."""

    def use(self, stage: S, folder: Path) -> None:
        """Use every ability of the stage, whatever the results."""
        self.exercise(stage, folder)

    def own(self, folder: Path) -> Path:
        """Return the folder below which the stage may write: that of :meth:`exercise`."""
        return folder

    def hosts(self) -> Collection[str]:
        """Return the hosts, with their ports, that the stage may connect to; by default none."""
        return ()

    def settings(self) -> Stage:
        """Return the stage as the model of its settings."""
        stage = self.make()
        assert isinstance(stage, Stage), (
            f"{type(stage).__name__} does not inherit fumishirube.Stage"
        )
        return stage

    def test_it_implements_the_protocol_of_its_kind(self) -> None:
        """The stage is a ``fumishirube.Stage`` with every method of its protocol."""
        assert isinstance(self.settings(), self.protocol), f"it is not a {self.protocol.__name__}"

    def test_it_has_a_docstring(self) -> None:
        """The class has a docstring of its own, which ``fumishirube plugins`` shows."""
        own = (vars(type(self.settings())).get("__doc__") or "").strip()
        assert own, f"{type(self.settings()).__name__} needs a docstring of its own"

    def test_settings_are_frozen(self) -> None:
        """No setting can be assigned to."""
        stage = self.settings()
        assert type(stage).model_config.get("frozen"), "model_config says it is not frozen"
        for name in type(stage).model_fields:
            with pytest.raises(ValidationError):
                setattr(stage, name, getattr(stage, name))

    def test_unknown_settings_are_refused(self) -> None:
        """A misspelt setting in the configuration stops the start."""
        stage = self.settings()
        with pytest.raises(ValidationError):
            type(stage).model_validate({**_dumped(stage), "no_such_setting": 1})

    def test_settings_survive_json(self) -> None:
        """Settings written as JSON and read again make an equal stage."""
        stage = self.settings()
        again = type(stage).model_validate(json.loads(json.dumps(_dumped(stage))))
        assert again == stage, f"{again!r} is not {stage!r}"
        assert again.fingerprint == stage.fingerprint, "equal settings have unequal fingerprints"

    def test_settings_have_a_json_schema(self) -> None:
        """The schema of the configuration contains those of the stages."""
        schema = type(self.settings()).model_json_schema()
        assert json.dumps(schema), "the schema is no JSON"

    def test_settings_have_an_order(self) -> None:
        """No setting is a set: its order, and so the fingerprint, would change at each start."""
        for name, value in self.settings().model_dump().items():
            assert not _holds_a_set(value), f"setting {name!r} is a set; make it a tuple"

    def test_the_fingerprint_follows_the_settings(self) -> None:
        """Every changed setting changes the fingerprint, which is part of the cache keys."""
        stage = self.settings()
        for name in type(stage).model_fields:
            for changed in _with_another(stage, name):
                assert changed.fingerprint != stage.fingerprint, (
                    f"the setting {name!r} does not change the fingerprint"
                )

    def test_it_does_the_same_every_time(self, tmp_path: Path) -> None:
        """Neither an earlier use nor another copy of the stage changes its results."""
        stage = self.make()
        once = self.exercise(stage, _folder(tmp_path, "once"))
        assert self.exercise(stage, _folder(tmp_path, "twice")) == once, "the second use differs"
        assert self.exercise(self.make(), _folder(tmp_path, "copy")) == once, "a copy differs"

    def test_its_running_form_has_the_same_results(self, tmp_path: Path) -> None:
        """The running form that ``open()`` yields has the same method and the same results."""
        stage = self.make()
        if (
            isinstance(stage, ResourceStage) and self.protocol is not Index
        ):  # an index is opened with other arguments
            expected = self.exercise(stage, _folder(tmp_path, "stage"))
            with stage.open() as running:
                got = self.exercise(running, _folder(tmp_path, "running"))
            assert got == expected, "the running form answers otherwise"

    def test_it_does_the_same_in_another_process(
        self, tmp_path: Path, request: pytest.FixtureRequest
    ) -> None:
        """No result depends on the order of a set, which differs from process to process."""
        outcome = record(self.exercise(self.make(), _folder(tmp_path, "here")))
        if is_recording_process():
            save_record(request, outcome)
        else:
            assert other_process_record(request) == outcome, (
                "another process has another result; does the stage iterate over a set?"
            )

    def test_it_does_the_same_in_several_threads(self, tmp_path: Path) -> None:
        """One stage serves several calls at a time."""
        stage = self.make()
        expected = self.exercise(stage, _folder(tmp_path, "alone"))
        folders = [_folder(tmp_path, f"thread-{number}") for number in range(_THREADS)]
        with ThreadPoolExecutor(_THREADS) as pool:
            for got in pool.map(lambda folder: self.exercise(stage, folder), folders):
                assert got == expected, "the stage is not safe to use from several threads"

    def test_it_writes_no_file_and_prints_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """It writes no file into the working directory, and nothing to standard output."""
        here, elsewhere = _folder(tmp_path, "here"), _folder(tmp_path, "elsewhere")
        monkeypatch.chdir(here)
        self.exercise(self.make(), elsewhere)
        left = sorted(path.name for path in here.rglob("*"))
        assert not left, f"it wrote {left} into the working directory"
        assert not capfd.readouterr().out, "it prints; standard output belongs to the protocol"

    def test_it_writes_only_where_it_may(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It writes, moves and deletes only in the folder that it was given."""
        folder = _folder(tmp_path, "own")
        monkeypatch.chdir(folder)
        changed = [attempt for attempt in self._attempts(folder) if attempt.startswith("write")]
        assert not changed, f"outside its folder, it tried to {', '.join(changed)}"

    def test_it_needs_no_network(self, tmp_path: Path) -> None:
        """Manuals are local: no host is looked up or connected to, except those of the stage."""
        calls = [
            attempt for attempt in self._attempts(_folder(tmp_path, "own")) if "socket" in attempt
        ]
        assert not calls, f"it tried to reach the network: {', '.join(calls)}"

    def test_use_does_not_change_it(self, tmp_path: Path) -> None:
        """A stage has no state but its settings."""
        stage = self.make()
        assert isinstance(stage, Stage)
        before = stage.model_copy(deep=True)
        self.use(stage, _folder(tmp_path, "own"))
        assert stage == before, f"it was {before!r}, and is {stage!r}"

    def test_it_changes_no_argument(self, tmp_path: Path) -> None:
        """Texts, passages and queries belong to the caller, who uses them again."""
        before = record(_SAMPLES)
        self.exercise(self.make(), _folder(tmp_path, "own"))
        assert record(_SAMPLES) == before, "it changed its arguments"

    def _attempts(self, folder: Path) -> list[str]:
        stage = self.make()
        with side_effects().confined_to(self.own(folder), self.hosts()) as attempts:
            try:
                self.use(stage, folder)
            except Exception:
                if not attempts:
                    raise
        return attempts


class SearchContract(StageContract[S]):
    """The contract of stages that take part in a search; inherit the contract of a kind."""

    queries: ClassVar[Sequence[Query]] = ()
    """Further queries to try, such as those that the stage is meant for."""

    def corpus(self) -> Corpus:
        """Return the corpus to search; override it for a stage that needs another one."""
        return MemoryCorpus(PASSAGES)

    def _queries(self) -> list[Query]:
        return with_new_state([*self.queries, *QUERIES])


_SAMPLES = (PASSAGES, BLANK, TEXTS, QUERIES)


def _dumped(stage: Stage) -> dict[str, Any]:
    return stage.model_dump(mode="json")


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def _holds_a_set(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_a_set(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_a_set(inner) for inner in value)
    return isinstance(value, set | frozenset)


def _with_another(stage: Stage, name: str) -> Iterator[Stage]:
    """Yield the stage with another valid value of a setting, if there is one."""
    kind = type(stage)
    schema = kind.model_json_schema().get("properties", {}).get(name, {})
    for value in (*schema.get("enum", ()), *_others(getattr(stage, name))):
        try:
            changed = kind.model_validate({**_dumped(stage), name: value})
        except ValidationError:
            continue
        if changed != stage:
            yield changed
            return


def _others(value: object) -> tuple[object, ...]:
    match value:
        case bool():
            return (not value,)
        case int() | float():
            return (value + 1, value - 1, value / 2, value + 0.1, value - 0.1)
        case str():
            return (f"{value}x", "x", "")
        case list() | tuple():
            return ([], [*value, *value], ["x"], [1])
        case Mapping():
            return ({}, {"x": 1}, {"x": "x"})
        case _:
            return (1, 0.5, "x", True, [], {})
