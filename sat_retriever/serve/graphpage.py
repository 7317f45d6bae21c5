"""The graph of the sheets near one, as a page of its own."""

from __future__ import annotations

from collections.abc import Mapping

from sat_retriever.index.index import SheetIndex
from sat_retriever.links.graph import around, best_linked
from sat_retriever.pages.graph.page import to_html
from sat_retriever.pages.onepage import policy_of
from sat_retriever.serve.pieces import record_of
from sat_retriever.stages import Told, tell

_NEAR, _SHEETS = 60, 120  # at one hop, at two; more fill the page, and take seconds to place


def graph_page(index: SheetIndex, given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the page of a sheet, those that it is linked to, and theirs; and its headers."""
    record = record_of(index, given)
    ids, near = [record.sheet_id], 1
    for hops, most in ((1, _NEAR), (2, _SHEETS)):
        links = index.links(ids)
        ids = around([record.sheet_id], links, hops)
        near = max(near, len(ids))
        ids = sorted({record.sheet_id, *best_linked(ids, links, most - 1)})
    links = index.links(ids)
    left_out = f"The {len(ids)} best linked of {near:,} sheets near this one."
    notes = [left_out] if near > len(ids) else []
    found = index.records(ids)
    tell(Told.FOUND, *found)
    page = to_html(
        [found[each] for each in sorted(found)],
        links,
        title=f"Sheets near {record.sheet or record.sheet_id}",
        notes=notes,
        opens="/sheet?id=",
    )
    policy = f"{policy_of(page)}; frame-ancestors 'none'"
    return page, {"content-security-policy": policy}
