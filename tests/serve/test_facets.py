"""What the filters offer follows the index, but is not counted for every request."""

from __future__ import annotations

import threading

import pytest

from sat_retriever import IndexBusyError, SheetIndex, SheetRecord
from sat_retriever.serve.facets import FOLDERS, LatestFacets, folders_of


@pytest.fixture
def index(index):
    index.add_records([SheetRecord("a/x.csv#x", "x", "x.csv", "a/x.csv", format="csv")])
    return index


def test_a_changed_index_is_counted_anew_after_a_minute_and_not_before(index):
    now = [0.0]
    latest = LatestFacets(index, clock=lambda: now[0])
    first = latest.get()
    assert (first.sheets, first.folders, first.formats) == (1, ("a",), {"csv": 1})
    now[0] = 61.0
    assert latest.get() is first  # nothing has changed
    index.add_records([SheetRecord("b/y.ods#y", "y", "y.ods", "b/y.ods", format="ods")])
    found = latest.get()
    assert (found.sheets, found.folders) == (2, ("a", "b"))
    assert found.formats == {"csv": 1, "ods": 1}
    index.add_records([SheetRecord("c/z.csv#z", "z", "z.csv", "c/z.csv", format="csv")])
    assert latest.get() is found


def test_of_many_folders_those_of_most_workbooks_are_offered():
    paths = [f"{number:04}/x.csv" for number in range(2 * FOLDERS)]
    paths += [f"{number:04}/y.csv" for number in range(0, 2 * FOLDERS, 2)]
    assert [*folders_of(paths)] == [f"{number:04}" for number in range(0, 2 * FOLDERS, 2)]


class Interrupted:
    """An index; a function is called before its status is read."""

    def __init__(self, index: SheetIndex) -> None:
        self._index = index
        self.before = lambda: None

    def __getattr__(self, name: str):
        if name == "status":
            self.before()
        return getattr(self._index, name)


@pytest.fixture
def hidden(index):
    """What one group sees of an index, of which all is hidden a moment later."""
    index.permit(lambda record: ["sales"])
    view = Interrupted(index.seen_by(["sales"]))
    latest = LatestFacets(view)
    assert latest.get().folders == ("a",)
    index.permit(lambda record: ["hr"])
    return view, latest


def test_what_is_hidden_by_now_is_not_shown_after_an_error(hidden):
    view, latest = hidden

    def fail():
        view.before = lambda: None
        raise IndexBusyError("busy")

    view.before = fail
    with pytest.raises(IndexBusyError):
        latest.get()
    assert latest.get().folders == ()


def test_what_is_hidden_by_now_is_not_shown_while_another_thread_counts(hidden):
    view, latest = hidden
    counting, go_on = threading.Event(), threading.Event()
    found = []

    def wait():
        counting.set()
        assert go_on.wait(60)

    view.before = wait
    threads = [threading.Thread(target=lambda: found.append(latest.get())) for _ in range(2)]
    threads[0].start()
    assert counting.wait(60)
    threads[1].start()
    threads[1].join(0.2)  # it waits for the first
    go_on.set()
    for each in threads:
        each.join()
    assert [each.folders for each in found] == [(), ()]
