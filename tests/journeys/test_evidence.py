"""The benchmark of what has to be read until the proof of an answer is printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / "benchmarks" / "evidence.py"
QUESTIONS = ROOT / "benchmarks" / "data" / "evidence_questions.jsonl"
GOLD = ROOT / "benchmarks" / "data" / "evidence_gold.jsonl"
FILES = ("--questions", QUESTIONS, "--manuals", ROOT / "manuals")

SEARCH = [] if shutil.which("rg") else ["--grep"]

needs_sed = pytest.mark.skipif(
    not (shutil.which("sed") and shutil.which("rg" if not SEARCH else "grep")),
    reason="the shell's policy runs rg or grep, and sed",
)


def run(*options: str | Path, gold: Path = GOLD, **environ: str) -> Any:
    return subprocess.run(
        [sys.executable, BENCHMARK, *FILES, "--gold", gold, *options],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", **environ},
        timeout=100,
        check=False,
    )


@pytest.fixture(scope="module")
def policies() -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARK.parent))
    try:
        import evidence_policies  # noqa: PLC0415 - a script's module, beside the script

        yield evidence_policies
    finally:
        sys.path.remove(str(BENCHMARK.parent))


def question(policies: Any, *quotes: str, kind: str = "single-fact", text: str = "?") -> Any:
    return policies.GoldQuestion("q", "m", kind, text, quotes)


@pytest.mark.slow
@needs_sed
def test_the_proof_of_every_sample_question_is_printed() -> None:
    done = run("--json", *SEARCH)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    rows = {row["id"]: row for row in measured["questions"]}
    assert len(rows) == 11
    assert {name for name, row in rows.items() if not row["ours"]["reached"]} == set()
    assert measured["summary"]["first"]["shell_reached"] == 1
    # Every place of one name: as many as the file of gold lines names.
    assert rows["s05"]["ours"]["reached"] == rows["s05"]["shell"]["reached"] == 3
    assert all(0 < row["ours"]["first"] < 30_000 for row in rows.values())


@needs_sed
def test_without_rg_it_says_so(tmp_path: Path) -> None:
    done = run(PATH=str(tmp_path))
    assert done.returncode == 2
    assert "needs rg" in done.stderr
    assert "--grep" in done.stderr


@needs_sed
def test_a_quote_that_is_not_in_its_file_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "gold.jsonl"
    text = GOLD.read_text(encoding="utf-8").replace("45 minutes late, the", "46 minutes late, the")
    wrong.write_text(text, encoding="utf-8")
    done = run("--grep", gold=wrong)
    assert done.returncode == 2
    assert "question s01: safety.md does not hold" in done.stderr


def test_a_quote_counts_when_the_call_that_prints_it_is_read_whole(policies: Any) -> None:
    transcript = policies.Transcript(question(policies, "ten minutes", "per hour"))
    transcript.show("heaters run for ten\u00a0\n minutes, then stop.")
    assert transcript.reached == {"ten minutes": 41}
    with pytest.raises(policies.Stopped):
        transcript.show("ten minutes per hour")
    assert (transcript.first, transcript.every, transcript.calls) == (41, [41, 61], 2)


def test_a_quote_is_found_in_json_too(policies: Any) -> None:
    transcript = policies.Transcript(question(policies, 'a "b" 経費'))
    with pytest.raises(policies.Stopped):
        transcript.show(json.dumps({"text": 'a\n"b" 経費'}))
    assert transcript.reached


def test_what_is_not_reached_costs_the_limit(policies: Any) -> None:
    transcript = policies.Transcript(question(policies, "needle"), limit=20)
    with pytest.raises(policies.Stopped):
        transcript.show("hay " * 5 + "needle")
    assert (transcript.first, transcript.spent) == (20, 20)
    assert not transcript.reached


@needs_sed
def test_no_policy_is_led_by_the_gold_line(policies: Any) -> None:
    """With a quote that is nowhere, the same is printed, and more of it."""
    words = "出張先で親戚の家に泊めてもらいました。宿泊料の代わりに 1 泊いくら受け取れますか。"
    vocabulary = policies.Vocabulary(ROOT / "manuals")
    reader = policies.ShellReader(ROOT / "manuals", vocabulary, "grep" if SEARCH else "rg")
    printed: list[list[str]] = []
    for quote in ("宿泊料に代えて1泊3,000円", "これはどこにもない"):
        shown: list[str] = []

        class Recording(policies.Transcript):  # type: ignore[misc]
            def show(self, text: str, shown: list[str] = shown) -> None:
                shown.append(text)
                super().show(text)

        asked = policies.GoldQuestion("q", "業務ハンドブック", "single-fact", words, (quote,))
        with suppress(policies.Stopped):
            reader.read(asked, Recording(asked))
        printed.append(shown)
    short, long = printed
    assert short
    assert len(short) < len(long)
    assert long[: len(short)] == short
