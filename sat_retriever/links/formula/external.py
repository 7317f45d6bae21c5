"""References to other workbooks: how their files are named, and the links they become."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from sat_retriever.links.formula.weights import lookup_weight
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import Use

_ENDS = re.compile(r"[\\/]+")
MAX_TARGET = 2_000


@dataclass(frozen=True, slots=True)
class ExternalReference:
    """What a sheet's formulas take from another workbook.

    Attributes:
        source: Sheet id of the sheet with the formulas.
        file: The workbook as the referring one has it: a name, path or URL, decoded.
        sheet: Sheet there; the first one of a 3-D range; empty if a name is meant.
        last: Last sheet of a 3-D range; empty for a single sheet.
        name: Defined name or table there, if that is meant.
        use: What the formulas do with it.
        weight: Strength in (0, 1], by the number of cells.
        evidence: A formula that shows it.
        summary: Weight of its summary link in (0, 1]; 0 if the sheet is no summary.
        declared: Whether a pivot table, chart or list of choices shows it, not a formula.
    """

    source: str
    file: str
    sheet: str
    last: str
    name: str
    use: Use
    weight: float
    evidence: str
    summary: float = 0.0
    declared: bool = False

    @property
    def key(self) -> str:
        """The file's name as workbooks are looked up by it."""
        return file_key(self.file)


def decoded(target: str) -> str:
    """A relationship's target with its percent signs taken off, and without a query.

    >>> decoded("file:///C:/My%20data/Q1%20sales.xlsx")
    'file:///C:/My data/Q1 sales.xlsx'
    """
    target = target[:MAX_TARGET].strip()
    if "://" in target[:10]:
        target = target.partition("?")[0].partition("#")[0]
    return unquote(target)


def written(file: str) -> str:
    """A workbook as a formula itself has it, decoded if it is a URL.

    A path is not encoded there, but for the brackets that would end it.

    >>> written("https://a.org/Q1%20data.xlsx?web=1"), written("50%20off%5B2%5D.xlsx")
    ('https://a.org/Q1 data.xlsx', '50%20off[2].xlsx')
    """
    if "://" in file[:10]:
        return decoded(file)
    return re.sub("%5B", "[", re.sub("%5D", "]", file, flags=re.I), flags=re.I)


def file_key(target: str) -> str:
    r"""Case-folded file name of a path or URL: what workbooks are looked up by.

    >>> file_key("\\\\server\\share\\Budget.XLSX"), file_key("../a/Book.xlsx")
    ('budget.xlsx', 'book.xlsx')
    """
    parts = [part for part in _ENDS.split(target[-MAX_TARGET:].strip()) if part]
    return unicodedata.normalize("NFC", parts[-1]).casefold() if parts else ""


def resolve(reference: ExternalReference, records: Sequence[SheetRecord]) -> list[Link]:
    """Links to the sheets of the workbook that a reference means.

    A name gives none: what it stands for is known only to the other workbook.

    Args:
        reference: What a sheet takes from the workbook.
        records: The workbook's sheets in tab order; may be empty.
    """
    links = []
    for record in _meant(reference, records):
        for kind, weight in _types(reference):
            links.append(Link(reference.source, record.sheet_id, kind, weight, reference.evidence))
    return links


def _meant(reference: ExternalReference, records: Sequence[SheetRecord]) -> list[SheetRecord]:
    if not reference.sheet:
        return []
    places = {record.sheet.casefold(): place for place, record in enumerate(records)}
    span = between(places, len(records), reference.sheet, reference.last)
    return [records[place] for place in span if records[place].sheet_id != reference.source]


def between(places: dict[str, int], count: int, first: str, last: str) -> range:
    """Places of a sheet, or of the sheets of a 3-D range, among `count` sheets in tab order.

    The end of a 3-D range may have no place: the empty sheets "First" and "Last" around
    the ones that count are a common habit. It then reaches to the outermost sheet.

    >>> places = {"jan": 0, "feb": 1, "mar": 2}
    >>> between(places, 3, "Feb", ""), between(places, 3, "Feb", "Last")
    (range(1, 2), range(1, 3))
    """
    start = places.get(first.casefold())
    if not last:
        return range(0) if start is None else range(start, start + 1)
    end = places.get(last.casefold())
    if start is not None and end is not None and end < start:
        start, end = end, start
    return range(0 if start is None else start, count if end is None else end + 1)


def _types(reference: ExternalReference) -> list[tuple[str, float]]:
    """Types and weights of the links that a reference stands for."""
    found = [] if reference.declared else [(LinkType.FORMULA_REFERENCE, reference.weight)]
    if reference.use is Use.AGGREGATE:
        found.append((LinkType.AGGREGATION, reference.weight))
    if reference.use is Use.LOOKUP:
        looked_up = reference.weight if reference.declared else lookup_weight(reference.weight)
        found.append((LinkType.JOIN_KEY, looked_up))
    if reference.summary > 0:
        found.append((LinkType.SUMMARY_SOURCE, reference.summary))
    return [(kind.value, weight) for kind, weight in found]
