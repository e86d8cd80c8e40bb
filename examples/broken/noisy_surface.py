"""A plugin whose surface works, but prints at every step."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fumishirube import (
    Answer,
    Call,
    Params,
    Register,
    Stage,
    Surface,
    SurfaceContext,
    Tool,
    hook,
)


class Nothing(Params):
    """No arguments."""


class Loudness(Answer):
    """How loud it was."""

    decibels: int


def shout(arguments: Nothing, call: Call) -> Loudness:
    """Print through Python, past it, and from a child process."""
    print("noisy: tool")  # noqa: T201 - the noise is the point
    os.write(1, b"noisy: tool, past sys.stdout\n")
    child = [sys.executable, "-c", "print('noisy: child of the tool')"]
    subprocess.run(child, check=True)
    return Loudness(decibels=120)


class Noisy(Stage):
    """Offers one tool."""

    pipeline: ClassVar[Mapping[str, Any]] = {}
    root: ClassVar[str] = "manuals"

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        print("noisy: making tools")  # noqa: T201
        return (
            Tool(
                name="noisy_shout",
                title="Shout",
                summary="Make noise.",
                params=Nothing,
                answer=Loudness,
                run=shout,
            ),
        )


@hook
def register_surfaces(register: Register[Surface]) -> None:
    register("noisy-surface", Noisy)
