"""Objects of a real S3 server and of fsspec's memory, listed in pages."""

import pytest

from sat_retriever import InputError, PathNotFoundError
from sat_retriever.errors import RemoteError
from sat_retriever.workbook.remote.file import RemoteFile
from sat_retriever.workbook.remote.listing import file_at, files_below

NOT_ENDING = b"""<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>
<NextContinuationToken>same</NextContinuationToken></ListBucketResult>"""


def names(url, root=None):
    return [file.relative for page in files_below(url, root or url) for file in page]


def test_more_than_a_page_of_objects_comes_in_pages(bucket, monkeypatch):
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "4")
    keys = [f"in/{number:04}.csv" for number in range(5)]
    for key in keys:
        bucket.put(key, b"")
    pages = [len(page) for page in files_below(f"{bucket.url}/in", bucket.url)]
    assert pages == [4, 1]
    assert names(f"{bucket.url}/in", bucket.url) == keys
    assert bucket.downloaded() == 0


def test_a_folder_is_no_prefix_of_another_name(bucket):
    bucket.put("in/a.csv", b"x")
    bucket.put("inner/b.csv", b"x")
    bucket.put("in/", b"")
    assert names(f"{bucket.url}/in") == ["a.csv"]


def test_an_object_has_its_size_time_and_etag(bucket):
    bucket.put("a/b.csv", b"abc")
    found = file_at(f"{bucket.url}/a/b.csv")
    [[listed]] = files_below(bucket.url, bucket.url)
    assert (found.size, found.relative, found.root) == (3, "b.csv", f"{bucket.url}/a")
    assert found.version == listed.version == "900150983cd24fb0d6963f7d28e17f72"
    assert found.mtime_ns > 0 and listed.mtime_ns > 0
    assert file_at(f"{bucket.url}/a") is None


def test_a_folder_is_meant_where_an_object_has_its_name(bucket):
    for key in ("a", "a/b.csv", "alone", "c.csv", "c.csv/d.csv"):
        bucket.put(key, b"abc")
    assert file_at(f"{bucket.url}/a") is None
    assert names(f"{bucket.url}/a") == ["b.csv"]
    assert file_at(f"{bucket.url}/alone").relative == "alone"
    assert file_at(f"{bucket.url}/c.csv").relative == "c.csv"  # a workbook that is named


def test_an_unknown_bucket_is_told(bucket):
    with pytest.raises(PathNotFoundError, match="there is nothing at 's3://no-such-bucket/x'"):
        names("s3://no-such-bucket/x")


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        ("403 Forbidden", "AccessDenied", "access is denied"),
        ("403 Forbidden", "SignatureDoesNotMatch", "access is denied"),
    ],
)
def test_a_refusal_is_told_in_words(bucket, status, code, told):
    body = f"<Error><Code>{code}</Code><Message>AKIASECRET</Message></Error>".encode()
    bucket.server.spoil = lambda *_: (status, body)
    with pytest.raises(RemoteError, match=told) as error:
        names(bucket.url)
    assert "AKIASECRET" not in str(error.value)


def test_a_listing_that_never_ends_is_ended(bucket):
    bucket.server.spoil = lambda *_: ("200 OK", NOT_ENDING)
    with pytest.raises(RemoteError, match="does not end"):
        names(bucket.url)


def test_other_file_systems_are_walked_folder_by_folder():
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for name in ("top/b.csv", "top/sub/a.csv", "top/.git/c.csv"):
        memory.pipe(f"/walked/{name}", b"x")
    assert names("memory://walked/top") == ["b.csv", "sub/a.csv"]
    with pytest.raises(PathNotFoundError):
        names("memory://walked/none")


def test_a_page_of_the_web_is_no_folder():
    with pytest.raises(InputError, match="only single files are read"):
        names("https://example.org/reports")


def test_what_a_file_system_tells_of_a_file_is_understood():
    told = {"etag": '"x1"', "mtime": "2026-01-01T00:00:00Z", "size": 5}
    assert RemoteFile.of("r", "a", told) == RemoteFile("r", "a", 5, 1_767_225_600_000_000_000, "x1")
    for year in ("0001", "9999"):
        assert RemoteFile.of("r", "a", {"mtime": f"{year}-01-01"}).mtime_ns == 0
    web = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "size": None}
    assert RemoteFile.of("r", "a", web) == RemoteFile("r", "a", None, 1_767_225_600_000_000_000)
    assert RemoteFile.of("r", "a", {"mtime": "soon"}) == RemoteFile("r", "a")
