"""A surface whose tools have HTTP endpoints of their own, and fail in every way that tools do.

It is a plugin for processes whose `PYTHONPATH` holds this folder.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fumishirube import (
    Answer,
    Call,
    NotFound,
    Params,
    Register,
    Stage,
    Surface,
    SurfaceContext,
    Tool,
    hook,
)


class NamesParams(Params):
    pass


class NamesAnswer(Answer):
    names: tuple[str, ...]


class PageParams(Params):
    manual_name: str
    page: Annotated[int, Field(ge=1, le=1000)] = 1
    deep: bool = False
    weight: float = 0.5
    words: tuple[str, ...] = ()


class PageAnswer(Answer):
    manual: str
    page: int
    deep: bool
    weight: float
    words: tuple[str, ...]


class SearchParams(Params):
    null_is_absent: ClassVar[bool] = False

    manual_name: str
    query: Annotated[str, Field(max_length=1000)]
    section_id: str | None = None
    mode: Literal["plain", "loose"] = "plain"
    limit: Annotated[int, Field(ge=1, le=100)] = 10


class Result(Answer):
    section_id: str
    snippet: str


class SearchAnswer(Answer):
    results: tuple[Result, ...]


class WaitParams(Params):
    mark: str
    seconds: float = 60


class Probe(Stage):
    """Offers tools that echo, fail and wait."""

    pipeline: ClassVar[Mapping[str, Any]] = {}
    root: ClassVar[str] = "manuals"

    broken: bool = False

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools."""

        def names(_: NamesParams, call: Call) -> NamesAnswer:
            return NamesAnswer(names=("給付編", "事務編"))

        def page(params: PageParams, call: Call) -> PageAnswer:
            if params.manual_name != "給付編":
                raise NotFound(f"manual {params.manual_name[:80]!r} was not found")
            told = params.model_dump(exclude={"manual_name"})
            return PageAnswer(manual=params.manual_name, **told)

        def wait(params: WaitParams, call: Call) -> NamesAnswer:
            folder = context.root.path
            (folder / f"{params.mark}.began").touch()
            patience = time.monotonic() + params.seconds
            while time.monotonic() < patience:
                if call.budget.cancelled.wait(0.02):
                    (folder / f"{params.mark}.cancelled").touch()
                    call.budget.check()
            return NamesAnswer(names=())

        if self.broken:
            return _broken(names)
        return (
            Tool(
                name="probe_names",
                title="Names",
                summary="List names.",
                params=NamesParams,
                answer=NamesAnswer,
                run=names,
                http=("GET", "/probe_names"),
                http_body="names",
            ),
            Tool(
                name="probe_page",
                title="A page",
                summary="Echo what a query string can hold.",
                params=PageParams,
                answer=PageAnswer,
                run=page,
                http=("GET", "/probe_page"),
            ),
            Tool(
                name="probe_search",
                title="Search",
                summary="Echo what a body can hold.",
                params=SearchParams,
                answer=SearchAnswer,
                run=_search,
                http=("POST", "/probe_search"),
                examples=({"manual_name": "給付編", "query": "帝王切開"},),
            ),
            Tool(
                name="probe_wait",
                title="Wait",
                summary="Wait until nobody waits.",
                params=WaitParams,
                answer=NamesAnswer,
                run=wait,
                http=("POST", "/probe_wait"),
            ),
        )


def _search(params: SearchParams, call: Call) -> SearchAnswer:
    if params.query == "boom":
        raise RuntimeError(f"a secret: {params.query}")
    if params.query == "group":
        members = [KeyError("a secret"), ExceptionGroup("a secret", [ZeroDivisionError()])]
        raise ExceptionGroup("a secret", members)
    if params.query == "exit":
        raise SystemExit(3)
    result = Result(section_id=params.section_id or "01", snippet=params.query[:80])
    return SearchAnswer(results=(result,) * min(params.limit, 3))


def _broken(run: Any) -> Sequence[Tool[Any, Any]]:
    """Return tools whose endpoints cannot be, and one that is well."""
    endpoints: list[tuple[tuple[str, str], str | None]] = [
        (("GET", "/probe_good"), None),
        (("GET", "/probe_good"), None),
        (("GET", "/healthz"), None),
        (("PUT", "/probe_put"), None),
        (("GET", "probe"), None),
        (("GET", "/tools/{name}"), None),
        (("GET", "/probe_body"), "nothing"),
    ]
    return [
        Tool(
            name=f"probe_{number}",
            title="Names",
            summary="List names.",
            params=NamesParams,
            answer=NamesAnswer,
            run=run,
            http=http,
            http_body=http_body,
        )
        for number, (http, http_body) in enumerate(endpoints)
    ]


@hook
def register_surfaces(register: Register[Surface]) -> None:
    register("probe", Probe)
