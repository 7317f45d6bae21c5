"""A cluster of one's own: closed to others, and gone with the block."""

import os
import subprocess
import sys

import pytest

from sat_retriever import SheetIndex
from sat_retriever.index.cluster.session import ray_cluster
from tests.fakes import HashedEncoder

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


def test_workbooks_at_urls_are_downloaded_by_the_workers(bucket, tmp_path):
    for name in "ab":
        bucket.put(f"in/{name}.csv", f"Region,{name}\nNorth,1\n".encode())
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        with ray_cluster(workers=1) as cluster:  # its workers have the environment of this process
            report = index.sync(f"{bucket.url}/in", executor=cluster)
        assert (report.added, report.skipped) == (2, ())
        assert index.records(["b.csv#b"])["b.csv#b"].url == f"{bucket.url}/in/b.csv"
        assert index.sync(f"{bucket.url}/in").unchanged == 2
