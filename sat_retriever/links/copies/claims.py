"""Claims of sheets by which their copies are found, wherever these are."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from sat_retriever.links.copies.versions import PLAIN, Version, version_of
from sat_retriever.records.contents import Role
from sat_retriever.records.formats import FLAT_EXTENSIONS, without_extension
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import CellSketch
from sat_retriever.text.period.periods import Grain, period_of

MIN_NUMBERS = 6  # items; a sheet of fewer is told by its texts as well
_BLOCKS = 3  # smallest hashes by which sheets of any name meet
_SHORT = frozenset({Grain.DAY, Grain.WEEK, Grain.MONTH_WEEK})  # states, not members of a series
_TABS = 64  # of a workbook whose sheets may be renamed
_BYTES = 6  # of a hash


@dataclass(frozen=True, slots=True)
class CopyClaim:
    """The facts of a sheet by which its copies are found."""

    sheet_id: str
    folder: str  # its folders, without what tells versions apart
    book: str  # its workbook's name, likewise
    tab: str  # its own name, likewise
    title: str  # its own name as it is; empty if that is its file's
    # Versions that its folders and workbook, and its own name say.
    versions: tuple[Version, Version] = (PLAIN, PLAIN)
    period: str = ""  # period of a series that its names say; empty for none
    file: str = ""  # hash of the workbook's bytes; empty without a file
    sketch: CellSketch | None = None  # of its cells; None if none are kept
    # Digest of all cells of its workbook and the names of its sheets; empty for none, and for a
    # list that sheets of many workbooks choose from.
    contents: str = ""
    # Short hashes of the names of all its sheets; none if there are very many.
    tabs: tuple[int, ...] = ()

    def blocks(self) -> list[tuple[str, str]]:
        """Blocks in which the sheet may meet its copies, each with its place in the order there.

        Sheets are compared with their neighbours in a block. In that of the name these are the
        versions before and after, in that of a hash the sheets of like names.
        """
        named = _digest(f"{self.folder}/{self.book}#{self.tab}")
        own = _digest(self.sheet_id)
        first, second = self.versions
        number = (first.number or second.number or (0,))[0]
        date = max(first.date, second.date)
        found = [(f"n{named}", f"{date:012}{min(number, 9999):04}{own}")]
        if self.file:
            found.append((f"f{_digest(f'{self.file}#{self.title}')}", named + own))
        if self.sketch is None:
            return found
        few = self.sketch.numbers < MIN_NUMBERS
        hashes = self.sketch.text_sketch if few else self.sketch.number_sketch
        return found + [(f"c{each:x}", named + own) for each in hashes[:_BLOCKS]]


def copy_claims(
    records: Sequence[SheetRecord], sketches: Sequence[CellSketch] = ()
) -> tuple[CopyClaim, ...]:
    """Claims of the sheets of one workbook; none of sheets without a file."""
    by_sheet = {each.sheet: each for each in sketches}
    totals = sorted((version_of(each.sheet)[0], each.total) for each in sketches)
    contents = _digest(repr(totals)) if totals else ""
    names = {name_hash(version_of(record.sheet)[0]) for record in records[: _TABS + 1]}
    tabs = tuple(sorted(names)) if len(records) <= _TABS else ()
    return tuple(
        _claim(record, by_sheet.get(record.sheet), contents, tabs)
        for record in records
        if record.path and record.content_hash
    )


def name_hash(name: str) -> int:
    """Two bytes that stand for a name among few others."""
    return int(_digest(name)[:4], 16)


def _claim(
    record: SheetRecord, sketch: CellSketch | None, contents: str, tabs: tuple[int, ...]
) -> CopyClaim:
    *folders, _file = record.path.split("/")
    places = [version_of(folder) for folder in folders]
    folder = "/".join(name for name, _version in places if name)
    book, of_book = version_of(without_extension(record.workbook))
    tab, of_tab = version_of(record.sheet)
    saved = [version for _name, version in places if version != PLAIN]
    if of_book == PLAIN and saved:  # "backup/2024-03-04/Sales.xlsx"
        of_book = saved[-1]
    own_name = record.sheet != without_extension(record.workbook)
    if not own_name:
        of_tab = PLAIN
    period = period_of(record)
    series = period is not None and period.grain not in _SHORT
    return CopyClaim(
        sheet_id=record.sheet_id,
        folder=folder,
        book=book,
        tab=tab,
        title=record.sheet if own_name or record.format not in FLAT_EXTENSIONS else "",
        versions=(of_book, of_tab),
        period=period.label if period is not None and series else "",
        file=record.content_hash,
        sketch=sketch,
        contents="" if sketch is None or record.role is Role.LOOKUP else contents,
        tabs=tabs,
    )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def claim_to_text(claim: CopyClaim) -> str:
    """A claim as the text that is stored, without its versions, which are stored apart.

    >>> claim = CopyClaim("a#b", "", "a", "b", "B", sketch=CellSketch("B", 0, 1, 1, (7,), (9,)))
    >>> claim_from_text("a#b", claim_to_text(claim)) == claim
    True
    """
    sketch = claim.sketch
    data = {
        "names": [claim.folder, claim.book, claim.tab, claim.title],
        "period": claim.period,
        "file": claim.file,
        "contents": claim.contents,
        "tabs": claim.tabs,
        "sketch": sketch and [
            sketch.step, sketch.numbers, sketch.texts,
            _packed(sketch.number_sketch), _packed(sketch.text_sketch), sketch.total,
        ],
    }  # fmt: skip
    return json.dumps(data, separators=(",", ":"))


def claim_from_text(sheet_id: str, text: str) -> CopyClaim:
    """The claim that `claim_to_text` wrote."""
    data = json.loads(text)
    folder, book, tab, title = data["names"]
    return CopyClaim(
        sheet_id,
        folder,
        book,
        tab,
        title,
        period=data["period"],
        file=data["file"],
        sketch=_sketch(title, *data["sketch"]) if data["sketch"] else None,
        contents=data["contents"],
        tabs=tuple(data["tabs"]),
    )


def _sketch(
    sheet: str, step: int, numbers: int, texts: int, of_numbers: str, of_texts: str, total: int
) -> CellSketch:
    return CellSketch(
        sheet, step, numbers, texts, _unpacked(of_numbers), _unpacked(of_texts), total
    )


def versions_to_text(versions: tuple[Version, Version]) -> str:
    """Versions as they are stored.

    >>> both = (Version(number=(1, 2)), Version(stage=1))
    >>> versions_from_text(versions_to_text(both)) == both
    True
    """
    return json.dumps([astuple(each) for each in versions], separators=(",", ":"))


def versions_from_text(text: str) -> tuple[Version, Version]:
    """The versions that `versions_to_text` wrote."""
    first, second = (
        Version(age, date, tuple(number), *rest) for age, date, number, *rest in json.loads(text)
    )
    return first, second


def _packed(hashes: Sequence[int]) -> str:
    whole = np.asarray(hashes, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return base64.b64encode(whole[:, :_BYTES].tobytes()).decode("ascii")


def _unpacked(text: str) -> tuple[int, ...]:
    kept = np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(-1, _BYTES)
    whole = np.zeros((len(kept), 8), dtype=np.uint8)
    whole[:, :_BYTES] = kept
    found: list[int] = whole.view("<u8").ravel().tolist()
    return tuple(found)
