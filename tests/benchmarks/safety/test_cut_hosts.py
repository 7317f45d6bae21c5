"""Two hosts of a Ray cluster, one of which is cut off; see `benchmarks.safety.cut_hosts`."""

import pytest

from benchmarks.safety.cut_hosts import HEALTH, Cut, index_on
from benchmarks.safety.hosts import HEAD, OTHER, Hosts, lacking, two_hosts
from benchmarks.safety.stored import differing, stored_hashes
from sat_retriever import SheetIndex
from sat_retriever.encoder import SheetEncoder
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions
from tests.saved_encoder import save_bag_of_words

pytest.importorskip("ray", reason="the extra [ray] is not installed")

WORDS = "sales stock staff region month product supplier price total date name city".split()


@pytest.fixture
def hosts():
    """Ray with checks of nodes that take seconds; by default they take a minute."""
    if reason := lacking():
        pytest.skip(reason)
    with two_hosts(HEALTH) as made:
        yield made


@pytest.mark.slow  # starts and kills processes
def test_a_host_that_is_cut_off_loses_nothing_and_its_workbooks_are_read_elsewhere_at_once(
    hosts, tmp_path
):
    synthesize(tmp_path / "corpus", SynthOptions("260", 42))
    folder = tmp_path / "corpus" / WORKBOOKS
    encoder = SheetEncoder.load(save_bag_of_words(tmp_path / "bag", WORDS))
    with SheetIndex.create(tmp_path / "alone.sat", encoder) as index:
        report = index.sync(folder)
    file = tmp_path / "cut.sat"
    SheetIndex.create(file, encoder).close()
    run = index_on(hosts, Cut(HEAD), file, folder)
    assert (run.code, run.error) == (0, None)
    assert run.report == [report.added, 0, report.sheets, len(report.skipped)]
    # Either Ray's own word of a lost encoder comes first or this package's check of the nodes.
    assert any(line.startswith("read again after") for line in run.log), run.log
    assert len(run.done) == len(set(run.done)) == report.added
    assert not differing(stored_hashes(file), stored_hashes(tmp_path / "alone.sat"))
    # Ray's own requests to the lost host fail after two minutes.
    assert run.waited_s < 60


@pytest.mark.slow  # starts and kills processes
def test_hosts_are_gone_after_an_error(monkeypatch):
    if reason := lacking():
        pytest.skip(reason)
    started = []

    def fail(self, *_):
        started.append(self.popen(OTHER, "-c", "import time; time.sleep(600)"))
        raise SystemExit("does not start")

    monkeypatch.setattr(Hosts, "_start_ray", fail)
    with pytest.raises(SystemExit, match="does not start"), two_hosts():
        pass
    (process,) = started
    assert process.wait(60) != 0
