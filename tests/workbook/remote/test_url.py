"""What counts as a URL, which are refused, and what a message shows of one."""

import sys
from pathlib import Path

import pytest

from sat_retriever import InputError, MissingExtraError
from sat_retriever.workbook.remote.systems import check_system
from sat_retriever.workbook.remote.url import canonical, is_lost_url, is_plain, is_url, shown


@pytest.mark.parametrize("text", ["s3://b", "abfs://c@account/x", "HTTPS://h/a.xlsx"])
def test_urls_are_told_from_paths(text):
    assert is_url(text)
    assert is_lost_url(Path(text))
    assert not is_url(Path(text))


@pytest.mark.parametrize(
    "text", ["C:/a", "C:\\a", "s3", "/s3://b", "a b://c", "", "simple::s3://b"]
)
def test_paths_are_no_urls(text):
    assert not is_url(text)


def test_one_folder_has_one_url():
    assert canonical("S3://b/a/") == canonical("s3://b/a") == "s3://b/a"


@pytest.mark.parametrize(
    "url",
    [
        "s3://", "s3://b/../c", "s3://b//c", "s3://b/./c", "s3://b/\x1b[31m", "zip://a::s3://b",
        "https://host/a.xlsx?sig=hunter2", "sftp://me:hunter2@host/a", "sftp://me:p@hunter2@host/a",
        "s3://b/" + "x" * 2000,
    ],
)  # fmt: skip
def test_urls_that_an_index_must_not_store_are_refused_without_their_secrets(url):
    with pytest.raises(InputError) as told:
        canonical(url)
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    "path", ["../x.xlsx", "a//b.xlsx", "/x.xlsx", "a/./b.xlsx", "a\nb.xlsx", "\x00", "", "é" * 600]
)
def test_keys_that_are_no_plain_paths(path):
    assert not is_plain(path)


def test_messages_show_no_password_and_no_query():
    text = "GET https://me:pw@h/a?X-Amz-Signature=secret 's3://b/k?versionId=secret'"
    assert shown(text) == "GET https://…@h/a?… 's3://b/k?…'"


@pytest.mark.parametrize("url", ["file:///etc", "local://x", "zip://a.zip", "simplecache://x"])
def test_schemes_of_this_machine_are_refused(url):
    with pytest.raises(InputError, match="name it by its path"):
        check_system(url)


def test_a_missing_package_and_an_unknown_scheme_are_told_apart():
    with pytest.raises(InputError, match="no file system is known for wibble://"):
        check_system("wibble://x/y")
    with pytest.raises(MissingExtraError, match="pip install gcsfs"):
        check_system("gs://x/y")


@pytest.mark.parametrize(
    ("url", "package"),
    [("sharepoint://x/y", "httpx"), ("onedrive://x", "httpx"), ("gdrive://x", "joserfc")],
)
def test_a_service_without_its_packages_names_its_extra(url, package, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{package} is not installed; .*\[drives\]"):
        check_system(url)
