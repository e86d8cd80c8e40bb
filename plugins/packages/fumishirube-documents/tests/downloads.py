"""A folder of downloads in miniature: files in many formats, as people have them."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime

import docx
import openpyxl
import samples
import xlwt
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table

LEFT = ["The turbine is lubricated", "every ninety days with", "mineral oil of grade"]
LEFT += ["VG 46 by the operator, who", "writes down the amount and", "the hour in the book."]
RIGHT = ["Coolant is exchanged once", "a year, in the spring,", "after the filters were"]
RIGHT += ["washed by the plumber and", "dried for a night, never", "in the sun of a window."]
ADDRESSES = "氏名,電話,住所\r\n山田太郎,03-1234,東京\r\n鈴木花子,06-98,大阪\r\n"
LINKS = "".join(f'<li><a href="/{n}">Older entry number {n}</a></li>' for n in range(30))
SERVICE = "".join(
    f"<p>In year {n} the heat pump is serviced by an engineer, who looks after the valve, the "
    "compressor and the refrigerant, and writes down what was exchanged and what it cost.</p>"
    for n in range(1, 6)
)


def files() -> Mapping[str, bytes]:
    """Return the files by name."""
    lease, workbook = _lease(), samples.workbook()
    text = {
        "mail.eml": "Subject: x\n\nThe zebra is late.\n",
        "server.log": "2024-01-01 ERROR the pelican process died\n",
        "readme": "A readme without a suffix: the toucan.\n",
        "export.xls": _page("<table><tr><td>Part<td>Cost<tr><td>Gearbox Q<td>12</table>"),
        "blog post.html": _blog(),
        "bom.csv": "\ufeffname,colour\nheron,grey\nkingfisher,blue\n",
        "analysis.ipynb": _notebook(),
        ".~lock.契約書 (最終版).docx#": ",anna,host,;",
    }
    return {
        **{name: content.encode() for name, content in text.items()},
        "Annual report 2023 (1).pdf": samples.report(),
        unicodedata.normalize("NFD", "年次報告書が.pdf"): samples.pdf(
            [["# 概要", "当社は鉄の鍵を売る。"], ["# 決算", "売上高は四千七百十一万円である。"]]
        ),
        "two columns.pdf": _columns(),
        "locked.pdf": samples.pdf([["x"]], password="secret"),
        "unfinished.pdf": samples.report()[:-800],
        "scan 001.pdf": _picture("PDF"),
        "契約書 (最終版).docx": lease,
        "~$約書 (最終版).docx": b"\x05anna" + bytes(157),
        "plan.pptx": samples.slides(),
        "価格表 2024.pdf": _prices(),
        "申込書 記入済.pdf": _form(),
        "部門別 (千円).xlsx": _departments(),
        "売上.xlsx": _sales(),
        "parts.xls": _parts(),
        "stock.ods": _stock(),
        "renamed.xls": workbook,
        "book.epub": samples.book(),
        "住所録.csv": ADDRESSES.encode("cp932"),
        "utf16.csv": "品名\t単価\r\n歯車\t320\r\n軸受\t870\r\n".encode("utf-16"),
        "memo.txt": "議事録。次回の会合は水曜日の午後三時に倉庫で行う。\n".encode("euc-jp"),
        "empty.pdf": b"",
        "empty.txt": b"",
        "photo.docx": _picture("PNG"),
        "photo.txt": _picture("PNG"),
        "really a pdf.docx": samples.report(),
        "really a letter.pdf": lease,
        "movie.mp4.crdownload": bytes(99),
    }


def _page(body: str) -> str:
    return f"<!doctype html><html><head><title>T</title></head><body>{body}</body></html>"


def _blog() -> str:
    return _page(
        f'<div class="navbar"><ul>{LINKS}</ul></div><script>track("flamingo")</script>'
        '<div id="cookies" class="cookie-consent"><p>We use cookies to improve your visit.</p>'
        '<button>Accept</button></div><div class="content"><h1>Servicing a heat pump</h1>'
        f"{SERVICE}<h2>Costs</h2><p>A visit costs 180 euros, and travel is included in that.</p>"
        f'</div><div class="sidebar"><h3>Related</h3><ul>{LINKS}</ul></div>'
        '<div class="footer">Copyright. All rights reserved. Terms, privacy</div>'
    )


def _notebook() -> str:
    words = ["# Fit of the curve\n", "\n", "We fit a sigmoid to the pressure.\n"]
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["residual ostrich 0.0042\n"]},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 200}},
    ]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": words},
        {"cell_type": "code", "metadata": {}, "source": "sigma = 4.2  # hPa", "outputs": outputs},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _columns() -> bytes:
    """Return a page whose two columns are drawn line by line, across both."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 10)
    for number, lines in enumerate(zip(LEFT, RIGHT, strict=True)):
        for left, line in zip((72, 320), lines, strict=True):
            canvas.drawString(left, 760 - 13 * number, line)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _picture(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (60, 80), 255).save(buffer, kind)
    return buffer.getvalue()


def _prices() -> bytes:
    """Return a table over four pages, with its header on the first one."""
    rows = [("Code", "Name", "Price")]
    rows += [(f"W-{n:03}", f"Hinge {n}", f"{n * 130:,} yen") for n in range(1, 151)]
    buffer = io.BytesIO()
    table = Table(rows, colWidths=120, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build([table])
    return buffer.getvalue()


def _form() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.drawString(72, 700, "Number plate of the visitor:")
    canvas.acroForm.textfield(x=250, y=694, width=200, height=20, value="KX-4711")
    canvas.save()
    return buffer.getvalue()


def _departments() -> bytes:
    """Return a workbook whose header has two rows, and whose amounts are in thousands."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "部門"
    for row in (["部門", "国内", None, "海外", None], [None, "売上", "利益", "売上", "利益"]):
        sheet.append(row)
    for number in range(1, 61):
        sheet.append([f"第{number}課", *(number * 1_000_000 + n for n in range(4))])
        for cell in sheet[sheet.max_row][1:]:
            cell.number_format = '#,##0,"千円"'
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _lease() -> bytes:
    document = docx.Document()
    document.add_heading("Lease of the shed", 1)
    document.add_paragraph("The rent is 340 euros a month.")
    document.add_heading("Termination", 2)
    document.add_paragraph("Either side gives three months of notice.")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _sales() -> bytes:
    """Return a workbook with merged cells, an era, a formula without a value, a hidden sheet."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "売上"
    sheet["A1"] = "2023年度の売上"
    sheet.merge_cells("A1:D1")
    sheet.append(["地域", "月", "金額", "達成率"])
    for region in ("東京", "大阪"):
        for month in (4, 5, 6):
            name = region if month == 4 else None
            sheet.append([name, f"{month}月", month * 1_111_111, month / 10])
            sheet.cell(sheet.max_row, 3).number_format = '#,##0"円"'
            sheet.cell(sheet.max_row, 4).number_format = "0.0%"
    sheet.merge_cells("A3:A5")
    sheet.merge_cells("A6:A8")
    sheet["A9"], sheet["C9"] = "合計", "=SUM(C3:C8)"
    sheet["A10"], sheet["B10"] = "締日", date(2024, 4, 1)
    sheet["B10"].number_format = '[$-411]ggge"年"m"月"d"日";@'
    hidden = book.create_sheet("控え")
    hidden.sheet_state = "hidden"
    hidden.append(["項目", "係数"])
    hidden.append(["甲", 0.77])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _parts() -> bytes:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Parts")
    dated = xlwt.easyxf(num_format_str="yyyy/mm/dd")
    for column, name in enumerate(("Part", "Price", "Since")):
        sheet.write(0, column, name)
    for row in range(1, 60):
        sheet.write(row, 0, f"Z-{row}")
        sheet.write(row, 1, row * 10)
        sheet.write(row, 2, datetime(2024, 4, 1), dated)  # noqa: DTZ001 - sheets know no zones
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _stock() -> bytes:
    cells = "".join(
        f"<r><c>{name}</c><c>{count}</c></r>"
        for name, count in (("Shelf", "Count"), ("K-7", "41"), ("K-8", "17"))
    )
    rows = (
        cells.replace("<r>", "<table:table-row>")
        .replace("</r>", "</table:table-row>")
        .replace("<c>", '<table:table-cell office:value-type="string"><text:p>')
        .replace("</c>", "</text:p></table:table-cell>")
    )
    name = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{name}:office:1.0" xmlns:text="{name}:text:1.0" '
        f'xmlns:table="{name}:table:1.0" office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="Stock">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        "</manifest:manifest>"
    )
    return samples.packed(
        {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": listed}
    )
