"""Words of an index that an older version wrote: read anew when it is opened, never mixed."""

import sqlite3
from contextlib import closing

import pytest

from sat_retriever import Column, IndexDamagedError, IndexFormatError, SheetIndex, SheetRecord
from sat_retriever.index.store import connection, schema
from tests.fakes import HashedEncoder

BOOK = {"workbook": "Fleet.xlsx", "path": "trans/Fleet.xlsx"}
RECORDS = (
    SheetRecord("a", "LDVs", columns=(Column("NOx"), Column("kWhPerMonth")), **BOOK),
    SheetRecord("b", "Fleet", columns=(Column("LDVs ID"), Column("PM2.5")), **BOOK),
    SheetRecord("c", "Vehicles", columns=(Column("LDVs ID"),), workbook="Other.xlsx"),
)
WITHOUT_COPIES = """
    DROP TABLE stale_copies;
    DROP TABLE copy_blocks;
    DROP TABLE copies;
"""  # as files of versions before 6 are
WITHOUT_CHECKSUMS = f"""{WITHOUT_COPIES}
    ALTER TABLE workbooks DROP COLUMN within;
    ALTER TABLE workbooks DROP COLUMN seal;
    ALTER TABLE sheets DROP COLUMN crc;
    ALTER TABLE links DROP COLUMN crc;
"""  # as files of versions before 5 are
ROWS = (
    "SELECT rowid, workbook, sheet, headers, folder FROM lexical ORDER BY rowid",
    "SELECT id, words FROM tokens ORDER BY id",
    "SELECT claim FROM key_columns ORDER BY id",
    "SELECT block, key_column FROM key_blocks ORDER BY block, key_column",
)
OLD = """
    DROP TABLE lexical;
    CREATE VIRTUAL TABLE lexical USING fts5 (
        workbook, sheet, headers, folder,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'", detail = 'column'
    );
    INSERT INTO lexical (rowid, workbook, sheet, headers, folder) VALUES
        (1, 'fleet', 'ld vs', 'n ox k wh per month', 'tran'),
        (2, 'fleet', 'fleet', 'ld vs id pm2 5', 'tran'),
        (3, 'other', 'vehicl', 'ld vs id', '');
    UPDATE tokens SET words = 9;
    UPDATE key_columns SET claim = replace(claim, 'h:ldv', 'h:ld v');
    UPDATE key_blocks SET block = replace(block, 'h:ldv', 'h:ld v');
    PRAGMA user_version = 3;
"""


def rows(path):
    with closing(sqlite3.connect(path)) as file:
        return [file.execute(sql).fetchall() for sql in ROWS]


@pytest.fixture
def old(tmp_path):
    """An index as the version before left it, and the rows that one of today has."""
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.add_records(RECORDS)
    today = rows(path)
    with closing(sqlite3.connect(path)) as file:
        file.executescript(WITHOUT_CHECKSUMS + OLD)
    was = rows(path)
    assert all(one != other for one, other in zip(was, today, strict=True))
    return path, today


def test_an_older_index_gets_the_words_that_a_new_one_has(old):
    path, today = old
    with SheetIndex.open(path, HashedEncoder()) as index:
        for query, sheet in (("ldv", "a"), ("NOX", "a"), ("kwh", "a"), ("pm2.5", "b")):
            found = index.candidates(index.question(query, dense_weight=0))
            assert (found[0].sheet_id, found[0].lexical > 0) == (sheet, True), query
        assert index.candidates(index.question("ld vs", dense_weight=0))[0].lexical == 0
    assert rows(path) == today


def test_sheets_added_to_an_older_index_have_words_like_its_own(old):
    path, _ = old
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.add_records([SheetRecord("d", "LDV", workbook="New.xlsx")])
        found = index.candidates(index.question("LDVs", dense_weight=0))
        assert {each.sheet_id for each in found if each.lexical > 0} == {"a", "b", "c", "d"}


def test_an_older_index_that_cannot_be_written_to_is_refused_and_not_searched(old, monkeypatch):
    path, _ = old
    monkeypatch.setattr(connection, "is_writable", lambda _path: False)  # root may write anywhere
    with pytest.raises(IndexFormatError, match="older version and is read-only here"):
        SheetIndex.open(path, HashedEncoder())


def test_a_damaged_record_of_an_older_index_is_named_and_costs_no_other_sheet(old):
    path, _ = old
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE sheets SET record = '{' WHERE id = 2")
    with SheetIndex.open(path, HashedEncoder()) as index:
        found = index.candidates(index.question("LDVs", dense_weight=0))
        assert {each.sheet_id for each in found if each.lexical > 0} == {"a", "c"}
        with pytest.raises(IndexDamagedError, match=r"damaged rows \(b\)"):
            index.records(["b"])
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone()[0] == len(schema.MIGRATIONS)
