"""How far links move a sheet: settings, pulls between candidates, and walks over the pulls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import InputError
from sat_retriever.records.links import OTHER_KIND, Link, LinkType
from sat_retriever.text.lexical import WordShares

_TYPE_WEIGHTS = MappingProxyType({member.value: member.kind.pull for member in LinkType})


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """The numbers of the link-aware ranking, chosen on validation parts (benchmarks/LOG.md).

    A sheet pulls a linked one with `type · √weight · (base + unexplained · u + added · a) /
    degree ** hub`, and one of its own workbook with `siblings · (unexplained · u + added · a) /
    degree ** hub`. Here `u` is the share of the query's words, by weight, that the pulling sheet
    lacks, `a` is what the pulled sheet's words add to its own, and `degree` is the number of
    candidates that it pulls in this way.
    """

    pulling: int = 4  # sheets that may pull others: the best ones by Stage 1
    base: float = 0.2  # pull of any link
    # Pull per share of the query that the pulling sheet leaves unexplained.
    unexplained: float = 0.4
    added: float = 4.0  # pull per share that the pulled sheet explains in addition
    # Share of a link's pull on the dependent sheet; the sheet it depends on gets the whole pull.
    backward: float = 0.3
    # Share of a join's weight if it leaves the workbook. Similar columns in two workbooks are no
    # sign that a question means both.
    across: float = 0.0
    siblings: float = 0.4  # weight of being in one workbook
    hub: float = 0.5  # exponent of the degree
    # Largest share of the gap to a pulling sheet that a sheet can close, below 1.
    longest: float = 0.9
    hub_links: int = 32  # A sheet with more outgoing links than this leads to no new sheets
    expansion: int = 16  # most sheets that are added from outside the candidates
    # Weight of each type of link; by default the `pull` of its `LinkKind`.
    types: Mapping[str, float] = field(default_factory=lambda: _TYPE_WEIGHTS)
    other: float = OTHER_KIND.pull  # weight of a type that is not in `types`

    def __post_init__(self) -> None:
        """Refuse numbers that would break the guarantees of the ranking."""
        own = (self.base, self.unexplained, self.added, self.backward, self.across, self.hub)
        if min(*own, self.siblings, self.other, *self.types.values()) < 0:
            raise InputError("a weight of the link settings is negative; give 0 or more")
        if not 0 <= self.longest < 1:
            raise InputError(f"longest is {self.longest}; give a share from 0 to below 1")
        if min(self.pulling, self.hub_links, self.expansion) < 0:
            raise InputError("a count of the link settings is negative; give 0 or more")

    def reach(self, link: Link, homes: Mapping[str, str]) -> float:
        """Return the weight with which a link pulls the sheet that the other depends on."""
        weight = self.types.get(link.type, self.other) * math.sqrt(max(link.weight, 0.0))
        leaves = homes.get(link.source) != homes.get(link.target)
        return weight * self.across if leaves and link.type == LinkType.JOIN_KEY else weight


Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of walks over links."""

    scores: Matrix  # expected score at the end of a walk from each sheet, (n,)
    gains: Matrix  # part of sheet j's rise that came over its step to i, (n, n), row j


def walk(scores: Matrix, pulls: Matrix, longest: float) -> Walk:
    """Return the scores of sheets after walks over the links to the sheets that pull them.

    A walk starts at a sheet and either goes on to a sheet that pulls it, or ends and reads the
    score there. Row j of the walks' end points is the personalised PageRank of sheet j, whose
    damping is the sum of its pulls. A sheet without a pull keeps its score exactly.

    Source: Page, Brin, Motwani and Winograd (1999); Haveliwala (2002). Departs: each sheet has its
    own damping (equal to one damping for all and a loop at each sheet), and the sum is computed
    backwards, over the seeds' scores, so that one solve serves all sheets.

    Args:
        scores: Stage 1 scores (n,).
        pulls: Entry [j, i] = how strongly i pulls j, (n, n), none negative.
        longest: Largest damping, below 1.

    >>> found = walk(np.array([1.0, 0.2]), np.array([[0, 0], [0.5, 0]]), 0.9)
    >>> found.scores.round(3).tolist(), found.gains[1].round(3).tolist()
    ([1.0, 0.6], [0.4, 0.0])
    """
    total = pulls.sum(axis=1)
    damping = np.minimum(total, longest)
    steps = pulls * (damping / np.where(total > 0, total, 1.0))[:, None]  # (n, n)
    ended = np.linalg.solve(np.eye(len(scores)) - steps, (1 - damping) * scores)
    ended = np.where(total > 0, ended, scores)
    return Walk(ended, steps * (ended[None, :] - scores[:, None]))


_MAX_EVIDENCE = 200


@dataclass(frozen=True, slots=True)
class PullGraph:
    """The relations between n candidates."""

    # Entry [j, i] = weight with which a link lets i pull j, (n, n), 0 without a link.
    weights: Matrix
    # Entry [j, i] is true if both are in one workbook, (n, n); false for i = j.
    siblings: NDArray[np.bool_]
    links: Mapping[tuple[int, int], Link]  # the link of each weight, by (j, i)
    homes: tuple[str, ...]  # workbook of each candidate; empty for none

    def __bool__(self) -> bool:
        return bool(self.links) or bool(self.siblings.any())


@dataclass(frozen=True, slots=True)
class Pulls:
    """The strength with which sheets pull each other, by links and by their workbook."""

    linked: Matrix  # entry [j, i] = how strongly i pulls j over a link, (n, n)
    beside: Matrix  # entry [j, i] = how strongly i pulls j as a sheet of its workbook, (n, n)

    def strongest(self) -> Matrix:
        """Return the stronger of the two, (n, n)."""
        return np.maximum(self.linked, self.beside)


def pull_graph(
    sheet_ids: Sequence[str],
    links: Iterable[Link],
    homes: Mapping[str, str],
    settings: LinkSettings,
) -> PullGraph:
    """Build the graph over some sheets; links to other sheets are ignored.

    The strongest of several links between two sheets counts; among equals, the first in the order
    of ends and types.
    """
    place = {sheet_id: n for n, sheet_id in enumerate(sheet_ids)}
    weights = np.zeros((len(place), len(place)))
    behind: dict[tuple[int, int], Link] = {}
    for link in sorted(links, key=lambda link: (link.source, link.target, link.type)):
        source, target = place.get(link.source), place.get(link.target)
        if source is None or target is None or source == target:
            continue
        forward = settings.reach(link, homes)
        backward = forward * settings.backward
        for j, i, weight in ((target, source, forward), (source, target, backward)):
            if weight > weights[j, i]:
                weights[j, i], behind[j, i] = weight, link
    owned = tuple(homes.get(sheet_id, "") for sheet_id in sheet_ids)
    numbers = {home: n for n, home in enumerate(dict.fromkeys(owned))}
    home = np.array([numbers[name] if name else -1 for name in owned])
    siblings = (home[:, None] == home) & (home >= 0) & ~np.eye(len(home), dtype=bool)
    return PullGraph(weights, siblings, behind, owned)


def pulls(scores: Matrix, graph: PullGraph, words: WordShares, settings: LinkSettings) -> Pulls:
    """Return how strongly each sheet, best first, pulls each other; see `LinkSettings`.

    Only the best sheets pull, and only sheets with a lower score than their own.
    """
    linked, beside = np.zeros_like(graph.weights), np.zeros_like(graph.weights)
    for i in range(min(settings.pulling, len(scores))):
        own = words.shares[:, i]
        lacking = float(words.limits[own == 0].sum())
        added = np.maximum(words.shares - own[:, None], 0).sum(axis=0)  # (n,)
        needed = settings.unexplained * lacking + settings.added * added
        lower = scores < scores[i]
        for pulled, weights, strength in (
            (linked, graph.weights[:, i], settings.base + needed),
            (beside, settings.siblings * graph.siblings[:, i], needed),
        ):
            degree = max(int(np.count_nonzero(weights)), 1)
            pulled[:, i] = np.where(lower, weights * strength / degree**settings.hub, 0.0)
    return Pulls(linked, beside)


def reason(graph: PullGraph, found: Pulls, ids: Sequence[str], j: int, i: int) -> Link:
    """Return the link over which sheet i pulls sheet j most."""
    if found.linked[j, i] >= found.beside[j, i]:
        return graph.links[j, i]
    evidence = f"both in {graph.homes[j]}"[:_MAX_EVIDENCE]
    return Link(ids[i], ids[j], LinkType.SAME_WORKBOOK.value, evidence=evidence)
