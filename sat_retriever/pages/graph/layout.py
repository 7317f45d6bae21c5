"""Places of sheets on the page: workbooks as cards, linked cards near each other.

Within a card, sheets are in columns, so that labels never overlap. Linked cards are moved by
forces (repulsion, springs along links, a pull to the centre) and then placed on the nearest free
area. The other cards fill the remaining area from the middle to the edges, so that the whole
keeps the shape of the window. The same input gives the same places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sat_retriever._extras import require
from sat_retriever.pages.graph.rectangles import Array, Floor, bounds, by_area, settle
from sat_retriever.records.grouping import connected
from sat_retriever.records.links import Link, kind_of
from sat_retriever.records.sheets import SheetRecord

ROW, PAD, TITLE = 26.0, 14.0, 26.0  # heights of a sheet's line, a card's margin and its title
_LETTER, _DOT = 7.4, 26.0  # widths of a letter and of the dot before a name
_COLUMN = (90.0, 216.0)  # narrowest and widest column of a card
_SHAPE = 1.25  # approximate ratio of a card's width to its height
_GAP = 30.0  # least distance between cards
# Widths and heights of windows, in pixels, that a page is laid out for.
WINDOWS = ((1180.0, 640.0), (900.0, 900.0), (360.0, 640.0))
NEAR = 0.75  # from this scale on, a card's title is inside the card; below it, above the card
_LABEL = 17.0  # height of a title above a card, in pixels of the window
_LETTERS = (26, 22, 19, 16, 14, 12, 10)  # lengths of such a title, in letters
_PIXELS = 6.4  # width of such a letter
_SHRUNK = 0.68  # least ratio of the scale with room for titles to the scale without
_FILLED = 0.72  # share of a window that cards and their margins can cover


@dataclass(frozen=True, slots=True)
class Card:
    """A workbook, or a cluster of sheets without one, as a rectangle.

    Attributes:
        title: Path or name of the workbook; empty for a cluster.
        top: Upper edge; y grows downwards.
        room: Free width above the card, for the title when zoomed out.
    """

    title: str
    left: float
    top: float
    width: float
    height: float
    column: float
    room: float
    sheets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Places on the page, in pixels at scale 1.

    Attributes:
        points: Centre of each sheet's dot, (n, 2) float64, in the order of the records.
        cards: Cards by title, clusters last.
    """

    points: Array
    cards: tuple[Card, ...]


def place_sheets(
    records: Sequence[SheetRecord],
    links: Sequence[Link],
    window: tuple[float, float] = WINDOWS[0],
) -> Layout:
    """Place every sheet.

    Args:
        window: Width and height, in pixels, of the window that is to show all sheets.
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
    rooms = _rooms(sizes, [title for title, _ in groups], window)
    corners = _place_cards(rooms, _between(groups, ends), window[0] / window[1])
    corners[:, 1] += (rooms - sizes)[:, 1]  # a card lies below the room for its title
    cards = []
    for place, ((title, rows), (offsets, size)) in enumerate(zip(groups, inner, strict=True)):
        points[rows] = corners[place] + offsets
        left, top = map(float, corners[place])
        room = float(rooms[place, 0]) - _GAP
        cards.append(Card(title, left, top, *size, room=room, sheets=tuple(rows)))
    return Layout(points, tuple(cards))


def _groups(
    records: Sequence[SheetRecord], ends: Sequence[tuple[int, int]]
) -> list[tuple[str, list[int]]]:
    """Group sheets by workbook; sheets without one by community, unlinked ones together."""
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
    """Communities of densely linked rows (Louvain), largest first, unlinked rows last."""
    if not rows:
        return []
    networkx = require("networkx", "graph")
    loose = set(rows)
    graph = networkx.Graph()
    graph.add_edges_from((a, b) for a, b in ends if a in loose and b in loose)
    found = (
        [sorted(part) for part in networkx.community.louvain_communities(graph, seed=0)]
        if graph
        else []
    )
    found.sort(key=lambda part: (-len(part), part))
    alone = [row for row in rows if row not in graph]
    return [*found, alone] if alone else found


def _columns(names: Sequence[str], title: str) -> tuple[Array, tuple[float, float, float]]:
    """Places of a card's sheets relative to its corner, and its (width, height, column width)."""
    wide = min(max(_DOT + max(map(_width, names)), _COLUMN[0]), _COLUMN[1])
    count = len(names)
    columns = max(1, round((_SHAPE * count * ROW / wide) ** 0.5))
    lines = -(-count // columns)
    columns = -(-count // lines)
    place = np.arange(count)
    offsets = np.stack(
        [PAD + 8 + place // lines * wide, TITLE + PAD / 2 + (place % lines + 0.5) * ROW], axis=1
    )
    width = max(columns * wide, min(1.1 * _width(_stem(title)), _COLUMN[1]))  # a title is bold
    return offsets, (width + 2 * PAD, lines * ROW + TITLE + PAD, wide)


def _stem(title: str) -> str:
    name = title.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _width(text: str) -> float:
    """Approximate width of a text; letters from U+1100 on (East Asian) are 1.8 times as wide."""
    return sum(_LETTER if ord(letter) < 0x1100 else 1.8 * _LETTER for letter in text)


def _between(
    groups: Sequence[tuple[str, list[int]]], ends: Sequence[tuple[int, int, str]]
) -> dict[tuple[int, int], int]:
    card_of = {row: card for card, (_, rows) in enumerate(groups) for row in rows}
    pairs: Counter[tuple[int, int]] = Counter()
    for first, second, kind in ends:
        a, b = sorted((card_of[first], card_of[second]))
        if a != b and not kind_of(kind).whole_workbook:
            pairs[a, b] += 1
    return dict(sorted(pairs.items()))


def _rooms(sizes: Array, titles: Sequence[str], window: tuple[float, float]) -> Array:
    """Widths and heights, (n, 2), of cards with the room to keep free around them.

    At the scale at which all cards fit the window, a title can be wider than its card. It gets
    room for as many letters as possible without shrinking the cards too much.
    """
    plain = sizes + _GAP
    most = _scale(lambda _: plain, window)
    if most >= NEAR:
        return plain
    whole = np.array([_PIXELS * (len(_stem(title)) + 1.5) for title in titles])
    for letters in _LETTERS:
        label = np.minimum(whole, _PIXELS * letters)
        scale = _scale(partial(_with_label, sizes, label), window)
        if scale >= _SHRUNK * most:
            return _with_label(sizes, label, scale)
    return plain


def _with_label(sizes: Array, label: Array, scale: float) -> Array:
    wide = np.maximum(sizes[:, 0], label / scale)
    return np.stack([wide, sizes[:, 1] + _LABEL / scale], axis=1) + _GAP


def _scale(rooms: Callable[[float], Array], window: tuple[float, float]) -> float:
    scale = NEAR
    while scale > 0.01 and rooms(scale).prod(axis=1).sum() * scale**2 > (
        _FILLED * window[0] * window[1]
    ):
        scale *= 0.98
    return scale


def _place_cards(sizes: Array, between: dict[tuple[int, int], int], shape: float) -> Array:
    """Upper left corners of cards, (n, 2); linked cards are near each other, none overlap."""
    paired = ((card, [pair]) for pair in between for card in pair)
    parts = connected([*((card, []) for card in range(len(sizes))), *paired])
    corners = np.zeros((len(sizes), 2))
    for members in parts:
        if len(members) > 1:
            row_of = {card: row for row, card in enumerate(members)}
            inside = [
                (row_of[a], row_of[b], count) for (a, b), count in between.items() if a in row_of
            ]
            corners[members] = _linked(sizes[members], inside, shape)
    boxes = [bounds(corners[members], sizes[members]) for members in parts]
    floor = Floor(np.array([size for _, size in boxes]), shape)
    first, *rest = by_area(np.array([size for _, size in boxes]))
    low, size = boxes[first]
    corners[parts[first]] -= low + size / 2
    for card in parts[first]:  # the gaps between its cards and links are free
        floor.occupy(corners[card], sizes[card])
    middles = corners + sizes / 2
    own = set(parts[first])
    ends = np.array([pair for pair in between if pair[0] in own], dtype=int).reshape(-1, 2)
    floor.occupy_lines(middles[ends[:, 0]], middles[ends[:, 1]])
    for place in rest:
        low, size = boxes[place]
        corners[parts[place]] += floor.place(size, np.zeros(2), shape) - low
    return corners


def _linked(sizes: Array, edges: Sequence[tuple[int, int, int]], shape: float) -> Array:
    goals = settle(sizes, edges)
    if shape < 1:
        goals = goals[:, ::-1]
    extent = (sizes.prod(axis=1).sum() * shape) ** 0.5 * np.array([1.0, 1 / shape])
    goals = goals * extent / 12**0.5 / np.maximum(goals.std(axis=0), 1e-9)
    floor = Floor(sizes, shape)
    corners = np.zeros_like(sizes)
    for row in np.argsort(np.linalg.norm(goals / extent, axis=1), kind="stable"):
        corners[row] = floor.place(sizes[row], goals[row])
    return corners
