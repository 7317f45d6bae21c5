"""Wait for the answers of a cluster as long as it has a core to give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sat_retriever.errors import ClusterError

_CHECK_S = 10.0


def cores_of(ray: Any) -> int:
    """Return the number of cores of a cluster.

    Args:
        ray: The module, connected.

    Raises:
        ClusterError: If there is none: a task would wait for ever.
    """
    cores = int(ray.cluster_resources().get("CPU", 0))
    if cores < 1:
        raise ClusterError(
            "no node of the Ray cluster offers a core: start one that does, and index again to go "
            "on"
        )
    return cores


def wait_for(ray: Any, awaited: Sequence[Any]) -> None:
    """Wait until one of some references has an answer.

    Args:
        ray: The module, connected.
        awaited: The references.

    Raises:
        ClusterError: If no core is left.
    """
    while not ray.wait(list(awaited), num_returns=1, timeout=_CHECK_S, fetch_local=False)[0]:
        cores_of(ray)
