"""Work in threads is bounded, and so is what waits for it."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from datetime import datetime
from functools import partial
from itertools import chain

import anyio
import pytest

from sat_retriever.records.privacy import Privacy
from sat_retriever.tools.sql.ask import QueryLimits, ask
from sat_retriever.tools.work import BusyError, Searches, ShareError, Workers
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.process.worker import Worker
from sat_retriever.workbook.read import LocalFile, ReadOptions


def test_one_call_runs_one_waits_and_the_third_is_told_to_come_again():
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> str:
        begun.set()
        go_on.wait()
        return "held"

    async def use() -> list[str]:
        workers = Workers(at_once=1, waiting=1)
        first = asyncio.create_task(workers.run(hold))
        await asyncio.to_thread(begun.wait)
        second = asyncio.create_task(workers.run(str.upper, "waited"))
        while not workers._limit.statistics().tasks_waiting:
            await asyncio.sleep(0)
        try:
            with pytest.raises(BusyError):
                await asyncio.wait_for(workers.run(str.upper, "refused"), 30)
        finally:
            go_on.set()
        return [await first, await second]

    assert asyncio.run(use()) == ["held", "WAITED"]


@pytest.mark.parametrize("work", ["query", "reading"])
def test_a_query_and_a_reading_end_with_the_call_that_wants_them(work, tmp_path):
    """Each would take two minutes; its process is killed as soon as the call is cancelled."""
    if work == "query":
        pytest.importorskip("duckdb", reason="the extra [sql] is missing")
        limits = QueryLimits(seconds=120)
        sql = "SELECT count(*) FROM range(9000000) a, range(9000000) b WHERE a.range < b.range"
        long = partial(ask, sql, (), limits, datetime(2024, 1, 1))
    else:
        worker = Worker.start()
        worker._process.send_signal(signal.SIGSTOP)
        file = LocalFile(tmp_path / "a.csv")
        request = ReadOptions(Privacy()).request(file, Limits(wall_seconds=120), None)
        long = partial(list, worker.ask(request))

    async def cancelled() -> bool:
        with anyio.move_on_after(0.5) as scope:
            await Workers(at_once=1, waiting=1).run(long)
        return scope.cancelled_caught

    start = time.monotonic()
    assert anyio.run(cancelled)
    assert time.monotonic() - start < 60
    if work == "reading":
        worker.kill()


def test_calls_that_come_in_one_turn_are_counted_at_once():
    async def burst() -> list[object]:
        workers = Workers(at_once=1, waiting=3)
        calls = (workers.run(str, number) for number in range(50))
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(burst())
    assert sum(isinstance(each, str) for each in found) == 4
    assert sum(isinstance(each, BusyError) for each in found) == 46


def test_one_client_takes_a_fourth_of_the_queue_and_leaves_the_rest_to_others():
    async def crowd() -> tuple[list[object], list[object]]:
        workers = Workers(at_once=1, waiting=7)
        greedy = [workers.run(str, number, client="greedy") for number in range(9)]
        others = [workers.run(str, number, client=f"client {number}") for number in range(7)]
        found = await asyncio.gather(*greedy, *others, return_exceptions=True)
        again = await workers.run(str, "again", client="greedy")  # what has ended counts no more
        return found[:9], [*found[9:], again]

    greedy, others = asyncio.run(crowd())
    assert greedy[:2] == ["0", "1"]
    assert [type(each) for each in greedy[2:]] == [ShareError] * 7
    assert others[:6] == ["0", "1", "2", "3", "4", "5"]
    assert type(others[6]) is BusyError
    assert others[7] == "again"


class Ahead:
    """An index that notes what it is told to encode; a batch waits until it is let go."""

    def __init__(self, broken: str = "") -> None:
        self.batches: list[list[str]] = []
        self.go_on = threading.Event()
        self._broken = broken

    def encode_ahead(self, queries: list[str]) -> None:
        self.batches.append(queries)
        assert self.go_on.wait(30)
        if self._broken in queries:
            raise RuntimeError("the encoder fails")


async def _searched(index: Ahead, questions: list[object]) -> list[object]:
    """Ask while a search runs, and let all go on once nothing more can begin."""
    searches = Searches(index, processes=1, waiting=99)
    first = asyncio.create_task(searches.run(index.go_on.wait, question="first"))
    await asyncio.sleep(0)
    asked = [
        asyncio.create_task(searches.run(str, each, question=each, client=str(number)))
        for number, each in enumerate(questions)
    ]
    while not index.batches:
        await asyncio.sleep(0)
    index.go_on.set()
    return [await first, *[await each for each in asked]]


def test_questions_that_wait_are_encoded_together_and_the_first_waits_for_none():
    index, questions = Ahead(), [f"question {number}" for number in range(20)]
    assert asyncio.run(_searched(index, questions)) == [True, *questions]
    assert [*chain(*index.batches)] == questions  # without the first, which found nothing running
    assert [*map(len, index.batches)] == [8, 8, 4]


def test_a_batch_that_fails_leaves_each_question_to_its_own_search():
    index, questions = Ahead(broken="bad"), ["one", "two", "bad", "three"]
    assert asyncio.run(_searched(index, questions)) == [True, *questions]


def test_what_is_no_question_or_very_long_is_left_to_its_own_search():
    index, questions = Ahead(), [None, 7, "x" * 5_000, "short"]
    found = asyncio.run(_searched(index, questions))
    assert found == [True, *map(str, questions)]
    assert index.batches == [["short"]]


def test_a_question_whose_client_is_gone_holds_nobody_up():
    index, questions = Ahead(), [f"question {number}" for number in range(12)]

    async def leave() -> list[object]:
        searches = Searches(index, processes=1, waiting=99)
        first = asyncio.create_task(searches.run(index.go_on.wait, question="first"))
        await asyncio.sleep(0)
        asked = [asyncio.create_task(searches.run(str, x, question=x)) for x in questions]
        while not index.batches:
            await asyncio.sleep(0)
        asked[0].cancel()  # it encodes
        asked[10].cancel()  # it waits
        await asyncio.sleep(0)
        index.go_on.set()
        return await asyncio.gather(first, *asked, return_exceptions=True)

    first, *found = asyncio.run(leave())
    assert first is True
    assert [type(found.pop(place)) for place in (10, 0)] == [asyncio.CancelledError] * 2
    assert found == questions[1:10] + questions[11:]
    assert [*chain(*index.batches)] == questions[:10] + questions[11:]
