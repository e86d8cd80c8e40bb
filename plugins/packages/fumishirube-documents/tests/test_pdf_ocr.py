"""OCR of PDFs with a program that behaves as tesseract does where something is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import samples
from fumishirube_documents import Pdf
from opened_loaders import load

from fumishirube import Root, Source, Unreadable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")

LISTS = 'if [ "$1" = --list-langs ]; then printf "List:\\n%s\\n"; exit; fi\n'
FAILS = "cat >/dev/null; echo 'Error opening data file jpn.traineddata' >&2; exit 1\n"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program with the name of tesseract on the path."""
    program = folder / "bin" / "tesseract"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


def test_a_program_that_fails_is_named_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, LISTS % "eng" + FAILS)
    with pytest.raises(Unreadable, match="set ocr_languages") as caught:
        load(tmp_path, "b.pdf", samples.pdf([[], []]), Pdf(ocr=True))
    assert caught.value.reason == "needs_ocr"
    assert "tesseract failed (Error opening data file jpn.traineddata)" in str(caught.value)


def test_a_language_that_is_installed_changes_the_fingerprints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, LISTS % "eng" + FAILS)
    before = Pdf(ocr=True)
    assert Pdf(ocr=True, ocr_languages="eng").surroundings == "t"
    assert before.fingerprint == Pdf(ocr=True).fingerprint
    install(tmp_path, monkeypatch, LISTS % "eng\\njpn" + "cat >/dev/null; echo read words\n")
    after = Pdf(ocr=True)
    assert after.surroundings == "t"
    assert (before.fingerprint, before.parsed_fingerprint) != (
        after.fingerprint,
        after.parsed_fingerprint,
    )
    assert load(tmp_path, "b.pdf", samples.pdf([[], []]), after).text == "read words\n\n" * 2


def test_the_program_knows_where_its_data_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", "/opt/tessdata")
    install(tmp_path, monkeypatch, 'cat >/dev/null; echo "data in $TESSDATA_PREFIX"\n')
    with Pdf(ocr=True, ocr_languages="deu").open() as loader:
        (tmp_path / "c.pdf").write_bytes(samples.pdf([[], []]))
        read = loader.load(Root(tmp_path), Source("c.pdf"))
    assert read.text.startswith("data in /opt/tessdata\n")


def test_the_limit_that_is_exceeded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "exec sleep 60\n")
    stage = Pdf(ocr=True, ocr_seconds=1, parse_seconds=0.5)
    assert Pdf(ocr=True, ocr_seconds=1).request.seconds == 60
    with pytest.raises(Unreadable, match="longer than 1 seconds; raise ocr_seconds") as caught:
        load(tmp_path, "d.pdf", samples.pdf([[], []]), stage)
    assert caught.value.reason == "parser_timeout"
