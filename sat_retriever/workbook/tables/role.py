"""The role of a sheet in its workbook, told by its form first and by its name second."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.records.contents import Role
from sat_retriever.records.sheets import ColumnType, Table
from sat_retriever.workbook.tables.adjacent import is_prose
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.values.cells import Cells, Kind

WORDS = 0.7  # share of texts among the cells of documentation and of lists
WORDS_OF_NAMED = 0.4  # the same where the sheet's name says what it is
SENTENCES = 0.3  # share of long texts among those of documentation
LISTED, MIN_LISTED = 0.5, 3  # share and number of the other sheets that a list of sheets names
FORMULAS = 0.5  # share of formulas among the cells of a calculation
FORMULAS_OF_NAMED = 0.1  # the same where the sheet's name says that it calculates
AROUND_CHARTS = 40  # cells that may stand around charts on a sheet which is there for them
# Columns and records of a list from which others choose.
LOOKUP_COLUMNS, LOOKUP_ROWS = 3, range(3, 501)
LONG_TEXT = 40  # characters from which a text is a sentence or an address and no name
LOOKED_AT = 2_000  # texts of a sheet that are looked at, spread over all of it

_ABOUT = re.compile(
    r"(?<![^\W\d_])(?:about|read\W?me|documentation|docs?|notes?|legend|glossary|definitions?"
    r"|instructions?|guide|help|info|information|methodology|methods|metadata|sources?|references"
    r"|citations|assumptions|disclaimer|changelog|version history|data dictionary"
    r"|hinweise?|erläuterung(?:en)?|anleitung|legende|quellen|lisez\W?moi|notice|léame|notas)"
    r"(?![^\W\d_])",
    re.IGNORECASE,
)
_COVER = re.compile(
    r"\W*(?:cover(?: ?(?:page|sheet))?|title(?: ?page)?|deckblatt|titelblatt|index|contents"
    r"|table of contents|toc|inhalt(?:sverzeichnis)?|portada|couverture|sommaire|índice|home"
    r"|main ?menu|menu)\W*",
    re.IGNORECASE,
)
_CALCULATION = re.compile(r"(?<![^\W\d_])(?:calc|berechnung|calcul|cálculo)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a sheet beside its values."""

    sheet: str = ""
    tabs: frozenset[str] = frozenset()  # names of all sheets of the workbook, casefolded
    formulas: int = 0
    charts: bool = False  # True if charts of other sheets' data stand on it
    pivots: bool = False  # True if pivot tables of such data do


NO_SETTING = Setting()


@dataclass(frozen=True, slots=True)
class Form:
    """What a sheet looks like, each share in [0, 1]."""

    filled: int = 0  # cells with a value or a formula
    words: float = 0.0  # share of them that are texts
    sentences: float = 0.0  # share of its texts that are long
    prose: bool = False  # True if its main table, if any, is a page of text
    formulas: float = 0.0  # share of its cells that have a formula
    listed: int = 0  # number of the workbook's other sheets that its texts name
    columns: int = 0
    tables: int = 0
    rows: int = 0
    # True if its main table holds numbers, other than codes in its first column
    measures: bool = False


def role_of(form: Form, setting: Setting) -> Role:
    """The role of a sheet of some form; its name decides only where the form allows both.

    >>> page = Form(20, words=1.0, sentences=0.7, prose=True, columns=2, rows=20)
    >>> role_of(page, Setting("Sheet1")).value
    'documentation'
    """
    if setting.pivots or (setting.charts and form.filled <= AROUND_CHARTS):
        return Role.CHART
    named = form.words >= WORDS_OF_NAMED
    lists = form.listed >= max(MIN_LISTED, LISTED * (len(setting.tabs) - 1))
    titled = form.words >= WORDS and _COVER.fullmatch(setting.sheet) is not None
    if titled or (lists and not form.measures):
        return Role.COVER
    prose = form.prose and form.words >= WORDS and form.sentences >= SENTENCES
    if prose or (named and not form.measures and _ABOUT.search(setting.sheet)):
        return Role.DOCUMENTATION
    calculates = _CALCULATION.search(setting.sheet) is not None
    if form.formulas >= (FORMULAS_OF_NAMED if calculates else FORMULAS):
        return Role.CALCULATION
    return Role.LOOKUP if len(setting.tabs) > 1 and _is_list(form) else Role.DATA


def _is_list(form: Form) -> bool:
    return (
        form.tables == 1
        and form.columns <= LOOKUP_COLUMNS
        and form.rows in LOOKUP_ROWS
        and form.words >= WORDS
        and form.sentences < SENTENCES
        and not form.measures
    )


def form_of(
    cells: Cells, layouts: Sequence[Layout], tables: Sequence[Table], setting: Setting
) -> Form:
    """The form of a sheet."""
    filled = int(np.count_nonzero(cells.kinds))
    words = np.flatnonzero(cells.kinds == Kind.TEXT)
    spread = np.linspace(0, len(words) - 1, min(len(words), LOOKED_AT)).astype(np.int64)
    rows, cols = np.unravel_index(words[spread], cells.kinds.shape)
    places = zip(rows.tolist(), cols.tolist(), strict=True)
    texts = [str(cells.value(row, col)).strip() for row, col in places]
    others = setting.tabs - {setting.sheet.casefold()}
    main = tables[0] if tables else None
    return Form(
        filled=filled,
        words=len(words) / max(filled, 1),
        sentences=sum(len(text) >= LONG_TEXT for text in texts) / max(len(texts), 1),
        prose=all(not each.header_height and is_prose(cells, each.area) for each in layouts[:1]),
        formulas=min(setting.formulas / max(filled, 1), 1.0),
        listed=len(others.intersection(text.casefold() for text in texts)),
        columns=len(main.columns) if main else 0,
        tables=sum(each.header_height > 0 or each.transposed for each in tables),
        rows=main.num_rows if main else 0,
        measures=main is not None and _measures(main) and _has_numbers(cells, layouts[0]),
    )


def _measures(table: Table) -> bool:
    types = [column.type for column in table.columns]
    return ColumnType.NUMBER in types or ColumnType.INTEGER in types[1:]


def _has_numbers(cells: Cells, layout: Layout) -> bool:
    """True if a number is more than a text of digits, such as a version in a list of facts."""
    area = layout.area
    kinds = cells.part(area)
    return bool(((kinds == Kind.INTEGER) | (kinds == Kind.NUMBER)).any())
