"""Records under other names."""

from benchmarks.general.variation import varied
from sat_retriever.records.sheets import Column, SheetRecord

RECORDS = [
    SheetRecord(
        f"{book}#{sheet}", sheet, workbook=f"{book} accounts.xlsx",
        columns=tuple(Column(header) for header in ("customer", "quantity", "unit price")),
    )
    for book in (f"company {number}" for number in range(60))
    for sheet in ("Order lines", "Delivery notes")
]  # fmt: skip


def test_a_seed_gives_the_same_names_and_another_gives_others():
    assert varied(RECORDS, 1) == varied(RECORDS, 1)
    assert varied(RECORDS, 1) != varied(RECORDS, 2)


def test_every_kind_of_name_is_changed_in_some_and_kept_in_others():
    made = varied(RECORDS, 1)
    assert [each.sheet_id for each in made] == [each.sheet_id for each in RECORDS]
    pairs = list(zip(RECORDS, made, strict=True))
    for changed in (
        [a.workbook != b.workbook for a, b in pairs],
        [a.sheet != b.sheet for a, b in pairs],
        [a.columns != b.columns for a, b in pairs],
    ):
        assert 0.2 < sum(changed) / len(changed) < 0.95
    assert all(each.columns for each in made)


def test_sheets_of_one_workbook_keep_one_workbook():
    made = varied(RECORDS, 1)
    assert all(a.workbook == b.workbook for a, b in zip(made[::2], made[1::2], strict=True))
