"""A cluster of one's own: closed to others, and gone with the block."""

import os
import subprocess
import sys

import pytest

from sat_retriever.index.cluster.session import ray_cluster

pytest.importorskip("ray", reason="the extra [ray] is not installed")

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
