"""Processes that write notes, to be run side by side, or killed; `test_vault_crashes` drives them.

``count``, ``mark`` and ``create`` race each other. ``kills`` kills its own children at random
moments, ``points`` at every step that the operating system sees; both check what is left.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manuals import opened

from fumishirube import Call, Conflict, ToolError
from fumishirube.host.application import Application

STEPS = frozenset({"open", "os.rename", "os.link", "os.remove", "os.mkdir"})
"""The audit events at which ``points`` kills; together they are every change to a folder."""
BODY = "<{}>\n" * 200


class Vault:
    """The tools of a vault, called in this process."""

    def __init__(self, workspace: Path) -> None:
        self.application: Application = opened(workspace)
        self.folder = self.application.loaded.folder("vault")

    def call(self, name: str, **given: Any) -> Any:
        tool = self.application.tools.get(name) or self.application.commands[name]
        return tool.run(tool.params(**given), Call())

    def left_over(self) -> list[str]:
        """Return what an unfinished write left."""
        names = [path.name for path in self.folder.rglob("*")]
        return [name for name in names if name.startswith("._") or name.endswith(".intent")]


def report(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


# --- races -----------------------------------------------------------------------------------


def count(vault: Vault, times: str) -> None:
    """Raise a number by one, so often, whoever else does; each time it is the one just read."""
    done = conflicts = 0
    while done < int(times):
        read = vault.call("vault_read", path="count.md", full=True)
        number = int(read.text[1 : read.text.index(">")])
        assert read.text == BODY.replace("{}", str(number)), "a torn read"
        given = {"find": f"<{number}>", "replace": f"<{number + 1}>", "max_replacements": 999}
        try:
            vault.call("vault_replace", path="count.md", **given, expected_hash=read.content_hash)
            done += 1
        except Conflict:
            conflicts += 1
    report({"done": done, "conflicts": conflicts})


def mark(vault: Vault, name: str, times: str) -> None:
    """Change one's own line of a note that everybody writes, and a note of one's own."""
    for number in range(int(times)):
        given = {"find": f"{name}:{number}\n", "replace": f"{name}:{number + 1}\n"}
        assert vault.call("vault_replace", path="marks.md", **given).replacements == 1
        vault.call("vault_create", path=f"{name}/{number}.md", content=name)
    report({})


def create(vault: Vault, name: str, times: str) -> None:
    """Create notes that others create too; tell which were one's own."""
    won = []
    for number in range(int(times)):
        try:
            vault.call("vault_create", path=f"same/{number}.md", content=name * 1000)
            won.append(number)
        except Conflict:
            pass
    report({"won": won})


# --- random kills ----------------------------------------------------------------------------


def churn(vault: Vault, folder: str, tell: Callable[[Any], None]) -> None:
    """Write without end; announce each write, and confirm it when the tool has answered."""
    chosen = random.Random(folder)
    states: dict[str, list[str | None]] = {}
    number = 0
    while True:
        number += 1
        path = chosen.choice([*states, f"{folder}/{number}.md"])
        past = states.setdefault(path, [None])
        text = past[-1]
        if text is None and len(past) > 1:
            continue
        if text is None:
            made: str | None = f"<{number}>\n" * chosen.choice([1, 10, 20_000])
            tell([path, made])
            vault.call("vault_create", path=path, content=made)
            past.append(made)
        elif chosen.random() < 0.7:
            made = text.replace(text[: text.index("\n")], f"<{number}>")
            given = {"find": text[: text.index("\n")], "replace": f"<{number}>"}
            tell([path, made])
            vault.call("vault_replace", path=path, **given, max_replacements=10**6)
            past.append(made)
        else:
            tell([path, past[-2]])
            vault.call("vault_undo", path=path)
            past.pop()
        tell([])


def kills(workspace: Path, rounds: str, seed: str) -> None:
    """Kill a writer at a random moment, so often; every confirmed write has to be there."""
    moments = random.Random(seed)
    confirmed = unconfirmed = 0
    vault = Vault(workspace)
    for number in range(int(rounds)):
        lines = _killed(vault, f"r{number}", moments)
        notes: dict[str, set[str | None]] = {}
        for place in range(0, len(lines) - 1, 2):
            notes[lines[place][0]] = {lines[place][1]}
            confirmed += 1
        if len(lines) % 2:
            path, made = lines[-1]
            notes[path] = notes.get(path, {None}) | {made}
            unconfirmed += 1
        with vault.application.lifespan():
            pass
        for path, allowed in notes.items():
            file = vault.folder / path
            held = file.read_text() if file.exists() else None
            assert held in allowed, f"round {number}: {path} is neither old nor new"
        there = {f"r{number}/{file.name}" for file in (vault.folder / f"r{number}").glob("*")}
        assert there <= set(notes), f"round {number}: {there - set(notes)}"
        assert not vault.left_over(), f"round {number}: {vault.left_over()}"
    report({"confirmed": confirmed, "unconfirmed": unconfirmed})


def _killed(vault: Vault, folder: str, moments: random.Random) -> list[Any]:
    """Let a child write a few times, kill it soon after, and return what it told."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        churn(vault, folder, lambda told: _tell(writing, told))
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        lines = [told.readline() for _ in range(moments.randint(1, 12))]
        time.sleep(moments.uniform(0, 0.01))
        os.kill(child, signal.SIGKILL)
        lines += told.read().splitlines(keepends=True)
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def _tell(writing: int, told: Any) -> None:
    data = json.dumps(told).encode() + b"\n"
    while data:
        data = data[os.write(writing, data) :]


# --- a kill at every step --------------------------------------------------------------------

OPERATIONS: dict[str, tuple[Callable[[Vault], Any], str, set[str | None]]] = {
    "create": (
        lambda vault: vault.call("vault_create", path="new/x.md", content="new\n"),
        "new/x.md",
        {None, "new\n"},
    ),
    "replace": (
        lambda vault: vault.call("vault_replace", path="a.md", find="two", replace="three"),
        "a.md",
        {"two\n", "three\n"},
    ),
    "undo": (lambda vault: vault.call("vault_undo"), "a.md", {"one\n", "two\n"}),
    "remove": (
        lambda vault: (vault.call("vault_undo"), vault.call("vault_undo")),
        "a.md",
        {None, "one\n", "two\n"},
    ),
}


def points(workspace: Path, name: str) -> None:
    """Kill a writer at its first step, its second, and so on, until it is through."""
    operation, path, allowed = OPERATIONS[name]
    killed = 0
    seen = set()
    vault = Vault(workspace)
    while True:
        shutil.rmtree(vault.folder)
        vault.call("vault_create", path="a.md", content="one\n")
        vault.call("vault_replace", path="a.md", find="one", replace="two")
        child = os.fork()
        if not child:
            with _killing_at(killed + 1):
                operation(vault)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the writer failed by itself"
            break
        killed += 1
        with vault.application.lifespan():
            pass
        file = vault.folder / path
        held = file.read_text() if file.exists() else None
        seen.add(held)
        assert held in allowed, f"step {killed}: {held!r}"
        assert not vault.left_over(), f"step {killed}: {vault.left_over()}"
        _all_taken_back(vault, killed)
    assert seen == allowed, "no kill came before, or none after the change"
    report({"killed": killed})


def _all_taken_back(vault: Vault, step: int) -> None:
    """See that the journal tells the truth: taking everything back leads to no notes at all."""
    code = ""
    while not code:
        try:
            vault.call("vault_undo")
        except ToolError as error:
            code = error.code
    assert code == "not_found", f"step {step}: {code}"
    assert not list(vault.folder.rglob("*.md")), f"step {step}: something cannot be taken back"


@contextmanager
def _killing_at(step: int) -> Iterator[None]:
    left = step
    active = True

    def watch(event: str, _: Any) -> None:
        nonlocal left
        if active and event in STEPS:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    yield
    active = False


def main(verb: str, workspace: str, *more: str) -> None:
    if verb in {"kills", "points"}:
        {"kills": kills, "points": points}[verb](Path(workspace), *more)
    else:
        vault = Vault(Path(workspace))
        report("ready")
        sys.stdin.readline()
        {"count": count, "mark": mark, "create": create}[verb](vault, *more)


if __name__ == "__main__":
    main(*sys.argv[1:])
