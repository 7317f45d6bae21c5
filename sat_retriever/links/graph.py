"""Sheets and links as a graph: a part of it, and all of it for networkx, as JSON and as GraphML."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from sat_retriever._extras import require
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link, kind_of
from sat_retriever.records.sheets import SheetRecord

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def around(sheet_ids: Sequence[str], links: Iterable[Link], hops: int) -> list[str]:
    """The sheets and all sheets at most `hops` links away, in either direction, in id order.

    >>> links = [Link("a", "b", "join_key"), Link("c", "b", "join_key")]
    >>> around(["a"], links, 1), around(["a"], links, 2)
    (['a', 'b'], ['a', 'b', 'c'])
    """
    beside: dict[str, list[str]] = {}
    for link in links:
        beside.setdefault(link.source, []).append(link.target)
        beside.setdefault(link.target, []).append(link.source)
    found = dict.fromkeys(sheet_ids)
    edge = list(found)
    for _ in range(hops):
        if not edge:
            break
        reached = dict.fromkeys(other for sheet in edge for other in beside.get(sheet, ()))
        edge = [sheet for sheet in reached if sheet not in found]
        found.update(dict.fromkeys(edge))
    return sorted(found)


def best_linked(sheet_ids: Sequence[str], links: Iterable[Link], limit: int) -> list[str]:
    """Up to `limit` sheets, those with the most links, in id order.

    Links of types that connect whole workbooks only break ties.

    >>> links = [Link("b", "c", "join_key"), Link("a", "d", "same_workbook")]
    >>> best_linked("abcd", links, 2)
    ['b', 'c']
    """
    if len(sheet_ids) <= limit:
        return sorted(sheet_ids)
    known = set(sheet_ids)
    telling: Counter[str] = Counter()
    near: Counter[str] = Counter()
    for link in links:
        if link.source in known and link.target in known:
            counts = near if kind_of(link.type).whole_workbook else telling
            counts.update((link.source, link.target))
    ranked = sorted(known, key=lambda sheet: (-telling[sheet], -near[sheet], sheet))
    return sorted(ranked[:limit])


_HEADERS = 50  # header names of a node; the JSON form has all
_SHEET_KINDS = {
    "name": "string",
    "workbook": "string",
    "path": "string",
    "range": "string",
    "rows": "long",
    "cols": "long",
    "headers": "string",
    "visibility": "string",
    "format": "string",
    "formulas": "string",
}
_LINK_KINDS = {"type": "string", "weight": "double", "evidence": "string"}
# Characters that XML 1.0 cannot represent in any form.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_encode = json.JSONEncoder(ensure_ascii=False).encode
_DOCUMENT_START = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
  http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""


def link_graph(records: Iterable[SheetRecord], links: Iterable[Link]) -> MultiDiGraph:
    """Sheets as nodes and links as edges, for any algorithm of networkx.

    Args:
        records: The sheets. A node is a sheet id; its attributes are plain texts and
            numbers: name (of the tab), workbook, path, range, rows, cols, headers
            (the first 50, joined by " | "), visibility, format, formulas. Unknown values are
            left out.
        links: Edges, keyed by type, with type, weight and evidence. If two sheets have several
            links of one type, the last one stays. Links from or to sheets that are not among
            the records are left out.

    Raises:
        MissingExtraError: If networkx is not installed; the message names the command.

    >>> graph = link_graph(
    ...     [SheetRecord("a#x", "x"), SheetRecord("a#y", "y")],
    ...     [Link("a#x", "a#y", "aggregation", 0.5, "x!A1 =SUM(y!A:A)")],
    ... )
    >>> graph.edges["a#x", "a#y", "aggregation"]["evidence"]
    'x!A1 =SUM(y!A:A)'
    """
    graph: MultiDiGraph = require("networkx", "graph").MultiDiGraph()
    for record in records:
        graph.add_node(record.sheet_id, **_sheet_attributes(record))
    for link in links:
        if link.source in graph and link.target in graph:
            graph.add_edge(link.source, link.target, key=link.type, **_link_attributes(link))
    return graph


def graph_json_parts(records: Iterable[SheetRecord], links: Iterable[Link]) -> Iterator[str]:
    """Yield `{"sheets": [...], "links": [...]}`, one sheet or link per line.

    Sheets are records without the fields at their default (`record_from_json` reads them). Links
    have source, target, type, weight and evidence; links from or to other sheets are left out.
    `sat_retriever.datasets.edges.load_links` reads the file. It is never held as a whole.
    """
    known: set[str] = set()
    separator = '{"sheets": [\n'
    for record in records:
        known.add(record.sheet_id)
        yield separator + _encode(to_json(record, compact=True))
        separator = ",\n"
    yield '\n], "links": [\n' if known else '{"sheets": [], "links": [\n'
    separator = ""
    for link in links:
        if _inside(link, known):
            yield separator + _encode(_link_row(link))
            separator = ",\n"
    yield "\n]}\n"


def graphml_parts(records: Iterable[SheetRecord], links: Iterable[Link]) -> Iterator[str]:
    """Yield GraphML with the nodes and edges of `link_graph`, which networkx can read.

    It comes one sheet or link at a time, and is never held as a whole. Characters that XML cannot
    represent are written as Excel writes them, "_x0001_". Every edge has an id of its own, as
    GraphML requires; networkx's writer would use the type as the id.
    """
    yield _DOCUMENT_START
    for owner, kinds in (("node", _SHEET_KINDS), ("edge", _LINK_KINDS)):
        for name, kind in kinds.items():
            yield (
                f'<key id="{owner}.{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n'
            )
    yield '<graph edgedefault="directed">\n'
    known: set[str] = set()
    for record in records:
        known.add(record.sheet_id)
        data = _data("node", _sheet_attributes(record))
        yield f"<node id={_quoted(record.sheet_id)}>{data}</node>\n"
    number = 0
    for link in links:
        if _inside(link, known):
            ends = f"source={_quoted(link.source)} target={_quoted(link.target)}"
            data = _data("edge", _link_attributes(link))
            yield f'<edge id="e{number}" {ends}>{data}</edge>\n'
            number += 1
    yield "</graph>\n</graphml>\n"


def _link_row(link: Link) -> dict[str, str | float]:
    # Written out for speed, since there may be a million links: `to_json` inspects every field.
    return {
        "source": link.source,
        "target": link.target,
        "type": link.type,
        "weight": link.weight,
        "evidence": link.evidence,
    }


def _inside(link: Link, known: set[str]) -> bool:
    return link.source in known and link.target in known


def _sheet_attributes(record: SheetRecord) -> dict[str, str | int]:
    names = [column.name for column in record.columns[:_HEADERS] if column.name]
    found = {
        "name": record.sheet,
        "workbook": record.workbook,
        "path": record.path,
        "range": record.range,
        "rows": record.num_rows,
        "cols": record.num_cols,
        "headers": " | ".join(names),
        "visibility": record.visibility.value,
        "format": record.format,
        "formulas": record.formulas.value,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


def _link_attributes(link: Link) -> dict[str, str | float]:
    found: dict[str, str | float] = {
        "type": link.type,
        "weight": link.weight,
        "evidence": link.evidence,
    }
    return {key: value for key, value in found.items() if value != ""}


def _data(owner: str, attributes: Mapping[str, str | int | float]) -> str:
    return "".join(
        f'<data key="{owner}.{name}">{_text(value)}</data>' for name, value in attributes.items()
    )


def _text(value: str | int | float) -> str:
    return escape(_xml_safe(str(value)), {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return quoteattr(_xml_safe(text))


def _xml_safe(text: str) -> str:
    r"""The text with characters that XML cannot represent in Excel's spelling.

    >>> _xml_safe("a\x01b\ud800")
    'a_x0001_b_xD800_'
    """
    return _NOT_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
