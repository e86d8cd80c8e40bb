"""A server of small tools over standard input and output, started by the tests as a process."""

import gc

gc.disable()

from fumishirube.host.standard_streams import claim_wire, exit_now  # noqa: E402

wire = claim_wire()

import os  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from dataclasses import replace  # noqa: E402
from threading import Thread  # noqa: E402
from typing import Annotated, Any, ClassVar  # noqa: E402

from pydantic import Field  # noqa: E402

from fumishirube.errors import InvalidParameter, InvalidPath, NotFound  # noqa: E402
from fumishirube.host.catalog import Catalog, CatalogPublisher  # noqa: E402
from fumishirube.host.logs import QUIET_LEVEL, start_logs  # noqa: E402
from fumishirube.tools.argument_errors import FailsWith  # noqa: E402
from fumishirube.tools.definitions import Answer, Call, Params, Tool  # noqa: E402
from fumishirube.tools.resources import Prompt  # noqa: E402


class Options(Params):
    limit: Annotated[int, Field(ge=1)] = 5


class EchoParams(Params):
    text: str = ""
    items: tuple[str, ...] | None = None
    options: Options | None = None
    path: Annotated[str, FailsWith(InvalidPath)] = "a"


class EchoAnswer(Answer):
    text: str
    items: tuple[str, ...] | None
    limit: int | None
    session: int


class SecondsParams(Params):
    seconds: float = 30.0


class TextAnswer(Answer):
    text: str


class FailParams(Params):
    how: str


class OddAnswer(Answer):
    text: str
    big: int | str


def echo(params: EchoParams, call: Call) -> EchoAnswer:
    assert call.session is not None
    limit = params.options.limit if params.options else None
    return EchoAnswer(text=params.text, items=params.items, limit=limit, session=id(call.session))


def slow(params: SecondsParams, call: Call) -> TextAnswer:
    until = time.monotonic() + params.seconds
    sys.stderr.write("slow began\n")
    sys.stderr.flush()
    try:
        while time.monotonic() < until:
            call.budget.check()
            time.sleep(0.005)
    finally:
        sys.stderr.write(f"slow ended, cancelled={call.budget.cancelled.is_set()}\n")
        sys.stderr.flush()
    return TextAnswer(text="done")


def stubborn(params: SecondsParams, call: Call) -> TextAnswer:
    time.sleep(params.seconds)
    return TextAnswer(text="done")


def fail(params: FailParams, call: Call) -> TextAnswer:
    if params.how == "code":
        raise NotFound("there is no such thing", path="x.md")
    if params.how == "surrogate":
        raise InvalidParameter("bad \ud800 name", parameter="\udcff")
    if params.how == "details":
        raise NotFound("odd", reason=object())  # type: ignore[arg-type]
    if params.how == "exit":
        sys.exit(3)
    if params.how == "wrong":
        return EchoAnswer(text="", items=None, limit=None, session=0)  # type: ignore[return-value]
    if params.how == "thread":
        thread = Thread(target=fail, args=(FailParams(how="unexpected"), call))
        thread.start()
        thread.join()
        return TextAnswer(text="")
    raise RuntimeError(f"secret text: {params.how}")


def steps(params: SecondsParams, call: Call) -> TextAnswer:
    for done in range(101):
        if call.progress is not None:
            call.progress(done, 100, f"step {done}")
        time.sleep(params.seconds / 100)
    return TextAnswer(text="none" if call.progress is None else "reported")


def odd(params: Params, call: Call) -> OddAnswer:
    return OddAnswer(text="file-\udcff.md", big=2**60)


def noisy(params: Params, call: Call) -> TextAnswer:
    print("printed by a tool")  # noqa: T201 - that it does no harm is tested
    sys.stdout.flush()
    script = "import sys; print('printed by a child'); print(repr(sys.stdin.read()))"
    subprocess.run([sys.executable, "-c", script], check=True)
    return TextAnswer(text=repr(sys.stdin.read()))


class Litter:
    """Refers to itself, so that only the collector frees it, and says when that happens."""

    kept: ClassVar[list[Any]] = []

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        sys.stderr.write("litter was collected\n")


def litter(params: Params, call: Call) -> TextAnswer:
    """Drop something so old that the collector's quick rounds no longer look at it."""
    Litter.kept.append(Litter())
    for generation in range(2):
        gc.collect(generation)
    Litter.kept.clear()
    return TextAnswer(text="dropped")


def swap(params: Params, call: Call) -> TextAnswer:
    """Offer one tool less from now on."""
    PUBLISHER.publish(replace(PUBLISHER.catalog, tools=PUBLISHER.catalog.tools[:-1]))
    return TextAnswer(text="swapped")


def tool(name: str, params: type[Params], answer: type[Answer], run: Any) -> Tool[Any, Any]:
    return Tool(name, name.title(), f"The {name} tool.", params, answer, run)


class NoParams(Params):
    pass


TOOLS = [
    Tool("echo", "Echo", "Says it again.", EchoParams, EchoAnswer, echo, examples=[{"text": "a"}]),
    tool("slow", SecondsParams, TextAnswer, slow),
    tool("stubborn", SecondsParams, TextAnswer, stubborn),
    tool("fail", FailParams, TextAnswer, fail),
    tool("steps", SecondsParams, TextAnswer, steps),
    tool("odd", NoParams, OddAnswer, odd),
    tool("noisy", NoParams, TextAnswer, noisy),
    tool("litter", NoParams, TextAnswer, litter),
    tool("swap", NoParams, TextAnswer, swap),
]
PUBLISHER = CatalogPublisher(
    Catalog(
        TOOLS,
        prompts=[Prompt("hello", "Hello", "Says hello.", lambda _: "hello")],
        instructions="Try echo.",
    )
)


def main() -> None:
    from fumishirube.faces.mcp import run_stdio  # noqa: PLC0415 - heavy, and only wanted here

    start_logs(os.environ.get("FIXTURE_LOG", QUIET_LEVEL), places=False)
    print("printed at start")  # noqa: T201 - the same
    run_stdio(PUBLISHER, name="fixture", wire=wire)
    exit_now()


if __name__ == "__main__":
    main()
