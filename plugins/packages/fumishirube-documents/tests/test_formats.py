"""Files of each format keep the contract of loaders, whatever their bytes are."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import samples
from fumishirube_documents import Epub, OldSheets, Pdf, Pptx, Xlsx
from opened_loaders import RunningContract, load

from fumishirube import Unreadable

samples.workbook()  # a library writes a file for that, which no loader may


class TestPdf(RunningContract):
    stage = Pdf()

    def files(self) -> Mapping[str, str | bytes]:
        return {"report.pdf": samples.report(), "more/SHORT.PDF": samples.pdf([["x"]])}


class TestPptx(RunningContract):
    stage = Pptx()

    def files(self) -> Mapping[str, str | bytes]:
        return {"plan.pptx": samples.slides()}


class TestXlsx(RunningContract):
    stage = Xlsx()

    def files(self) -> Mapping[str, str | bytes]:
        return {"prices.xlsx": samples.workbook()}


class TestOldSheets(RunningContract):
    stage = OldSheets()

    def files(self) -> Mapping[str, str | bytes]:
        return {"prices.ods": samples.workbook()}


class TestEpub(RunningContract):
    stage = Epub()

    def files(self) -> Mapping[str, str | bytes]:
        return {"shop.epub": samples.book()}


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever the bytes, the server stays, and so does what it reads next."""
    chance = random.Random(7)
    originals = [
        ("a.pdf", samples.report(), Pdf()),
        ("a.xlsx", samples.workbook(), Xlsx()),
        ("a.pptx", samples.slides(), Pptx()),
        ("a.epub", samples.book(), Epub()),
    ]
    reasons: set[str] = set()
    for name, original, stage in originals:
        for _ in range(15):
            data = bytearray(original)
            for _ in range(chance.choice([1, 10, 100])):
                data[chance.randrange(len(data))] = chance.randrange(256)
            try:
                load(tmp_path, name, bytes(data), stage)
            except Unreadable as error:
                reasons.add(error.reason)
        assert load(tmp_path, name, original, stage).text
    assert "damaged" in reasons
    assert "" not in reasons
