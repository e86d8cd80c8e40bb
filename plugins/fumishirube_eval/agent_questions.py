"""Questions for agents, and the facts that a right answer holds, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fumishirube import ConfigError

EVERYWHERE = "*"
"""The manual of a question that does not say where its answer is."""

Text = Annotated[str, Field(min_length=1)]
R = TypeVar("R", bound=BaseModel)


class QuestionLine(BaseModel):
    """A line of the file of questions; other keys are passed over."""

    model_config = ConfigDict(frozen=True)

    id: Text
    manual: Text = EVERYWHERE
    kind: str = ""
    question: Text


class GoldLine(BaseModel):
    """A line of the file of answers: a reference answer, and the facts that are a point each."""

    model_config = ConfigDict(frozen=True)

    id: Text
    answer: str = ""
    must_have: Annotated[tuple[Text, ...], Field(min_length=1)]


@dataclass(frozen=True)
class AgentQuestion:
    """A question, where its answer is, and what a right answer holds."""

    id: str
    manual: str
    kind: str
    text: str
    answer: str
    facts: tuple[str, ...]


def load_agent_questions(questions: Path, gold: Path) -> list[AgentQuestion]:
    """Read questions and their facts.

    Raises:
        ConfigError: with the file's name and the line of what is wrong, or when a question has no
            facts.
    """
    facts = {line.id: line for line in _lines(gold, GoldLine)}
    loaded: list[AgentQuestion] = []
    for line in _lines(questions, QuestionLine):
        if line.id not in facts:
            raise ConfigError(f"{gold.name}: it has no facts for question {line.id!r}")
        if any(question.id == line.id for question in loaded):
            raise ConfigError(f"{questions.name}: two questions have the id {line.id!r}")
        reference = facts[line.id]
        loaded.append(
            AgentQuestion(
                *(line.id, line.manual, line.kind, line.question),
                *(reference.answer, reference.must_have),
            )
        )
    if not loaded:
        raise ConfigError(f"{questions.name}: there are no questions in it")
    return loaded


def chosen_questions(questions: Sequence[AgentQuestion], ids: Sequence[str]) -> list[AgentQuestion]:
    """Return the questions of the given ids, or all.

    Raises:
        ConfigError: when there is no such question.
    """
    known = {question.id: question for question in questions}
    for name in ids:
        if name not in known:
            raise ConfigError(f"--id: there is no question {name!r}")
    return [known[name] for name in ids] if ids else list(questions)


def _lines(file: Path, model: type[R]) -> Iterator[R]:
    try:
        content = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; is it a file?") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{file.name} line {number}"
        try:
            yield model.model_validate(json.loads(line.decode("utf-8")))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ConfigError(f"{where}: {key}: {first['msg']}") from error
        except ValueError as error:  # neither UTF-8 nor JSON
            raise ConfigError(f"{where}: it is not usable as JSON") from error
