"""Delay Ctrl-C until the end of a step, so that a checkpoint can be written."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

STOPPED = "the training was stopped; the same command goes on with it"


class Interrupts:
    """The state of a delayed stop.

    Attributes:
        waiting: While true, the first Ctrl-C only sets `asked`; a second one stops at once.
        asked: True after a Ctrl-C.
    """

    def __init__(self) -> None:
        self.waiting = False
        self.asked = False

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Delay a stop until the end of the block, where the caller looks at `asked`."""
        self.waiting = True
        try:
            yield
        finally:
            self.waiting = False

    def stop(self) -> NoReturn:
        """Stop now.

        Raises:
            KeyboardInterrupt: Always.
        """
        raise KeyboardInterrupt(STOPPED)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self.waiting and not self.asked:
            self.asked = True
        else:
            self.stop()


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Handle Ctrl-C in the main thread, unless it is ignored or has another handler."""
    heard = Interrupts()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield heard
        return
    try:
        signal.signal(signal.SIGINT, heard._heard)
    except ValueError:  # only the main thread may
        yield heard
        return
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
