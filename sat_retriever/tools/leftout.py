"""Rows among some cells of a sheet that are no records of its tables, in words."""

from __future__ import annotations

from collections.abc import Iterable

from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import LeftOut, SheetRecord, only_kept, reason_name, told_rows


def rows_note(record: SheetRecord, area: Area) -> str:
    """Sentences about the rows of some cells that are no records, or may be none.

    Args:
        record: The sheet, whose tables tell them.
        area: The cells.
    """
    tables = [each for each in record.tables if _share_columns(area_of(each.range), area)]
    out = _within(area, (row for table in tables for row in table.left_out))
    doubtful = _within(area, (row for table in tables for row in table.doubtful))
    more = any(
        len(table.left_out) < table.num_left_out and table.left_out[-1].row < area.bottom
        for table in tables
    )
    said = [f"Not records: {told_rows(out, doubtful=doubtful)}."] if out else []
    said += [f"{'More' if out else 'Some'} of these rows may be no records."] if more else []
    kept = only_kept(out, doubtful)
    said += [f"May sum up others: {told_rows(kept)}."] if kept else []
    return " ".join(said)


def reasons_of(record: SheetRecord, area: Area) -> dict[int, str]:
    """Why some rows are no records, or may be none, in words by row.

    Args:
        record: The sheet, whose tables tell them.
        area: Cells whose rows are told.
    """
    tables = [each for each in record.tables if _share_columns(area_of(each.range), area)]
    doubtful = _within(area, (row for table in tables for row in table.doubtful))
    found = {each.row: f"may be a {reason_name(each.reason)}" for each in doubtful}
    out = _within(area, (row for table in tables for row in table.left_out))
    wrong = found.keys()
    return found | {
        each.row: f"no record: {reason_name(each.reason, doubtful=each.row in wrong)}"
        for each in out
    }


def _within(area: Area, rows: Iterable[LeftOut]) -> list[LeftOut]:
    found = {(each.row, each.reason): each for each in rows if area.top <= each.row <= area.bottom}
    return sorted(found.values(), key=lambda each: each.row)


def _share_columns(one: Area | None, other: Area) -> bool:
    return one is not None and one.left <= other.right and other.left <= one.right
