"""What all training tests share."""

from __future__ import annotations

import gc
import sys

import pytest


@pytest.fixture(autouse=True, scope="module")
def _collect_own_garbage_only():
    """Each training ends with a collection; all that was imported need not be looked at."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _one_core():
    """Threads that wait for each other cost more than they bring on models this small."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
