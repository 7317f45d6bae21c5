"""Write a bench as one JSON object from which every figure of its table can be computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sat_retriever.evaluation.bench import Bench

FORMAT = 2


def results_of(bench: Bench, about: Mapping[str, Any], *, per_query: bool = True) -> dict[str, Any]:
    """Return the measurement, ready for JSON.

    Args:
        bench: The methods' answers.
        about: Its description: index, labels, and how it was made.
        per_query: True includes the questions and the rows of each method.
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
    found["against"] = bench.against
    found["methods"] = [
        _method(bench, row, per_query=per_query) for row in range(len(bench.scored))
    ]
    found["left_out"] = dict(bench.left_out)
    return found


def _method(bench: Bench, row: int, *, per_query: bool) -> dict[str, Any]:
    scored = bench.scored[row]
    found: dict[str, Any] = {
        "name": scored.name,
        "metrics": dict(scored.metrics),
        "latency_ms": asdict(scored.latency) if scored.latency else None,
        "ndcg_difference": _difference(bench, row),
    }
    if per_query:
        found["per_query"] = [
            {**each, "sheets": [bench.sheet_ids[number] for number in each["sheets"]]}
            for each in scored.rows
        ]
    return found


def _difference(bench: Bench, row: int) -> dict[str, Any] | None:
    """Return mean and interval of a row's difference, and the row that it is `to`."""
    found, other = bench.scored[row].difference, bench.compared_with(row)
    if found is None or other is None:
        return None
    return {"to": bench.scored[other].name, **asdict(found)}
