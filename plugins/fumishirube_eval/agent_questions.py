"""Questions for agents, and the facts of right answers, as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fumishirube import ConfigError

EVERYWHERE = "*"
"""The manual of a question whose answer may be in any manual."""

Text = Annotated[str, Field(min_length=1)]
R = TypeVar("R", bound=BaseModel)


class QuestionLine(BaseModel):
    """A line of the file of questions; other keys are ignored."""

    model_config = ConfigDict(frozen=True)

    id: Text
    manual: Text = EVERYWHERE
    kind: str = ""
    question: Text


class GoldLine(BaseModel):
    """A line of the file of answers: a reference answer, and facts worth one point each."""

    model_config = ConfigDict(frozen=True)

    id: Text
    answer: str = ""
    must_have: Annotated[tuple[Text, ...], Field(min_length=1)]


@dataclass(frozen=True)
class AgentQuestion:
    """A question, the manual of its answer, and the facts of a right answer."""

    id: str
    manual: str
    kind: str
    text: str
    answer: str
    facts: tuple[str, ...]


def load_agent_questions(questions: Path, gold: Path) -> list[AgentQuestion]:
    """Read questions and their facts.

    Raises:
        ConfigError: with the file and line of an error, or when a question has no facts.
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
    """Return the questions with the given ids; all of them for no ids.

    Raises:
        ConfigError: when there is no question with an id.
    """
    by_id = {question.id: question for question in questions}
    for name in ids:
        if name not in by_id:
            raise ConfigError(f"--id: there is no question {name!r}")
    return [by_id[name] for name in ids] if ids else list(questions)


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
