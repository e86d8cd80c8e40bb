"""Generated manuals, the same on every machine: Japanese and English, any number of sections."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

SECTIONS_A_FILE = 20
SENTENCES = 9

_HAN = (
    "申請給付支払期限書類会員資格変更届出審査決定通知災害通院入院手術費用対象条件確認登録番号"
    "住所口座振込料金契約解除更新保険制度規程施行管理責任担当部署連絡電話時間勤務休暇旅費精算"
    "端末設定接続障害復旧記録保存削除権限認証承認予算購買検査点検設備安全教育研修評価採用退職"
)
_KATAKANA = "システムデータサーバネットワークアカウントパスワードログインファイルメールカレンダー"
_PARTICLES = ("は", "が", "を", "に", "で", "と", "から", "まで", "について", "の")
_ENDINGS = (
    "する。",
    "した場合に限る。",
    "しなければならない。",
    "できる。",
    "とする。",
    "を除く。",
)
_SYLLABLES = (
    "con",
    "ser",
    "ta",
    "mi",
    "ra",
    "tor",
    "ven",
    "dal",
    "pri",
    "mo",
    "che",
    "lun",
    "gar",
    "sto",
    "bel",
    "fin",
    "tra",
    "pol",
    "ner",
    "qui",
    "das",
    "hem",
)
_ENGLISH = ("the", "of", "and", "to", "in", "is", "must", "when", "for", "with", "not", "only")


class Question(NamedTuple):
    """A question about one section, and two terms that stand in it."""

    text: str
    terms: tuple[str, str]


class Words:
    """A vocabulary in which few words are frequent and many are rare (Zipf)."""

    def __init__(self, language: str, size: int, seed: int = 7) -> None:
        self._random = random.Random(seed)
        make = self._japanese if language == "ja" else self._english
        self.japanese = language == "ja"
        self.words = list(dict.fromkeys(make() for _ in range(size)))
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))

    def _japanese(self) -> str:
        source = _HAN if self._random.random() < 0.8 else _KATAKANA
        length = self._random.choice((2, 2, 2, 3, 4, 4, 6))
        return "".join(self._random.choices(source, k=length))

    def _english(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=self._random.choice((2, 3, 3, 4))))

    def pick(self, chance: random.Random, number: int) -> list[str]:
        """Return some words, frequent ones more often."""
        return chance.choices(self.words, cum_weights=self._weights, k=number)

    def sentence(self, chance: random.Random) -> str:
        """Return one sentence."""
        words = self.pick(chance, 7)
        if self.japanese:
            joined = "".join(word + chance.choice(_PARTICLES) for word in words[:-1])
            return joined + words[-1] + chance.choice(_ENDINGS)
        mixed = [
            word for pair in zip(words, chance.choices(_ENGLISH, k=7), strict=True) for word in pair
        ]
        return " ".join(mixed).capitalize() + "."


def write_manual(folder: Path, sections: int, language: str = "ja") -> list[Question]:
    """Write a manual of Markdown files, unless it is there; return questions about it."""
    words = Words(language, 4000 + sections // 10)
    chance = random.Random(sections)
    questions = []
    ready = (folder / "ready").is_file()
    for number in range(-(-sections // SECTIONS_A_FILE)):
        lines = []
        for place in range(min(SECTIONS_A_FILE, sections - number * SECTIONS_A_FILE)):
            title = (
                "".join(words.pick(chance, 2))
                if words.japanese
                else " ".join(words.pick(chance, 3))
            )
            body = [words.sentence(chance) for _ in range(SENTENCES)]
            lines += [f"{'#' if place == 0 else '##'} {title}", "", *body, ""]
            if place == number % SECTIONS_A_FILE and len(questions) < 200:
                questions.append(_question(words, body, chance))
        if not ready:
            path = folder / f"part{number // 200:03}" / f"chapter{number:05}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines), encoding="utf-8")
    (folder / "ready").touch()
    return questions


def _question(words: Words, body: list[str], chance: random.Random) -> Question:
    sentence = chance.choice(body)
    where = sentence if words.japanese else sentence.lower().rstrip(".").split()
    held = [word for word in words.words if len(word) > 1 and word in where]
    rare = held[-2:] if len(held) > 1 else [*held, *held]
    text = sentence[:-1] if words.japanese else sentence.lower()[:-1]
    return Question(text, (rare[0], rare[-1]))
