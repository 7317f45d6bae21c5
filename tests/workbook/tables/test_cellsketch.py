"""Sketches of sheets: what they are made of, and what they leave out."""

import random

import pytest

from sat_retriever import Column, SheetRecord, Table, read_workbook
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.workbook.tables.sketches import MAX_CELLS, NUMBERS, TEXTS, cell_sketch
from sat_retriever.workbook.values.grid import Grid


def sketch(tmp_path, *lines, **options):
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines))
    return read_workbook(file, **options).sketches


def test_an_item_is_a_value_with_the_label_of_its_row(tmp_path):
    (found,) = sketch(tmp_path, "Region,Units,Who", "North,5,Ann", "South,5,Ann", "North,5,Ann")
    assert (found.numbers, found.texts) == (2, 4)


def test_headers_zeros_and_the_order_of_rows_do_not_count(tmp_path):
    (one,) = sketch(tmp_path, "Region,Units,Cost", "North,5,0", "South,7,0")
    (other,) = sketch(tmp_path, "Area,Pieces,Sum", "South,7,0", "North,5,0")
    assert one.number_sketch == other.number_sketch
    assert one.numbers == 2
    assert one.total != other.total  # equal workbooks have equal headers


def test_a_number_is_the_same_in_every_format(tmp_path):
    (one,) = sketch(tmp_path, "Region,Units,Cost", "North,5,0.1", "South,7,2.50")
    (other,) = sketch(tmp_path, "Region,Units,Cost", "NORTH ,5.0,0.10", "South,7.0,2.5")
    assert one.number_sketch == other.number_sketch


def test_a_sketch_is_bounded_and_stable_under_new_rows(tmp_path):
    rows = [f"row {n},{n + 1},{n * 7 + 1}" for n in range(MAX_CELLS)]
    random.Random(0).shuffle(rows)
    (found,) = sketch(tmp_path, "Name,Units,Cost", *rows)
    assert len(found.number_sketch) == NUMBERS
    assert len(found.text_sketch) == TEXTS
    assert found.step > 0
    assert found.numbers < 2 * MAX_CELLS / 2**found.step * 1.2
    (again,) = sketch(tmp_path, "Name,Units,Cost", *sorted(rows))
    assert again == found


def test_many_rows_of_one_label_still_have_a_sketch(tmp_path):
    rows = [f"North,{n + 1}" for n in range(2 * MAX_CELLS)]
    (found,) = sketch(tmp_path, "Region,Units", *rows)
    assert len(found.number_sketch) == NUMBERS


def test_nothing_is_made_of_cells_that_are_not_to_be_kept(tmp_path):
    lines = ("Region,Units", "North,5")
    assert sketch(tmp_path, *lines, contents="names") == ()
    assert sketch(tmp_path, *lines, links=False) == ()


@pytest.mark.parametrize("transposed", [False, True])
def test_cells_of_skipped_columns_are_in_no_sketch(transposed):
    columns = (Column("Who"), Column("Salary"), Column("Unit"))
    head = None if transposed else 3
    table = Table("C3:E5", head, int(not transposed), transposed, 2, columns)
    record = SheetRecord("a", "a", columns=columns, tables=(table,))

    def sketched(salary, privacy):
        lines = [["Who", "Salary", "Unit"], ["Ann", salary, 7], ["Bob", salary, 9]]
        rows = [list(row) for row in zip(*lines, strict=True)] if transposed else lines
        return cell_sketch(record, Grid(rows, 3, 3), privacy)

    assert sketched(5100, EVERYTHING) != sketched(6200, EVERYTHING)
    skipping = Privacy(skip_columns="salary")
    assert sketched(5100, skipping) == sketched(6200, skipping)
    assert sketched(5100, skipping).numbers == 2
