"""A bench as one JSON object: enough to compute every figure of its table again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sat_retriever.evaluation.bench import Bench, Scored

FORMAT = 1


def results_of(bench: Bench, about: Mapping[str, Any], *, per_query: bool = True) -> dict[str, Any]:
    """What was measured, ready for JSON.

    Args:
        bench: The methods' answers.
        about: What it is of: index, labels, how it was made.
        per_query: Whether the questions and the rows of each method are in it.
    """
    found: dict[str, Any] = {"format": FORMAT, **about, "questions": len(bench.queries)}
    found["hard_negatives"] = "ruled out by the labels" if bench.ruled_out else "as annotated"
    if per_query:
        found["queries"] = [
            {
                "query": place,
                "text": query.text,
                "type": query.query_type,
                "positives": list(query.positives),
                "hard_negatives": list(query.hard_negatives),
            }
            for place, query in bench.queries.items()
        ]
    found["methods"] = [_method(bench, scored, per_query=per_query) for scored in bench.scored]
    found["left_out"] = dict(bench.left_out)
    return found


def _method(bench: Bench, scored: Scored, *, per_query: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": scored.name,
        "metrics": dict(scored.metrics),
        "latency_ms": asdict(scored.latency) if scored.latency else None,
        "ndcg_difference_to_row_above": asdict(scored.difference) if scored.difference else None,
    }
    if per_query:
        found["per_query"] = [
            {**row, "sheets": [bench.sheet_ids[number] for number in row["sheets"]]}
            for row in scored.rows
        ]
    return found
