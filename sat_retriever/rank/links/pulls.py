"""Compute how strongly candidates pull each other over their links, for one query."""

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
    """The relations between n candidates.

    Attributes:
        weights: Entry [j, i] = weight with which a link lets i pull j, (n, n), 0 without a link.
        siblings: Entry [j, i] is true if both are in one workbook, (n, n); false for i = j.
        links: The link of each weight, by (j, i).
        homes: Workbook of each candidate; empty for none.
    """

    weights: Matrix
    siblings: NDArray[np.bool_]
    links: Mapping[tuple[int, int], Link]
    homes: tuple[str, ...]

    def __bool__(self) -> bool:
        """True if two of the candidates are related."""
        return bool(self.links) or bool(self.siblings.any())


@dataclass(frozen=True, slots=True)
class Pulls:
    """The strength with which sheets pull each other, by links and by their workbook.

    Attributes:
        linked: Entry [j, i] = how strongly i pulls j over a link, (n, n).
        beside: Entry [j, i] = how strongly i pulls j as a sheet of its workbook, (n, n).
    """

    linked: Matrix
    beside: Matrix

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
    """Return how strongly each sheet pulls each other; see `LinkSettings` for the formula.

    Only the best sheets pull, and only sheets with a lower score than their own.

    Args:
        scores: Stage 1 scores (n,), best first.
        graph: Relations between the same sheets.
        words: Share of each word of the query in each sheet.
        settings: The weights of the formula.
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
