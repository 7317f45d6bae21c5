"""Symbolic links in indexed folders: which are read, which are skipped, and which never leak."""

import os
from pathlib import Path

import pytest

from sat_retriever import InputError, SheetTools, read_workbook
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.values.readers import Readers
from tests.index.sync.test_sync import write, write_xlsx

pytestmark = pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "data" / "own.csv", "Own", "y", "z")
    return tmp_path / "data"


@pytest.fixture
def secret(tmp_path):
    """A file of another folder, which is never named."""
    return write(tmp_path / "etc" / "passwd", "Secret", "root:x:0:0", "shell")


def reasons(report):
    return [(skip.path, skip.reason) for skip in report.skipped]


def stored_bytes(index):
    return b"".join(each.read_bytes() for each in index.path.parent.glob("a.sat*"))


def test_a_link_to_a_file_outside_is_named_and_nothing_of_the_file_is_stored(folder, secret, index):
    (folder / "passwd.csv").symlink_to(secret)
    report = index.sync(folder)
    assert reasons(report) == [("passwd.csv", SkipReason.OUTSIDE_LINK)]
    assert "--follow-links" in report.skipped[0].message
    assert str(secret) not in report.skipped[0].message
    assert index.sheet_ids() == ["own.csv#own"]
    assert b"Secret" not in stored_bytes(index)
    assert b"root:x:0:0" not in stored_bytes(index)
    again = index.sync(folder, verify=True)
    assert (again.unchanged, again.skipped, again.known) == (2, report.skipped, 1)


def test_a_chain_of_links_that_ends_outside_is_skipped(folder, secret, index):
    (folder / "one.csv").symlink_to("two.csv")
    (folder / "two.csv").symlink_to("three")
    (folder / "three").symlink_to(secret)
    outside = SkipReason.OUTSIDE_LINK
    assert reasons(index.sync(folder)) == [("one.csv", outside), ("two.csv", outside)]


def test_a_link_is_named_by_its_own_extension_or_by_that_of_its_file(folder, tmp_path, index):
    outside = write(tmp_path / "etc" / "book.csv", "Secret", "y", "z")
    (folder / "report").symlink_to(outside)
    (folder / "photo.jpg").symlink_to(tmp_path / "etc" / "photo.jpg")
    report = index.sync(folder)
    assert reasons(report) == [("report", SkipReason.OUTSIDE_LINK)]
    assert report.ignored == 1


def test_a_link_to_nowhere_and_a_circle_of_links_have_a_reason(folder, tmp_path, index):
    (folder / "out.csv").symlink_to(tmp_path / "nowhere.csv")
    (folder / "in.csv").symlink_to(folder / "nowhere.csv")
    (folder / "round.csv").symlink_to(folder / "circle.csv")
    (folder / "circle.csv").symlink_to(folder / "round.csv")
    assert reasons(index.sync(folder)) == [
        ("circle.csv", SkipReason.UNREADABLE),
        ("in.csv", SkipReason.UNREADABLE),
        ("out.csv", SkipReason.OUTSIDE_LINK),
        ("round.csv", SkipReason.UNREADABLE),
    ]


def test_links_within_the_named_folders_are_read_as_before(folder, tmp_path, index):
    other = write(tmp_path / "other" / "b.csv", "Other", "y", "z")
    (folder / "mine.csv").symlink_to("own.csv")
    (folder / "theirs.csv").symlink_to(other)
    assert index.sync([folder, other.parent]).skipped == ()
    assert index.sheet_ids() == ["b.csv#b", "mine.csv#mine", "own.csv#own", "theirs.csv#theirs"]
    (folder / "later.csv").symlink_to(other)
    report = index.sync(folder)  # the other folder was named before
    assert (report.added, report.skipped) == (1, ())
    tools = SheetTools(index, None)
    assert tools.read_range("theirs.csv#theirs", "A1").rows == (("Other",),)


def test_a_file_that_was_named_does_not_open_its_folder(folder, tmp_path, index):
    named = write(tmp_path / "home" / "named.csv", "Named", "y", "z")
    beside = write(tmp_path / "home" / "key.csv", "Secret", "y", "z")
    index.sync(named)
    (folder / "key.csv").symlink_to(beside)
    (folder / "again.csv").symlink_to(named)
    assert reasons(index.sync(folder)) == [("key.csv", SkipReason.OUTSIDE_LINK)]


def test_a_named_folder_below_another_keeps_what_the_other_allows(folder, index):
    write(folder / "sub" / "a.csv", "a", "y", "z")
    (folder / "sub" / "link.csv").symlink_to(folder / "own.csv")
    index.sync(folder)
    assert index.sync(folder / "sub").skipped == ()
    assert "sub/link.csv#link" in index.sheet_ids()


def test_a_named_link_is_the_file_that_it_leads_to(folder, secret, index, tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(secret)
    assert index.sync(link).skipped == ()
    assert index.sheet_ids() == ["passwd#passwd"]


def test_a_folder_that_is_named_by_a_link_is_that_folder(folder, secret, index, tmp_path):
    (tmp_path / "linked").symlink_to(folder)
    (folder / "mine.csv").symlink_to(tmp_path / "linked" / "own.csv")
    (folder / "passwd.csv").symlink_to(secret)
    report = index.sync(tmp_path / "linked")
    assert reasons(report) == [("passwd.csv", SkipReason.OUTSIDE_LINK)]
    assert index.sheet_ids() == ["mine.csv#mine", "own.csv#own"]


def test_links_to_folders_are_not_walked_even_if_links_are_followed(folder, secret, index):
    (folder / "etc").symlink_to(secret.parent)
    (folder / "round").symlink_to(folder)
    write(secret.parent / "more.csv", "Secret", "y", "z")
    index.sync(folder, follow_links=True)
    assert index.sheet_ids() == ["own.csv#own"]


def test_a_followed_link_is_read_and_goes_with_the_reason_when_it_is_not_followed(
    folder, secret, index
):
    link = folder / "passwd.csv"
    link.symlink_to(secret)
    index.sync(folder)
    assert index.sync(folder, follow_links=True).changed == 1
    assert "passwd.csv#passwd" in index.sheet_ids()
    assert index.sync(folder, follow_links=True).unchanged == 2
    cell = SheetTools(index, None).read_range("passwd.csv#passwd", "A1")
    assert cell.rows == (("Secret",),)
    report = index.sync(folder)
    assert reasons(report) == [("passwd.csv", SkipReason.OUTSIDE_LINK)]
    assert index.sheet_ids() == ["own.csv#own"]


def test_what_a_followed_link_leads_to_is_no_place_for_other_links(folder, secret, index):
    link = folder / "passwd.csv"
    link.symlink_to(secret)
    index.sync(folder, follow_links=True)
    (folder / "other.csv").symlink_to(secret)
    found = reasons(index.sync(folder))
    outside = SkipReason.OUTSIDE_LINK
    assert found == [("other.csv", outside), ("passwd.csv", outside)]


def test_a_followed_link_that_leads_elsewhere_later_is_not_opened(folder, secret, index, tmp_path):
    link = folder / "passwd.csv"
    link.symlink_to(secret)
    index.sync(folder, follow_links=True)
    link.unlink()
    link.symlink_to(write(tmp_path / "etc" / "shadow", "More", "y", "z"))
    with pytest.raises(InputError, match="outside the folder that was indexed"):
        SheetTools(index, None).read_range("passwd.csv#passwd")


@pytest.mark.parametrize("name", ["own.csv", "b.xlsx"])
def test_a_file_that_becomes_a_link_between_check_and_reading_is_not_read(
    folder, tmp_path, index, name
):
    write_xlsx(folder / "b.xlsx", b=["Book", "y", "z"])
    index.sync(folder)
    [sheet_id] = index.sheet_ids(name)
    outside = tmp_path / "etc" / name
    outside.parent.mkdir()
    (folder / name).rename(outside)
    (folder / name).symlink_to(outside)
    book = read_workbook(folder / name, root=folder, within=folder)
    assert (book.records, book.content_hash) == ((), "")
    assert [skip.reason for skip in book.skipped] == [SkipReason.OUTSIDE_LINK]
    with pytest.raises(InputError, match="outside the folder that was indexed"):
        index.file_of(sheet_id)


def test_a_folder_that_becomes_a_link_between_check_and_reading_is_not_read(folder, tmp_path):
    file = write(folder / "sub" / "a.csv", "a", "y", "z")
    (folder / "sub").rename(tmp_path / "moved")
    (folder / "sub").symlink_to(tmp_path / "moved")
    book = read_workbook(file, root=folder, within=folder)
    assert [skip.reason for skip in book.skipped] == [SkipReason.OUTSIDE_LINK]


def test_a_named_file_that_becomes_a_link_is_not_read(tmp_path, secret, index):
    named = write(tmp_path / "home" / "named.csv", "Named", "y", "z")
    index.sync(named)
    named.unlink()
    named.symlink_to(secret)
    with pytest.raises(InputError, match="outside the folder that was indexed"):
        SheetTools(index, None).read_range("named.csv#named")
    assert read_workbook(named, within=named).skipped[0].reason is SkipReason.OUTSIDE_LINK


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no paths of opened files here")
def test_values_are_those_of_the_opened_file_whatever_its_path_is_by_then(folder):
    path = write_xlsx(folder / "b.xlsx", First=["Name"])
    with path.open("rb") as file:
        path.unlink()
        write_xlsx(path, Other=["Secret"])
        readers = Readers(file, safe=False)
        assert [sheet.name for sheet in readers.listed()] == ["First"]


def test_an_indexed_folder_that_was_moved_behind_a_link_can_still_be_read(folder, tmp_path, index):
    index.sync(folder)
    folder.rename(tmp_path / "disk")
    folder.symlink_to(tmp_path / "disk")
    assert SheetTools(index, None).read_range("own.csv#own", "A1").rows == (("Own",),)


def test_rows_of_an_older_file_are_bound_to_their_own_path_until_they_are_indexed_again(
    folder, index
):
    (folder / "mine.csv").symlink_to("own.csv")
    index.sync(folder)
    with index._store._writing() as connection:
        connection.execute("UPDATE workbooks SET within = ''")  # as the migration leaves them
    assert index.file_of("own.csv#own") == folder / "own.csv"
    with pytest.raises(InputError, match="index it again"):
        index.file_of("mine.csv#mine")
    assert index.sync(folder).unchanged == 2
    assert index.file_of("mine.csv#mine") == folder / "mine.csv"
