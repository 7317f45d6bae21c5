"""Read sheet-to-sheet links of a graph file, published or made by this package."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels.jsontext import read_json, sheet_id
from sat_retriever.errors import CorpusError
from sat_retriever.records.links import Link, LinkType

_STATS = ("total_edges", "total_sheets")


def load_links(path: str | Path, known: Collection[str] | None = None) -> tuple[Link, ...]:
    """Load the links of a graph file, published or written by `sat graph --format json`.

    Three forms are accepted: IndustryTab's `dependency_edges.json` (an object with
    `edge_all_types`), an object with a list `links`, and such a list alone, as in Spider's
    `links.json`. A link needs `source`, `target` and `type`. `weight` defaults to 1; `evidence`
    defaults to `source_column` and `target_column`, or is empty.

    If `known` gives the ids of the corpus's sheets, every link must join two of them, and typed
    edges must be as documented: each pair once in either direction, lists that agree, types of this
    package, and true counts.

    Raises:
        CorpusError: If the file is missing, has none of the three forms, or fails a check.
    """
    path = Path(path)
    content = read_json(path)
    if isinstance(content, dict) and "edge_all_types" in content:
        links = _typed_edges(content, path)
        if known is not None:
            _check_edges(content, known, path)
        return links
    rows = content.get("links") if isinstance(content, dict) else content
    if not isinstance(rows, list):
        raise CorpusError(
            f"{path} holds no links: an object with 'links' or 'edge_all_types', or a list "
            "of links is needed"
        )
    listed = tuple(_link(row, f"{path}, link {place}") for place, row in enumerate(rows))
    for place, link in enumerate(listed if known is not None else ()):
        for end in (link.source, link.target):
            if known is not None and end not in known:
                raise CorpusError(f"{path}, link {place}: there is no sheet {end!r}")
    return listed


def _typed_edges(edges: Mapping[str, Any], path: Path) -> tuple[Link, ...]:
    """Return one link per pair and type; a pair without a direction keeps the file's order."""
    directions = edges.get("edge_directions") or {}
    links = []
    try:
        for pair, types in edges["edge_all_types"].items():
            first, second = pair.split(",")
            if not isinstance(types, list) or not all(isinstance(kind, str) for kind in types):
                raise TypeError(f"{pair!r} has {types!r:.80}, not a list of types")
            for kind in types:
                way = directions.get(pair, {}).get(kind, {"source": first, "target": second})
                link = Link(str(way["source"]), str(way["target"]), kind)
                if {link.source, link.target} != {first, second}:
                    raise ValueError(f"the direction of {pair!r} is of other sheets: {way!r:.80}")
                links.append(link)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path}: malformed 'edge_all_types' ({error!r})") from error
    return tuple(links)


def _check_edges(edges: Mapping[str, Any], known: Collection[str], path: Path) -> None:
    """Refuse pairs, types and counts that differ from the documentation."""
    pairs: set[frozenset[str]] = set()
    for pair, types in edges["edge_all_types"].items():
        where = f"{path}, 'edge_all_types' {pair!r:.80}"
        ends = pair.split(",")
        for end in ends:
            if end not in known:
                raise CorpusError(f"{where}: there is no sheet {end!r} in sheets.json")
        if ends[0] == ends[1]:
            raise CorpusError(f"{where}: a sheet has no edge with itself")
        if frozenset(ends) in pairs:
            raise CorpusError(f"{where}: the pair is there already, the other way round")
        pairs.add(frozenset(ends))
        if not types or len(set(types)) < len(types):
            raise CorpusError(f"{where}: the types must be there, each once, not {types!r:.120}")
        for kind in types:
            if kind not in tuple(LinkType):
                raise CorpusError(f"{where}: {kind!r:.80} is none of {', '.join(LinkType)}")
    _check_listed(edges, pairs, path)
    _check_primary(edges, path)
    _check_counts(edges, len(pairs), len(known), path)


def _check_listed(edges: Mapping[str, Any], pairs: set[frozenset[str]], path: Path) -> None:
    listed = edges.get("edges")
    if listed is None:
        return
    if not isinstance(listed, list):
        raise CorpusError(f"{path}: 'edges' must be a list of pairs, not {listed!r:.80}")
    seen: set[frozenset[str]] = set()
    for place, edge in enumerate(listed):
        where = f"{path}, edge {place}"
        if not isinstance(edge, list) or len(edge) != 2:
            raise CorpusError(f"{where}: two sheet ids are needed, not {edge!r:.80}")
        pair = frozenset(sheet_id(end, where) for end in edge)
        if pair in seen:
            raise CorpusError(f"{where}: {edge!r:.80} is listed twice")
        if pair not in pairs:
            raise CorpusError(f"{where}: {edge!r:.80} has no types in 'edge_all_types'")
        seen.add(pair)
    if len(seen) < len(pairs):
        raise CorpusError(
            f"{path}: 'edges' has {len(seen):,} pairs, 'edge_all_types' {len(pairs):,}"
        )


def _check_primary(edges: Mapping[str, Any], path: Path) -> None:
    """Refuse a first type that is not among the pair's types, or a direction without an edge."""
    every = edges["edge_all_types"]
    for name in ("edge_types", "edge_directions"):
        given = edges.get(name) or {}
        if not isinstance(given, Mapping):
            raise CorpusError(f"{path}: {name!r} must be an object, not {given!r:.80}")
        for pair, kinds in given.items():
            for kind in kinds if isinstance(kinds, Mapping) else [kinds]:
                if kind not in every.get(pair, ()):
                    raise CorpusError(
                        f"{path}, {name!r} {pair!r:.80}: {kind!r:.80} is not in 'edge_all_types'"
                    )


def _check_counts(edges: Mapping[str, Any], pairs: int, sheets: int, path: Path) -> None:
    stats = edges.get("stats") or {}
    if not isinstance(stats, Mapping):
        raise CorpusError(f"{path}: 'stats' must be an object, not {stats!r:.80}")
    for name, true in zip(_STATS, (pairs, sheets), strict=True):
        if name in stats and stats[name] != true:
            raise CorpusError(
                f"{path}: 'stats' says {name} is {stats[name]!r:.80}, but there are {true:,}; is a "
                "file of another release beside it?"
            )


def _link(row: Any, where: str) -> Link:
    if not isinstance(row, Mapping):
        raise CorpusError(f"{where}: an object is needed, not {row!r:.80}")
    ends = []
    for name in ("source", "target"):
        end = row.get(name)
        if isinstance(end, bool) or not isinstance(end, (str, int)):
            raise CorpusError(f"{where}: {name!r} must be a sheet id, not {end!r:.80}")
        ends.append(str(end))
    kind, weight, evidence = row.get("type"), row.get("weight", 1.0), row.get("evidence")
    if not isinstance(kind, str) or not kind:
        raise CorpusError(f"{where}: 'type' must be a name, not {kind!r:.80}")
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight <= 1:
        raise CorpusError(f"{where}: 'weight' must be above 0 and at most 1, not {weight!r:.80}")
    if evidence is None and {"source_column", "target_column"} <= row.keys():
        evidence = f"{row['source_column']} = {row['target_column']}"
    if not isinstance(evidence, (str, type(None))):
        raise CorpusError(f"{where}: 'evidence' must be a text, not {evidence!r:.80}")
    return Link(ends[0], ends[1], kind, float(weight), evidence or "")
