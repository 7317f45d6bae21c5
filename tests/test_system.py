"""What the system says of this process."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys

import pytest

from sat_retriever import system

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports it")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot bind processes")
def test_only_cores_that_this_process_may_use_are_counted():
    code = (
        "import os; from sat_retriever.system import usable_cores\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(usable_cores())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_without_affinity_all_cores_are_counted(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert system.usable_cores() == os.cpu_count()


@LINUX
def test_memory_that_is_taken_is_seen():
    before, space = system.peak_memory_mib(), system.address_space()
    taken = mmap.mmap(-1, 64 << 20)  # no memory that was given back before serves for it
    taken.write(b"x" * len(taken))
    assert system.address_space() >= space + len(taken)
    assert system.peak_memory_mib() >= before
    assert system.peak_memory_mib() > 64


def test_where_the_system_says_nothing_the_answer_is_zero(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("builtins.open", refuse)
    assert (system.address_space(), system.peak_memory_mib()) == (0, 0.0)
