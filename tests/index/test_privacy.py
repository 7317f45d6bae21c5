"""What of the cells is in an index file and beside it, by its bytes."""

import datetime as dt
import sqlite3
import zlib
from contextlib import closing

import openpyxl
import pytest

from sat_retriever.index.index import SheetIndex
from tests.fakes import HashedEncoder

NAMES = ("Person", "Salary", "Joined", "Badge No", "Remark", "State")
TEXTS = ("ZAPHOD", "TRILLIAN", "KAKRAFOON", "BLAGULON", "GUILDFORD", "PRAXIBETEL")
CAPTION, NOTE, FORMULA = "CAPTIONTEXT", "FOOTNOTETEXT", "FORMULATEXT"
BADGES = [b"7040112", b"7040113"]
PAID = ("SECRETPAYONE", "SECRETPAYTWO")


@pytest.fixture
def folder(tmp_path):
    """Texts in cells of every kind: caption, labels, values, codes, dates, formulas, notes."""
    place = tmp_path / "books"
    place.mkdir()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([CAPTION])
    sheet.append([])
    sheet.append(NAMES)
    sheet.append([TEXTS[0], PAID[0], dt.datetime(1987, 3, 2), 7040112, TEXTS[2], TEXTS[4]])
    sheet.append([TEXTS[1], PAID[1], dt.datetime(1988, 4, 3), 7040113, TEXTS[3], TEXTS[5]])
    sheet.append([f"X{TEXTS[1]}", "none", dt.datetime(1989, 5, 4), 7040117, "idle", "gone"])
    sheet.append([])
    sheet.append([])
    sheet.append([f"Source: {NOTE} and other ledgers"])
    other = book.create_sheet("Rates")
    other.append(["Rate", "Amount"])
    other.append([f'=IF(Sheet!A4="{FORMULA}",Sheet!D4*987654321,0)', 3])
    book.save(place / "people.xlsx")
    rows = [",".join(NAMES), f"{TEXTS[0]},{PAID[0]},1987-03-02,7040112,{TEXTS[2]},{TEXTS[4]}"]
    rows.append(f"{TEXTS[1]},{PAID[1]},1988-04-03,7040113,{TEXTS[3]},{TEXTS[5]}")
    (place / "people.csv").write_text("\n".join(rows))
    return place


def kept(folder, path, **privacy):
    """The texts of all sheets' contents and examples, and all bytes of the index and beside it.

    Contents are kept compressed, so their bytes are also there as they were before.
    """
    with SheetIndex.create(path, HashedEncoder(), **privacy) as index:
        index.sync(folder)
        beside = [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]
        records = index.records(index.sheet_ids(), contents=True).values()
        contents = [record.contents for record in records if record.contents is not None]
        texts = {each.text for found in contents for each in found.notes}
        texts |= {each.text for found in contents for table in found.tables for each in table}
        examples = {column.example for record in records for column in record.columns}
    beside += [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]
    with closing(sqlite3.connect(path)) as opened:
        packed = opened.execute("SELECT packed FROM contents").fetchall()
    beside += [zlib.decompress(data) for (data,) in packed]
    return texts, examples, b"\0".join(beside)


def bytes_beside(path):
    return b"\0".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def missing(words, content):
    return [word for word in words if word.encode() not in content]


def test_all_keeps_the_texts_of_cells(folder, tmp_path):
    texts, examples, content = kept(folder, tmp_path / "m.sat")
    assert {*TEXTS, *PAID, CAPTION, "7040112", "1987-03-02"} <= texts
    assert TEXTS[0] in examples
    assert any(NOTE in text for text in texts)
    assert missing(NAMES, content) == []


def test_examples_keep_one_cell_a_column_and_no_other_text(folder, tmp_path):
    texts, examples, content = kept(folder, tmp_path / "m.sat", contents="examples")
    assert texts == set()
    assert {TEXTS[0], PAID[0], TEXTS[2]} <= examples
    gone = (TEXTS[1], TEXTS[3], TEXTS[5], PAID[1], CAPTION, NOTE)
    assert missing(gone, content) == list(gone)
    assert missing(NAMES, content) == []


def test_names_keep_no_text_of_a_cell(folder, tmp_path):
    texts, examples, content = kept(folder, tmp_path / "m.sat", contents="names")
    assert texts == set()
    assert examples == {None}
    gone = (*TEXTS, *PAID, CAPTION, NOTE, FORMULA, "987654321", "1987-03", "1988-04")
    assert missing(gone, content) == list(gone)
    assert not any(badge in content for badge in BADGES)
    assert missing(NAMES, content) == []


@pytest.mark.parametrize("level", ["examples", "all"])
def test_skipped_columns_keep_no_text_at_any_level(folder, tmp_path, level):
    pattern = "salary|^badge"
    texts, examples, content = kept(
        folder, tmp_path / "m.sat", contents=level, skip_columns=pattern
    )
    gone = (*PAID, FORMULA, "987654321")
    assert missing(gone, content) == list(gone)
    assert not any(badge in content for badge in BADGES)
    assert TEXTS[0] in examples
    assert (level == "all") == (TEXTS[1] in texts)
    assert missing(NAMES, content) == []


def test_records_without_files_are_brought_to_the_level_of_the_index(folder, tmp_path):
    with SheetIndex.create(tmp_path / "all.sat", HashedEncoder()) as index:
        index.sync(folder)
        records = list(index.records(index.sheet_ids(), contents=True).values())
    assert any(record.contents for record in records)
    path = tmp_path / "m.sat"
    with SheetIndex.create(path, HashedEncoder(), contents="names") as index:
        index.add_records(records)
    content = b"".join(file.read_bytes() for file in tmp_path.glob("m.sat*"))
    assert missing((*TEXTS, *PAID, CAPTION, NOTE), content) == [*TEXTS, *PAID, CAPTION, NOTE]


def test_a_list_of_persons_without_a_header_row_keeps_no_person_as_a_header_at_names(tmp_path):
    place = tmp_path / "books"
    place.mkdir()
    rows = [f"{text.capitalize()},{number}" for number, text in enumerate(TEXTS, 7040112)]
    (place / "list.csv").write_text("\n".join(rows))
    kept(place, tmp_path / "all.sat")
    with SheetIndex.open(tmp_path / "all.sat", HashedEncoder()) as index:
        [record] = index.records(index.sheet_ids(), contents=True).values()
    assert record.tables[0].transposed  # its first column was taken for headers
    persons = [text.capitalize() for text in TEXTS]
    assert missing(persons, bytes_beside(tmp_path / "all.sat")) == []
    path = tmp_path / "m.sat"
    kept(place, path, contents="names")
    assert missing(persons, bytes_beside(path)) == persons
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.add_records([record])
    assert missing(persons, bytes_beside(path)) == persons


def test_of_texts_over_texts_no_first_row_is_kept_as_a_header_at_names(tmp_path):
    place = tmp_path / "books"
    place.mkdir()
    rows = [f"{text.capitalize()},{text[::-1]}" for text in TEXTS]
    (place / "list.csv").write_text("\n".join(rows), encoding="utf-8")
    (place / "paid.csv").write_text("Wage,Team\n70112,a\n70119,b\n70131,c\n", encoding="utf-8")
    first = rows[0].split(",")
    for level, gone in (("all", []), ("names", first)):
        path = tmp_path / f"{level}.sat"
        kept(place, path, contents=level)
        with SheetIndex.open(path, HashedEncoder()) as index:
            records = index.records(index.sheet_ids())
        [texts, paid] = (records[f"{name}.csv#{name}"].tables[0] for name in ("list", "paid"))
        assert texts.header_row == 1  # the place is told at every level
        assert missing(first, bytes_beside(path)) == gone
        assert [column.name for column in paid.columns] == ["Wage", "Team"]


def test_nothing_of_a_removed_workbook_is_left_after_verifying(folder, tmp_path):
    path = tmp_path / "m.sat"
    (folder / "kept.csv").write_text("Region,Amount\nNorth,1\n")
    kept(folder, path)
    for name in ("people.xlsx", "people.csv"):
        (folder / name).unlink()
    words = [word.lower() for word in (*TEXTS, *PAID)]
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.sync(folder, verify=True)
        assert len(index) == 1
    content = bytes_beside(path).lower()
    assert missing([word[-6:] for word in words], content) == [word[-6:] for word in words]
    assert missing(["region"], content) == []
