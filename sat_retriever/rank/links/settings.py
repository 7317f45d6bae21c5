"""Define how far links move a sheet: one frozen set of numbers for every corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sat_retriever.errors import InputError
from sat_retriever.records.links import OTHER_KIND, Link, LinkType

_TYPE_WEIGHTS = MappingProxyType({member.value: member.kind.pull for member in LinkType})


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """The numbers of the link-aware ranking, chosen on validation parts (benchmarks/LOG.md).

    A sheet pulls a linked one with `type · √weight · (base + unexplained · u + added · a) /
    degree ** hub`, and one of its own workbook with `siblings · (unexplained · u + added · a) /
    degree ** hub`. Here `u` is the share of the query's words, by weight, that the pulling sheet
    lacks, `a` is what the pulled sheet's words add to its own, and `degree` is the number of
    candidates that it pulls in this way.

    Attributes:
        pulling: Sheets that may pull others: the best ones by Stage 1.
        base: Pull of any link.
        unexplained: Pull per share of the query that the pulling sheet leaves unexplained.
        added: Pull per share that the pulled sheet explains in addition.
        backward: Share of a link's pull on the dependent sheet; the sheet it depends on gets the
            whole pull.
        across: Share of a join's weight if it leaves the workbook. Similar columns in two
            workbooks are no sign that a question means both.
        siblings: Weight of being in one workbook.
        hub: Exponent of the degree.
        longest: Largest share of the gap to a pulling sheet that a sheet can close, below 1.
        hub_links: A sheet with more outgoing links than this leads to no new sheets.
        expansion: Most sheets that are added from outside the candidates.
        types: Weight of each type of link; by default the `pull` of its `LinkKind`.
        other: Weight of a type that is not in `types`.
    """

    pulling: int = 4
    base: float = 0.2
    unexplained: float = 0.4
    added: float = 4.0
    backward: float = 0.3
    across: float = 0.0
    siblings: float = 0.4
    hub: float = 0.5
    longest: float = 0.9
    hub_links: int = 32
    expansion: int = 16
    types: Mapping[str, float] = field(default_factory=lambda: _TYPE_WEIGHTS)
    other: float = OTHER_KIND.pull

    def __post_init__(self) -> None:
        """Refuse numbers that would break the guarantees of the ranking.

        Raises:
            InputError: If a number is out of its range.
        """
        own = (self.base, self.unexplained, self.added, self.backward, self.across, self.hub)
        if min(*own, self.siblings, self.other, *self.types.values()) < 0:
            raise InputError("a weight of the link settings is negative; give 0 or more")
        if not 0 <= self.longest < 1:
            raise InputError(f"longest is {self.longest}; give a share from 0 to below 1")
        if min(self.pulling, self.hub_links, self.expansion) < 0:
            raise InputError("a count of the link settings is negative; give 0 or more")

    def reach(self, link: Link, homes: Mapping[str, str]) -> float:
        """Return the weight with which a link pulls the sheet that the other depends on.

        Args:
            link: The link.
            homes: Workbook of each sheet that has one.
        """
        weight = self.types.get(link.type, self.other) * math.sqrt(max(link.weight, 0.0))
        leaves = homes.get(link.source) != homes.get(link.target)
        return weight * self.across if leaves and link.type == LinkType.JOIN_KEY else weight
