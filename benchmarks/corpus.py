"""Generated manuals, the same on every machine: Japanese or English, any number of sections.

The text is nonsense, but counts like documentation: about 490 characters a section, 20 sections a
file, a few hundred topics with words of their own, and a Zipf-like vocabulary over all of them, so
that a question's terms stand in about as many sections as those of a real one would. As in real
documentation one section in twenty is a short list of links under one of a few headings, and one
in eight has a heading that stands on many pages.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

FORM = 2
"""Raise it when the texts change: what an older form cached is made anew."""

SECTIONS_A_FILE = 20
QUESTIONS = 200

_TOPICS = 300
_TOPIC_WORDS = 90
_PAGE_WORDS = 14
_GENERAL = 500
_ENDS_IN_LINKS = 0.9
"""The share of files whose last section is a list of links, as counted in 944 real files."""
_SHARED_HEADING = 0.14
"""The share of the other sections whose heading is one of those that many pages have."""
_SHARED_HEADINGS = 20
_LEVELS = (1, 2, 3, 3, 2, 3, 4, 4, 3, 2)

_PARTICLES = ("は", "が", "を", "に", "で", "と", "から", "まで", "について", "の", "の", "を")
_OPENINGS = ("", "", "", "この場合、", "次のように、", "また、", "たとえば、", "既定では、")
_ENDINGS = (
    "します。",
    "できます。",
    "する必要があります。",
    "されています。",
    "した場合に限ります。",
    "しないでください。",
    "を参照してください。",
    "のことです。",
)
_QUESTIONS_JA = (
    "{0}の{1}を{2}するには、{3}をどのように設定しますか",
    "{0}で{1}が{2}されない場合の{3}の手順",
    "{2}のときに{0}の{1}は{3}に含まれますか",
)
_QUESTIONS_EN = (
    "How do I set the {0} {1} when the {2} uses {3}?",
    "what happens to {0} {1} if {2} has no {3}",
    "Can a {2} of {0} be given a {1} without {3}?",
)
_KANA = (
    *"アイウエオカキクケコサシスセタチツテトナニネノ",
    *("ハ", "ヒ", "フ", "ホ", "マ", "ミ", "ム", "メ", "モ", "ラ", "リ", "ル", "レ", "ロ"),
    *("ン", "ー", "ッ", "ガ", "グ", "ション", "ジャ"),
)
_SYLLABLES = [first + rest for first in "bcdfglmprstv" for rest in ("a", "en", "i", "or", "ul")]
_SUFFIXES = ("", "", "", "tion", "ment", "ing", "ed", "ity", "s")
_FUNCTION = (
    *("the", "of", "and", "to", "in", "is", "must", "when", "for", "with", "not", "only"),
    *("a", "be", "can", "this", "that", "it", "as", "by"),
)


class Question(NamedTuple):
    """A question about one section, up to two terms that stand in it, and its file."""

    text: str
    terms: tuple[str, ...]
    path: str


class Manual(NamedTuple):
    """A workspace with one manual, ``m``, and questions about it."""

    workspace: Path
    sections: int
    questions: Sequence[Question]

    def texts(self) -> Iterator[str]:
        """Yield the text of each section, its heading first, in the order of the files."""
        for file in sorted((self.workspace / "manuals" / "m").rglob("*.md")):
            for part in ("\n" + file.read_text(encoding="utf-8")).split("\n#")[1:]:
                yield part.lstrip("#").strip()


def manual(cache: Path, sections: int, language: str) -> Manual:
    """Return a generated manual, from the cache if it is there."""
    workspace = cache / f"{language}-{sections}-{FORM}"
    listed = workspace / "questions.json"
    if not listed.is_file():
        shutil.rmtree(workspace, ignore_errors=True)
        questions = _write(workspace / "manuals" / "m", sections, language)
        listed.write_text(json.dumps(questions, ensure_ascii=False), encoding="utf-8")
    rows = json.loads(listed.read_text(encoding="utf-8"))
    return Manual(workspace, sections, [Question(t, (a, b), path) for t, (a, b), path in rows])


def _write(folder: Path, sections: int, language: str) -> list[Question]:
    chance = random.Random(f"{language} {sections}")
    words = _Japanese(chance, sections) if language == "ja" else _English(chance, sections)
    files = -(-sections // SECTIONS_A_FILE)
    asked = {number * files // QUESTIONS for number in range(QUESTIONS)}
    questions = []
    for number in range(files):
        page = words.page()
        rest = min(SECTIONS_A_FILE, sections - number * SECTIONS_A_FILE)
        name = f"part{number // 200:03}/chapter{number:05}.md"
        texts = [words.section(page, place) for place in range(rest)]
        if rest > 1 and chance.random() < _ENDS_IN_LINKS:
            texts[-1] = (words.links(page), texts[-2][1])
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(text for text, _ in texts), encoding="utf-8")
        if number in asked:
            questions += [
                words.question(chance.choice(texts)[1], name)
                for _ in range(-(-QUESTIONS // len(asked)))
            ]
    return questions[:QUESTIONS]


class _Language:
    """A vocabulary in which few words are frequent and many are rare, and texts made of it."""

    def __init__(self, chance: random.Random, sections: int) -> None:
        self._chance = chance
        size = 5_000 + sections // 20
        self.words = list(dict.fromkeys(self._word() for _ in range(size)))
        self._general = self.words[:_GENERAL]
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(_GENERAL)))
        self._topics = [chance.sample(self.words[_GENERAL:], _TOPIC_WORDS) for _ in range(_TOPICS)]
        self._topic_weights = list(accumulate(1 / (rank + 3) for rank in range(_TOPIC_WORDS)))
        self._popular = list(accumulate(1 / (rank + 5) for rank in range(_TOPICS)))

    def page(self) -> tuple[list[str], list[str]]:
        """Return the words of a new page's topic, and those of the page itself."""
        (topic,) = self._chance.choices(self._topics, cum_weights=self._popular)
        return topic, [
            *self._chance.sample(topic, _PAGE_WORDS - 4),
            *self._chance.sample(self.words, 4),
        ]

    def section(self, page: tuple[list[str], list[str]], place: int) -> tuple[str, list[str]]:
        """Return a section in Markdown, and its own words."""
        topic, known = page
        own = self._chance.sample(known, 5)
        level = "#" * _LEVELS[place % len(_LEVELS)] if place else "#"
        shared = place and self._chance.random() < _SHARED_HEADING
        heading = self._chance.choice(self._general[:_SHARED_HEADINGS]) if shared else ""
        lines = [f"{level} {heading or self.heading(own[:2])}", ""]
        for number in range(self._chance.choice(self.lengths)):
            mixed = [
                *self._chance.choices(self._general, cum_weights=self._weights, k=3),
                *self._chance.choices(topic, cum_weights=self._topic_weights, k=2),
                own[number % len(own)],
            ]
            self._chance.shuffle(mixed)
            lines.append(self.sentence(mixed))
        lines += self._more(own)
        told = "\n".join(lines)
        return told + "\n", [word for word in own if word in told]

    def links(self, page: tuple[list[str], list[str]]) -> str:
        """Return a section of links to pages of the topic, as most pages end in."""
        topic, _ = page
        names = [
            self.heading(self._chance.sample(topic, 2))
            for _ in range(self._chance.choice((1, 2, 2, 3)))
        ]
        (heading,) = self._chance.choices(self.endings, weights=(5, 4, 2, 1))
        return "\n".join(
            [
                f"## {heading}",
                "",
                *(f"- [{name}](./{number}.md)" for number, name in enumerate(names)),
                "",
            ]
        )

    def question(self, own: list[str], path: str) -> Question:
        """Return what somebody may ask whose answer is the section with these words."""
        common = self._chance.choices(self._general, cum_weights=self._weights, k=4)
        words = [*own[:2], *common][:4]
        kind = self._chance.random()
        terms = (words[0], own[-1] if own[-1] != words[0] else words[1])
        if kind < 0.3:
            return Question(" ".join(words[: self._chance.choice((2, 3, 4))]), terms, path)
        if kind < 0.4:
            return Question(self.comparing(words), terms, path)
        return Question(self._chance.choice(self.asking).format(*words), terms, path)

    def _more(self, own: list[str]) -> list[str]:
        """Return a list, a table, a block of code, or most often nothing."""
        kind = self._chance.randrange(12)
        if kind < 2:
            return ["", *(f"- {self.heading([word])}" for word in own), ""]
        if kind == 2:
            rows = [f"| {word} | {self._chance.randrange(10_000)} |" for word in own]
            return ["", "| - | - |", "| --- | --- |", *rows, ""]
        if kind == 3:
            name = "".join(self._chance.choices(_SYLLABLES, k=3))
            return ["", "```", f"{name}.set({name}_id={self._chance.randrange(1000)})", "```", ""]
        return [""]

    asking: Sequence[str]
    endings: Sequence[str]
    lengths: Sequence[int]

    def _word(self) -> str:
        raise NotImplementedError

    def heading(self, words: Sequence[str]) -> str:
        raise NotImplementedError

    def sentence(self, words: Sequence[str]) -> str:
        raise NotImplementedError

    def comparing(self, words: Sequence[str]) -> str:
        raise NotImplementedError


class _Japanese(_Language):
    asking = _QUESTIONS_JA
    endings = ("関連項目", "その他の技術情報", "次の手順", "その他のリソース")
    lengths = (2, 4, 5, 7, 10, 13, 16, 20, 27)

    def __init__(self, chance: random.Random, sections: int) -> None:
        # The kanji of the first level of JIS X 0208, some of them far more frequent than others.
        level = [
            bytes((row, cell)).decode("euc_jp", "ignore")
            for row in range(0xB0, 0xD0)
            for cell in range(0xA1, 0xFF)
        ]
        self._kanji = [character for character in level if character]
        chance.shuffle(self._kanji)
        self._frequent = list(accumulate(1 / (rank + 6) for rank in range(len(self._kanji))))
        super().__init__(chance, sections)

    def _word(self) -> str:
        if self._chance.random() < 0.3:
            return "".join(self._chance.choices(_KANA, k=self._chance.choice((3, 4, 4, 5))))
        length = self._chance.choice((2, 2, 2, 2, 3, 4, 4))
        return "".join(self._chance.choices(self._kanji, cum_weights=self._frequent, k=length))

    def heading(self, words: Sequence[str]) -> str:
        return "の".join(words)

    def sentence(self, words: Sequence[str]) -> str:
        choice = self._chance.choice
        told = "".join(word + choice(_PARTICLES) for word in words[:-1])
        return choice(_OPENINGS) + told + words[-1] + choice(_ENDINGS)

    def comparing(self, words: Sequence[str]) -> str:
        return f"{words[0]}と{words[1]}の違いは何ですか"


class _English(_Language):
    asking = _QUESTIONS_EN
    endings = ("See also", "Additional resources", "Next steps", "Related topics")
    lengths = (1, 2, 3, 4, 5, 6, 8, 11, 15)

    def _word(self) -> str:
        choice = self._chance.choice
        return "".join(self._chance.choices(_SYLLABLES, k=choice((2, 2, 3, 3)))) + choice(_SUFFIXES)

    def heading(self, words: Sequence[str]) -> str:
        return " ".join(words).capitalize()

    def sentence(self, words: Sequence[str]) -> str:
        between = self._chance.choices(_FUNCTION, k=len(words))
        mixed = [word for pair in zip(between, words, strict=True) for word in pair]
        return " ".join(mixed).capitalize() + "."

    def comparing(self, words: Sequence[str]) -> str:
        return f"What is the difference between {words[0]} and {words[1]}?"
