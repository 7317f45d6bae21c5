"""Where each sheet stands on the page: workbooks as cards, linked cards near each other.

Within a card the sheets stand in columns, so that no two labels meet. Cards are moved by
forces (repulsion, springs along links, a pull to the centre), pushed apart until none
overlap, and components of linked cards are set side by side in rows. The same input
gives the same places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.links.view.forces import GAP, PAGE, Array, settle
from sat_retriever.types import Link, LinkType, SheetRecord

ROW, PAD, TITLE = 26.0, 14.0, 26.0  # heights of a sheet's line, a card's margin, its title
_LETTER, _DOT = 7.4, 26.0  # widths of a letter and of the dot before a name
_COLUMN = (90.0, 216.0)  # narrowest and widest column of a card
_SHAPE = 1.25  # width of a card to its height, roughly


@dataclass(frozen=True, slots=True)
class Card:
    """A workbook, or a cluster of sheets without one, as a rectangle.

    Attributes:
        title: Path or name of the workbook; empty for a cluster.
        left: Left edge.
        top: Upper edge; y grows downwards.
        width: Extent in x.
        height: Extent in y.
        column: Width of a sheet's place.
        sheets: Positions of its sheets in the records.
    """

    title: str
    left: float
    top: float
    width: float
    height: float
    column: float
    sheets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Places on the page, in pixels at its natural size.

    Attributes:
        points: Centre of each sheet's dot, (n, 2) float64, in the order of the records.
        cards: Cards, by title, clusters last.
    """

    points: Array
    cards: tuple[Card, ...]


def place_sheets(records: Sequence[SheetRecord], links: Sequence[Link]) -> Layout:
    """A place for every sheet.

    Takes about a second for 2,000 sheets; time grows linearly with links and cards.

    Args:
        records: Sheets; those of one workbook share a card.
        links: Links between them; others are ignored.
    """
    points = np.zeros((len(records), 2))
    if not records:
        return Layout(points, ())
    row_of = {record.sheet_id: row for row, record in enumerate(records)}
    ends = [
        (row_of[x.source], row_of[x.target], x.type)
        for x in links
        if x.source in row_of and x.target in row_of and x.source != x.target
    ]
    groups = _groups(records, [(a, b) for a, b, _ in ends])
    inner = [_columns([records[row].sheet for row in rows], title) for title, rows in groups]
    sizes = np.array([size[:2] for _, size in inner])
    corners = _place_cards(sizes, _between(groups, ends))
    cards = []
    for (title, rows), (offsets, size), corner in zip(groups, inner, corners, strict=True):
        points[rows] = corner + offsets
        left, top = map(float, corner)
        cards.append(Card(title, left, top, *size, sheets=tuple(rows)))
    return Layout(points, tuple(cards))


def _groups(
    records: Sequence[SheetRecord], ends: Sequence[tuple[int, int]]
) -> list[tuple[str, list[int]]]:
    """Sheets by workbook; those without one by communities, the unlinked ones together."""
    named: dict[str, list[int]] = {}
    loose: list[int] = []
    for row, record in enumerate(records):
        title = record.path or record.workbook
        if title:
            named.setdefault(title, []).append(row)
        else:
            loose.append(row)
    return [*sorted(named.items()), *(("", rows) for rows in _communities(loose, ends))]


def _communities(rows: list[int], ends: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Densely linked rows together (Louvain), largest first, the unlinked ones last."""
    from networkx import Graph
    from networkx.algorithms.community import louvain_communities

    loose = set(rows)
    graph = Graph()
    graph.add_edges_from((a, b) for a, b in ends if a in loose and b in loose)
    found = [sorted(part) for part in louvain_communities(graph, seed=0)] if graph else []
    found.sort(key=lambda part: (-len(part), part))
    alone = [row for row in rows if row not in graph]
    return [*found, alone] if alone else found


def _columns(names: Sequence[str], title: str) -> tuple[Array, tuple[float, float, float]]:
    """Places of a card's sheets relative to its corner; its width, height and column width."""
    wide = min(max(_DOT + max(map(_width, names)), _COLUMN[0]), _COLUMN[1])
    count = len(names)
    columns = max(1, round((_SHAPE * count * ROW / wide) ** 0.5))
    lines = -(-count // columns)
    columns = -(-count // lines)
    place = np.arange(count)
    offsets = np.stack(
        [PAD + 8 + place // lines * wide, TITLE + PAD / 2 + (place % lines + 0.5) * ROW], axis=1
    )
    stem = title.rpartition("/")[2].rpartition(".")[0] or title
    width = max(columns * wide, min(1.1 * _width(stem), _COLUMN[1]))  # a title is bold
    return offsets, (width + 2 * PAD, lines * ROW + TITLE + PAD, wide)


def _width(text: str) -> float:
    """Roughly how wide a text is; letters of East Asia take twice the room."""
    return sum(_LETTER if ord(letter) < 0x1100 else 1.8 * _LETTER for letter in text)


def _between(
    groups: Sequence[tuple[str, list[int]]], ends: Sequence[tuple[int, int, str]]
) -> dict[tuple[int, int], int]:
    """Number of links between each two cards that have any."""
    card_of = {row: card for card, (_, rows) in enumerate(groups) for row in rows}
    pairs: Counter[tuple[int, int]] = Counter()
    for first, second, kind in ends:
        a, b = sorted((card_of[first], card_of[second]))
        if a != b and kind != LinkType.SAME_WORKBOOK:
            pairs[a, b] += 1
    return dict(sorted(pairs.items()))


def _place_cards(sizes: Array, between: dict[tuple[int, int], int]) -> Array:
    """Left upper corners of cards, (n, 2); linked ones are near each other, none overlap."""
    from networkx import Graph, connected_components

    graph = Graph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from(between)
    corners = np.zeros((len(sizes), 2))
    blocks: list[tuple[list[int], Array]] = []
    for part in connected_components(graph):
        members = sorted(part)
        row_of = {card: row for row, card in enumerate(members)}
        inside = [(row_of[a], row_of[b], count) for (a, b), count in between.items() if a in row_of]
        corners[members] = settle(sizes[members], inside)
        low = corners[members].min(axis=0)
        corners[members] -= low
        blocks.append((members, (corners[members] + sizes[members]).max(axis=0)))
    blocks.sort(key=lambda block: (-len(block[0]), -block[1][1], block[0]))
    for (members, _), shift in zip(blocks, _rows([size for _, size in blocks]), strict=True):
        corners[members] += shift
    return corners


def _rows(sizes: Sequence[Array]) -> list[tuple[float, float]]:
    """Corners of rectangles set in rows, left to right, in the order given."""
    area = sum(float((width + 2 * GAP[0]) * (height + GAP[1])) for width, height in sizes)
    widest = max((area * PAGE) ** 0.5, *(float(width) for width, _ in sizes), 0.0)
    corners, left, top, tallest = [], 0.0, 0.0, 0.0
    for width, height in sizes:
        if left and left + width > widest:
            left, top, tallest = 0.0, top + tallest + GAP[1], 0.0
        corners.append((left, top))
        left, tallest = left + float(width) + GAP[0], max(tallest, float(height))
    return corners
