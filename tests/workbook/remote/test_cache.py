"""Private copies: kept by URL and version, bounded, with names that no key can steer."""

import stat
from pathlib import Path

import pytest

from sat_retriever import InputError, Limits, PathNotFoundError
from sat_retriever.errors import RemoteError
from sat_retriever.workbook.remote import cache
from sat_retriever.workbook.remote.cache import local_copy


def copies(tmp_path):
    return sorted((tmp_path / "cache" / "sat-retriever" / "workbooks").iterdir())


def test_a_version_is_downloaded_once_and_only_its_user_can_read_it(bucket, tmp_path):
    bucket.put("a.csv", b"abc")
    first = local_copy(bucket.url, "a.csv", keep=True)
    assert (first.read_bytes(), bucket.downloaded()) == (b"abc", 3)
    assert local_copy(bucket.url, "a.csv", keep=True) == first
    assert bucket.downloaded() == 0
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    bucket.put("a.csv", b"xyz")
    assert local_copy(bucket.url, "a.csv", keep=True).read_bytes() == b"xyz"


def test_copies_that_were_not_used_for_longest_go_first(bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 10)
    made = []
    for number, name in enumerate("abc"):
        bucket.put(f"{name}.csv", b"12345")
        made.append(local_copy(bucket.url, f"{name}.csv", keep=True))
        __import__("os").utime(made[-1], (number, number))
    assert copies(tmp_path) == sorted(made[1:])
    bucket.put("large.csv", b"x" * 100)
    assert copies(tmp_path) != [local_copy(bucket.url, "large.csv", keep=True)]
    assert len(copies(tmp_path)) == 1


def test_a_key_cannot_steer_where_a_copy_lies(bucket, tmp_path):
    bucket.put("a/..%2f..%2fx.xlsx/../y.sh", b"abc")
    made = local_copy(bucket.url, "a/..%2f..%2fx.xlsx/../y.sh", keep=True)
    assert made.parent == tmp_path / "cache" / "sat-retriever" / "workbooks"
    assert made.name.isalnum()


def test_a_copy_that_is_not_to_be_kept_is_in_no_cache(bucket, tmp_path):
    bucket.put("a.csv", b"abc")
    assert local_copy(bucket.url, "a.csv", keep=False).read_bytes() == b"abc"
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_is_a_link_is_refused(bucket, tmp_path):
    bucket.put("a.csv", b"abc")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache" / "sat-retriever").mkdir(parents=True)
    Path(tmp_path, "cache", "sat-retriever", "workbooks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RemoteError, match="is a link"):
        local_copy(bucket.url, "a.csv", keep=True)


def test_a_file_that_is_gone_or_too_large_is_told(bucket, monkeypatch):
    with pytest.raises(PathNotFoundError, match="there is no longer a file at"):
        local_copy(bucket.url, "a.csv", keep=True)
    bucket.put("a.csv", b"abc")
    monkeypatch.setattr(cache, "Limits", lambda: Limits(file_bytes=2))
    with pytest.raises(InputError, match="has 3 bytes; the limit is 2"):
        local_copy(bucket.url, "a.csv", keep=True)
    assert bucket.downloaded() == 0
