"""Workbooks stored many in one transaction, with the result of one after the other."""

from functools import partial

import numpy as np
import pytest

from sat_retriever import SheetIndex, SheetRecord
from sat_retriever.index.store.opening import create_store
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.sync.executor import ThisMachine
from sat_retriever.index.sync.sync import Storing
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import SkipReason
from tests.fakes import HashedEncoder
from tests.index.sync.test_sync import write


@pytest.fixture
def store(tmp_path):
    made = create_store(tmp_path / "a.sat", {"width": "2"})
    yield made
    made.close()


def book(path, root="/r", text="x"):
    contents = SheetContents(notes=(CellText("A1", text),))
    record = SheetRecord(f"{path}#S", "S", workbook=path, path=path, contents=contents)
    row = SheetRow(record, np.ones(2, dtype=np.float32))
    return NewWorkbook(WorkbookState(root, path, 1, 1, 1, "hash"), [row])


def test_many_are_one_transaction_and_told_when_they_are_stored(store):
    before, told = store.generation(), []
    storing = Storing(store)
    for name in "abc":
        storing.add(book(name), lambda _, name=name: told.append((name, len(store.workbooks()))))
    assert told == [] == store.workbooks()
    storing.flush()
    assert told == [("a", 3), ("b", 3), ("c", 3)]
    assert store.generation() == before + 1
    storing.flush()
    assert len(told) == 3 and store.generation() == before + 1


def test_what_is_held_is_bounded(store, monkeypatch):
    monkeypatch.setattr("sat_retriever.index.sync.sync.BATCH_SHEETS", 2)
    told = []
    storing = Storing(store)
    for name in "abcde":
        storing.add(book(name), told.append)
    assert len(told) == 4
    monkeypatch.setattr("sat_retriever.index.sync.sync._MOST_WORKBOOKS", 2)
    monkeypatch.setattr("sat_retriever.index.sync.sync.BATCH_SHEETS", 99)
    storing.add(book("f"), told.append)
    assert len(told) == 6
    monkeypatch.setattr("sat_retriever.index.sync.sync._BATCH_SECONDS", -1.0)
    storing.add(book("g"), told.append)
    assert len(told) == 7


def test_of_two_that_share_a_sheet_the_first_keeps_it(store):
    told = {}
    storing = Storing(store)
    for root in ("/one", "/two"):
        storing.add(book("a", root), lambda left_out, root=root: told.update({root: left_out}))
    storing.flush()
    assert told["/one"] == ()
    assert [skip.sheet for skip in told["/two"]] == ["S"]
    assert {state.root: len(state.skipped) for state in store.workbooks()} == {"/one": 0, "/two": 1}


@pytest.mark.parametrize("place", range(5))
def test_of_many_only_the_one_that_cannot_be_stored_is_left_out_with_the_reason(store, place):
    told = {}
    storing = Storing(store)
    for number in range(5):
        text = "\ud800" if number == place else "x"
        name = str(number)
        storing.add(book(name, text=text), partial(told.__setitem__, name))
    storing.flush()
    (why,) = told.pop(str(place))
    assert (why.reason, why.sheet) == (SkipReason.BAD_NAME, "S") and f"'{place}#S'" in why.message
    assert list(told.values()) == [()] * 4
    skips = {state.path: [skip.reason for skip in state.skipped] for state in store.workbooks()}
    assert skips == {**{name: [] for name in told}, str(place): [SkipReason.BAD_NAME]}
    assert sorted(store.all_sheet_ids()) == [f"{name}#S" for name in told]


class Breaking(ThisMachine):
    """An executor that ends with an error when it has given some workbooks."""

    def prepare(self, jobs, work):
        for number, done in enumerate(super().prepare(jobs, work)):
            if number == 2:
                raise KeyboardInterrupt
            yield done


def test_what_was_ready_is_stored_when_a_run_is_interrupted(tmp_path):
    for name in "abcd":
        write(tmp_path / "data" / f"{name}.csv", "x", "y", "z")
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync(tmp_path / "data", executor=Breaking())
        assert len(index.workbooks()) == 2
        assert index.sync(tmp_path / "data").unchanged == 2
