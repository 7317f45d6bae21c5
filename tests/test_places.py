"""Shared data is found where it lies, and a wrong name of it is an error."""

from __future__ import annotations

import re

import pytest

from tests.places import ROOT, SHARED, needs

OWN_PATH = re.compile(
    r"__file__\)(\.resolve\(\))?\.parents\[|rootpath|/ .shared[\"']|\.\./shared\b"
)


def test_data_that_is_there_is_given(tmp_path):
    (tmp_path / "data" / "eps").mkdir(parents=True)
    assert needs("data/eps", tmp_path) == tmp_path / "data" / "eps"


def test_a_test_skips_where_there_is_no_shared_data_and_says_which_folder_is_missing(tmp_path):
    with pytest.raises(pytest.skip.Exception, match=re.escape(f"{tmp_path / 'data'} does not")):
        needs("data/eps", tmp_path)


def test_a_name_that_is_not_in_the_shared_data_fails_and_does_not_skip(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(AssertionError, match="correct the name"):
        needs("data/epz", tmp_path)


def test_shared_data_beside_the_checkout_is_found():
    assert (ROOT / "pyproject.toml").is_file()
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} does not exist on this machine")
    assert needs("data/README.md").is_file()


def test_no_other_test_file_works_out_where_the_checkout_or_the_data_is():
    own = {ROOT / "tests" / name for name in ("places.py", "test_places.py")}
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        if file not in own
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if OWN_PATH.search(line)
    ]
    assert found == [], "take ROOT, EXAMPLES or needs() from tests/places.py"
