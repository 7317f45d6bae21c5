"""References to other workbooks: normalization of their file names, resolution to links."""

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
    """A reference of a sheet's formulas to another workbook.

    Attributes:
        source: Sheet id of the sheet with the formulas.
        file: The workbook as the referring one writes it: a name, path or URL, decoded.
        sheet: Sheet there; the first one of a 3-D range; empty for a name.
        last: Last sheet of a 3-D range; empty for a single sheet.
        name: Defined name or table there, if the formulas refer to one.
        use: How the formulas use it.
        weight: Strength in (0, 1], by the number of cells.
        evidence: A formula that shows it.
        summary: Weight of its summary link in (0, 1]; 0 if the sheet is not a summary.
        declared: True if a pivot table, chart or list of choices refers to it, not a formula.
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
        """The file name by which workbooks are looked up."""
        return file_key(self.file)


def decoded(target: str) -> str:
    """A relationship's target, percent-decoded, without the query and fragment of a URL.

    >>> decoded("file:///C:/My%20data/Q1%20sales.xlsx")
    'file:///C:/My data/Q1 sales.xlsx'
    """
    target = target[:MAX_TARGET].strip()
    if "://" in target[:10]:
        target = target.partition("?")[0].partition("#")[0]
    return unquote(target)


def written(file: str) -> str:
    """A workbook as a formula itself writes it, decoded if it is a URL.

    In a path there, only brackets are encoded, because they would end it.

    >>> written("https://a.org/Q1%20data.xlsx?web=1"), written("50%20off%5B2%5D.xlsx")
    ('https://a.org/Q1 data.xlsx', '50%20off[2].xlsx')
    """
    if "://" in file[:10]:
        return decoded(file)
    return re.sub("%5B", "[", re.sub("%5D", "]", file, flags=re.I), flags=re.I)


def file_key(target: str) -> str:
    r"""Case-folded file name of a path or URL, by which workbooks are looked up.

    >>> file_key("\\\\server\\share\\Budget.XLSX"), file_key("../a/Book.xlsx")
    ('budget.xlsx', 'book.xlsx')
    """
    parts = [part for part in _ENDS.split(target[-MAX_TARGET:].strip()) if part]
    return unicodedata.normalize("NFC", parts[-1]).casefold() if parts else ""


def resolve(reference: ExternalReference, records: Sequence[SheetRecord]) -> list[Link]:
    """Links from a reference to the sheets of its workbook.

    A name gives no link, because only the other workbook defines it.

    Args:
        reference: Reference of a sheet to the workbook.
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
    """Positions of a sheet, or of the sheets of a 3-D range, among `count` sheets in tab order.

    An end of a 3-D range may have no position: authors often put empty sheets "First" and "Last"
    around the sheets to total. The range then extends to the outermost sheet.

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
    """Types and weights of the links that a reference gives."""
    found = [] if reference.declared else [(LinkType.FORMULA_REFERENCE, reference.weight)]
    if reference.use is Use.AGGREGATE:
        found.append((LinkType.AGGREGATION, reference.weight))
    if reference.use is Use.LOOKUP:
        looked_up = reference.weight if reference.declared else lookup_weight(reference.weight)
        found.append((LinkType.JOIN_KEY, looked_up))
    if reference.summary > 0:
        found.append((LinkType.SUMMARY_SOURCE, reference.summary))
    return [(kind.value, weight) for kind, weight in found]
