"""Privacy: how much of the cells a reader or an index keeps, and records cut to that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.contents import (
    CellText,
    ContentsPolicy,
    SheetContents,
    TableContents,
    TextKind,
)
from sat_retriever.records.sheets import Column, LeftOut, SheetRecord, Table

MAX_PATTERN = 400
"""Characters of a pattern for columns."""
MAX_REPEATS = 2
"""Repeats in one alternative of a pattern: with three, a header of 120 characters that a
stranger wrote could cost a hundred million steps."""

_ATOMS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""Escaped characters and character classes, in which no mark has its meaning."""
_REPEAT = re.compile(r"[*+?]|\{\d*,?\d*\}")


@dataclass(frozen=True, slots=True)
class Privacy:
    """How much is kept of the cells of a sheet.

    Attributes:
        contents: What is kept beside names, headers and shape.
        skip_columns: A regular expression; columns in whose header it is found, whatever the
            case, keep their header alone. "" skips none.
    """

    contents: ContentsPolicy = ContentsPolicy.ALL
    skip_columns: str = ""

    @classmethod
    def of(cls, contents: ContentsPolicy | str, skip_columns: str | None) -> Privacy:
        """The checked settings.

        Raises:
            InputError: If there is no such level, or the pattern is wrong or could take long.
        """
        try:
            level = ContentsPolicy(contents)
        except ValueError:
            levels = ", ".join(ContentsPolicy)
            raise InputError(f"contents is {contents!r}; choose one of {levels}") from None
        _check_pattern(skip_columns or "")
        return cls(level, skip_columns or "")

    @property
    def examples(self) -> bool:
        """True if an example of a column may be kept."""
        return self.contents is not ContentsPolicy.NAMES

    @property
    def literals(self) -> bool:
        """True if texts and numbers of formulas may be kept, whose column is not known."""
        return self.examples and not self.skip_columns

    def keeps_header(self, *, transposed: bool, clear: bool = True) -> bool:
        """True if a table's headers are kept: at "names" only clear ones in a row."""
        # A list of persons without a header row looks like a transposed table, whose headers are
        # its first column, or like a table of short texts below headers that are not clear.
        return self.examples or (clear and not transposed)

    def skips(self, header: str) -> bool:
        """True if a column of this header keeps nothing but the header.

        >>> Privacy(skip_columns="salary|iban").skips("Base SALARY (EUR)")
        True
        """
        return bool(self.skip_columns) and bool(_compiled(self.skip_columns).search(header))

    def limited(self, record: SheetRecord) -> SheetRecord:
        """A record cut to what may be kept.

        >>> record = SheetRecord("a", "a", columns=(Column("x", "1"), Column("IBAN", "DE12")))
        >>> [each.example for each in Privacy(ContentsPolicy.NAMES).limited(record).columns]
        [None, None]
        >>> [each.example for each in Privacy(skip_columns="iban").limited(record).columns]
        ['1', None]
        """
        if self == EVERYTHING:
            return record
        tables = tuple(
            replace(
                each,
                columns=self._bare(each.columns, transposed=each.transposed),
                left_out=self._untold(each.left_out),
                doubtful=self._untold(each.doubtful),
            )
            for each in record.tables
        )
        main = bool(record.tables) and record.tables[0].transposed
        contents = record.contents if self.contents is ContentsPolicy.ALL else None
        if contents is not None and self.skip_columns:
            contents = self._without_skipped(contents, record)
        columns = self._bare(record.columns, transposed=main)
        return replace(record, columns=columns, tables=tables, contents=contents)

    def _bare(self, columns: Sequence[Column], *, transposed: bool) -> tuple[Column, ...]:
        if not self.keeps_header(transposed=transposed):
            return tuple(replace(each, name="", example=None, encoded=None) for each in columns)
        return tuple(
            each
            if self.examples and not self.skips(each.name)
            else replace(each, example=None, encoded=None)
            for each in columns
        )

    def _untold(self, rows: tuple[LeftOut, ...]) -> tuple[LeftOut, ...]:
        """Rows that are no records; without their texts, whose column is not known."""
        return rows if self.literals else tuple(replace(each, text="") for each in rows)

    def _without_skipped(self, contents: SheetContents, record: SheetRecord) -> SheetContents:
        tables = []
        for position, texts in enumerate(contents.tables):
            table = record.tables[position] if position < len(record.tables) else None
            columns = record.columns if table is None else table.columns
            if not any(self.skips(each.name) for each in columns):
                tables.append(texts)
                continue
            labels, values = (self._kept(part, table) for part in (texts.labels, texts.values))
            tables.append(TableContents(texts.caption, labels, values))
        notes = tuple(each for each in contents.notes if not self.hides(each, record.tables))
        return SheetContents(notes, tuple(tables))

    def hides(self, text: CellText, tables: Iterable[Table]) -> bool:
        """True for a comment on a cell in a skipped column of one of a sheet's tables."""
        place = split_ref(text.cell)
        if text.kind is not TextKind.COMMENT or not self.skip_columns or place is None:
            return False
        for table in tables:
            area = area_of(table.range)
            if area is not None and area.holds(*place):
                line = place[0] - area.top if table.transposed else place[1] - area.left
                if any(self.skips(each.name) for each in table.columns[line : line + 1]):
                    return True
        return False

    def _kept(self, texts: Sequence[CellText], table: Table | None) -> tuple[CellText, ...]:
        """Texts outside a table's skipped columns; none where their column is not known."""
        area = area_of(table.range) if table is not None else None
        if table is None or area is None:
            return ()
        skipped = [self.skips(each.name) for each in table.columns]
        kept = []
        for each in texts:
            place = split_ref(each.cell)
            if place is None:
                continue
            line = place[0] - area.top if table.transposed else place[1] - area.left
            if 0 <= line < len(skipped) and not skipped[line]:
                kept.append(each)
        return tuple(kept)


EVERYTHING = Privacy()


@lru_cache(maxsize=8)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _check_pattern(pattern: str) -> None:
    """Refuse a pattern that is wrong, or that a header of 120 characters could keep busy."""
    # Without groups, and with two repeats at most in each alternative, the cost of a search is
    # bounded by the third power of the header's length.
    if len(pattern) > MAX_PATTERN:
        raise InputError(
            f"the pattern for columns has {len(pattern):,} characters; the limit is {MAX_PATTERN}"
        )
    bare = _ATOMS.sub("x", pattern)
    if "(" in bare or ")" in bare:
        raise InputError(
            f"the pattern {pattern!r} has a group; write alternatives out, as in 'salary|salaries'"
        )
    if any(len(_REPEAT.findall(part)) > MAX_REPEATS for part in bare.split("|")):
        raise InputError(
            f"the pattern {pattern!r} has more than {MAX_REPEATS} repeats (* + ? {{}}) in one "
            "alternative; headers are searched, so it needs none at its ends"
        )
    try:
        found_nothing = _compiled(pattern).search("") is None
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"the pattern {pattern!r} is no regular expression: {error}") from error
    if pattern and not found_nothing:
        raise InputError(f"the pattern {pattern!r} is found in every header; name what to skip")
