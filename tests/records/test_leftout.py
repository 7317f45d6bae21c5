"""Rows that are no records: told in few words, and without texts that may not be kept."""

from dataclasses import replace

import pytest

from sat_retriever import SheetRecord, Table
from sat_retriever.records.area import Area
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import record_from_json, to_json
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import LeftOut, LeftOutReason, left_out_note, told_rows
from sat_retriever.tools.context import reasons_of, rows_note

TOTAL = LeftOut(9, LeftOutReason.TOTAL, "Total of Ada")
RECORD = SheetRecord(
    "a", "a", tables=(Table("A1:B9", 1, 1, False, 7, (), None, (TOTAL,), 1, (TOTAL,)),)
)


def test_many_rows_are_told_in_a_few_words_and_the_others_by_their_number():
    rows = [LeftOut(row, LeftOutReason.SUBTOTAL) for row in range(10, 1_000, 10)]
    told = told_rows(rows, number=250)
    assert told.startswith("rows 10, 20, 30, ")
    assert told.endswith(" and 88 more (subtotals), and 151 more rows")
    assert len(told) < 120
    rows = [LeftOut(row, LeftOutReason.SECTION) for row in range(2, 500)]
    assert told_rows(rows, number=499) == "rows 2-499 (sections), and 1 more row"


def test_doubtful_rows_are_told_apart_from_those_left_out():
    assert left_out_note([], []) == ""
    assert left_out_note([], [TOTAL, LeftOut(5, LeftOutReason.TOTAL)]) == (
        "Kept, though they may sum up others: rows 5 and 9 (totals)."
    )


def test_totals_left_out_that_do_not_add_up_are_told_so():
    wrong = [TOTAL, LeftOut(10, LeftOutReason.TOTAL)]
    table = Table("A1:B10", 1, 1, False, 6, (), None, (LeftOut(2, LeftOutReason.UNITS), *wrong))
    assert replace(table, doubtful=(TOTAL,)).note == (
        "Left out: row 2 (units), row 9 (total, does not add up), row 10 (total)."
    )
    assert replace(table, doubtful=tuple(wrong)).note == (
        "Left out: row 2 (units), rows 9 and 10 (totals, do not add up)."
    )
    record = SheetRecord("a", "a", tables=(replace(table, doubtful=(TOTAL,)),))
    area = Area(1, 1, 10, 2)
    assert rows_note(record, area).endswith("row 9 (total, does not add up), row 10 (total).")
    assert reasons_of(record, area)[9] == "no record: total, does not add up"


@pytest.mark.parametrize("kept", [Privacy(ContentsPolicy.NAMES), Privacy(skip_columns="salary")])
def test_where_values_are_not_kept_the_rows_stay_and_their_texts_go(kept):
    (table,) = kept.limited(RECORD).tables
    assert table.left_out == table.doubtful == (LeftOut(9, LeftOutReason.TOTAL),)
    assert EVERYTHING.limited(RECORD).tables == RECORD.tables
    assert Privacy(ContentsPolicy.EXAMPLES).limited(RECORD).tables == RECORD.tables


@pytest.mark.parametrize("compact", [True, False])
def test_a_record_comes_back_from_its_json_form_and_an_old_one_has_no_such_rows(compact):
    told = to_json(RECORD, compact=compact)
    assert record_from_json(told) == RECORD
    (old,) = told["tables"]
    for name in ("left_out", "num_left_out", "doubtful"):
        del old[name]
    (table,) = record_from_json(told).tables
    assert (table.left_out, table.num_left_out, table.note) == ((), 0, "")
