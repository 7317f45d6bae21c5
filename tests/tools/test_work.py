"""Work in threads is bounded, and so is what waits for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sat_retriever.tools.mcp import BusyError, ShareError, Workers


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
