"""The rows of `run graph_attempt`: base scorers, and graphs over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph over a trained base scorer.

    Attributes:
        title: Its name in tables.
        base: Scorer below it, frozen: "own" reads each sheet's features, "pulls" also what linked
            sheets add, as the reranker of the package does.
        speed: How many times faster than the other weights the gate learns. With 1, as in the
            paper, it stays where it begins.
        pulled: False is the paper's layer. True replaces its one gate by one for each relation and
            weights messages by the trained pulls, so a sheet without links keeps its score.
        linked: False takes the links away: what the added weights are worth without messages.
    """

    title: str
    base: str = "pulls"
    speed: float = 100.0
    pulled: bool = False
    linked: bool = True


BASES: Mapping[str, str] = MappingProxyType(
    {"own": "features of each sheet", "pulls": "features and pulls"}
)
GRAPHS: Mapping[str, Graph] = MappingProxyType(
    {
        "graph_as_published": Graph("graph over features and pulls, gate as in the paper", speed=1),
        "graph": Graph("graph over features and pulls"),
        "graph_of_pulls": Graph("graph with a gate for each relation", pulled=True),
        "graph_alone": Graph("graph in place of pulls", base="own"),
        "unlinked": Graph("graph over features and pulls, links taken away", linked=False),
    }
)
