"""A cluster of three nodes, each a set of processes, beside this machine alone."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.safety.stored import differing, stored_hashes
from sat_retriever import SheetIndex
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import ClusterError, EncoderError
from sat_retriever.index.store.rows import NewWorkbook, WorkbookState
from sat_retriever.index.sync.cluster import node
from sat_retriever.index.sync.cluster import run as cluster_run
from sat_retriever.index.sync.cluster.session import own_settings, ray_cluster
from sat_retriever.index.sync.executor import Work
from sat_retriever.index.sync.file_check import MetFile, check_here
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.records.privacy import EVERYTHING
from sat_retriever.records.sheets import SkipReason
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import DEFAULT_LIMITS, LocalFile, ReadOptions
from tests.fakes import HashedEncoder
from tests.index.sync.test_sync import PAST, counts, write
from tests.saved_encoder import save_bag_of_words

pytest.importorskip("ray", reason="the extra [ray] is not installed")
pytestmark = pytest.mark.slow  # kills processes; `tests/cli/test_ray.py` has a quick run

WORDS = "sales stock staff region month product supplier price total date name city".split()


@pytest.fixture(scope="module")
def nodes():
    """The cluster, with the connection that the tests share; one core a node."""
    import ray
    from ray.cluster_utils import Cluster

    own = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}
    with own_settings():
        cluster = Cluster(initialize_head=True, head_node_args=own)
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        with ray_cluster(cluster.address):
            yield cluster
        assert not ray.is_initialized()
        cluster.shutdown()


@pytest.fixture
def cluster(nodes):
    with ray_cluster(nodes.address) as connected:
        yield connected


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Made workbooks with links of every kind, and files that cannot be read."""
    made = tmp_path_factory.mktemp("made")
    synthesize(made / "corpus", SynthOptions("60", 42))
    folder = made / "corpus" / WORKBOOKS
    first = min(path for path in folder.rglob("*.xlsx") if path.is_file())
    (folder / "cut.xlsx").write_bytes(first.read_bytes()[:2_000])
    (folder / "empty.xlsx").touch()
    (folder / "long.csv").write_bytes(b"Key,Value\n" + b"abc,1.25\n" * 60_000)
    shutil.copyfile(first, folder / f"copy of {first.name}")
    for path in folder.rglob("*"):
        os.utime(path, (PAST, PAST))
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return SheetEncoder.load(save_bag_of_words(tmp_path_factory.mktemp("bag") / "bag", WORDS))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the indexes are that are compared, since each notes its folder."""
    return tmp_path_factory.mktemp("indexes")


@pytest.fixture(scope="module")
def alone(folder, encoder, place):
    """The report and the index of this machine alone."""
    file = place / "alone.sat"
    with SheetIndex.create(file, encoder) as index:
        return index.sync(folder, limits=LIMITS), file


LIMITS = Limits(cells=50_000)
READING = ReadOptions(EVERYTHING, formulas=False, links=True, password=None)


def work(index):
    return Work(index._writer._state, READING, DEFAULT_LIMITS, None)


def job(path, **state):
    stat = path.stat()
    found = WorkbookState(str(path.parent), path.name, stat.st_size, stat.st_mtime_ns, 1, "")
    return ToRead(NewWorkbook(replace(found, **state)), LocalFile(path), is_new=True)


def same(report, other):
    return replace(report, seconds=0.0) == replace(other, seconds=0.0)


def test_a_killed_node_loses_nothing_and_the_index_equals_that_of_one_machine(
    nodes, cluster, folder, encoder, alone, place
):
    report, file = alone
    victim = max(nodes.worker_nodes, key=lambda node: node.node_id)
    done = []

    def kill(number, _, path):
        if number:
            done.append(path)
        if number == 5:
            nodes.remove_node(victim, allow_graceful=False)

    with SheetIndex.create(place / "killed.sat", encoder) as index:
        found = index.sync(folder, limits=LIMITS, executor=cluster, progress=kill)
    assert len(nodes.list_all_nodes()) == 2
    assert same(found, report)
    assert {skip.reason for skip in found.skipped} >= {SkipReason.EMPTY_FILE, SkipReason.TOO_LARGE}
    assert Counter(done).most_common(1)[0][1] == 1
    assert len(done) == found.added
    hashes = stored_hashes(place / "killed.sat")
    assert not differing(hashes, stored_hashes(file))
    assert hashes["links"] != hashes["stale_copies"]  # which is empty
    nodes.add_node(num_cpus=1, object_store_memory=100 << 20)


def test_a_gpu_that_goes_with_its_node_is_not_waited_for(nodes, cluster, encoder, tmp_path):
    """Ray believes a node what it says that it has; without a real GPU the encoder does without."""
    gone = nodes.add_node(num_cpus=0, num_gpus=1, object_store_memory=100 << 20)
    jobs = [job(write(tmp_path / f"{number}.csv", "x", "y", "z")) for number in range(40)]
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        done = []
        for one, _ in cluster.prepare(jobs, work(index)):
            if not done:
                nodes.remove_node(gone, allow_graceful=False)
            done.append(one.state.path)
    assert sorted(done) == sorted(one.state.path for one in jobs)


def test_no_more_is_claimed_while_too_much_waits_to_be_stored(
    cluster, encoder, tmp_path, monkeypatch
):
    import ray

    monkeypatch.setattr(cluster_run, "_MOST_BYTES", 1)
    jobs = [job(write(tmp_path / f"{number}.csv", "x", "y", "z")) for number in range(40)]
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        run = cluster_run.ClusterRun(ray, jobs, work(index), 3, cluster_run.Spent())
        claimed = []
        for _ in run.results():
            held = [*run._read.values(), *(call.books for call in run._encoding.values())]
            claimed.append(len(run._reading) + sum(map(len, held)))
        run.stop()
    assert len(claimed) == 40
    assert max(claimed) <= 2 * 3  # what was claimed before the first results came


def test_a_node_of_another_version_is_named(cluster, encoder, tmp_path, monkeypatch):
    paths = [write(tmp_path / f"{number}.csv", "x", "y", "z") for number in range(90)]
    monkeypatch.setattr(node, "__version__", "0.0.1")  # of this process, not of the nodes
    refused = pytest.raises(ClusterError, match=r"and this machine 0\.0\.1: install the same")
    met = [MetFile(job(path), path, None, frozenset(), explicit=False) for path in paths]
    with refused:
        list(cluster.check_files(met, verify=False))
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index, refused:
        list(cluster.prepare([job(paths[0])], work(index)))


def test_an_interrupted_run_keeps_what_it_wrote_and_the_next_goes_on(
    cluster, folder, encoder, alone, place
):
    report, file = alone

    def stop(number, *_):
        if number == 4:
            raise KeyboardInterrupt

    with SheetIndex.create(place / "again.sat", encoder) as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync(folder, limits=LIMITS, executor=cluster, progress=stop)
        stored = len(index.workbooks())
        assert stored >= 4
        rest = index.sync(folder, limits=LIMITS, executor=cluster)
        assert counts(rest)[2] in (stored - 1, stored)  # one may be read again for its limit
        assert sum(counts(rest)) == report.added
    assert not differing(stored_hashes(place / "again.sat"), stored_hashes(file))


DRIVE = """
import sys
from sat_retriever import SheetIndex, ray_cluster
address, file, folder = sys.argv[1:]
told = lambda done, *_: print(done, flush=True)
with ray_cluster(address) as cluster, SheetIndex.open(file) as index:
    index.sync(folder, executor=cluster, progress=told)
"""


def test_a_killed_driver_loses_nothing_that_it_told_and_the_next_goes_on(
    nodes, cluster, encoder, tmp_path
):
    folder = tmp_path / "data"
    for number in range(400):
        write(folder / f"{number}.csv", f"sales {number % 9}", f"region {number}", "total")
    with SheetIndex.create(tmp_path / "alone.sat", encoder) as index:
        index.sync(folder)
    file = tmp_path / "killed" / "a.sat"
    file.parent.mkdir()
    SheetIndex.create(file, encoder).close()
    command = [sys.executable, "-c", DRIVE, nodes.address, str(file), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        told = [driver.stdout.readline() for _ in range(3)]
        driver.kill()
        told += driver.stdout.readlines()
    with SheetIndex.open(file) as index:
        stored = len(index.workbooks())
        assert int(told[-1]) <= stored < 400
        report = index.sync(folder, executor=cluster)
        assert (report.added, report.unchanged) == (400 - stored, stored)
    hashes = stored_hashes(file)
    apart = differing(hashes, stored_hashes(tmp_path / "alone.sat"))
    assert set(apart) <= {"meta"}  # it tells the folder that the file is in


class Deadly(LocalFile):
    """A file that ends the worker, not only the reading process, that opens it."""

    __slots__ = ()

    def opened(self, *_):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_workbook_that_ends_its_workers_is_skipped_and_its_neighbours_are_not(
    cluster, encoder, tmp_path
):
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        jobs = [job(write(tmp_path / f"{name}.csv", name, "y", "z")) for name in "abc"]
        book = replace(jobs[1].book, superseded=("/older",))
        jobs[1] = replace(jobs[1], book=book, file=Deadly(jobs[1].file.path))
        with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
            done = {job.state.path: book for job, book in cluster.prepare(jobs, work(index))}
    finally:
        ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert {path: len(book.rows) for path, book in done.items()} == {
        "a.csv": 1,
        "b.csv": 0,
        "c.csv": 1,
    }
    given_up = done["b.csv"]
    assert [skip.reason for skip in given_up.state.skipped] == [SkipReason.READER_CRASHED]
    assert given_up.superseded == ("/older",)


def test_a_file_that_changed_since_it_was_listed_is_read_as_it_is(cluster, encoder, tmp_path):
    changed = job(write(tmp_path / "a.csv", "x", "y", "z"), size=7)
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        ((_, book),) = cluster.prepare([changed], work(index))
    assert [row.record.sheet_id for row in book.rows] == ["a.csv#a"]


def test_a_node_that_sees_another_file_of_the_same_path_ends_the_run(
    cluster, encoder, tmp_path, monkeypatch
):
    write(tmp_path / "only here.csv", "x", "y", "z")
    monkeypatch.chdir(tmp_path)
    elsewhere = job(Path("/proc/self/cwd/only here.csv"))  # the folder of whoever asks
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        running = cluster.prepare([elsewhere], work(index))
        with pytest.raises(ClusterError, match=r"does not see '/proc.* no such file there, .*URL"):
            list(running)


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_nodes_look_at_files_as_this_machine_does_or_leave_it_to_it(
    shared, verify, cluster, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    met = []
    for number in range(90):
        path = tmp_path / f"{number}.{'csv' if number % 3 else 'xlsx'}"
        path.write_text(f"a,b\n{number},2\n" if number % 2 else "")
        os.utime(path, (PAST, PAST))
        # The second is the folder of whoever asks: no node has such files there.
        found = job(path if shared else Path("/proc/self/cwd", path.name))
        old = replace(found.state, checked_ns=time.time_ns(), mtime_ns=number % 5)
        known = replace(old, mtime_ns=found.state.mtime_ns) if number % 7 else None
        met.append(MetFile(found, found.file.path, known, frozenset(), explicit=number % 11 == 0))
    here = list(check_here(met, verify=verify))
    assert list(cluster.check_files(met, verify=verify)) == here
    assert any(each.refused or each.ignored for each in here) or not verify


def test_an_encoder_that_only_this_program_has_encodes_here(cluster, folder, tmp_path):
    for name, executor in (("a", None), ("b", cluster)):
        with SheetIndex.create(tmp_path / f"{name}.sat", HashedEncoder()) as index:
            index.sync(folder, limits=LIMITS, executor=executor)
    hashes = stored_hashes(tmp_path / "b.sat")
    assert not differing(hashes, stored_hashes(tmp_path / "a.sat"))


def test_an_encoder_that_a_node_cannot_load_ends_the_run_as_it_does_here(cluster, tmp_path):
    bag = save_bag_of_words(tmp_path / "bag", WORDS)
    with SheetIndex.create(tmp_path / "a.sat", SheetEncoder.load(bag)) as index:
        shutil.rmtree(bag)
        write(tmp_path / "data" / "a.csv", "x", "y", "z")
        with pytest.raises(EncoderError, match="bag"):
            index.sync(tmp_path / "data", executor=cluster)
        assert index.workbooks() == []


def test_one_worker_reads_one_after_the_other_and_nothing_is_no_work(cluster, encoder, tmp_path):
    write(tmp_path / "data" / "a.csv", "x", "y", "z")
    write(tmp_path / "data" / "b.csv", "x", "y", "z")
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        started = time.monotonic()
        assert index.sync(tmp_path / "data", executor=cluster, workers=1).added == 2
        assert cluster.spent.read_s < time.monotonic() - started
        assert counts(index.sync(tmp_path / "data", executor=cluster)) == (0, 0, 2, 0)
