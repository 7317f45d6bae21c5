"""A request to a reading process, as one JSON line."""

from __future__ import annotations

from dataclasses import dataclass, field

from sat_retriever.records.area import Area
from sat_retriever.records.contents import Kept
from sat_retriever.records.jsonform import Json
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.workbook.limits import Limits

MAX_CELLS = 20_000  # of one window


@dataclass(frozen=True, slots=True)
class Window:
    """Cells of one sheet, which are answered in place of everything else.

    Attributes:
        sheet: Name of the sheet.
        area: The cells.
    """

    sheet: str
    area: Area


@dataclass(frozen=True, slots=True)
class Request:
    """A request for what one file holds.

    Attributes:
        path: The file.
        relative: Its POSIX path as it stands in sheet ids.
        privacy: What may be kept of the cells.
        formulas: True if formulas are answered.
        links: True if references and profiles are answered, by which links are found.
        safe: Leave out calamine, which took the worker down before.
        window: Answer these cells only; the whole workbook if None.
        within: Folder or file that it really must lie in, or be; every place if None.
        password: Opens an encrypted workbook.
        limits: Bounds.
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
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_json(cls, data: Json) -> Request:
        """The request a parent wrote with `to_json`."""
        window = data.get("window")
        cells = window and Window(window["sheet"], Area(**window["area"]))
        limits, privacy = Limits(**data.get("limits", {})), data.get("privacy", {})
        if "contents" in privacy:
            privacy = {**privacy, "contents": Kept(privacy["contents"])}
        parts = {"window": cells, "limits": limits, "privacy": Privacy(**privacy)}
        return cls(**{**data, **parts})

    def asks_for(self, sheet: str) -> bool:
        """True if anything is to be answered about a sheet."""
        return self.window is None or self.window.sheet == sheet
