import subprocess
import sys
import time

import psutil
import pytest

from benchmarks.safety.usage import measured

EATER = """
import sys, time
kept = bytearray({mib} << 20)
end = time.process_time() + {cpu}
while time.process_time() < end: pass
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def started():
    """Starts children that take memory and time, and then wait; ends them."""
    processes = []

    def start(mib=0, cpu=0.0):
        code = EATER.format(mib=mib, cpu=cpu)
        command = [sys.executable, "-c", code]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.communicate()


def test_a_child_s_time_and_memory_count_while_it_lives(started):
    def eat():
        return started(mib=600, cpu=0.3).stdout.readline()

    result, used = measured(eat)
    assert result == b"done\n"
    assert used.cpu_s >= 0.25
    assert used.wall_s >= 0.25
    # More than a reading process of another test takes, which may end meanwhile and then counts.
    assert 600 < used.child_mib < 800


def test_what_a_child_took_before_and_children_of_others_do_not_count(started):
    other = started(mib=80)
    other.stdout.readline()
    there = {child.pid for child in psutil.Process().children()}  # of other tests, too
    assert other.pid in there
    _, used = measured(lambda: time.sleep(0.01), lambda: there)
    assert used.child_mib < 60
    assert used.cpu_s < 0.2


def test_a_child_that_has_ended_counts_with_its_time():
    command = [sys.executable, "-c", EATER.format(mib=1, cpu=0.3)]
    _, used = measured(lambda: subprocess.run(command, input=b"", capture_output=True, check=True))
    assert used.cpu_s >= 0.25
