"""References written in the notation of formulas."""

from __future__ import annotations

import re

MAX_TEXT = 8_192  # characters of a reference; Excel's limit for a formula

_PLAIN = re.compile(r"[^\W\d]\w*")
_LIKE_ADDRESS = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*(?:[Cc][0-9]*)?|[Cc][0-9]*")


def reference_text(place: str, sheet: str = "", *, last: str = "", workbook: str = "") -> str:
    """A reference to cells or to a name.

    Args:
        place: A range, or a name.
        sheet: Sheet it is on; the first one of a 3-D range.
        last: Last sheet of a 3-D range.
        workbook: Path or URL of the workbook the sheet is in.

    >>> reference_text("A1:B2", "Data"), reference_text("A1", "Q1"), reference_text("rate")
    ('Data!A1:B2', "'Q1'!A1", 'rate')
    >>> reference_text("A1", "Jan", last="Dec"), reference_text("A1", "Q 1", workbook="../b.xlsx")
    ('Jan:Dec!A1', "'[../b.xlsx]Q 1'!A1")
    >>> reference_text("rate", workbook="../b.xlsx")
    "'../b.xlsx'!rate"
    """
    if not sheet and not workbook:
        return place
    file = workbook.replace("[", "%5B").replace("]", "%5D")
    if not sheet:
        return f"{_quoted(file)}!{place}"
    sheets = [each for each in (sheet, last) if each]
    whole = ":".join(sheets)
    if not workbook and all(map(_is_plain, sheets)):
        return f"{whole}!{place}"
    return f"{_quoted(f'[{file}]{whole}' if file else whole)}!{place}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is_plain(sheet: str) -> bool:
    return bool(_PLAIN.fullmatch(sheet)) and not _LIKE_ADDRESS.fullmatch(sheet)
