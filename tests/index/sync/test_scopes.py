"""Paths that a user names, and the files below them."""

import os
from pathlib import Path

import pytest

from sat_retriever import PathNotFoundError
from sat_retriever.index.sync.local_plan import Scope, files_of, scopes
from sat_retriever.index.sync.sync_plan import is_gone, is_in
from sat_retriever.workbook.remote.url import joined, under


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("b.csv", "in/a.csv", "in/deep/c.csv", ".hidden.csv", "~$b.csv"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    return tmp_path.resolve()


def test_a_path_inside_another_is_left_out(folder):
    assert scopes([folder / "in", folder], ()) == [Scope(folder, folder)]


def test_a_path_keeps_the_nearest_folder_that_was_indexed_above_it(folder):
    known = (str(folder), str(folder / "in"))
    assert scopes([folder / "in" / "deep"], known) == [Scope(folder / "in", folder / "in" / "deep")]
    assert scopes([folder / "b.csv"], ()) == [Scope(folder, folder / "b.csv")]


def test_a_path_that_is_not_there_is_an_error(folder):
    with pytest.raises(PathNotFoundError, match=r"no\.csv"):
        scopes([folder / "no.csv"], ())


def test_files_come_in_order_without_hidden_ones_and_lock_files(folder):
    found = [(file, named) for _, file, named in files_of(scopes([folder], ()), [])]
    wanted = [folder / name for name in ("b.csv", "in/a.csv", "in/deep/c.csv")]
    assert found == [(file, False) for file in wanted]
    (only,) = files_of(scopes([folder / "b.csv"], ()), [])
    assert only[1:] == (folder / "b.csv", True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root lists every folder")
def test_a_folder_that_cannot_be_listed_is_noted(folder):
    (folder / "in").chmod(0)
    closed: list[str] = []
    list(files_of(scopes([folder], ()), closed))
    (folder / "in").chmod(0o700)
    assert closed == [(folder / "in").as_posix()]


def test_paths_as_text_meet_at_whole_names(folder):
    assert is_in("/a/b/c.csv", ["/a/b"]) and is_in("/a/b", ["/a/b"]) and is_in("/a", ["/"])
    assert not is_in("/a/bc.csv", ["/a/b"])
    assert joined("/", "a/b.csv") == "/a/b.csv"
    assert under("/", "/a/b.csv") == "a/b.csv"
    assert under("/a/b", "/a/b/in/a.csv") == "in/a.csv"


def test_a_folder_is_gone_only_if_that_is_known(folder):
    assert is_gone(str(folder / "left")) and is_gone(str(folder / "b.csv"))
    assert not is_gone(str(folder)) and not is_gone("/not\\xffUnicode")
