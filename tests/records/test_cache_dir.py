"""Folders of this package in the user's cache."""

import os
import time

import pytest

from sat_retriever.records.files import forget_unused, own_folder


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_nobody_else_can_open_it(cache):
    folder = own_folder("a", "b")
    assert folder == cache / "sat-retriever" / "a" / "b"
    folder.chmod(0o755)
    assert own_folder("a", "b").stat().st_mode & 0o777 == 0o700


def test_a_link_or_the_folder_of_another_is_refused(cache, monkeypatch):
    (cache / "sat-retriever").mkdir()
    (cache / "sat-retriever" / "a").symlink_to(cache)
    with pytest.raises(PermissionError, match="is a link, or not yours; remove it"):
        own_folder("a")
    own_folder("b")
    monkeypatch.setattr(os, "getuid", lambda: 4_242)
    with pytest.raises(PermissionError, match="not yours"):
        own_folder("b")


def test_only_what_was_unused_for_a_month_is_forgotten(cache):
    for name, days in (("old", 31), ("new", 29)):
        (cache / name).mkdir()
        (cache / name / "file").write_text("x")
        then = time.time() - days * 86_400
        os.utime(cache / name, (then, then))
    (cache / "file").write_text("x")
    forget_unused(cache)
    assert sorted(each.name for each in cache.iterdir()) == ["file", "new"]
