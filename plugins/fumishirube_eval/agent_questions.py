"""Questions for agents, and the facts of right answers, as JSON Lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fumishirube import ConfigError
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube_eval.files import file_lines, json_lines

Text = Annotated[str, Field(min_length=1)]
R = TypeVar("R", bound=BaseModel)


class QuestionLine(BaseModel):
    """A line of the file of questions; other keys are ignored."""

    model_config = ConfigDict(frozen=True)

    id: Text
    manual: Text = EVERY_MANUAL
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
    facts: dict[str, GoldLine] = {}
    for gold_line in _lines(gold, GoldLine):
        if gold_line.id in facts:
            raise ConfigError(f"{gold.name}: two lines have the id {gold_line.id!r}")
        facts[gold_line.id] = gold_line
    loaded: list[AgentQuestion] = []
    for line in _lines(questions, QuestionLine):
        if line.id not in facts:
            raise ConfigError(f"{gold.name}: it has no facts for question {line.id!r}")
        if any(question.id == line.id for question in loaded):
            raise ConfigError(f"{questions.name}: two questions have the id {line.id!r}")
        right = facts[line.id]
        loaded.append(
            AgentQuestion(
                line.id, line.manual, line.kind, line.question, right.answer, right.must_have
            )
        )
    if not loaded:
        raise ConfigError(f"{questions.name}: there are no questions in it")
    return loaded


def chosen_questions(questions: Sequence[AgentQuestion], ids: Sequence[str]) -> list[AgentQuestion]:
    """Return the questions with the given ids, each once; all of them for no ids.

    Raises:
        ConfigError: when there is no question with an id.
    """
    by_id = {question.id: question for question in questions}
    for name in ids:
        if name not in by_id:
            raise ConfigError(f"--id: there is no question {name!r}")
    return [by_id[name] for name in dict.fromkeys(ids)] if ids else list(questions)


def _lines(file: Path, model: type[R]) -> Iterator[R]:
    for where, _, data in json_lines(file_lines(file), file.name):
        try:
            yield model.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ConfigError(f"{where}: {key}: {first['msg']}") from error
