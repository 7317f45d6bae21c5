"""Groups that see many sheets of a large index: its mapped files serve them, and show no more."""

import json
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

from sat_retriever import SheetIndex
from sat_retriever.index.search import columns, mapped, mapped_read, mapped_write, pool, tokens
from tests.fakes import HashedEncoder
from tests.index.permitted import (
    GROUPS,
    alone,
    assert_equal_views,
    corpus,
    links_among,
    queries,
    visible,
)

SHEETS = 96
_SMALL = ((columns, "ALL", 20), (mapped_write, "_COMMON", 4),
          (mapped_write, "_DENSE_IN_CONTENTS", 4), (tokens, "_CELL", 8), (tokens, "SCANNED", 16),
          (tokens, "_AT_MOST", 32), (tokens, "NEAREST", 8), (pool, "WORDED", 8))  # fmt: skip


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Indexes count as large, in which each part of a score names few sheets, of few cells."""
    for module, name, value in _SMALL:
        monkeypatch.setattr(module, name, value)


class Made:
    """An index of made sheets with groups, and what each group must see of it."""

    def __init__(self, folder, seed):
        self.folder, self.draw = folder, random.Random(seed)
        self.records, self.groups = corpus(seed, SHEETS)
        self.links = links_among(self.draw, [record.sheet_id for record in self.records])
        self.path = folder / "all.sat"
        self.index = alone(self.path, self.records, self.links)
        self.permit()

    def permit(self):
        self.index.permit(lambda record: self.groups[record.sheet_id])

    def expect(self, principals, view, *, mapped_files=True):
        """A view equals an index of its sheets that has no mapped files."""
        seen = visible(self.records, self.groups, principals)
        with alone(self.folder / "only.sat", seen, self.links) as made:
            pass
        shutil.rmtree(state_home(made.path), ignore_errors=True)
        with SheetIndex.open(made.path, HashedEncoder()) as only:
            assert is_mapped(only) is False
            assert_equal_views(view, only, queries(self.draw, self.records, 3))
        made.path.unlink()
        assert is_mapped(view) == (mapped_files and len(seen) > columns.ALL)


def is_mapped(view):
    """True if the tokens that a search compares are those of a file."""
    table = view.search._latest.get().tokens
    used = view.search._latest.get().columns.frequent is not None
    in_file = isinstance(table, tokens.TokenTable) and isinstance(
        table.codes.values.base, np.memmap
    )
    assert used == in_file
    return used


def state_home(path):
    return path.with_name(path.name + "-snapshot")


def state_of(path):
    [folder] = state_home(path).iterdir()
    return folder


@pytest.fixture
def made(tmp_path):
    found = Made(tmp_path, 7)
    yield found
    found.index.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_groups_see_what_an_index_of_their_sheets_alone_would_show(tmp_path, seed):
    made = Made(tmp_path, seed)
    for principals in (GROUPS, made.draw.sample(GROUPS, 2), ["unknown"]):
        made.expect(principals, made.index.seen_by(principals))
    made.index.close()


def test_changed_rules_count_at_once_whoever_holds_the_view(made):
    principals = GROUPS[:2]
    with SheetIndex.open(made.path, HashedEncoder()) as other:
        views = [each.seen_by(principals) for each in (made.index, other)]
        for view in views:
            made.expect(principals, view)
        before = state_of(made.path).name
        turned = dict(zip(made.groups, reversed(made.groups.values()), strict=True))
        assert turned != made.groups
        made.groups = turned
        made.permit()
        for view in views:
            made.expect(principals, view)
    assert state_of(made.path).name == before  # it knows no permissions


def test_sheets_that_came_or_went_later_count(made):
    principals, before = GROUPS[:3], state_of(made.path).name
    view = made.index.seen_by(principals)
    made.expect(principals, view)
    gone = [record.sheet_id for record in made.records[20:23]]
    made.index.remove(gone)
    late, groups = corpus(99, 6)
    made.groups |= groups
    made.index.add_records(late, find_links=False)
    made.records = [each for each in made.records if each.sheet_id not in gone] + late
    made.links = [each for each in made.links if not {each.source, each.target} & {*gone}]
    assert state_of(made.path).name == before
    made.expect(principals, view)


_ASK = """
import sys
from pathlib import Path
from sat_retriever import SheetIndex
from sat_retriever.index.search import columns
from tests.fakes import HashedEncoder
columns.ALL = 20
view = SheetIndex.open(sys.argv[1], HashedEncoder()).seen_by(["sales", "hr"])
found = [(each.sheet_id, each.score) for each in view.candidates("revenue 2023 budget", 20)]
assert view.search._latest.get().columns.frequent is not None
print(found, flush=True)
sys.stdin.read()
"""


def test_views_of_two_processes_write_nothing(made):
    home = state_home(made.path)
    before = {each: each.stat().st_mtime_ns for each in home.rglob("*")}
    command = [sys.executable, "-c", _ASK, str(made.path)]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **piped) as one, subprocess.Popen(command, **piped) as other:
        found = [each.stdout.readline() for each in (one, other)]
        for each in (one, other):
            each.communicate("")
    assert found[0] == found[1] != ""
    assert {each: each.stat().st_mtime_ns for each in home.rglob("*")} == before


@pytest.mark.parametrize(
    "name", ["state.json", "ids.npy", "tokens.codes.npy", "names.dense_fields.npy"]
)
def test_a_damaged_state_is_passed_over(made, name):
    file = state_of(made.path) / name
    file.write_bytes(file.read_bytes()[:-9])
    made.expect(GROUPS[:2], made.index.seen_by(GROUPS[:2]), mapped_files=False)


@pytest.mark.parametrize("change", [{"generation": 10**6}, {"fingerprint": "x"}, {"format": 0}])
def test_a_newer_state_or_one_of_another_kind_is_passed_over(made, change):
    file = state_of(made.path) / "state.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    made.expect(GROUPS[:2], made.index.seen_by(GROUPS[:2]), mapped_files=False)


def test_a_state_that_lacks_a_visible_sheet_is_passed_over(made, tmp_path):
    seen = visible(made.records, made.groups, GROUPS[:2])
    with alone(tmp_path / "other.sat", made.records, []) as other:
        other.remove([seen[len(seen) // 2].sheet_id])
        other._store.beside.mkdir(exist_ok=True)
        with other._store.reading():
            now = columns.take_columns(other._store, other.width, None)
            folder = mapped_write.write_columns(other._store.beside, other._store, now, other.width)
    own = state_of(made.path)
    state = json.loads((folder / "state.json").read_text())
    state["generation"] = json.loads((own / "state.json").read_text())["generation"]
    (folder / "state.json").write_text(json.dumps(state))
    shutil.rmtree(own)
    shutil.copytree(folder, own)
    made.expect(GROUPS[:2], made.index.seen_by(GROUPS[:2]), mapped_files=False)


def test_a_state_of_which_too_few_sheets_can_be_compared_is_passed_over(made, monkeypatch):
    monkeypatch.setattr(mapped_read, "_CHECKED_SEEN", SHEETS)
    made.expect(GROUPS[:2], made.index.seen_by(GROUPS[:2]), mapped_files=False)


def test_a_store_of_some_groups_never_writes_the_state_of_all(made):
    store = made.index.seen_by(GROUPS[:2])._seen
    before = state_of(made.path).name
    (state_of(made.path) / "state.json").unlink()
    assert mapped.renew_mapped(store, made.index.width) is False
    assert state_of(made.path).name == before
