"""Pool of reading processes: one is kept for single calls, several serve folders."""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.process.worker import Worker, WorkerFailed

Job = TypeVar("Job")
Result = TypeVar("Result")
Told = TypeVar("Told")


class Slot:
    """Holder of one worker, which is started on demand and replaced if it died."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._lock = threading.Lock()
        self._closed = False

    def worker(self) -> Worker:
        """The slot's live worker, started if necessary."""
        with self._lock:
            if self._closed:
                raise WorkerFailed(SkipReason.UNREADABLE, "Reading was interrupted.")
            if self._worker is None or not self._worker.alive:
                if self._worker is not None:
                    self._worker.kill()
                try:
                    self._worker = Worker.start()
                except OSError as error:
                    message = f"The reading process cannot be started: {error.strerror}."
                    raise WorkerFailed(SkipReason.READER_CRASHED, message) from error
            return self._worker

    def close(self) -> None:
        """Kill the worker; the slot stays empty from now on."""
        with self._lock:
            self._closed = True
            if self._worker is not None and self._worker.owner == os.getpid():
                self._worker.kill()

    def usable(self) -> bool:
        """True if the slot can serve another call of this process."""
        worker = self._worker
        return worker is not None and worker.owner == os.getpid() and worker.alive


_idle: list[Slot] = []


@contextmanager
def borrowed_slot() -> Iterator[Slot]:
    """Lend a slot whose worker outlives the call, so that the next call need not start one."""
    slot = _take_idle() or Slot()
    try:
        yield slot
    except BaseException:
        slot.close()
        raise
    _give_back(slot)


def _give_back(slot: Slot) -> None:
    if slot.usable() and not _idle:
        _idle.append(slot)
    else:
        slot.close()


def _take_idle() -> Slot | None:
    while _idle:
        try:
            slot = _idle.pop()
        except IndexError:  # another thread was faster
            return None
        if slot.usable():
            return slot
        slot.close()
    return None


@atexit.register
def close_idle() -> None:
    """End the worker kept for the next call; a new one is started on demand."""
    while _idle:
        _idle.pop().close()


def map_slots(
    work: Callable[[Job, Slot, Callable[[Told], None]], Result],
    jobs: Iterator[Job],
    workers: int,
    stopping: Callable[[], None],
    told: Callable[[Told], None],
) -> Iterator[Result]:
    """Yield results in order of completion, from `workers` threads with a slot each.

    An error in `work` or `jobs` is raised here. When the iterator is closed or fails, `stopping` is
    called, and the workers are killed before control returns. When it is exhausted, one worker is
    kept for the next call. What `work` tells meanwhile is given to `told` here, in the caller's
    thread; it is left out as long as the caller is busy.
    """
    results: queue.Queue[tuple[str, Any]] = queue.Queue(2 * workers)
    slots = [_take_idle() or Slot(), *(Slot() for _ in range(workers - 1))]
    lock = threading.Lock()
    stop = threading.Event()

    def tell(item: Told) -> None:
        if results.empty():  # the caller waits; a result never has to
            with suppress(queue.Full):
                results.put_nowait(("told", item))

    def put(what: str, item: Result | BaseException | None) -> None:
        while not stop.is_set():
            try:
                return results.put((what, item), timeout=0.1)
            except queue.Full:
                continue

    def serve(slot: Slot) -> None:
        try:
            while not stop.is_set():
                with lock:
                    job = next(jobs, stop)
                if isinstance(job, threading.Event):
                    break
                put("result", work(job, slot, tell))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            put("error", error)
        finally:
            put("end", None)

    threads = [threading.Thread(target=serve, args=(slot,), daemon=True) for slot in slots]
    for thread in threads:
        thread.start()
    try:
        yield from _results(results, len(threads), told)
        kept = max(slots, key=Slot.usable)
        slots.remove(kept)
        _give_back(kept)
    finally:
        stop.set()
        stopping()
        for slot in slots:
            slot.close()
        for thread in threads:
            thread.join()


def _results(
    results: queue.Queue[tuple[str, Any]], running: int, told: Callable[[Any], None]
) -> Iterator[Any]:
    while running:
        what, item = results.get()
        if what == "end":
            running -= 1
        elif what == "told":
            told(item)
        elif isinstance(item, BaseException):
            raise item
        else:
            yield item
