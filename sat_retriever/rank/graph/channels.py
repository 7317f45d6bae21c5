"""Compute relations between the candidates of one query, the channels of a trained graph.

Every function returns one relation (k, k) float32, symmetric, in [0, 1]. The model normalises it
and removes its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import InputError
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray

MAX_HEADERS = 12  # headers of a sheet that are compared, as in the text of a sheet
LEARNT = ("semantic", "query")  # computed from learnt states, within the model
_LINK = "link:"  # prefix of a link type that this package does not find itself


@dataclass(frozen=True, slots=True)
class Links:
    """Links of one type between candidates."""

    ends: NDArray[np.intp]  # places of both ends (m, 2), one row per link
    weights: FloatArray  # their strengths (m,), in (0, 1]


@dataclass(frozen=True, slots=True)
class Facts:
    """The data of k candidates that relations are computed from, in one order."""

    # Headers of each, lower-cased and stripped, the first twelve that are not empty.
    headers: tuple[tuple[str, ...], ...]
    rows: FloatArray  # number of rows of each (k,), NaN if unknown
    cols: FloatArray  # number of columns of each (k,), NaN if unknown
    homes: tuple[str, ...]  # workbook of each, its path or its name; empty for none
    # BM25 of each as a share of the query's best possible value (k,), in [0, 1].
    lexical: FloatArray
    links: Mapping[str, Links]


def facts(
    candidates: Sequence[Candidate], records: Mapping[str, SheetRecord], links: Sequence[Link]
) -> Facts:
    """Collect the data of candidates that relations are computed from; other links are ignored."""
    found = [records[candidate.sheet_id] for candidate in candidates]
    return Facts(
        headers=tuple(map(_headers, found)),
        rows=np.array([_size(record.num_rows) for record in found], dtype=np.float32),
        cols=np.array([_size(record.num_cols) for record in found], dtype=np.float32),
        homes=tuple(record.path or record.workbook for record in found),
        lexical=np.array([candidate.lexical for candidate in candidates], dtype=np.float32),
        links=_by_type([record.sheet_id for record in found], links),
    )


def relations(channels: Sequence[str], known: Facts) -> FloatArray:
    """Return relations by name, (c, k, k) float32; those from learnt states are zero."""
    check_channels(channels)
    made = np.zeros((len(channels), len(known.homes), len(known.homes)), dtype=np.float32)
    for place, channel in enumerate(channels):
        if channel in _FIXED:
            made[place] = _FIXED[channel](known)
        elif channel not in LEARNT:
            joined = known.links.get(channel.removeprefix(_LINK), _NO_LINKS)
            made[place] = linked(joined.ends, len(known.homes))
    return made


def check_channels(channels: Sequence[str]) -> None:
    """Refuse names of relations that are unknown or repeated."""
    for channel in channels:
        other = channel.startswith(_LINK) and channel != _LINK
        if not other and channel not in CHANNELS:
            raise InputError(
                f"unknown channel {channel!r}; choose from: {', '.join(CHANNELS)}, or "
                f"'{_LINK}TYPE' for links of another type"
            )
    if len(set(channels)) < len(channels):
        raise InputError(f"a channel is given twice ({', '.join(channels)}); give each once")


def link_types(channels: Sequence[str]) -> tuple[str, ...]:
    """Return the types of the links that some relations use, each once.

    >>> link_types(("schema", "join_key", "join_confidence", "link:foreign_key"))
    ('join_key', 'foreign_key')
    """
    named = [
        LinkType.JOIN_KEY.value if channel == "join_confidence" else channel.removeprefix(_LINK)
        for channel in channels
        if channel == "join_confidence" or channel not in (*LEARNT, *_FIXED)
    ]
    return tuple(dict.fromkeys(named))


# ---- one relation each


def schema(headers: Sequence[Sequence[str]]) -> FloatArray:
    """Return the Jaccard similarity of headers, (k, k); 0 for two sheets without headers.

    `|H_i ∩ H_j| / |H_i ∪ H_j|`, H the set of a sheet's headers.

    Source: paper, section 3.4 (schema overlap); the released recipe takes twelve headers.

    >>> schema([("id", "price"), ("id",), (), ()]).round(2).tolist()[:2]
    [[1.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]]
    """
    numbers: dict[str, int] = {}
    cells = [
        (sheet, numbers.setdefault(header, len(numbers)))
        for sheet, own in enumerate(headers)
        for header in own
    ]
    has = np.zeros((len(headers), len(numbers)), dtype=np.float32)  # (k, words)
    has[tuple(np.array(cells, dtype=np.intp).reshape(-1, 2).T)] = 1
    shared = has @ has.T  # (k, k)
    counts = has.sum(axis=1)
    either = counts[:, None] + counts - shared
    ratio: FloatArray = shared / np.maximum(either, 1)
    return ratio


def shape(rows: FloatArray, cols: FloatArray) -> FloatArray:
    """Return the similarity of the sizes of sheets, (k, k); 0 for an unknown size.

    `½ (1 / (1 + |rows_i - rows_j|) + 1 / (1 + |cols_i - cols_j|))`.

    Source: paper, section 3.4 (shape similarity).

    >>> shape(np.float32([10, 11, np.nan]), np.float32([3, 3, np.nan])).tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    alike = [1 / (1 + np.abs(size[:, None] - size)) for size in (rows, cols)]
    known = [np.where(np.isnan(part), np.float32(0), part) for part in alike]
    both: FloatArray = (known[0] + known[1]) * np.float32(0.5)
    return both


def linked(ends: NDArray[np.intp], k: int) -> FloatArray:
    """Return 1 for two sheets that a link joins in either direction, (k, k).

    Source: paper, section 3.4 and appendix A (dependency channels).

    >>> linked(np.array([[0, 1]]), 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    joined = np.zeros((k, k), dtype=np.float32)
    joined[ends[:, 0], ends[:, 1]] = joined[ends[:, 1], ends[:, 0]] = 1
    return joined


def confidence(ends: NDArray[np.intp], weights: FloatArray, k: int) -> FloatArray:
    """Return the weight of the strongest link of two sheets, (k, k). Not in the paper.

    >>> confidence(np.array([[0, 1], [1, 0]]), np.float32([0.25, 0.5]), 2).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    strongest = np.zeros((k, k), dtype=np.float32)
    np.maximum.at(strongest, (ends[:, 0], ends[:, 1]), weights)
    either: FloatArray = np.maximum(strongest, strongest.T)
    return either


def lexical(scores: FloatArray) -> FloatArray:
    """Return `l_i l_j`: high if both sheets have the query's words, (k, k). Not in the paper.

    It is the counterpart of the paper's query relevance, for words.

    >>> lexical(np.float32([1, 0.5])).tolist()
    [[1.0, 0.5], [0.5, 0.25]]
    """
    product: FloatArray = np.outer(scores, scores)
    return product


def same_workbook(homes: Sequence[str]) -> FloatArray:
    """Return 1 for two sheets of one workbook, (k, k). Not in the paper.

    >>> same_workbook(["a.xlsx", "a.xlsx", "", ""]).tolist()[1:3]
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    numbers = {home: number for number, home in enumerate(dict.fromkeys(homes))}
    own = np.array([numbers[home] if home else -1 for home in homes])
    same: FloatArray = ((own[:, None] == own) & (own >= 0)).astype(np.float32)
    return same


# ---- inner workings

_NO_LINKS = Links(np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=np.float32))


def _join_confidence(known: Facts) -> FloatArray:
    joins = known.links.get(LinkType.JOIN_KEY.value, _NO_LINKS)
    return confidence(joins.ends, joins.weights, len(known.homes))


_FIXED: Mapping[str, Callable[[Facts], FloatArray]] = {
    "schema": lambda known: schema(known.headers),
    "shape": lambda known: shape(known.rows, known.cols),
    "lexical": lambda known: lexical(known.lexical),
    "join_confidence": _join_confidence,
    "same_workbook": lambda known: same_workbook(known.homes),
}
CHANNELS = (*LEARNT, *_FIXED, *(kind.value for kind in LinkType if kind.value not in _FIXED))


def _headers(record: SheetRecord) -> tuple[str, ...]:
    named = (header for column in record.columns if (header := column.name.strip().lower()))
    return tuple(header for header, _ in zip(named, range(MAX_HEADERS), strict=False))


def _size(count: int | None) -> float:
    return float("nan") if count is None else float(count)


def _by_type(sheet_ids: Sequence[str], links: Sequence[Link]) -> dict[str, Links]:
    place = {sheet_id: number for number, sheet_id in enumerate(sheet_ids)}
    ends: dict[str, list[tuple[int, int]]] = {}
    weights: dict[str, list[float]] = {}
    for link in links:
        source, target = place.get(link.source), place.get(link.target)
        if source is not None and target is not None and source != target:
            ends.setdefault(link.type, []).append((source, target))
            weights.setdefault(link.type, []).append(link.weight)
    return {
        kind: Links(np.array(ends[kind], dtype=np.intp), np.array(weights[kind], dtype=np.float32))
        for kind in ends
    }
