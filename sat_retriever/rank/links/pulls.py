"""How strongly candidates pull each other over their links, for one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.rank.links.settings import LinkSettings
from sat_retriever.rank.links.walk import Matrix
from sat_retriever.records.links import Link, LinkType
from sat_retriever.text.lexical import WordShares

_MAX_EVIDENCE = 200


@dataclass(frozen=True, slots=True)
class PullGraph:
    """What relates n candidates.

    Attributes:
        weights: Entry [j, i] = weight with which a link lets i pull j, (n, n), 0 without.
        siblings: Entry [j, i] = whether both are in one workbook, (n, n); none with itself.
        links: The link behind each weight, by (j, i).
        homes: Workbook of each candidate; empty for none.
    """

    weights: Matrix
    siblings: NDArray[np.bool_]
    links: Mapping[tuple[int, int], Link]
    homes: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether anything relates any two of them."""
        return bool(self.links) or bool(self.siblings.any())


@dataclass(frozen=True, slots=True)
class Pulls:
    """How strongly sheets pull each other, by links and by being in one workbook.

    Attributes:
        linked: Entry [j, i] = how strongly i pulls j over a link, (n, n).
        beside: The same for sheets of one workbook.
    """

    linked: Matrix
    beside: Matrix

    def strongest(self) -> Matrix:
        """The stronger of the two, (n, n)."""
        return np.maximum(self.linked, self.beside)


def pull_graph(
    sheet_ids: Sequence[str],
    links: Iterable[Link],
    homes: Mapping[str, str],
    settings: LinkSettings,
) -> PullGraph:
    """The graph over some sheets; links that leave them are passed over.

    Of several links of two sheets the strongest counts; of equals, the first in the order
    of ends and types.

    Args:
        sheet_ids: The sheets, each once.
        links: Links between them.
        homes: Workbook of each sheet that has one.
        settings: Weights of link types and directions.
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
    """How strongly each sheet pulls each other; see `LinkSettings` for the formula.

    Only the best sheets pull, and only sheets of a lower score than their own.

    Args:
        scores: Stage 1 scores (n,), best first.
        graph: What relates the same sheets.
        words: What each word of the query gives each of them.
        settings: The numbers of the formula.
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
    """The link over which sheet i pulls sheet j most."""
    if found.linked[j, i] >= found.beside[j, i]:
        return graph.links[j, i]
    evidence = f"both in {graph.homes[j]}"[:_MAX_EVIDENCE]
    return Link(ids[i], ids[j], LinkType.SAME_WORKBOOK.value, evidence=evidence)
