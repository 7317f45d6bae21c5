"""Levels of privacy, and patterns of columns that are left out."""

from dataclasses import replace

import pytest

from sat_retriever import Column, InputError, SheetRecord, Table
from sat_retriever.records.contents import (
    CellText,
    ContentsPolicy,
    SheetContents,
    TableContents,
    TextKind,
)
from sat_retriever.records.privacy import EVERYTHING, MAX_PATTERN, Privacy

COLUMNS = (Column("Name", "Ada"), Column("Base Salary", "100"), Column("Town", "Riga"))
UPRIGHT = Table("A3:C5", 3, 1, transposed=False, num_rows=2, columns=COLUMNS)
SIDEWAYS = Table("A3:C5", None, 0, transposed=True, num_rows=2, columns=COLUMNS)


def texts(*cells):
    return tuple(CellText(cell, f"in {cell}") for cell in cells)


def record(table, *, labels=(), values=()):
    contents = SheetContents(
        texts("A9"), (TableContents(texts("A1")[0], texts(*labels), texts(*values)),)
    )
    return SheetRecord("a", "a", columns=COLUMNS, tables=(table,), contents=contents)


def cells_of(found):
    return [each.cell for table in found.contents.tables for each in table]


def test_all_keeps_a_record_as_it_is():
    kept = record(UPRIGHT, labels=["A4"], values=["B4"])
    assert EVERYTHING.limited(kept) is kept


def test_examples_drop_the_texts_and_names_the_examples_too():
    full = record(UPRIGHT, labels=["A4"])
    middle, least = (
        Privacy(each).limited(full) for each in (ContentsPolicy.EXAMPLES, ContentsPolicy.NAMES)
    )
    assert (middle.columns, middle.tables, middle.contents) == (COLUMNS, (UPRIGHT,), None)
    assert least.contents is None
    for columns in (least.columns, least.tables[0].columns):
        assert [(each.name, each.example) for each in columns] == [
            ("Name", None), ("Base Salary", None), ("Town", None),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "left"),
    [(UPRIGHT, ["A1", "A4", "A5", "C4"]), (SIDEWAYS, ["A1", "A5", "B5"])],
    ids=["upright", "sideways"],
)
def test_a_skipped_column_keeps_its_header_alone(table, left):
    full = record(table, labels=["A4", "A5", "B4"], values=["B5", "C4"])
    found = Privacy(skip_columns="SALARY|iban").limited(full)
    assert [each.example for each in found.tables[0].columns] == ["Ada", None, "Riga"]
    assert cells_of(found) == left
    assert found.contents.notes == full.contents.notes


def test_texts_whose_column_is_not_known_go_where_any_column_is_skipped():
    loose = SheetRecord(
        "a", "a", columns=COLUMNS, contents=SheetContents((), (TableContents(labels=texts("A4")),))
    )
    assert cells_of(Privacy(skip_columns="salary").limited(loose)) == []
    assert cells_of(Privacy(skip_columns="iban").limited(loose)) == ["A4"]


def test_literals_of_formulas_are_kept_only_where_every_column_is():
    assert EVERYTHING.literals
    assert not Privacy(ContentsPolicy.NAMES).literals
    assert not Privacy(skip_columns="salary").literals


def test_a_level_that_does_not_exist_is_named():
    with pytest.raises(InputError, match=r"'most'; choose one of names, examples, all"):
        Privacy.of("most", None)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("sal[ary", "no regular expression"),
        ("x" * (MAX_PATTERN + 1), "characters"),
        ("(a+)+", "has a group"),
        ("(?:a|aa)b", "has a group"),
        ("a*a*a*b", "repeats"),
        ("a?a?a?b|c", "repeats"),
        (r"a{1,9}\d+\w*", "repeats"),
        (r"\1", "no regular expression"),
        ("salary|", "every header"),
        (".*", "every header"),
    ],
)
def test_a_pattern_that_is_wrong_or_could_take_long_is_refused(pattern, said):
    with pytest.raises(InputError, match=said):
        Privacy.of("all", pattern)


@pytest.mark.parametrize("pattern", ["salary|iban", r"^net.*pay$|e-?mail", r"[(*+?]x|\(net\)"])
def test_a_usual_pattern_is_taken(pattern):
    assert Privacy.of("all", pattern) == Privacy(ContentsPolicy.ALL, pattern)


def test_the_dearest_pattern_that_is_allowed_ends():
    assert not Privacy.of("all", "|".join([".*.*[^a]"] * 40)).skips("a" * 120)


@pytest.mark.parametrize(("table", "hidden"), [(UPRIGHT, {"B3", "B5"}), (SIDEWAYS, {"A4", "B4"})])
def test_a_comment_on_a_skipped_column_goes_and_other_notes_stay(table, hidden):
    cells = ("A3", "B3", "A4", "B4", "B5", "B9")
    notes = tuple(CellText(cell, "said", TextKind.COMMENT) for cell in cells)
    boxes = tuple(CellText(cell, "box", TextKind.SHAPE) for cell in cells)
    full = replace(record(table), contents=SheetContents((*notes, *boxes), (TableContents(),)))
    found = Privacy(skip_columns="salary").limited(full).contents.notes
    assert found[-len(boxes) :] == boxes
    gone = set(notes) - set(found)
    assert {each.cell for each in gone} >= hidden
    assert {each.cell for each in gone} <= hidden | {"B4"}
