"""A request to a reading process, as one JSON line."""

from __future__ import annotations

from dataclasses import dataclass, field

from sat_retriever.records.area import Area
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import Json
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.workbook.limits import Limits

MAX_CELLS = 20_000  # per window


@dataclass(frozen=True, slots=True)
class Window:
    """Cells of one sheet, which are then the only answer: a range, or the data of a table.

    Attributes:
        sheet: Name of the sheet.
        area: Area of the cells; does not count for a table.
        table: Place of the table among those of the sheet, the main one first; None for a range.
        most: Most cells of the answer.
        totals: True to keep totals and subtotals of a table among its records.
    """

    sheet: str
    area: Area
    table: int | None = None
    most: int = MAX_CELLS
    totals: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request to read one file.

    Attributes:
        path: The file.
        relative: Its POSIX path as written in sheet ids.
        privacy: What may be kept of the cells.
        formulas: True if formulas are returned.
        links: True if references and profiles, the input of link discovery, are returned.
        safe: True to avoid calamine, because it crashed the worker before.
        window: Return only these cells; None for the whole workbook.
        within: Folder that the file must lie in, or file that it must be, after links are
            resolved; None allows every place.
        password: Password of an encrypted workbook.
        encoding: Name of the encoding of a delimited file; empty to find it in the file.
        limits: Limits on size, memory and time.
    """

    path: str
    relative: str
    privacy: Privacy = EVERYTHING
    formulas: bool = True
    links: bool = True
    safe: bool = False
    window: Window | None = None
    within: str | None = None
    password: str | None = None
    encoding: str = ""
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_json(cls, data: Json) -> Request:
        """Read a request that the parent wrote with `to_json`."""
        window = data.get("window")
        cells = window and Window(**{**window, "area": Area(**window["area"])})
        limits, privacy = Limits(**data.get("limits", {})), data.get("privacy", {})
        if "contents" in privacy:
            privacy = {**privacy, "contents": ContentsPolicy(privacy["contents"])}
        parts = {"window": cells, "limits": limits, "privacy": Privacy(**privacy)}
        return cls(**{**data, **parts})

    def asks_for(self, sheet: str) -> bool:
        """True if the request covers a sheet."""
        return self.window is None or self.window.sheet == sheet
