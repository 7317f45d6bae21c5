"""A folder and the index of it, through every kind of change."""

import errno
import os
import random
import shutil
import sqlite3
import time
from contextlib import closing

import pytest
import xlsxwriter

from sat_retriever import (
    Filters,
    Limits,
    PathNotFoundError,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    Skipped,
    Workbook,
)
from sat_retriever.records.formats import EXTENSIONS
from sat_retriever.records.sheets import SkipReason
from tests.fakes import HashedEncoder

PAST = time.time() - 3600


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "sub").mkdir(parents=True)
    return tmp_path / "data"


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as opened:
        yield opened


def write(path, *headers, mtime=PAST):
    """A small csv file whose time is old enough to be trusted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(",".join(headers) + "\n" + "1,2,3\n2,3,4\n", encoding="utf-8")
    os.utime(path, (mtime, mtime))
    return path


def write_xlsx(path, **sheets):
    with xlsxwriter.Workbook(path) as book:
        for name, headers in sheets.items():
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, headers)
            sheet.write_row(1, 0, range(len(headers)))
    os.utime(path, (PAST, PAST))
    return path


def counts(report):
    return report.added, report.changed, report.unchanged, report.removed


def test_a_folder_is_indexed_and_its_sheets_are_named_relative_to_it(folder, index):
    write(folder / "sub" / "a.csv", "Region", "Sales", "Year")
    write_xlsx(folder / "b.xlsx", First=["Name", "Age"], Second=["City", "Zip"])
    (folder / "notes.txt").write_text("nothing")
    (folder / ".hidden.csv").write_text("a,b")
    (folder / "~$b.xlsx").write_text("lock")
    report = index.sync(folder)
    assert counts(report) == (2, 0, 0, 0)
    assert (report.sheets, report.ignored, report.skipped) == (3, 1, ())
    assert index.sheet_ids() == ["b.xlsx#First", "b.xlsx#Second", "sub/a.csv#a"]
    assert SheetRetriever(index).retrieve("city and zip")[0].sheet_id == "b.xlsx#Second"


def test_the_listing_and_the_number_to_read_are_told_before_the_first_workbook_is_stored(
    folder, index
):
    write(folder / "a.csv", "x", "y", "z")
    for number in range(500):
        (folder / f"{number}.txt").touch()
    told = []
    index.sync(
        folder,
        listed=lambda place, files: told.append((place, files)),
        progress=lambda *step: told.append(step),
    )
    assert told == [(str(folder), 250), (str(folder), 500), (0, 1, ""), (1, 1, "a.csv")]


def test_an_unchanged_folder_is_not_read_again(folder, index):
    write(folder / "a.csv", "x", "y", "z")
    index.sync(folder)
    generation = index._store.generation()
    seen = []
    assert counts(index.sync(folder, progress=lambda *step: seen.append(step))) == (0, 0, 1, 0)
    assert seen == []
    assert index._store.generation() == generation


def test_a_changed_file_is_read_again_and_a_touched_one_is_not(folder, index):
    a, b = write(folder / "a.csv", "old", "y", "z"), write(folder / "b.csv", "b", "y", "z")
    index.sync(folder)
    write(a, "new", "y", "z", mtime=PAST + 10)
    os.utime(b, (PAST + 10, PAST + 10))
    assert counts(index.sync(folder)) == (0, 1, 1, 0)
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "new"
    assert counts(index.sync(folder)) == (0, 0, 2, 0)


def test_a_change_that_keeps_size_and_time_is_found_by_verify(folder, index):
    a = write(folder / "a.csv", "old", "y", "z")
    index.sync(folder)
    write(a, "new", "y", "z")
    assert counts(index.sync(folder)) == (0, 0, 1, 0)
    assert counts(index.sync(folder, verify=True)) == (0, 1, 0, 0)


def test_a_file_written_just_before_it_was_read_is_hashed_the_next_time(folder, index):
    now = time.time()
    a = write(folder / "a.csv", "old", "y", "z", mtime=now)
    index.sync(folder)
    write(a, "new", "y", "z", mtime=now)
    assert counts(index.sync(folder)) == (0, 1, 0, 0)


def test_a_removed_file_goes_only_when_its_folder_was_named(folder, index, tmp_path):
    write(folder / "a.csv", "a", "y", "z")
    other = write(tmp_path / "other" / "b.csv", "b", "y", "z")
    index.sync([folder, other.parent])
    (folder / "a.csv").unlink()
    other.unlink()
    assert counts(index.sync(other.parent)) == (0, 0, 0, 1)
    assert index.sheet_ids() == ["a.csv#a"]


def test_the_seconds_of_a_sync_that_removes_are_those_that_it_took(folder, index):
    write(folder / "a.csv", "x", "y", "z")
    index.sync(folder)
    (folder / "a.csv").unlink()
    began = time.monotonic()
    report = index.sync(folder)
    assert report.removed == 1
    assert report.seconds <= time.monotonic() - began


def test_a_missing_folder_is_an_error_and_removes_nothing(folder, index):
    write(folder / "a.csv", "a", "y", "z")
    index.sync(folder)
    shutil.rmtree(folder)
    with pytest.raises(PathNotFoundError, match="no file or folder"):
        index.sync(folder)
    assert len(index) == 1


def test_a_part_of_an_indexed_folder_keeps_its_ids_and_leaves_the_rest_alone(folder, index):
    write(folder / "a.csv", "a", "y", "z")
    b = write(folder / "sub" / "b.csv", "b", "y", "z")
    index.sync(folder)
    (folder / "a.csv").unlink()
    write(b, "changed", "y", "z", mtime=PAST + 5)
    assert counts(index.sync(folder / "sub")) == (0, 1, 0, 0)
    assert counts(index.sync(b)) == (0, 0, 1, 0)
    assert index.sheet_ids() == ["a.csv#a", "sub/b.csv#b"]


def test_naming_a_folder_above_takes_over_what_was_indexed_below(folder, index):
    write(folder / "sub" / "b.csv", "b", "y", "z")
    index.sync(folder / "sub")
    assert index.sheet_ids() == ["b.csv#b"]
    index.sync(folder)
    assert index.sheet_ids() == ["sub/b.csv#b"]
    assert len(index.workbooks()) == 1


def test_two_folders_with_the_same_path_inside_are_reported_not_mixed_up(folder, index, tmp_path):
    write(folder / "a.csv", "first", "y", "z")
    write(tmp_path / "other" / "a.csv", "second", "y", "z")
    index.sync(folder)
    report = index.sync(tmp_path / "other")
    assert [skip.reason.value for skip in report.skipped] == ["duplicate_id"]
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "first"


def test_of_each_sheet_whose_id_is_taken_both_folders_are_named(folder, index, tmp_path):
    others = [tmp_path / "other", tmp_path / "third"]
    for each in (folder, *others):
        index.sync(write(each / "a.csv", "x", "y", "z").parent)
    said = [skip.message for state in index.workbooks() for skip in state.skipped]
    assert len(said) == 2
    for message, other in zip(said, others, strict=True):
        assert str(folder) in message
        assert str(other) in message


def test_a_sheet_whose_id_was_given_to_one_without_a_file_says_so(folder, index):
    index.add_records([SheetRecord("a.csv#a", "a")])
    (skip,) = index.sync(write(folder / "a.csv", "x", "y", "z").parent).skipped
    assert "without a file" in skip.message
    index.remove(["a.csv#a"])
    assert index.sync(folder, verify=True).skipped == ()


@pytest.mark.parametrize("before", ["renamed", "copied"])
def test_a_renamed_folder_takes_over_the_sheets_of_the_one_that_is_gone(
    before, folder, index, tmp_path
):
    write(folder / "a.csv", "x", "y", "z")
    write(folder / "sub" / "b.csv", "x", "y", "z")
    write_xlsx(folder / "c.xlsx", First=["Name"], Second=["City"])
    index.sync(folder)
    ids = index.sheet_ids()
    renamed = tmp_path / "data-2024"
    if before == "copied":  # its ids were taken when it was indexed first
        shutil.copytree(folder, renamed)
        assert len(index.sync(renamed).skipped) == 4
        shutil.rmtree(folder)
    else:
        folder.rename(renamed)
    report = index.sync(renamed)
    assert (report.sheets, report.skipped) == (4, ())
    assert index.sheet_ids() == ids
    assert all(index.file_of(sheet_id).is_relative_to(renamed) for sheet_id in ids)
    assert {state.root for state in index.workbooks()} == {str(renamed)}
    assert counts(index.sync(renamed)) == (0, 0, 3, 0)


def test_a_folder_that_is_gone_keeps_what_was_not_found_again(folder, index, tmp_path):
    write(folder / "a.csv", "first", "y", "z")
    write(folder / "b.csv", "only here", "y", "z")
    index.sync(folder)
    folder.rename(tmp_path / "away")
    write(tmp_path / "other" / "a.csv", "second", "y", "z")
    (tmp_path / "other" / "b.csv").write_bytes(b"")
    index.sync(tmp_path / "other")
    heads = {key: each.columns[0].name for key, each in index.records(index.sheet_ids()).items()}
    assert heads == {"a.csv#a": "second", "b.csv#b": "only here"}
    (tmp_path / "away").rename(folder)  # the disk is mounted again
    report = index.sync(folder)
    assert counts(report) == (1, 0, 1, 0)
    assert [skip.sheet for skip in report.skipped] == ["a"]


def test_a_workbook_of_a_folder_that_is_gone_goes_whole(folder, index, tmp_path):
    write_xlsx(folder / "a.xlsx", First=["Name"], Second=["City"])
    index.sync(folder)
    folder.rename(tmp_path / "renamed")
    write_xlsx(tmp_path / "renamed" / "a.xlsx", Second=["Town"], Third=["Zip"])
    assert index.sync(tmp_path / "renamed").skipped == ()
    assert index.sheet_ids() == ["a.xlsx#Second", "a.xlsx#Third"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_folder_that_cannot_be_looked_at_is_not_gone(
    number, folder, index, tmp_path, monkeypatch
):
    write(folder / "a.csv", "first", "y", "z")
    index.sync(folder)
    other = write(tmp_path / "other" / "a.csv", "second", "y", "z").parent
    real = os.stat

    def stat(path, **options):
        if os.fspath(path) == str(folder):
            raise OSError(number, os.strerror(number), path)
        return real(path, **options)

    monkeypatch.setattr("os.stat", stat)
    assert [skip.reason.value for skip in index.sync(other).skipped] == ["duplicate_id"]
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "first"


def test_a_folder_whose_name_is_not_unicode_is_not_taken_for_gone(folder, index, tmp_path):
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    write(odd / "a.csv", "first", "y", "z")
    index.sync(odd)
    report = index.sync(write(folder / "a.csv", "second", "y", "z").parent)
    assert [skip.reason.value for skip in report.skipped] == ["duplicate_id"]
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "first"


def test_unreadable_files_are_remembered_with_their_reason_and_not_read_again(folder, index):
    (folder / "empty.xlsx").write_bytes(b"")
    (folder / "broken.xlsx").write_bytes(b"PK\x03\x04 not really")
    for path in folder.iterdir():
        if path.is_file():
            os.utime(path, (PAST, PAST))
    report = index.sync(folder)
    assert sorted(skip.reason.value for skip in report.skipped) == ["damaged", "empty_file"]
    assert [skip.message for state in index.workbooks() for skip in state.skipped]
    assert counts(index.sync(folder)) == (0, 0, 2, 0)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.xlsx", POINTER, "git lfs pull"),
        ("a.csv", POINTER, "git lfs pull"),
        ("a.XLS", b"%PDF-1.7\n%\xe2\xe3", "another kind of document"),
        ("a.xlsm", bytes(range(256)) * 9, "Binary content"),
        ("a.ods", b"a,b\n1,2\n", "name the file itself"),
        ("a.csv", b"%PDF-1.7", "another kind of document"),
        ("a.tsv", bytes(range(256)) * 9, "Binary content"),
        ("a.tab", b"a.txt".ljust(257, b"\0") + b"ustar\x0000", "tar archive"),
    ],
)
def test_what_is_called_a_workbook_and_is_none_is_named_once_with_the_reason(
    name, content, told, folder, index
):
    (folder / name).write_bytes(content)
    os.utime(folder / name, (PAST, PAST))
    report = index.sync(folder)
    assert (counts(report), report.ignored, len(index)) == ((1, 0, 0, 0), 0, 0)
    for (skip,) in (report.skipped, index.workbooks()[0].skipped):
        assert (skip.path, skip.reason.value, skip.sheet) == (name, "not_a_spreadsheet", None)
        assert told in skip.message
    again = index.sync(folder)
    assert (counts(again), again.skipped, again.known) == ((0, 0, 1, 0), report.skipped, 1)
    (folder / name).write_bytes(content + b"\n")
    assert counts(index.sync(folder)) == (0, 1, 0, 0)
    write_xlsx(folder / name, S=["x", "y"])
    assert counts(index.sync(folder)) == (0, 1, 0, 0)
    assert index.sheet_ids() == [f"{name}#S"]
    assert index.workbooks()[0].skipped == ()


def test_what_is_no_workbook_by_name_or_a_lock_file_is_ignored_whatever_it_holds(folder, index):
    (folder / "a.psd").write_bytes(POINTER)
    (folder / "b.pdf").write_bytes(b"%PDF-1.7")
    (folder / "~$c.xlsx").write_bytes(b"\x04User".ljust(165))
    report = index.sync(folder)
    assert (counts(report), report.ignored, report.skipped) == ((0, 0, 0, 0), 2, ())


def test_a_csv_with_a_zero_byte_is_read_as_if_it_had_none(folder, index):
    (folder / "a.csv").write_bytes(b"Region,Sa\0les\nNorth,1\nSouth,2\n")
    report = index.sync(folder)
    assert (counts(report), report.ignored, report.skipped) == ((1, 0, 0, 0), 0, ())
    record = index.records(["a.csv#a"])["a.csv#a"]
    assert [column.name for column in record.columns] == ["Region", "Sales"]


@pytest.mark.parametrize("suffix", sorted(f".{each}" for each in EXTENSIONS))
def test_what_is_called_a_table_is_read_or_named_whatever_it_holds(suffix, folder, index):
    chance = random.Random(suffix)
    good = b"Region,Sales\nNorth,1\nSouth,2\n"
    made = [b"\0" * 50, b"{}", b"<x/>", b"PK\x03\x04", b"ID3,Tag\n1,2\n", b"MZ,a\n1,2\n", good]
    for size in (1, 9, 200, 9_000):
        made.append(chance.randbytes(size))
        torn = bytearray(good * (1 + size // 10))
        for _ in range(size):
            torn.insert(chance.randrange(len(torn) + 1), chance.randrange(32))
        made.append(bytes(torn))
    names = [f"{number}{suffix}" for number in range(len(made))]
    for name, content in zip(names, made, strict=True):
        (folder / name).write_bytes(content)
    report = index.sync(folder)
    assert report.ignored == 0
    read = {each.path for each in index.records(index.sheet_ids()).values()}
    assert read | {skip.path for skip in report.skipped} == set(names)


def test_text_under_a_workbooks_name_is_read_once_it_is_named_itself(folder, index):
    text = write(folder / "a.xls", "x", "y", "z")
    assert len(index.sync(folder).skipped) == 1
    assert counts(index.sync(text)) == (0, 1, 0, 0)
    assert counts(index.sync(folder)) == (0, 0, 1, 0)
    write(text, "newer", "y", "z", mtime=PAST + 5)
    assert counts(index.sync(folder)) == (0, 1, 0, 0)
    assert index.records(["a.xls#a"])["a.xls#a"].columns[0].name == "newer"


def test_a_named_file_that_was_none_before_is_read_when_it_has_become_one(folder, index):
    export = folder / "export.dat"
    export.write_bytes(b"%PDF-1.7")
    os.utime(export, (PAST, PAST))
    assert len(index.sync(export).skipped) == 1
    write(export, "x", "y", "z", mtime=PAST + 5)
    assert counts(index.sync(folder)) == (0, 1, 0, 0)
    assert index.sheet_ids() == ["export.dat#export"]


def test_a_workbook_that_becomes_damaged_loses_its_old_sheets(folder, index):
    a = write_xlsx(folder / "a.xlsx", S=["x", "y"])
    index.sync(folder)
    a.write_bytes(a.read_bytes()[:200])
    report = index.sync(folder)
    assert len(report.skipped) == 1
    assert len(index) == 0


def test_a_workbook_that_cannot_be_opened_for_now_keeps_its_old_sheets(folder, index, monkeypatch):
    a = write(folder / "a.csv", "x", "y", "z")
    index.sync(folder)
    write(a, "newer", "y", "z", mtime=PAST + 9)
    # What happens when a file vanishes between the walk and the reading of it.
    real = os.walk

    def walk_then_remove(top, onerror):
        yield from list(real(top, onerror=onerror))
        a.rename(a.with_suffix(".gone"))

    monkeypatch.setattr("sat_retriever.index.sync.local_plan.os.walk", walk_then_remove)
    report = index.sync(folder)
    monkeypatch.undo()
    assert [skip.reason.value for skip in report.skipped] == ["unreadable"]
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "x"
    a.with_suffix(".gone").rename(a)
    index.sync(folder)
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "newer"


def test_modification_time_filters_apply_to_files(folder, index):
    import datetime as dt

    write(folder / "old.csv", "x", "y", "z", mtime=1_600_000_000)
    write(folder / "new.csv", "x", "y", "z", mtime=1_700_000_000)
    index.sync(folder)
    cut = dt.datetime.fromtimestamp(1_650_000_000, tz=dt.UTC)
    for filters, wanted in ((Filters(modified_after=cut), "new.csv#new"),
                            (Filters(modified_before=cut), "old.csv#old")):  # fmt: skip
        assert [c.sheet_id for c in index.candidates("x", filters=filters)] == [wanted]


def test_a_metadata_only_index_keeps_every_cell_value_off_the_disk(folder, tmp_path):
    secret = folder / "a.csv"
    secret.write_text("Name,City\nZAPHOD,KAKRAFOON\nFORD,GUILDFORD\n")
    write_xlsx(folder / "b.xlsx", S=["Name", "City"])
    path = tmp_path / "m.sat"
    with SheetIndex.create(path, HashedEncoder(), contents="names") as index:
        index.sync(folder)
        assert [c.name for c in index.records(["a.csv#a"])["a.csv#a"].columns] == ["Name", "City"]
    for file in tmp_path.glob("m.sat*"):
        content = file.read_bytes()
        assert not any(word in content for word in (b"ZAPHOD", b"KAKRAFOON", b"FORD", b"GUILDFORD"))


def test_an_interruption_keeps_what_was_read_and_the_next_run_goes_on(folder, index):
    for number in range(6):
        write(folder / f"{number}.csv", f"header{number}", "y", "z")

    def stop(done, total, path):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.sync(folder, progress=stop)
    kept = len(index)
    assert kept >= 1
    report = index.sync(folder)
    assert report.added == 6 - kept
    assert len(index) == 6


def test_named_files_are_indexed_whatever_their_name(folder, index):
    path = folder / "export.dat"
    path.write_text("Name;City\nA;B\nC;D\n")
    index.sync(path)
    assert index.sheet_ids() == ["export.dat#export"]


def test_a_file_name_that_is_not_unicode_is_indexed_under_a_printable_name(folder, index):
    odd = os.fsdecode(b"caf\xe9.csv")
    write(folder / odd, "x", "y", "z")
    report = index.sync(folder)
    assert report.skipped == ()
    assert index.sheet_ids() == ["caf\\xe9.csv#caf\\xe9"]
    assert counts(index.sync(folder)) == (0, 0, 1, 0)
    (folder / odd).unlink()
    assert counts(index.sync(folder)) == (0, 0, 0, 1)


def test_a_folder_that_cannot_be_listed_keeps_its_workbooks(folder, index, monkeypatch):
    write(folder / "a.csv", "x", "y", "z")
    write(folder / "sub" / "b.csv", "x", "y", "z")
    index.sync(folder)
    real = os.scandir

    def scandir(path):
        if os.fspath(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return real(path)

    monkeypatch.setattr("os.scandir", scandir)
    (folder / "a.csv").unlink()
    report = index.sync(folder)
    assert report.removed == 1
    assert [skip.reason.value for skip in report.skipped] == ["unreadable"]
    assert index.sheet_ids() == ["sub/b.csv#b"]


def test_one_file_from_a_folder_above_does_not_rename_what_is_indexed(folder, index, tmp_path):
    write(folder / "a.csv", "x", "y", "z")
    index.sync(folder)
    index.sync(write(tmp_path / "single.csv", "x", "y", "z"))
    assert counts(index.sync(folder)) == (0, 0, 1, 0)
    assert index.sheet_ids() == ["a.csv#a", "single.csv#single"]


def test_a_reader_that_runs_out_of_time_loses_nothing_and_is_tried_again(
    folder, index, monkeypatch
):
    a = write(folder / "a.csv", "old", "y", "z")
    index.sync(folder)
    write(a, "newer", "y", "z", mtime=PAST + 9)
    timeout = Skipped("a.csv", SkipReason.TIMEOUT, "Reading took too long.")

    def too_slow(files, *_, **_options):
        yield from ((file, Workbook(file.path, skipped=(timeout,))) for file in files)

    monkeypatch.setattr("sat_retriever.index.sync.executor.read_files", too_slow)
    assert index.sync(folder).skipped == (timeout,)
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "old"
    monkeypatch.undo()
    assert counts(index.sync(folder)) == (0, 1, 0, 0)
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "newer"


def test_a_file_that_took_too_long_is_kept_in_part_and_tried_again_at_the_next_sync(folder, index):
    rows = b"Key,Value\n" + b"abc,1.25\n" * 600_000
    (folder / "a.csv").write_bytes(rows)
    os.utime(folder / "a.csv", (PAST, PAST))
    report = index.sync(folder, limits=Limits(seconds=0.3))
    assert [skip.reason for skip in report.skipped] == [SkipReason.TIMEOUT]
    partial = index.records(["a.csv#a"])["a.csv#a"]
    assert partial.partial
    assert [column.name for column in partial.columns] == ["Key", "Value"]
    report = index.sync(folder)
    assert (counts(report), report.skipped) == ((0, 1, 0, 0), ())
    whole = index.records(["a.csv#a"])["a.csv#a"]
    assert (whole.num_rows, whole.partial) == (600_001, False)
    assert counts(index.sync(folder)) == (0, 0, 1, 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_which_folder_keeps_a_sheet_id_does_not_depend_on_which_was_read_first(
    workers, index, tmp_path
):
    slow = write(tmp_path / "a" / "x.csv", "Slow")
    slow.write_text("Slow,Long\n" + "a,1\n" * 200_000)
    write(tmp_path / "b" / "x.csv", "Quick", "Short", "z")
    report = index.sync([tmp_path / "a", tmp_path / "b"], workers=workers)
    assert [skip.reason for skip in report.skipped] == [SkipReason.DUPLICATE_ID]
    assert index.records(["x.csv#x"])["x.csv#x"].columns[0].name == "Slow"


def test_what_was_cut_at_a_limit_is_read_again_when_limits_are_given(folder, index):
    (folder / "a.csv").write_bytes(b"Key,Value\n" + b"abc,1.25\n" * 4_000)
    write(folder / "b.csv", "x", "y", "z")
    os.utime(folder / "a.csv", (PAST, PAST))
    report = index.sync(folder, limits=Limits(cells=500))
    assert [skip.reason for skip in report.skipped] == [SkipReason.TOO_LARGE]
    again = index.sync(folder)
    assert (counts(again), again.skipped, again.known) == ((0, 0, 2, 0), report.skipped, 1)
    more = index.sync(folder, limits=Limits(cells=10_000))
    assert (counts(more), more.skipped) == ((0, 1, 1, 0), ())


def test_a_sheet_whose_id_was_taken_gets_in_by_verify_once_the_id_is_free(folder, index, tmp_path):
    other = write(tmp_path / "other" / "a.csv", "second", "y", "z").parent
    write(folder / "a.csv", "first", "y", "z")
    index.sync(folder)
    index.sync(other)
    (folder / "a.csv").unlink()
    index.sync([folder, other], verify=True)
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "second"


def test_what_is_no_workbook_is_ignored_also_when_it_cannot_be_opened(folder, index):
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe")
    report = index.sync(folder)
    assert (counts(report), report.ignored, report.skipped) == ((0, 0, 0, 0), 2, ())


def test_an_empty_path_is_an_error(index):
    with pytest.raises(PathNotFoundError, match="empty"):
        index.sync("")


def test_a_damaged_workbook_that_cannot_be_opened_is_named_and_read_once_it_can(
    folder, index, tmp_path
):
    a = write(folder / "a.csv", "x", "y", "z")
    index.sync(folder)
    with closing(sqlite3.connect(index.path)) as connection:
        connection.execute("UPDATE sheets SET record = 'x'")
        connection.commit()
    a.rename(tmp_path / "a.csv")
    os.mkfifo(a)
    report = index.sync(folder, verify=True)
    assert [skip.reason.value for skip in report.skipped] == ["unreadable"]
    assert report.unchanged == 0
    (tmp_path / "a.csv").replace(a)
    index.sync(folder)
    assert index.sheet_ids() == ["a.csv#a"]


def test_an_encoding_that_is_named_is_used_now_and_for_tables_later(folder, index):
    (folder / "towns.csv").write_bytes("miasto,n\nŁódź,1.10\nToruń,2.25\n".encode("iso8859-2"))
    index.sync([folder], encoding="cp437")
    assert index.table("towns.csv#towns").columns[0].values[0] != "Łódź"
    assert index.sync([folder]).unchanged == 1
    assert index.sync([folder], encoding="iso8859-2").changed == 1
    assert index.records(["towns.csv#towns"])["towns.csv#towns"].encoding == "iso8859-2"
    town, number = index.table("towns.csv#towns").columns
    assert (town.values, number.values) == (["Łódź", "Toruń"], [1.1, 2.25])
    assert number.stored == ["1.10", 2.25]
