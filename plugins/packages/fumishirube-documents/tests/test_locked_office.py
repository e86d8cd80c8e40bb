"""Office files that a password locks."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
import samples
from fumishirube_documents import Docx, Office, OldSheets, Pptx, Xlsx
from msoffcrypto.format.ooxml import OOXMLFile
from opened_loaders import running
from pydantic import SecretStr

from fumishirube import Root, Source, Unreadable

OTHER, SECRET = SecretStr("other"), SecretStr("secret")
OLD = b"\xd0\xcf\x11\xe0" + bytes(600)
MANIFEST = (
    "<manifest><file-entry full-path='content.xml'><encryption-data/></file-entry></manifest>"
)


def letter() -> bytes:
    document = docx.Document()
    document.add_paragraph("The key is under the mat.")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def locked(data: bytes) -> bytes:
    buffer = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt("secret", buffer)
    return buffer.getvalue()


FILES = [
    ("a.docx", letter(), Docx, "under the mat"),
    ("a.pptx", samples.slides(), Pptx, "second cellar"),
    ("a.xlsx", samples.workbook(), Xlsx, "A-77"),
    ("a.xls", samples.workbook(), OldSheets, "A-77"),
]


def text_of(folder: Path, name: str, data: bytes, stage: Office) -> str:
    (folder / name).write_bytes(data)
    return running(stage).load(Root(folder), Source(name)).text


def why_not(folder: Path, name: str, data: bytes, stage: Office) -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        text_of(folder, name, data, stage)
    return caught.value.reason, str(caught.value)


@pytest.mark.parametrize(("name", "data", "stage", "words"), FILES)
def test_a_password_of_the_settings_opens_a_locked_file(
    tmp_path: Path, name: str, data: bytes, stage: type[Office], words: str
) -> None:
    right = stage(passwords=(OTHER, SECRET))
    assert words in text_of(tmp_path, name, locked(data), right)
    assert words in text_of(tmp_path, name, data, right)
    assert "secret" not in repr(right) + str(right.model_dump(mode="json"))
    assert right.fingerprint != stage(passwords=(OTHER, OTHER)).fingerprint


@pytest.mark.parametrize(("name", "data", "stage", "words"), FILES)
def test_a_locked_file_says_what_opens_it(
    tmp_path: Path, name: str, data: bytes, stage: type[Office], words: str
) -> None:
    del words
    reason, message = why_not(tmp_path, name, locked(data), stage())
    assert (reason, "add its own to passwords" in message) == ("encrypted", True)
    reason, message = why_not(tmp_path, name, locked(data), stage(passwords=(OTHER,)))
    assert (reason, "none of the passwords" in message) == ("encrypted", True)


def test_an_older_format_is_no_lock(tmp_path: Path) -> None:
    reason, message = why_not(tmp_path, "a.xlsx", OLD, Xlsx())
    assert (reason, "save it as .xlsx" in message) == ("old_format", True)


def test_locked_files_that_nothing_opens_say_so(tmp_path: Path) -> None:
    book = samples.packed({"content.xml": "x", "META-INF/manifest.xml": MANIFEST})
    assert why_not(tmp_path, "a.ods", book, OldSheets())[0] == "encrypted"
    begin = b"\x09\x08\x10\0" + bytes(16) + b"\x2f\0"
    assert why_not(tmp_path, "a.xls", OLD + begin + bytes(600), OldSheets())[0] == "encrypted"


def test_a_sheet_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    book = samples.packed({"content.xml": " " * 2_000_000, "META-INF/manifest.xml": ""})
    stage = OldSheets(unpacked_bytes=1_000_000)
    assert why_not(tmp_path, "a.ods", book, stage)[0] == "too_large"
