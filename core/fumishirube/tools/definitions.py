"""What a tool is made of: its arguments, its answer, who calls it, and what it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from fumishirube.errors import ToolError
from fumishirube.query import Budget


@dataclass
class ReadPosition:
    """The last section that a session read of one file, how far it got, and in which text."""

    start_line: int
    next_offset: int
    text_hash: int


@dataclass
class DeliveredRanges:
    """What a session has been given of one file: ranges of characters of one text, merged."""

    text_hash: int
    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Add a range, and merge it with those that it touches."""
        apart = [(a, b) for a, b in self.ranges if b < start or a > end]
        joined = [(a, b) for a, b in self.ranges if (a, b) not in apart]
        whole = (min([start, *(a for a, _ in joined)]), max([end, *(b for _, b in joined)]))
        self.ranges = sorted([*apart, whole])

    def holds(self, start: int, end: int) -> bool:
        """Tell whether every character of a range has been given."""
        return any(a <= start and end <= b for a, b in self.ranges)


@dataclass
class Session:
    """The memory of one connection. Calls of one session may run in several threads."""

    discovered: bool = False
    readings: dict[tuple[str, str], ReadPosition] = field(default_factory=dict)
    deliveries: dict[tuple[str, str], DeliveredRanges] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class Params(BaseModel):
    """The arguments of a tool: strict, closed, frozen. ``true`` is not 1, and ``"1"`` is not 1.

    With ``null_is_absent`` a null for an optional argument is as if it were not there.
    """

    null_is_absent: ClassVar[bool] = True

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Answer(BaseModel):
    """The answer of a tool, checked before it leaves."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


P = TypeVar("P", bound=Params)
A = TypeVar("A", bound=Answer)

Progress = Callable[[int, int, str], None]
"""Called with how much is done, how much there is, and what is being done."""


@dataclass(frozen=True)
class Call:
    """Who calls: the session (none on the command line), its budget, and who watches progress."""

    session: Session | None = None
    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None


@dataclass(frozen=True)
class Tool(Generic[P, A]):
    """Something a caller may use, whatever the face: MCP, HTTP or the command line.

    ``before`` is checked ahead of the arguments, which it gets as they came.
    ``run`` may be called from several threads.
    ``refused`` puts a failure into the words that this tool's callers know, given the arguments.
    ``http`` names an HTTP endpoint of the tool's own, ``("GET", "/list_manuals")``, and
    ``http_body`` the member of the answer that is that endpoint's whole body, if not all of it.
    ``pages`` names the member of the answer that is a list, if it may outgrow an answer: clients
    get it in pages.
    ``quotes`` says that answers hold text, or names, from documents, which are data only.
    ``text`` writes an answer down as a model reads it, beside the object; JSON without it.
    """

    name: str
    title: str
    summary: str
    params: type[P]
    answer: type[A]
    run: Callable[[P, Call], A]
    before: Callable[[Call, object], None] | None = None
    refused: Callable[[ToolError, object], ToolError] | None = None
    http: tuple[str, str] | None = None
    http_body: str | None = None
    pages: str | None = None
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    quotes: bool = True
    text: Callable[[Mapping[str, JsonValue]], str] | None = None
    examples: Sequence[Mapping[str, JsonValue]] = ()
