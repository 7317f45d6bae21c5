"""Work in threads is bounded, and so is what waits for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sat_retriever.serve.app import error_page
from sat_retriever.serve.work import BusyError, Workers


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
    busy = error_page(503, "The server is busy.")
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")


def test_calls_that_come_in_one_turn_are_counted_at_once():
    async def burst() -> list[object]:
        workers = Workers(at_once=1, waiting=3)
        calls = (workers.run(str, number) for number in range(50))
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(burst())
    assert sum(isinstance(each, str) for each in found) == 4
    assert sum(isinstance(each, BusyError) for each in found) == 46
