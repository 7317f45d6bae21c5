"""Two hosts, each a network namespace of this machine, one of which is cut off from the other."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.safety.stored import differing, stored_hashes
from sat_retriever import SheetIndex
from sat_retriever.encoder import SheetEncoder
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions
from tests.saved_encoder import save_bag_of_words

pytest.importorskip("ray", reason="the extra [ray] is not installed")
pytestmark = pytest.mark.slow  # starts and kills processes

HEAD, OTHER = "10.99.0.1", "10.99.0.2"
# Ray gives a silent node up after about a minute. These settings make that some seconds.
ENVIRONMENT = {
    **os.environ,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
DRIVE = """
import json, logging, sys
from sat_retriever import SheetIndex, ray_cluster

class Tell(logging.Handler):
    def emit(self, record):
        print(json.dumps(["log", record.getMessage()]), flush=True)

logging.getLogger("sat_retriever").addHandler(Tell())
address, file, folder = sys.argv[1:]
def told(done, total, path):
    print(json.dumps(["done", done, total, path]), flush=True)
with ray_cluster(address) as cluster, SheetIndex.open(file) as index:
    report = index.sync(folder, executor=cluster, progress=told)
print(json.dumps(["report", report.added, report.sheets, len(report.skipped)]), flush=True)
"""


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert not done.returncode, f"ip {' '.join(arguments)}: {done.stderr}"
    return done.stdout


class Hosts:
    """Namespaces of two hosts with a Ray node each, and of the bridge that joins them."""

    def __init__(self, temporary):
        self.temporary = temporary
        self.bridge, *self.hosts = (f"sat-{os.getpid()}-{name}" for name in ("net", "1", "2"))

    def start(self):
        for name in (self.bridge, *self.hosts):
            ip("netns", "add", name)
        ip("-n", self.bridge, "link", "add", "name", "bridge", "type", "bridge")
        ip("-n", self.bridge, "link", "set", "dev", "bridge", "up")
        for name, address in zip(self.hosts, (HEAD, OTHER), strict=True):
            port = f"port{address[-1]}"
            ends = ("type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", self.bridge, "link", "add", "name", port, *ends)
            ip("-n", self.bridge, "link", "set", "dev", port, "master", "bridge", "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", name, "link", "set", "dev", device, "up")
        head = ("--head", "--port=6379", "--include-dashboard=false")
        self._ray(self.hosts[0], HEAD, *head, f"--temp-dir={self.temporary}")
        self._ray(self.hosts[1], OTHER, f"--address={HEAD}:6379")

    def _ray(self, host, address, *options):
        common = ("--num-cpus=1", f"--object-store-memory={100 << 20}")
        log = self.temporary.parent / f"{host}.log"
        with log.open("w") as out:  # no pipe: what it starts would keep it open
            done = self.popen(
                host, "-m", "ray.scripts.scripts", "start", f"--node-ip-address={address}",
                *common, *options, stdout=out, stderr=out,
            ).wait(120)  # fmt: skip
        assert not done, log.read_text()

    def popen(self, host, *arguments, **options):
        """A Python process of a host."""
        command = ["ip", "netns", "exec", host, sys.executable, *map(str, arguments)]
        return subprocess.Popen(command, env=ENVIRONMENT, **options)

    def connect(self, state):
        """Plug the other host's cable in ("up"), or pull it ("down")."""
        ip("-n", self.bridge, "link", "set", "dev", "port2", state)

    def end(self):
        """End all processes of the hosts, by what the kernel says is in them, and the hosts."""
        known = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
        for name in {self.bridge, *self.hosts} & {
            line.split()[0] for line in known.stdout.splitlines()
        }:
            while pids := ip("netns", "pids", name).split():
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                time.sleep(0.1)
            ip("netns", "del", name)


@pytest.fixture
def hosts(tmp_path_factory):
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip")
    tried = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"the kernel allows no network namespace: {tried.stderr.decode().strip()}")
    # Sockets have short paths.
    temporary = Path("/tmp", f"sat-{os.getpid()}", "ray")
    temporary.mkdir(parents=True)
    made = Hosts(temporary)
    try:
        made.start()
        yield made
    finally:
        made.end()
        shutil.rmtree(temporary.parent, ignore_errors=True)


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_host_that_is_cut_off_loses_nothing_and_no_process_waits_for_it(
    hosts, comes_back, tmp_path
):
    synthesize(tmp_path / "corpus", SynthOptions("260", 42))
    folder = tmp_path / "corpus" / WORKBOOKS
    words = ["sales", "stock", "staff", "region", "month", "product", "price", "total", "date"]
    encoder = SheetEncoder.load(save_bag_of_words(tmp_path / "bag", words))
    with SheetIndex.create(tmp_path / "alone.sat", encoder) as index:
        report = index.sync(folder)
    file = tmp_path / "cut.sat"
    SheetIndex.create(file, encoder).close()
    arguments = ("-c", DRIVE, f"{HEAD}:6379", file, folder)
    told, logged = [], []
    with hosts.popen(hosts.hosts[0], *arguments, stdout=subprocess.PIPE, text=True) as driver:
        for line in driver.stdout:
            kind, *found = json.loads(line)
            if kind == "done":
                told.append(found[2])
                if found[0] == found[1] // 4:
                    hosts.connect("down")
                    cut = time.monotonic()
            elif kind == "log":
                logged.append((time.monotonic() - cut, found[0]))
                if comes_back:
                    hosts.connect("up")
            else:
                assert found == [report.added, report.sheets, len(report.skipped)]
                break
    assert driver.returncode == 0
    again = [text for _, text in logged if text.startswith("read again after")]
    assert again
    assert all(".xlsx" in text or ".csv" in text for text in again)
    names = Counter(name for name in told if name)
    assert len(names) == report.added
    assert set(names.values()) == {1}
    assert set(differing(stored_hashes(file), stored_hashes(tmp_path / "alone.sat"))) <= {"meta"}
