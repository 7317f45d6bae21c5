"""Groups by the rights of files."""

import os
import struct

import pytest

from sat_retriever import OWNER, SheetIndex
from sat_retriever.index.permissions import file_groups
from tests.fakes import HashedEncoder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")


@pytest.fixture
def book(tmp_path):
    (tmp_path / "sub").mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    file = tmp_path / "sub" / "a.csv"
    file.write_text("Name,Total\nx,1\n")
    return file


def groups(book):
    return {each.partition(":")[0] for each in file_groups(str(book.parents[1]), "sub/a.csv")}


@pytest.mark.parametrize(
    ("mode", "found"),
    [(0o600, {"user"}), (0o640, {"user", "group"}), (0o644, {"user", "group", "*"}),
     (0o604, {"user"}), (0o044, set()), (0o000, set()), (0o222, set())],
)  # fmt: skip
def test_rights_to_read_become_groups(book, mode, found):
    book.chmod(mode)
    assert groups(book) == found


@pytest.mark.parametrize(
    ("mode", "found"),
    [(0o700, {"user"}), (0o710, {"user", "group"}), (0o701, {"user"}),
     (0o755, {"user", "group", "*"})],
)  # fmt: skip
@pytest.mark.parametrize("above", ["root", "folder"])
def test_who_cannot_enter_a_folder_cannot_see_its_files(book, mode, found, above):
    book.chmod(0o644)
    (book.parents[1] if above == "root" else book.parent).chmod(mode)
    assert groups(book) == found


@pytest.mark.parametrize("of", ["file", "folder"])
def test_with_an_access_control_list_only_the_owner_sees(book, of):
    """The mode shows the mask of the list, 644, whatever the group and single users may."""
    book.chmod(0o644)
    no_id = 0xFFFFFFFF
    entries = ((0x01, 7, no_id), (0x02, 7, 12345), (0x04, 0, no_id), (0x10, 5, no_id),
               (0x20, 5, no_id))  # fmt: skip
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)
    try:
        place = book if of == "file" else book.parent
        os.setxattr(place, "system.posix_acl_access", packed)
    except (AttributeError, OSError) as error:
        pytest.skip(f"no access control lists here: {error}")
    assert place.stat().st_mode & 0o055 == 0o055
    assert groups(book) == {"user"}


def test_names_are_those_of_the_system(book):
    import grp
    import pwd

    book.chmod(0o640)
    state = book.stat()
    assert file_groups(str(book.parents[1]), "sub/a.csv") == (
        f"group:{grp.getgrgid(state.st_gid).gr_name}",
        f"user:{pwd.getpwuid(state.st_uid).pw_name}",
    )


def test_what_is_gone_or_elsewhere_is_nobodys(tmp_path):
    assert file_groups(str(tmp_path), "none.xlsx") == ()
    assert file_groups("s3://bucket/reports", "a.xlsx") == ()


def test_changed_rights_count_with_the_next_sync(book, tmp_path):
    book.chmod(0o644)
    file = tmp_path / "a.sat"
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.permit("files")
        index.sync(book.parents[1])
        assert len(index.seen_by([])) == 1
        book.chmod(0o600)
        index.sync(book.parents[1])
        assert len(index.seen_by([])) == 0 and len(index.seen_by(OWNER)) == 1
        [name] = index.seen_by(OWNER).groups()
        assert name.startswith("user:") and len(index.seen_by([name])) == 1


def test_a_sync_writes_nothing_where_no_right_has_changed(book, tmp_path):
    os.utime(book, (0, 0))
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.permit("files")
        index.sync(book.parents[1])
        before = index.generation
        index.sync(book.parents[1])
        assert index.generation == before
