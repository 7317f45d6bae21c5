"""A cluster of one's own: closed to others, and gone with the block."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sat_retriever import SheetIndex
from sat_retriever.errors import ClusterError
from sat_retriever.index.sync.cluster import node as node_module
from sat_retriever.index.sync.cluster.session import own_settings, ray_cluster
from tests.fakes import HashedEncoder
from tests.index.sync.test_sync import write

pytest.importorskip("ray", reason="the extra [ray] is not installed")
pytestmark = pytest.mark.slow  # kills processes; `tests/cli/test_ray.py` has a quick run

# Ray asks for half a minute; its own client of one request says at once what the server says.
STRANGER = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1])
"""


def test_a_cluster_of_ones_own_answers_to_nobody_else_and_leaves_no_setting(monkeypatch):
    import ray

    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with ray_cluster(workers=1):
        assert ray.cluster_resources()["CPU"] == 1
        first = os.environ["RAY_AUTH_TOKEN"]
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    assert "RAY_AUTH_TOKEN" not in os.environ
    assert not ray.is_initialized()
    with ray_cluster(workers=1):  # once more in one process, which Ray has settings of
        address = ray.get_runtime_context().gcs_address
        bare = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        for settings, refused in (
            ({}, True),
            ({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": first}, True),
            ({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": os.environ["RAY_AUTH_TOKEN"]}, False),
        ):
            done = subprocess.run(
                [sys.executable, "-c", STRANGER, address],
                env={**bare, **settings},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert ("InvalidAuthToken" in done.stderr) is refused, done.stderr
            assert bool(done.returncode) is refused


def test_what_a_cluster_of_ones_own_writes_is_private_and_goes_with_it():
    import ray

    with ray_cluster(workers=1):
        session = Path(ray._private.worker._global_node.get_session_dir_path())
        assert (session / "sockets").is_dir()
        assert stat.S_IMODE(session.parents[1].stat().st_mode) == 0o700
    assert not session.parents[1].exists()


@pytest.fixture
def coreless():
    """A connected cluster of one node that works for nobody."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": 100 << 20, "include_dashboard": False}
    with own_settings():
        cluster = Cluster(initialize_head=True, head_node_args=head)
        with ray_cluster(cluster.address) as connected:
            yield cluster, connected
        cluster.shutdown()


def test_a_cluster_without_a_core_is_an_error_before_files_are_looked_at(coreless, tmp_path):
    for number in range(90):
        write(tmp_path / "in" / f"{number}.csv", "x", "y", "z")
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        for path in (tmp_path / "in", tmp_path / "in" / "1.csv"):
            with pytest.raises(ClusterError, match="no node of the Ray cluster offers a core"):
                index.sync(path, executor=coreless[1])


def test_the_last_core_is_not_waited_for_when_it_is_gone(coreless, tmp_path, monkeypatch):
    import ray

    cluster, connected = coreless
    monkeypatch.setattr(node_module, "_CHECK_S", 1.0)
    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    ray.remote(lambda: time.sleep(600)).options(num_cpus=1).remote()  # somebody else's work
    write(tmp_path / "in" / "a.csv", "x", "y", "z")
    end = threading.Timer(5.0, cluster.remove_node, (node,), {"allow_graceful": False})
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        end.start()
        with pytest.raises(ClusterError, match="no node of the Ray cluster offers a core"):
            index.sync(tmp_path / "in", executor=connected)
    end.join()


def test_workbooks_at_urls_are_downloaded_by_the_workers(bucket, tmp_path):
    for name in "ab":
        bucket.put(f"in/{name}.csv", f"Region,{name}\nNorth,1\n".encode())
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        with ray_cluster(workers=1) as cluster:  # its workers have the environment of this process
            report = index.sync(f"{bucket.url}/in", executor=cluster)
        assert (report.added, report.skipped) == (2, ())
        assert index.records(["b.csv#b"])["b.csv#b"].url == f"{bucket.url}/in/b.csv"
        assert index.sync(f"{bucket.url}/in").unchanged == 2
