"""Downloads are bounded by what was told before, and by the bytes that come."""

from pathlib import Path
from threading import Event

import pytest

from sat_retriever.errors import RemoteError
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.remote.file import temporary_copy


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_copy_is_private_and_gone_afterwards(bucket, folder):
    bucket.put("in/Sales.XLSX", b"abc")
    with temporary_copy(bucket.url, "in/Sales.XLSX", 3, 10) as copy:
        assert (copy.read_bytes(), copy.suffix) == (b"abc", ".xlsx")
        assert copy.parent.parent == folder
        assert copy.stat().st_mode & 0o777 == 0o600
    assert not copy.exists()


def test_a_file_over_the_limit_is_never_asked_for(bucket):
    bucket.put("a.csv", b"x" * 11)
    with (
        pytest.raises(Refused, match="has 11 bytes; the limit is 10"),
        temporary_copy(bucket.url, "a.csv", 11, 10),
    ):
        pass
    assert not any(method == "GET" for method, _, _ in bucket.server.requests)


@pytest.mark.parametrize("told", [None, 3])
def test_a_server_that_tells_less_than_it_sends_is_cut_off(told, bucket, folder):
    bucket.put("a.csv", b"x" * 5_000_000)
    with (
        pytest.raises(Refused, match="bytes; the limit is 10"),
        temporary_copy(bucket.url, "a.csv", told, 10),
    ):
        pass
    assert not any(each.suffix == ".csv" for each in folder.rglob("*"))


def test_other_bytes_than_were_told_are_no_file(bucket):
    bucket.put("a.csv", b"x" * 5)
    with (
        pytest.raises(Refused, match="5 bytes came instead of 7"),
        temporary_copy(bucket.url, "a.csv", 7, 10),
    ):
        pass


@pytest.mark.parametrize("counting", [True, False])
def test_what_is_not_told_is_counted_as_it_comes_or_else_afterwards(counting):
    fsspec = pytest.importorskip("fsspec")
    sent = []

    class Sending(fsspec.AbstractFileSystem):
        """Tells no size; counts each of its hundred parts, or none."""

        protocol = "sending"

        def get_file(self, rpath, lpath, callback=None, **_):
            with Path(lpath).open("wb") as file:
                for _ in range(100):
                    sent.append(file.write(b"x"))
                    if counting:
                        callback.relative_update(1)

    fsspec.register_implementation("sending", Sending, clobber=True)
    with (
        pytest.raises(Refused, match="the limit is 10"),
        temporary_copy("sending://bounded", "a.csv", None, 10),
    ):
        pass
    assert len(sent) == (11 if counting else 100)


def test_a_download_ends_when_nobody_waits_any_more(bucket):
    bucket.put("a.csv", b"x" * 200_000)
    stopping = Event()
    stopping.set()
    with (
        pytest.raises(Refused, match="interrupted"),
        temporary_copy(bucket.url, "a.csv", None, 1 << 30, stopping),
    ):
        pass


def test_an_object_that_may_not_be_read_is_told(bucket):
    bucket.put("a.csv", b"x")
    body = b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
    bucket.server.spoil = lambda method, path, _: (
        ("403 Forbidden", body) if method == "GET" and path.endswith("a.csv") else None
    )
    with (
        pytest.raises(RemoteError, match="access is denied"),
        temporary_copy(bucket.url, "a.csv", 1, 10),
    ):
        pass
