"""The encoders of a cluster: an actor for each GPU, or for each node if there is none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from sat_retriever.encoder.load import is_embedding
from sat_retriever.encoder.sheet import SheetEncoder
from sat_retriever.index.settings import IndexState
from sat_retriever.index.sync.cluster.node import NodeEncoder


def runs_on_nodes(state: IndexState) -> bool:
    """True if nodes can load the encoder of an index by its name.

    A model of a server is asked by this process, which counts its work, and an object of a
    program exists only in it.
    """
    loaded = state.loaded
    if loaded is not None:
        return isinstance(loaded, SheetEncoder)
    return not is_embedding(state.settings.encoder)


class Encoders:
    """Actors that encode, started when they are first needed."""

    def __init__(self, ray: Any, state: IndexState) -> None:
        self._ray = ray
        gpus = 0 if state.device == "cpu" else self._present()
        self._gpus = [f"gpu {number}" for number in range(gpus)]
        settings = replace(state.settings, encoder=state.encoder_name)
        self._arguments = (settings, state.path, state.device)
        self._actors: dict[str, Any] = {}
        self._calls: Counter[str] = Counter()

    def nearest(self, node: str) -> str:
        """The actor that should encode what a node has read.

        It is the node's own, so that texts do not travel. With GPUs it is the one with the fewest
        calls, on whichever node.
        """
        return min(self._gpus, key=lambda each: self._calls[each]) if self._gpus else node

    def calls(self, name: str) -> int:
        """Number of calls that an actor has not answered."""
        return self._calls[name]

    def encode(self, name: str, parts: list[Any]) -> tuple[Any, Any, Any]:
        """The actor, and references to the seconds and the results of one call."""
        if name not in self._actors:
            self._actors[name] = self._started(name)
        self._calls[name] += 1
        actor = self._actors[name]
        seconds, done = actor.encode.options(num_returns=2).remote(*parts)
        return actor, seconds, done

    def answered(self, name: str) -> None:
        """Record the end of a call."""
        self._calls[name] -= 1

    def lost(self, name: str, actor: Any) -> None:
        """Forget an actor that died, unless another has its name already; a call starts one.

        A GPU that went with its node is no longer given any work.
        """
        if self._actors.get(name) is actor:
            del self._actors[name]
            if name in self._gpus and len(self._gpus) > self._present():
                self._gpus.remove(name)

    def stop(self) -> None:
        """End all actors."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()

    def _present(self) -> int:
        return int(self._ray.cluster_resources().get("GPU", 0))

    def _started(self, name: str) -> Any:
        """Start an actor: on a GPU of its own, or beside the readers of a node.

        The second takes no core for itself. Readers and encoder share the cores of a node as they
        do on one machine, whichever of them has more to do.
        """
        remote = self._ray.remote(NodeEncoder)
        if name in self._gpus:
            options = {"num_cpus": 0, "num_gpus": 1}
        else:
            strategies = self._ray.util.scheduling_strategies
            there = strategies.NodeAffinitySchedulingStrategy(name, soft=False)
            options = {"num_cpus": 0, "scheduling_strategy": there}
        return remote.options(max_restarts=0, **options).remote(*self._arguments)
