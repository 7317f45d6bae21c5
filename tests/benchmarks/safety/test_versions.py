import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from benchmarks.safety.versions import SHEETS, check_file, versions_in, versions_of, write_version
from sat_retriever import Column, SheetIndex, SheetRecord
from tests.fakes import HashedEncoder


@pytest.fixture
def index(tmp_path):
    write_version(tmp_path / "a.xlsx", "version3")
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        made.sync(tmp_path / "a.xlsx")
        yield made


def records(*versions):
    return [
        SheetRecord(f"a#S{n}", f"S{n}", path="a", columns=(Column("Key"), Column(version)))
        for n, version in enumerate(versions)
    ]


def test_every_sheet_of_a_workbook_names_its_version(index):
    assert len(index) == SHEETS
    assert versions_of(index) == {"a.xlsx": "version3"}


@pytest.mark.parametrize("torn", [["v1"] * (SHEETS - 1), ["v1"] * (SHEETS - 1) + ["v2"]])
def test_a_workbook_that_lacks_sheets_or_has_them_of_two_versions_is_torn(torn):
    with pytest.raises(SystemExit, match=r"torn workbooks, .*'v1': 3"):
        versions_in(records(*torn))


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM tokens WHERE id = (SELECT min(id) FROM tokens)",
        "DELETE FROM contents WHERE id = (SELECT min(id) FROM contents)",
        "INSERT INTO content_words (rowid, words) VALUES (99, 'left')",
    ],
)
def test_a_whole_file_passes_and_one_whose_parts_differ_does_not(sql, index):
    check_file(index.path)
    with closing(sqlite3.connect(index.path)) as connection, connection:
        connection.execute(sql)
    with pytest.raises(SystemExit, match="are not of the same sheets"):
        check_file(index.path)


def test_texts_of_another_version_than_the_sheet_are_torn(index):
    [record, *_] = index.records(index.sheet_ids(), contents=True).values()
    columns = (record.columns[0], Column("version4"), *record.columns[2:])
    index.add_records([replace(record, columns=columns)])
    with pytest.raises(SystemExit, match=r"is of version4, its texts of \{'version3'\}"):
        versions_of(index)
