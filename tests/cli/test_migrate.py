"""`sat migrate`, and every command with the URL of an index in PostgreSQL."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def moved(index_file, sat, url):
    """The URL of an index that was a file, with a password that nothing may tell."""
    run = sat("migrate", index_file, f"{url}&password=geheim")
    assert run.code == 0 and f"to {url}" in run.out and "geheim" not in run.out + run.err
    return f"{url}&password=geheim"


@pytest.mark.parametrize(
    "command",
    [
        ("search", "monthly revenue", "--json"),
        ("why", "monthly revenue", "--json"),
        ("graph", "--json"),
        ("status", "--json", "--skipped"),
        ("show", "sales/2023.xlsx#Q1", "--json"),
    ],
    ids=lambda command: command[0],
)
def test_commands_print_the_same_as_with_the_file(moved, index_file, sat, url, command):
    here, there = (sat(*command, "--index", place) for place in (index_file, moved))
    assert "geheim" not in there.out + there.err
    assert (there.code, there.err) == (here.code, here.err.replace(str(index_file), url))
    mine, theirs = json.loads(here.out or "{}"), json.loads(there.out or "{}")
    for each, place in ((mine, str(index_file)), (theirs, url)):
        if isinstance(each, dict) and "bytes" in each:
            assert each.pop("bytes") > 0 and each.pop("index") == place
    assert _plain(theirs) == _plain(mine)


def _plain(value):
    """A JSON value without what differs from run to run, numbers rounded."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if "ms" not in k and "seconds" not in k}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value


def test_a_folder_is_indexed_into_a_new_schema_and_an_empty_one_leaves_none(
    workbooks, encoder, sat, url, tmp_path
):
    run = sat("index", workbooks, "--index", url, "--encoder", encoder, "--json")
    assert run.code == 0 and json.loads(run.out)["index"] == url
    again = json.loads(sat("index", workbooks, "--index", url, "--json").out)
    assert (again["added"], again["removed"]) == (0, 0)
    assert again["sheets_in_index"] == json.loads(run.out)["sheets_in_index"] > 0
    (tmp_path / "none").mkdir()
    empty = sat("index", tmp_path / "none", "--index", f"{url}&collection=x", "--encoder", encoder)
    assert empty.code == 1
    missing = sat("status", "--index", f"{url}&collection=x")
    assert missing.code == 1 and "no index at" in missing.err


def test_wrong_uses_are_told_without_the_password(index_file, sat, url, moved):
    for arguments, said in (
        (("migrate", index_file, "sheets.sat"), "no URL of PostgreSQL"),
        (("migrate", index_file, moved), "exists already"),
        (("status", "--index", "postgresql://u:geheim@/d?schema=A"), "schema is 'A'"),
        (("status", "--index", "postgresql://u:geheim@127.0.0.1:1/d"), "cannot connect"),
    ):
        run = sat(*arguments)
        assert run.code in (1, 2) and said in run.err
        assert "geheim" not in run.out + run.err
