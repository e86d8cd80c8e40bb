"""The definition of a tool: its arguments, its answer, its caller, and its function.

Answers leave out empty keys, and have limits of their size.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from fumishirube.budget import Budget
from fumishirube.errors import Cancelled, ToolError

Progress = Callable[[float, int, str], None]
"""Called with the number of done steps, also a part of one, of all steps, and a description."""
LIST_CHARS = 24_000
"""The longest list in an answer, in characters: clients cut longer ones."""
ANSWER_CHARS = 48_000
"""The longest answer, in characters, except whole texts; with its frame it is below 50,000."""
Schema: TypeAlias = dict[str, Any]
"""A JSON Schema, as ``dict[str, Any]``."""
Item = TypeVar("Item")
OrAbsent: TypeAlias = Annotated[Item | None, Field(exclude_if=lambda value: value is None)]
"""The type of a field of an answer that is left out when it is ``None``, its default."""


@dataclass
class Session:
    """The state of one connection. Calls of one session may run in several threads.

    Read and change what it keeps with its ``lock``, a ``threading.Lock``.
    """

    lock: Lock = field(default_factory=Lock, init=False)
    _states: dict[type, Any] = field(default_factory=dict, init=False)

    def keep(self, kind: type[Item]) -> Item:
        """Return the session's one object of a class, made on first use, without arguments."""
        if kind not in self._states:
            self._states.setdefault(kind, kind())
        state: Item = self._states[kind]
        return state


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


class InnerCalls(Protocol):
    """What a face does about the calls that a tool makes for one call."""

    def count(self, number: int) -> None:
        """Count further calls against the caller's limit, before the first is made.

        Raises:
            ToolError: when they are too many.
        """
        ...

    def report(
        self,
        tool: str,
        arguments: object,
        answer: Mapping[str, JsonValue],
        error: ToolError | Cancelled | None,
        seconds: float,
    ) -> None:
        """Record one of them, after it was made."""
        ...


@dataclass(frozen=True)
class Call:
    """The caller's context: session (none on the command line), budget, and progress callback.

    ``inner`` records the calls that a tool makes for this one, where calls are recorded.
    """

    session: Session | None = None
    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None
    inner: InnerCalls | None = None


class Question(NamedTuple):
    """A question to the person behind a client: which value an argument shall have."""

    parameter: str
    title: str
    message: str
    choices: Sequence[str]


QuestionMaker: TypeAlias = Callable[[Mapping[str, Any], Session | None], Question | None]
"""Returns the question that the raw arguments of a call leave open, or ``None``."""


class View(NamedTuple):
    """An HTML page, complete in itself, that shows the answers of a tool to a person.

    Clients with MCP Apps show it. Its URI begins with ``ui://``.
    """

    uri: str
    html: str


@dataclass(frozen=True)
class Tool(Generic[P, A]):
    """An operation that callers may use in any face: MCP, HTTP or the command line.

    ``before`` is called with the raw arguments ahead of their check. ``run`` may be called from
    several threads. ``refused`` translates a failure for callers of this tool, given the arguments.
    ``http`` names an HTTP endpoint of the tool's own: ``GET`` or ``POST``, and ``/`` with a name,
    as in ``("GET", "/list_manuals")``. ``http_body`` is the member of the answer that is the body
    of that endpoint, if not the whole answer. ``pages`` names a list in the answer that may be
    long: clients get it in pages. ``quotes`` says that answers contain text or names of documents,
    which are only data. ``text`` renders an answer as text for a model; the default is JSON.
    ``question`` returns a question for the person, whose answer becomes an argument; ``view`` shows
    answers. Both are for clients that support them. Without ``mcp`` the tool is offered in the
    other faces alone.
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
    question: QuestionMaker | None = None
    view: View | None = None
    mcp: bool = True
    examples: Sequence[Mapping[str, JsonValue]] = ()


def check_answer(tool: Tool[P, A], answer: object) -> None:
    """Raise a :class:`TypeError` if a tool answered anything but its answer."""
    if not isinstance(answer, tool.answer):
        raise TypeError(f"{tool.name} answered {type(answer).__name__}")


def fitting(items: Iterable[Item], chars: int = LIST_CHARS) -> Iterator[Item]:
    """Yield items while their JSON fits into so many characters, but at least one."""
    left = chars
    for number, item in enumerate(items):
        left -= json_chars(item)
        if left < 0 and number:
            return
        yield item


def json_chars(item: object) -> int:
    """Return the length of a value as JSON, in characters, or slightly more."""
    shown = item.model_dump() if isinstance(item, BaseModel) else item
    return len(json.dumps(shown, ensure_ascii=False)) + len(", ")


def narrowed_params(
    params: type[P], withheld: Collection[str], replaced: Mapping[str, Any] | None = None
) -> type[P]:
    """Return parameters without the ``withheld`` ones, which are refused like unknown names.

    Withheld parameters must be optional: the tool uses their defaults. ``replaced`` gives other
    types to parameters that remain.
    """
    types = dict(replaced or {})
    if not withheld and not types:
        return params
    fields: dict[str, Any] = {
        name: (types[name], ...) if name in types else (info.annotation, info)
        for name, info in params.model_fields.items()
        if name not in withheld
    }
    narrowed = create_model(params.__name__, __base__=Params, __doc__=params.__doc__, **fields)
    for name in withheld:
        setattr(narrowed, name, params.model_fields[name].default)
    for name, member in vars(params).items():
        if isinstance(member, property):  # the tool reads the defaults of withheld parameters
            setattr(narrowed, name, member)
    return cast("type[P]", narrowed)


def json_type(value: object) -> str:
    """Return the JSON name of a value's type."""
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "object" if isinstance(value, dict) else "array"


def accepted(schema: Schema) -> frozenset[str]:
    """Return the JSON types that a schema accepts; empty if it does not say."""
    kinds = schema.get("type", ())
    types = {kinds} if isinstance(kinds, str) else set(kinds)
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    types.update(json_type(value) for value in values)
    return frozenset(types.union(*(accepted(member) for member in union_members(schema))))


def union_members(schema: Schema) -> list[Schema]:
    """Return the schemas of which a value fits one."""
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
