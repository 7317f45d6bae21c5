"""Define the formats of a workbook's cells: fills, fonts, borders, number formats."""

from __future__ import annotations

from typing import Any

from sat_retriever.synth.book.model import Dialect, Style

_NUMBERS: dict[Style, str] = {
    "text": "General",
    "integer": "0",
    "amount": "#,##0.00",
    "percent": "0.0%",
    "date": "yyyy-mm-dd",
}
_WIDTHS: dict[Style, int] = {"text": 16, "integer": 10, "amount": 14, "percent": 9, "date": 11}
_LINE = "BFBFBF"


class Look:
    """The formats that a workbook's sheets share.

    Args:
        workbook: An XlsxWriter workbook.
        dialect: Its colour and font.
    """

    def __init__(self, workbook: Any, dialect: Dialect) -> None:
        def made(**properties: Any) -> Any:
            return workbook.add_format({"font_name": dialect.font, **properties})

        fill = {"bg_color": f"#{dialect.colour}", "bold": True, "border": 1}
        lines = {"border": 1, "border_color": f"#{_LINE}"}
        self.title = made(bold=True, font_size=14)
        self.subtitle = made(italic=True, font_color="#595959")
        self.note = made(italic=True, font_size=9)
        self.header = made(**fill, text_wrap=True, valign="vcenter")
        self.group = made(**fill, align="center")
        self.unit = made(**lines, italic=True, font_color="#595959", align="center")
        self.data = {style: made(**lines, num_format=text) for style, text in _NUMBERS.items()}
        self.total = {
            style: made(bold=True, top=1, bottom=6, num_format=text)
            for style, text in _NUMBERS.items()
        }

    @staticmethod
    def width(style: Style) -> int:
        """Return the minimum width of a column, in characters."""
        return _WIDTHS[style]
