"""``manual_batch``: several calls of the manual tools in one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Annotated, Any

from pydantic import Field, JsonValue

from fumishirube import Answer, Budget, Call, Cancelled, InvalidParameter, Params, Tool, ToolError
from fumishirube.tools import (
    ANSWER_CHARS,
    OrAbsent,
    call_tool,
    compact,
    error_payload,
    paged,
    unpack_arguments,
)
from fumishirube_manual.surface import ManualSurface

CALLS = 5
TIME_MS = 40_000
"""The time limit of all calls together; each has an equal share of what the ones before left."""
BATCH_CHARS = ANSWER_CHARS // 2
"""When the answers have this many characters, no further call is made."""


class BatchedCall(Params):
    """A tool and its arguments."""

    tool: str
    arguments: Annotated[dict[str, JsonValue], Field(default_factory=dict)]


class BatchParams(Params):
    """The calls, in order."""

    calls: Annotated[tuple[BatchedCall, ...], Field(min_length=1, max_length=CALLS)]


class BatchedAnswer(Answer):
    """The answer of one call, or its error; neither if the call was not made."""

    tool: str
    answer: OrAbsent[dict[str, JsonValue]] = None
    error: OrAbsent[dict[str, JsonValue]] = None


class BatchAnswer(Answer):
    """The answers, in the order of the calls."""

    items: tuple[BatchedAnswer, ...]


def batch_tool(
    tools: Sequence[Tool[Any, Any]], settings: ManualSurface
) -> Tool[BatchParams, BatchAnswer]:
    """Return the tool, which calls ``tools``.

    Each call is checked and answered as if it were made alone; its error does not end the others.
    """
    named = {tool.name: paged(tool) for tool in tools}

    def run(params: BatchParams, call: Call) -> BatchAnswer:
        for number, batched in enumerate(params.calls):
            if batched.tool not in named:
                raise InvalidParameter(
                    f"calls[{number}].tool must be one of {', '.join(named)}",
                    parameter=f"calls[{number}].tool",
                )
        if call.inner is not None:
            call.inner.count(len(params.calls) - 1)
        call = replace(call, budget=call.budget.part(TIME_MS))
        left = BATCH_CHARS
        items = []
        for number, batched in enumerate(params.calls):
            share = _share(call.budget, len(params.calls) - number)
            item = (
                _answer(named[batched.tool], batched, replace(call, budget=share))
                if left > 0
                else BatchedAnswer(tool=batched.tool)
            )
            left -= len(_text(named[batched.tool], item))
            items.append(item)
        return BatchAnswer(items=tuple(items))

    def text(answer: Mapping[str, JsonValue]) -> str:
        rows: Any = answer["items"]
        items = [BatchedAnswer(**row) for row in rows]
        return "\n\n".join(
            f"## {number} {item.tool}\n{_text(named[item.tool], item)}"
            for number, item in enumerate(items, 1)
        )

    return Tool(
        name="manual_batch",
        title="Make several calls at once",
        summary=(
            f"Returns the answers of up to {CALLS} calls of manual_* tools at once, such as a "
            "search with patterns, or ranges with patterns."
        ),
        params=BatchParams,
        answer=BatchAnswer,
        run=run,
        text=text if "plain" in settings.extras else None,
        examples=(
            {
                "calls": [
                    {"tool": "manual_ls"},
                    {"tool": "manual_grep", "arguments": {"any": ["TX-22"], "manual_id": "*"}},
                ]
            },
        ),
    )


def _share(budget: Budget, calls: int) -> Budget:
    """Return the budget of the first of some calls: an equal share of the time that is left."""
    return budget.part(int(1000 * (budget.left or 0) / calls))


def _answer(tool: Tool[Any, Any], batched: BatchedCall, call: Call) -> BatchedAnswer:
    began, answer = monotonic(), None
    failed: ToolError | Cancelled | None = None
    try:
        answer = call_tool(tool, unpack_arguments(tool, batched.arguments), call)
    except (ToolError, Cancelled) as raised:
        failed = raised
    if call.inner is not None:
        seconds = monotonic() - began
        call.inner.report(tool.name, batched.arguments, answer or {}, failed, seconds)
    if isinstance(failed, Cancelled):
        raise failed
    error = error_payload(failed) if failed else None
    return BatchedAnswer(tool=tool.name, answer=answer, error=error)


def _text(tool: Tool[Any, Any], item: BatchedAnswer) -> str:
    if item.answer is not None:
        return tool.text(item.answer) if tool.text else compact(item.answer)
    if item.error is not None:
        return f"error: {compact(item.error)}"
    return "not called: the answers above fill the page; call it by itself"
