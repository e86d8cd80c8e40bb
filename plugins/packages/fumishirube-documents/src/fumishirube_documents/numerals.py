"""Numbers in other signs than digits: raised, Roman, in circles."""

from __future__ import annotations

CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
"""The signs of the numbers from 1 to 50."""
_RAISED = str.maketrans("0123456789+-\u2212", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def raised(text: str) -> str:
    """Return a text with its digits and signs as superscripts; letters have none."""
    return text.translate(_RAISED)


def roman(number: int) -> str:
    """Return a number in small Roman numerals."""
    written = ""
    for value, letters in _ROMAN:
        written += letters * (number // value)
        number %= value
    return written
