"""An index of a bucket, through every kind of change, beside one of the same local files."""

import os
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sat_retriever import Limits, SheetIndex, SheetRetriever, index_paths
from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.sheets import SkipReason
from tests.fakes import HashedEncoder
from tests.index.sync.test_sync import counts, write_xlsx
from tests.places import needs

CSV = b"Region,Sales\nNorth,1\nSouth,2\n"
PAST = time.time() - 3600


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as opened:
        yield opened


def reasons(report):
    return {skip.path: skip.reason for skip in report.skipped}


def test_index_change_remove_and_sync_again(bucket, index, tmp_path):
    bucket.put("in/2024/a.csv", CSV)
    bucket.put("in/b.xlsx", write_xlsx(tmp_path / "b.xlsx", First=["Name", "Age"]).read_bytes())
    bucket.put("in/notes.txt", b"nothing")
    bucket.put("in/.hidden/c.csv", CSV)
    bucket.put("in/~$b.xlsx", b"lock")
    bucket.put("other/d.csv", CSV)
    here = f"{bucket.url}/in"
    report = index.sync(here)
    assert (counts(report), report.ignored) == ((2, 0, 0, 0), 1)
    assert index.sheet_ids() == ["2024/a.csv#a", "b.xlsx#First"]
    assert bucket.downloaded() == len(CSV) + (tmp_path / "b.xlsx").stat().st_size

    assert counts(index.sync(f"{here}/")) == (0, 0, 2, 0)
    assert counts(index.sync(here, verify=True)) == (0, 0, 2, 0)
    assert bucket.downloaded() == 0

    bucket.put("in/2024/a.csv", CSV.replace(b"Sales", b"Costs"))  # of the same size
    assert counts(index.sync(here)) == (0, 1, 1, 0)
    assert bucket.downloaded() == len(CSV)
    assert index.records(["2024/a.csv#a"])["2024/a.csv#a"].columns[1].name == "Costs"

    bucket.delete("in/b.xlsx")
    assert counts(index.sync(here)) == (0, 0, 1, 1)
    bucket.delete("in/2024/a.csv")
    for key in ("notes.txt", ".hidden/c.csv", "~$b.xlsx"):
        bucket.delete(f"in/{key}")
    assert counts(index.sync(here)) == (0, 0, 0, 1)  # the bucket is there, so it is empty
    assert bucket.downloaded() == 0


def test_only_new_bytes_count_not_new_times(bucket, index):
    bucket.put("a.csv", CSV)
    index.sync(bucket.url)
    bucket.downloaded()
    [before] = index.workbooks()
    index._store.touch_workbooks([replace(before, mtime_ns=7)])
    bucket.put("a.csv", CSV)
    assert counts(index.sync(bucket.url)) == (0, 0, 1, 0)
    assert index.workbooks()[0].mtime_ns > 7
    assert bucket.downloaded() == 0


def test_a_single_object_may_be_named_whatever_its_name(bucket, index):
    bucket.put("in/table.txt", CSV)
    assert counts(index.sync(f"{bucket.url}/in/table.txt")) == (1, 0, 0, 0)
    assert index.sheet_ids() == ["table.txt#table"]


def test_a_folder_inside_an_indexed_one_keeps_its_ids_and_one_above_takes_over(bucket, index):
    bucket.put("in/sub/a.csv", CSV)
    index.sync(f"{bucket.url}/in")
    assert counts(index.sync(f"{bucket.url}/in/sub")) == (0, 0, 1, 0)
    assert index.sheet_ids() == ["sub/a.csv#a"]
    assert counts(index.sync([bucket.url, f"{bucket.url}/in"])) == (1, 0, 0, 0)
    assert index.sheet_ids() == ["in/sub/a.csv#a"]


def test_a_bucket_and_a_folder_in_one_index(bucket, index, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_bytes(CSV)
    os.utime(tmp_path / "data" / "a.csv", (PAST, PAST))
    bucket.put("a.csv", CSV)
    bucket.put("b.csv", CSV)
    report = index.sync([bucket.url, tmp_path / "data"])
    assert counts(report) == (3, 0, 0, 0)
    assert reasons(report) == {"a.csv": SkipReason.DUPLICATE_ID}
    assert index.sheet_ids() == ["a.csv#a", "b.csv#b"]
    assert counts(index.sync([bucket.url, tmp_path / "data"])) == (0, 0, 3, 0)
    # A folder that is gone takes nothing with it, and a bucket is not gone because of its name.
    assert counts(index.sync(tmp_path / "data")) == (0, 0, 1, 0)


def test_what_is_hidden_is_read_if_it_is_named_itself(bucket, index):
    bucket.put("a.csv", CSV)
    bucket.put(".cache/sub/b.csv", CSV)
    bucket.put(".cache/.git/c.csv", CSV)
    bucket.put(".d.csv", CSV)
    index.sync(bucket.url)
    assert index.sheet_ids() == ["a.csv#a"]
    index.sync([f"{bucket.url}/.cache", f"{bucket.url}/.d.csv"])
    assert index.sheet_ids() == [".cache/sub/b.csv#b", ".d.csv#.d", "a.csv#a"]


def test_keys_that_are_no_paths_are_told_and_harm_nothing(bucket, index, tmp_path):
    keys = ["../x.csv", "/etc/x.csv", "in//a.csv", "in/./b.csv"]
    for key in keys:
        bucket.put(key, CSV)
    bucket.put("in/'; DROP TABLE sheets; --?x=1#x.csv", CSV)
    bucket.put("in/" + "x" * 900 + ".csv", CSV)
    before = set(tmp_path.rglob("*"))
    report = index.sync(bucket.url)
    assert reasons(report) == dict.fromkeys(keys, SkipReason.BAD_NAME)
    assert set(tmp_path.rglob("*")) - before <= {tmp_path / "a.sat-wal", tmp_path / "a.sat-shm",
                                                tmp_path / "a.sat.lock"}  # fmt: skip
    assert len(index) == 2
    assert counts(index.sync(bucket.url)) == (0, 0, 2, 0)


def test_a_file_over_the_limit_is_not_downloaded_and_stays_told(bucket, index):
    bucket.put("a.csv", CSV)
    small = Limits(file_bytes=10)
    for change in ((1, 0, 0, 0), (0, 1, 0, 0)):
        report = index.sync(bucket.url, limits=small)
        assert (counts(report), reasons(report)) == (change, {"a.csv": SkipReason.TOO_LARGE})
    report = index.sync(bucket.url)
    assert (counts(report), reasons(report)) == ((0, 0, 1, 0), {"a.csv": SkipReason.TOO_LARGE})
    assert bucket.downloaded() == 0
    assert counts(index.sync(bucket.url, limits=Limits())) == (0, 1, 0, 0)
    assert len(index) == 1


def test_one_object_that_cannot_be_read_ends_nothing_and_keeps_what_was_known(bucket, index):
    bucket.put("a.csv", CSV)
    bucket.put("b.csv", CSV)
    index.sync(bucket.url)
    bucket.put("a.csv", CSV + b"East,3\n")
    bucket.put("c.csv", CSV)
    body = b"<Error><Code>AccessDenied</Code></Error>"
    bucket.server.spoil = lambda method, path, _: (
        ("403 Forbidden", body) if method == "GET" and path.endswith("/a.csv") else None
    )
    report = index.sync(bucket.url)
    assert (counts(report), reasons(report)) == ((1, 1, 1, 0), {"a.csv": SkipReason.UNREADABLE})
    assert index.sheet_ids() == ["a.csv#a", "b.csv#b", "c.csv#c"]
    bucket.server.spoil = lambda *_: None
    assert counts(index.sync(bucket.url)) == (0, 1, 2, 0)


def test_a_bucket_that_cannot_be_listed_keeps_its_sheets(bucket, index):
    bucket.put("a.csv", CSV)
    index.sync(bucket.url)
    body = b"<Error><Code>AccessDenied</Code></Error>"
    bucket.server.spoil = lambda *_: ("403 Forbidden", body)
    with pytest.raises(RemoteError, match="access is denied"):
        index.sync(bucket.url)
    bucket.server.spoil = lambda *_: None
    with pytest.raises(PathNotFoundError):
        index.sync(f"{bucket.url}/nothing/here")
    with pytest.raises(PathNotFoundError):
        index.sync("s3://no-such-bucket")
    assert index.sheet_ids() == ["a.csv#a"]


def test_an_answer_that_is_no_listing_removes_nothing(bucket, index):
    bucket.put("a.csv", CSV)
    index.sync(bucket.url)
    bucket.server.spoil = lambda *_: ("200 OK", b"<html>Please log in</html>")
    with pytest.raises(RemoteError, match="is no S3 server"):
        index.sync(bucket.url)
    assert index.sheet_ids() == ["a.csv#a"]


def test_a_listing_that_breaks_off_removes_nothing(bucket, index):
    for number in range(1_001):
        bucket.put(f"{number:04}.txt", b"")
    bucket.put("zz.csv", CSV)
    index.sync(bucket.url)
    body = b"<Error><Code>AccessDenied</Code></Error>"
    bucket.server.spoil = lambda _, __, query: (
        ("403 Forbidden", body) if "continuation-token" in query else None
    )
    with pytest.raises(RemoteError):
        index.sync(bucket.url)
    assert index.sheet_ids() == ["zz.csv#zz"]


def test_progress_tells_the_listing_page_by_page(bucket, index):
    for number in range(1_002):
        bucket.put(f"{number:04}.txt", b"")
    bucket.put("a.csv", CSV)
    seen = []
    index.sync(bucket.url, listed=lambda url, files: seen.append((url, files)))
    assert seen == [(bucket.url, 1_000), (bucket.url, 1_003)]


def damaged_index(bucket, folder):
    """An index of one workbook at a URL, whose row is not what its checksum says."""
    bucket.put("a.csv", CSV)
    file = folder / "a.sat"
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.sync(bucket.url)
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE sheets SET record = replace(record, 'Sales', 'Sölds')")
    raw.close()
    return file


def test_damaged_rows_of_a_remote_workbook_are_repaired_from_its_url(bucket, tmp_path):
    file = damaged_index(bucket, tmp_path)
    with SheetIndex.open(file, HashedEncoder()) as index:
        (tmp_path / "none").mkdir()
        report = index.sync(tmp_path / "none", verify=True)
        assert (report.repaired, report.lost) == (1, ())
        assert index.records(["a.csv#a"])["a.csv#a"].columns[1].name == "Sales"


def test_a_damaged_workbook_that_cannot_be_reached_is_told_and_ends_nothing(bucket, tmp_path):
    file = damaged_index(bucket, tmp_path)
    bucket.server.spoil = lambda *_: ("403 Forbidden", b"<Error><Code>AccessDenied</Code></Error>")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "b.csv").write_bytes(CSV)
    with SheetIndex.open(file, HashedEncoder()) as index:
        report = index.sync(tmp_path / "here", verify=True)
    assert (report.added, report.lost) == (1, (f"{bucket.url}/a.csv: not read",))


def test_a_table_of_a_remote_sheet_is_read_anew_and_says_if_it_changed(bucket, index):
    bucket.put("a.csv", CSV)
    index.sync(bucket.url)
    table = index.table("a.csv#a")
    assert ([*table.columns[1].values], table.changed) == ([1, 2], False)
    assert table.citation == f"{bucket.url}/a.csv#a!A1:B3"
    bucket.downloaded()
    index.table("a.csv#a")
    assert bucket.downloaded() == 0
    bucket.put("a.csv", CSV.replace(b"2", b"9"))
    table = index.table("a.csv#a")
    assert ([*table.columns[1].values], table.changed) == ([1, 9], True)
    bucket.delete("a.csv")
    with pytest.raises(PathNotFoundError, match=f"there is no longer a file at '{bucket.url}/a"):
        index.table("a.csv#a")


def test_an_index_of_names_leaves_no_copy_in_the_cache(bucket, tmp_path):
    bucket.put("a.csv", CSV)
    with SheetIndex.create(tmp_path / "n.sat", HashedEncoder(), contents="names") as index:
        index.sync(bucket.url)
        assert len(index.table("a.csv#a")) == 2
    assert not (tmp_path / "cache").exists()


def test_hits_cite_the_url(bucket, index):
    bucket.put("in/a.csv", CSV)
    index.sync(f"{bucket.url}/in")
    [hit] = SheetRetriever(index).retrieve("region sales")
    assert hit.sheet_id == "a.csv#a"
    assert hit.record.url == hit.to_dict()["url"] == f"{bucket.url}/in/a.csv"
    assert hit.citation == f"{bucket.url}/in/a.csv#a!A1:B3"


def test_files_on_s3_give_the_records_links_and_ids_of_the_same_files_here(bucket, tmp_path):
    eps = needs("data/eps")
    found = sorted(eps.rglob("*.xlsx"), key=lambda path: path.stat().st_size)[:6]
    for path in found:
        bucket.put(path.relative_to(eps).as_posix(), path.read_bytes())
        target = tmp_path / "eps" / path.relative_to(eps)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    with (
        index_paths(bucket.url, tmp_path / "s3.sat", encoder=HashedEncoder()) as there,
        index_paths(tmp_path / "eps", tmp_path / "here.sat", encoder=HashedEncoder()) as here,
    ):
        ids = here.sheet_ids()
        assert there.sheet_ids() == ids and len(ids) > 5
        theirs = there.records(ids, contents=True)
        assert {record.url.startswith(bucket.url) for record in theirs.values()} == {True}
        plain = {each: to_json(replace(record, url="")) for each, record in theirs.items()}
        ours = here.records(ids, contents=True)
        assert plain == {each: to_json(record) for each, record in ours.items()}
        assert list(there.all_links()) == list(here.all_links())
        assert (there.search.tokens(ids) == here.search.tokens(ids)).all()


def test_a_url_given_as_a_path_is_told_how_to_be_given(bucket, index):
    with pytest.raises(PathNotFoundError, match="give a URL as text"):
        index.sync(Path(bucket.url))


def test_a_file_system_without_etags_goes_by_size_and_time(index):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/plain/a.csv", CSV)
    memory.store["/plain/a.csv"].modified = memory.store["/plain/a.csv"].created
    assert counts(index.sync("memory://plain")) == (1, 0, 0, 0)
    # Too young for its time to be trusted: read again, as a file here would be.
    assert sum(counts(index.sync("memory://plain"))[1:3]) == 1
    assert index.records(["a.csv#a"])["a.csv#a"].url == "memory://plain/a.csv"
