"""Stages of no kind in particular, each wrong in one way that the contract of all kinds names."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import ConfigDict, PrivateAttr, field_serializer

from fumishirube import Passage, Stage
from fumishirube.testing import StageContract
from fumishirube.testing.samples import PASSAGES


@runtime_checkable
class Working(Protocol):
    def work(self, folder: Path, passage: Passage) -> object: ...
    def rest(self) -> None: ...


class Sound(Stage):
    """Works."""

    size: int = 1

    def work(self, folder: Path, passage: Passage) -> object:
        (folder / "kept").write_text(passage.title)
        return passage.title

    def rest(self) -> None: ...


class Bare(StageContract[Any]):
    protocol = Working

    def exercise(self, stage: Any, folder: Path) -> object:
        return stage.work(folder, PASSAGES[0])


class TestSound(Bare):
    breaks = ()
    stage = Sound()


class _Restless(Stage):
    """Has half of the verbs."""

    def work(self, folder: Path, passage: Passage) -> object:
        return passage.title


class TestRestless(Bare):
    breaks = ("test_it_implements_the_protocol_of_its_kind",)
    stage = _Restless()


class _Silent(Sound):
    pass


class TestSilent(Bare):
    breaks = ("test_it_has_a_docstring",)
    stage = _Silent()


class _Soft(Sound):
    """Can be assigned to."""

    model_config = ConfigDict(frozen=False)


class TestSoft(Bare):
    breaks = ("test_settings_are_frozen",)
    stage = _Soft()


class _Open(Sound):
    """Takes any setting."""

    model_config = ConfigDict(extra="ignore")


class TestOpen(Bare):
    breaks = ("test_unknown_settings_are_refused",)
    stage = _Open()


class _Forgetful(Sound):
    """Writes a setting other than it is."""

    @field_serializer("size")
    def _larger(self, size: int) -> int:
        return size + 1


class TestForgetful(Bare):
    breaks = ("test_settings_survive_json",)
    stage = _Forgetful()


class _Callable(Sound):
    """Has a setting that no file can hold."""

    how: Callable[[], None] | None = None


class TestCallable(Bare):
    # The fingerprint's contract reads the schema, to find another value.
    breaks = ("test_settings_have_a_json_schema", "test_the_fingerprint_follows_the_settings")
    stage = _Callable()


class _Unordered(Sound):
    """Has a set among its settings."""

    words: frozenset[str] = frozenset({"one"})


class TestUnordered(Bare):
    breaks = ("test_settings_have_an_order",)
    stage = _Unordered()


class _Anonymous(Sound):
    """Has the same fingerprint whatever its settings."""

    @cached_property
    def fingerprint(self) -> str:
        return "00000000"


class TestAnonymous(Bare):
    breaks = ("test_the_fingerprint_follows_the_settings",)
    stage = _Anonymous()


class _Moody(Sound):
    """Answers by the name of its folder."""

    def work(self, folder: Path, passage: Passage) -> object:
        return folder.name == "twice"


class TestMoody(Bare):
    breaks = ("test_it_does_the_same_every_time",)
    stage = _Moody()


class _Shy(Sound):
    """Answers in the main thread only."""

    def work(self, folder: Path, passage: Passage) -> object:
        return threading.current_thread() is threading.main_thread()


class TestShy(Bare):
    breaks = ("test_it_does_the_same_in_several_threads",)
    stage = _Shy()


class _Shuffled(Sound):
    """Goes through a set."""

    def work(self, folder: Path, passage: Passage) -> object:
        return list({*passage.fields["body"].split(), *"abcdefghijklmnop"})


class TestShuffled(Bare):
    breaks = ("test_it_does_the_same_in_another_process",)
    stage = _Shuffled()


class _Changeling(Sound):
    """Runs as something else."""

    @contextmanager
    def open(self) -> Iterator[Sound]:
        yield _Shuffled()


class TestChangeling(Bare):
    breaks = ("test_its_running_form_has_the_same_results",)
    stage = _Changeling()


class _Chatty(Sound):
    """Prints."""

    def work(self, folder: Path, passage: Passage) -> object:
        print("working")  # noqa: T201 - that is what is wrong with it
        return super().work(folder, passage)


class TestChatty(Bare):
    breaks = ("test_it_writes_no_file_and_prints_nothing",)
    stage = _Chatty()


class _Littering(Sound):
    """Leaves a file wherever it is."""

    def work(self, folder: Path, passage: Passage) -> object:
        Path("litter.txt").write_text("left")
        return super().work(folder, passage)


class TestLittering(Bare):
    breaks = ("test_it_writes_no_file_and_prints_nothing",)
    stage = _Littering()


class _Straying(Sound):
    """Writes beside its folder."""

    def work(self, folder: Path, passage: Passage) -> object:
        with suppress(OSError):
            folder.with_name("stray.txt").write_text("stray")
        return super().work(folder, passage)


class TestStraying(Bare):
    breaks = ("test_it_writes_only_where_it_may",)
    stage = _Straying()


class _Deleting(Sound):
    """Deletes what lies beside its folder."""

    def work(self, folder: Path, passage: Passage) -> object:
        with suppress(OSError):
            folder.with_name("absent.txt").unlink()
        return super().work(folder, passage)


class TestDeleting(Bare):
    breaks = ("test_it_writes_only_where_it_may",)
    stage = _Deleting()


class _Calling(Sound):
    """Calls somebody, and does not mind when nobody is there."""

    def work(self, folder: Path, passage: Passage) -> object:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", 9), timeout=1).close()
        return super().work(folder, passage)


class TestCalling(Bare):
    breaks = ("test_it_needs_no_network",)
    stage = _Calling()


class _Resolving(Sound):
    """Looks a name up."""

    def work(self, folder: Path, passage: Passage) -> object:
        with suppress(OSError):
            socket.getaddrinfo("localhost", 80)
        return super().work(folder, passage)


class TestResolving(Bare):
    breaks = ("test_it_needs_no_network",)
    stage = _Resolving()


class _Counting(Sound):
    """Counts how often it was used."""

    _uses: int = PrivateAttr(default=0)

    def work(self, folder: Path, passage: Passage) -> object:
        self._uses += 1
        return super().work(folder, passage)


class TestCounting(Bare):
    breaks = ("test_use_does_not_change_it",)
    stage = _Counting()


class _Scribbling(Sound):
    """Writes into the passage that it is shown."""

    def work(self, folder: Path, passage: Passage) -> object:
        passage.fields["body"] += "!"  # type: ignore[index]
        return super().work(folder, passage)


class TestScribbling(Bare):
    breaks = ("test_it_changes_no_argument",)
    stage = _Scribbling()
