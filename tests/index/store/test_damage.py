"""Rows of real index files that are damaged by hand: named when met, rebuilt by verifying."""

import random
import shutil
import sqlite3
from contextlib import closing

import openpyxl
import pytest

from sat_retriever import IndexDamagedError, IndexFormatError, Link, SheetIndex, SheetRecord
from tests.builders import save_book
from tests.fakes import HashedEncoder
from tests.index.store.older import WITHOUT_CHECKSUMS
from tests.index.sync.test_sync import write, write_xlsx

# Everything that two indexes of the same folders have in common; row ids are not.
STORED = (
    "SELECT root, path, file, size, mtime_ns, content_hash, skipped, within, seal FROM workbooks "
    "ORDER BY root, path",
    "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, s.crc, "
    "t.words, t.token, t.months, x.workbook, x.sheet, x.headers, x.folder, w.path FROM sheets s "
    "LEFT JOIN tokens t ON t.id = s.id LEFT JOIN lexical x ON x.rowid = s.id "
    "LEFT JOIN workbooks w ON w.id = s.workbook_id ORDER BY s.sheet_id",
    "SELECT * FROM links ORDER BY 1, 2, 3, 4",
    "SELECT s.sheet_id, r.file, r.claim FROM external_references r "
    "JOIN sheets s ON s.id = r.sheet ORDER BY 1, 2, 3",
    "SELECT s.sheet_id, p.family, p.claim FROM periods p "
    "JOIN sheets s ON s.id = p.sheet ORDER BY 1",
    "SELECT s.sheet_id, k.claim, b.block FROM key_columns k JOIN sheets s ON s.id = k.sheet "
    "LEFT JOIN key_blocks b ON b.key_column = k.id ORDER BY 1, 2, 3",
    "SELECT family FROM stale_families",
    "SELECT s.sheet_id, c.versions, c.claim, b.block, b.place, c.family IS NULL FROM copies c "
    "JOIN sheets s ON s.id = c.sheet LEFT JOIN copy_blocks b ON b.sheet = c.sheet ORDER BY 1, 4",
    "SELECT sheet FROM stale_copies",
    "SELECT kind, name FROM unsettled",
    "SELECT block FROM crowded_blocks",
    "SELECT key, value FROM meta WHERE key != 'generation' ORDER BY key",
)
TEXTS = (
    ("sheets", "record"),
    ("sheets", "metadata"),
    ("sheets", "visibility"),
    ("sheets", "path"),
    ("tokens", "token"),
    ("workbooks", "skipped"),
    ("workbooks", "content_hash"),
    ("external_references", "claim"),
    ("periods", "claim"),
    ("key_columns", "claim"),
    ("copies", "versions"),
    ("copies", "claim"),
    ("links", "evidence"),
    ("links", "type"),
)

MIDDLE = "(SELECT id FROM sheets WHERE path = 'sales_2022.csv')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Workbooks with links of every origin, and one file that cannot be read; never changed."""
    folder = tmp_path_factory.mktemp("data")
    for year in (2022, 2023):
        write(folder / f"Sales {year}.csv", "Region", "Revenue", "Order")
    book = write_xlsx(folder / "plan.xlsx", Plan=["Item", "Cost"], Staff=["Order", "Name"])
    write_xlsx(folder / "Größe.xlsx", Maße=["Höhe", "Breite"])
    (folder / "torn.xlsx").write_bytes(book.read_bytes()[:300])
    rows = "".join(f"{number},x{number}\n" for number in range(40))
    for name in ("customers", "orders"):
        (folder / f"{name}.csv").write_text("customer_id,what\n" + rows)
    linked = openpyxl.Workbook()
    linked.active.title = "Sum"
    linked.active.append(["Total", "Cost"])
    linked.active.append(["=Other!A2", "=[plan.xlsx]Plan!$A$1"])
    linked.create_sheet("Other").append(["Cost"])
    linked["Other"].append([3])
    linked.save(folder / "sum.xlsx")
    return folder


def made(path, folder):
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.sync(folder)
    return path


@pytest.fixture(scope="module")
def indexed(folder, tmp_path_factory):
    return made(tmp_path_factory.mktemp("index") / "a.sat", folder)


@pytest.fixture
def path(indexed, tmp_path):
    """A copy of the folder's index, to be damaged."""
    return shutil.copy(indexed, tmp_path / "a.sat")


def stored(path):
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(sql).fetchall() for sql in STORED]


def damage(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for sql, *values in statements:
            connection.execute(sql, values)
        connection.commit()


def use(path):
    """What a search, a look at a sheet, the status and the graph need."""
    with SheetIndex.open(path, HashedEncoder()) as index:
        ids = [found.sheet_id for found in index.candidates("cost of region")]
        index.records(ids)
        index.records(index.sheet_ids())
        index.status()
        index.workbooks()
        list(index.all_links())
        index.links(ids)


def test_a_damaged_record_is_named_and_verifying_rebuilds_it(path, folder):
    whole = stored(path)
    damage(
        path,
        ("UPDATE sheets SET record = replace(record, '\"text\"', '\"texQ\"') WHERE path = ?",
         "customers.csv"),
    )  # fmt: skip
    with pytest.raises(IndexDamagedError, match=r"customers\.csv#customers.*--verify"):
        use(path)
    with SheetIndex.open(path, HashedEncoder()) as index:
        report = index.sync(folder, verify=True)
    assert (report.repaired, report.changed, report.lost) == (1, 1, ())
    assert stored(path) == whole
    use(path)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE sheets SET record = '{}'",
        "UPDATE sheets SET record = 'x' WHERE path = 'orders.csv'",
        "UPDATE sheets SET record = CAST(x'ff00ff' AS TEXT)",
        "UPDATE sheets SET metadata = '{'",
        "UPDATE tokens SET token = x'00'",
        "UPDATE tokens SET token = zeroblob(4096)",
        "UPDATE tokens SET token = x'0000c07f' || substr(token, 5)",
        "UPDATE tokens SET words = 'many'",
        "DELETE FROM tokens WHERE id = (SELECT max(id) FROM tokens)",
        "DELETE FROM lexical WHERE rowid = (SELECT max(rowid) FROM lexical)",
        "UPDATE lexical SET headers = 'nonsense'",
        "DELETE FROM lexical_data WHERE id > 10",
        "UPDATE workbooks SET skipped = 'x'",
        'UPDATE workbooks SET skipped = \'[{"reason": "none"}]\'',
        "UPDATE workbooks SET seal = 'x'",
        "UPDATE links SET weight = 'heavy'",
        "UPDATE links SET evidence = CAST(x'ff' AS TEXT)",
        "UPDATE external_references SET claim = '{}'",
        "UPDATE periods SET claim = 'x'",
        "UPDATE key_columns SET claim = '[]'",
        "DELETE FROM periods",
        "DELETE FROM sheets WHERE sheet_id = 'plan.xlsx#Staff'",
    ],
)
def test_every_damage_ends_in_a_clear_error_and_is_repaired(sql, path, folder):
    whole = stored(path)
    damage(path, (sql,))
    assert stored_bytes(path) != whole
    try:
        use(path)
    except IndexDamagedError as error:
        assert "--verify" in str(error)
        assert "\n" not in str(error)
    with SheetIndex.open(path, HashedEncoder()) as index:
        report = index.sync(folder, verify=True)
        assert report.lost == ()
        again = index.sync(folder, verify=True)
        assert (again.repaired, again.changed) == (0, 0)
    assert stored(path) == whole
    use(path)


def stored_bytes(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        tables = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL "
            "AND name != 'content_words'"  # has no rows of its own to show
        )
        names = [row[0].decode() for row in connection.execute(tables)]
        return [connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names]


@pytest.mark.parametrize("seed", range(24))
def test_bytes_flipped_in_any_row_never_end_in_another_error_and_are_put_right(seed, path, folder):
    chance = random.Random(seed)
    whole = stored(path)
    with closing(sqlite3.connect(path)) as connection:
        for table, column in chance.sample(TEXTS, 3):
            links = "CAST(source || target || type || origin AS BLOB)"  # may be no text any more
            key = "rowid" if table != "links" else links
            rows = connection.execute(
                f"SELECT {key}, CAST({column} AS BLOB) FROM {table} WHERE length({column})"
            ).fetchall()
            name, content = chance.choice(rows)
            flipped = bytearray(content)
            for _ in range(chance.choice((1, 1, 3))):
                flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            value = "?" if column == "token" else "CAST(? AS TEXT)"
            connection.execute(
                f"UPDATE {table} SET {column} = {value} WHERE {key} = ?", (bytes(flipped), name)
            )
        connection.commit()
    try:
        use(path)
    except IndexDamagedError as error:
        assert "--verify" in str(error)
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.sync(folder, verify=True)
    assert stored(path) == whole


def test_contents_of_one_sheet_that_another_of_its_workbook_has_are_put_right(tmp_path):
    """The other sheet has none, so the same contents in the same order are there."""
    towns = [["Town", "People"], *[[f"Town {n}", n] for n in range(9)]]
    save_book(tmp_path / "data" / "a.xlsx", Towns=towns, Plan=[["Item", "Cost"]])
    path = made(tmp_path / "a.sat", tmp_path / "data")
    with SheetIndex.open(path, HashedEncoder()) as index:
        before = index.records(index.sheet_ids(), contents=True)
    assert [each.contents is None for each in before.values()] == [True, False]
    other = "(SELECT id FROM sheets WHERE sheet_id = 'a.xlsx#Plan')"
    damage(path, (f"UPDATE contents SET id = {other}",))
    with SheetIndex.open(path, HashedEncoder()) as index:
        assert index.sync(tmp_path / "data", verify=True).repaired == 1
        assert index.records(index.sheet_ids(), contents=True) == before


def test_a_damaged_workbook_of_another_folder_is_rebuilt_too(tmp_path, folder):
    other = write(tmp_path / "other" / "far.csv", "Far", "y", "z")
    path = made(tmp_path / "a.sat", [folder, other.parent])
    whole = stored(path)
    damage(path, ("UPDATE sheets SET record = 'x' WHERE path = 'far.csv'",))
    with SheetIndex.open(path, HashedEncoder()) as index:
        assert index.sync(folder, verify=True).repaired == 1
    assert stored(path) == whole


def test_what_has_no_file_any_more_or_never_had_one_is_said_to_be_lost(tmp_path, folder):
    other = write(tmp_path / "other" / "far.csv", "Far", "y", "z")
    path = made(tmp_path / "a.sat", [folder, other.parent])
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.add_records([SheetRecord("7", "alone")], [Link("7", "orders.csv#orders", "given")])
    damage(
        path,
        ("UPDATE sheets SET record = 'x' WHERE path = 'far.csv' OR sheet_id = '7'",),
        ("UPDATE links SET evidence = 'x' WHERE type = 'given'",),
    )
    other.unlink()
    with SheetIndex.open(path, HashedEncoder()) as index:
        report = index.sync(folder, verify=True)
        assert report.repaired == 0 or report.lost
        assert [lost.rpartition(": ")[2] for lost in report.lost] == [
            "its file is gone",
            "it has no file, add it again",
            "add it again",
        ]
        assert "7" not in index.sheet_ids()
    use(path)


def test_a_broken_file_is_told_from_damaged_rows(path, folder):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = 'sheets_of_workbook'")
        connection.commit()
    with (
        SheetIndex.open(path, HashedEncoder()) as index,
        pytest.raises(IndexFormatError, match="is broken, not only rows of it"),
    ):
        index.sync(folder, verify=True)


@pytest.mark.parametrize("key", ["serialization", "width", "dense_weight"])
def test_damaged_settings_are_told(key, path):
    damage(path, ("INSERT OR REPLACE INTO meta VALUES (?, '{x')", key))
    with pytest.raises(IndexFormatError, match="the settings in"):
        SheetIndex.open(path, HashedEncoder())


def test_rows_of_an_older_version_are_read_anew_by_verifying_once(path, folder):
    whole = stored(path)
    damage(
        path,
        *((sql,) for sql in WITHOUT_CHECKSUMS.split(";") if sql.strip()),
        ("PRAGMA user_version = 4",),
    )
    use(path)
    with SheetIndex.open(path, HashedEncoder()) as index:
        assert index.sync(folder, verify=True).repaired == 0
        assert index.sync(folder, verify=True).changed == 0
    assert stored(path) == whole


def test_a_sheet_that_is_removed_or_taken_over_or_encoded_anew_is_no_damage(path, folder):
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.remove(["plan.xlsx#Plan"])
        index.add_records([SheetRecord("sum.xlsx#Other", "mine")])
        index.reencode(HashedEncoder(32))
        report = index.sync(folder, verify=True)
        assert (report.repaired, report.lost) == (0, ())
        assert "plan.xlsx#Plan" not in index.sheet_ids()


def years_of_sales(tmp_path):
    """An index of three files that follow one another in time, and their folder."""
    folder = tmp_path / "years"
    for year in (2021, 2022, 2023):
        write(folder / f"sales_{year}.csv", "Region", "Revenue", "Order")
    return made(tmp_path / "years.sat", folder), folder


def links_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM links ORDER BY 1, 2, 3, 4").fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE sheets SET record = 'x' WHERE path = 'sales_2022.csv'",
        "UPDATE sheets SET sheet_id = CAST(x'ff' AS TEXT) WHERE path = 'sales_2022.csv'",
        "UPDATE sheets SET sheet_id = 'sales_2O22.csv' WHERE path = 'sales_2022.csv'",
        f"UPDATE periods SET claim = 'x' WHERE sheet = {MIDDLE}",
        f"UPDATE periods SET family = CAST(x'ff' AS TEXT) WHERE sheet = {MIDDLE}",
        f"DELETE FROM periods WHERE sheet = {MIDDLE}",
    ],
)
def test_links_of_a_damaged_sheet_whose_file_is_gone_close_around_it(sql, tmp_path):
    path, folder = years_of_sales(tmp_path)
    damage(path, (sql,))
    (folder / "sales_2022.csv").rename(tmp_path / "away.csv")
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.sync(folder, verify=True)
    assert stored(path) == stored(made(tmp_path / "new.sat", folder))
    ends = {row[:2] for row in links_of(path)}
    assert ends == {tuple(f"sales_{year}.csv#sales_{year}" for year in (2023, 2021))}
    use(path)


def test_links_to_sheets_that_an_earlier_repair_left_behind_go(tmp_path):
    path, folder = years_of_sales(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"DELETE FROM lexical WHERE rowid = {MIDDLE}")
        connection.execute("DELETE FROM workbooks WHERE path = 'sales_2022.csv'")
        connection.commit()
    (folder / "sales_2022.csv").unlink()
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.sync(folder, verify=True)
    assert stored(path) == stored(made(tmp_path / "new.sat", folder))


def test_verifying_an_older_file_forgets_no_reason_of_other_folders(tmp_path, folder):
    other = tmp_path / "other"
    other.mkdir()
    (other / "torn.xlsx").write_bytes((folder / "torn.xlsx").read_bytes())
    path = made(tmp_path / "a.sat", [folder, other])
    damage(path, ("UPDATE workbooks SET seal = ''",))
    with SheetIndex.open(path, HashedEncoder()) as index:
        before = {(state.root, state.path): state.skipped for state in index.workbooks()}
        index.sync(folder, verify=True)
        assert {(state.root, state.path): state.skipped for state in index.workbooks()} == before
        assert index.sync(other).changed == 1


@pytest.mark.parametrize("value", ["'x'", '\'[{"reason": "none"}]\'', "CAST(x'ff' AS TEXT)"])
def test_reasons_in_an_older_file_that_cannot_be_read_are_forgotten(value, path, folder):
    whole = stored(path)
    damage(path, (f"UPDATE workbooks SET seal = '', skipped = {value}",))
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.sync(folder, verify=True)
    assert stored(path) == whole
