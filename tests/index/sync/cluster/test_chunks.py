"""Claims of tasks: every workbook once, in order, and none too large."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.index.store.rows import NewWorkbook, WorkbookState
from sat_retriever.index.sync.cluster.chunks import chunks
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.workbook.read import LocalFile

MIB = 1 << 20


def job(number, size):
    state = WorkbookState("/r", f"{number}.csv", size, 1, 1, "")
    return ToRead(NewWorkbook(state), LocalFile(Path("/r", f"{number}.csv")), is_new=True)


@given(st.lists(st.integers(0, 9 * MIB), max_size=80), st.integers(1, 9))
def test_every_workbook_is_claimed_once_in_order_and_no_claim_is_large(sizes, cores):
    jobs = [job(*each) for each in enumerate(sizes)]
    made = list(chunks(jobs, cores))
    assert [each for chunk in made for each in chunk.jobs] == jobs
    for chunk in made:
        size = sum(each.state.size for each in chunk.jobs)
        assert 1 <= len(chunk.jobs) <= 16
        assert size <= 4 * MIB or len(chunk.jobs) == 1


@pytest.mark.parametrize(("count", "cores", "most"), [(3, 2, 1), (64, 2, 4), (10_000, 2, 16)])
def test_few_workbooks_are_spread_over_the_cores_and_many_go_together(count, cores, most):
    jobs = [job(number, 1_000) for number in range(count)]
    assert max(len(chunk.jobs) for chunk in chunks(jobs, cores)) == most


def test_a_chunk_comes_apart_with_all_that_is_known_of_it():
    (chunk,) = chunks([job(0, 1)], 1)
    chunk.losses, chunk.check = 3, False
    (one,) = chunk.apart()
    assert (one.jobs, one.losses, one.check) == (chunk.jobs, 3, False)
