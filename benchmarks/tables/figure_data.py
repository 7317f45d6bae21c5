"""The numbers that each figure shows, from committed results: nothing here draws.

result files → Chart → `benchmarks.tables.figures`
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.paper import paper
from benchmarks.speed.ten_million import TARGET
from benchmarks.tables.breakdown import Spread, of_split

File = Mapping[str, Any]
Files = Sequence[File]
Curve = tuple[tuple[float, float], ...]  # (epoch, NDCG@5 on the validation part)

METRIC = "NDCG@5"
# Rows of the sensitivity table a panel, as its axis names them.
PANELS: Mapping[str, Mapping[str, str]] = {
    "candidates": {"k_10": "10", "k_20": "20", "reference": "50"},
    "layers of the graph": {"reference": "1", "layers_2": "2", "layers_3": "3"},
    "gate at first": {"gate_8": "−8", "gate_6": "−6", "reference": "−4"},
    "link channels": {
        "join": "J",
        "aggregation": "A",
        "formula": "F",
        "summary": "S",
        "reference": "F+S",
        "aggregation_formula_summary": "A+F+S",
        "all_channels": "all",
    },
}
# Methods of the paper, by ours that stand for them.
OF_PAPER = {
    "llm_only": "LLM-only",
    "dense": "RAG",
    "rag_llm": "RAG + LLM",
    "stage1": "Stage 1",
    "cross": "Cross-Encoder",
    "graph": "SAT",
}
# Rows with MiniLM, short and unambiguous: titles of the table rely on the row above.
NAMES = {
    "bm25": "BM25",
    "llm_only": "LLM-only",
    "dense": "RAG (zero-shot)",
    "rag_llm": "RAG + LLM",
    "fused": "words + MiniLM, untrained",
    "links": "… + link reranker",
    "stage1": "Stage 1",
    "base": "Stage 1 + base scorer",
    "graph": "SAT",
    "cross": "Cross-Encoder",
    "ours_stage1": "ours: Stage 1",
    "ours_fused": "ours: + words",
    "ours_base": "ours: + base scorer",
    "ours": "ours: + graph",
}
# Figures of `run ten_million` by store, as their panels name them: (title, file's, database's, how
# many of its unit make one of the panel's).
GROWTH = (
    ("default path, p50 ms", "default_p50_ms", "default_p50_ms", 1),
    ("filling, minutes", "add_s", "migrate_s", 60),
    ("on disk, GiB", "file_mib", "database_mib", 1024),
    ("first answer, s", "first_answer_s", "first_answer_s", 1),
)
_TRAININGS = {"stage1": "paper's recipe", "ours_stage1": "ours"}
_GRAPHS = {"graph": "paper's recipe", "ours": "ours"}


@dataclass(frozen=True, slots=True)
class Point:
    """One mark.

    Attributes:
        label: Name of the measured setting or method.
        x: Horizontal position; None if the axis shows names or there is no measurement.
        y: NDCG@5; None if it was not run.
        sd: Standard deviation of y over seeds; None for a single run.
    """

    label: str
    x: float | None
    y: float | None
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        title: Heading.
        ours: Measured here; a mark each.
        reported: The paper's.
        curves: Lines by label, several of equal label for several seeds.
        lines: Level of the reference: ours, and the paper's.
        reference: Label of the reference among marks or curves; empty without one.
    """

    title: str
    ours: tuple[Point, ...] = ()
    reported: tuple[Point, ...] = ()
    curves: tuple[tuple[str, Curve], ...] = ()
    lines: tuple[float | None, float | None] = (None, None)
    reference: str = ""


Chart = tuple[Panel, ...]


def data_hash(chart: Chart) -> str:
    """Return sixteen hex digits over every number and name of a chart.

    >>> data_hash((Panel("a"),)) == data_hash((Panel("b"),))
    False
    """
    text = json.dumps([asdict(panel) for panel in chart], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def sensitivity_chart(sensitivity: Files) -> Chart:
    """Return NDCG@5 on the test part by setting, ours beside the paper's.

    Args:
        sensitivity: Result files of `benchmarks.paper.sensitivity`.
    """
    ours = {file["method"]: _rounded(file["metrics"][METRIC]) for file in sensitivity}
    theirs = {name: row[METRIC] for name, row in paper.sensitivity().items()}
    levels = (ours.get("reference"), theirs["reference"])
    return tuple(
        Panel(
            title,
            tuple(Point(label, None, ours.get(name)) for name, label in rows.items()),
            tuple(Point(label, None, theirs[name]) for name, label in rows.items()),
            lines=levels,
            reference=rows["reference"],
        )
        for title, rows in PANELS.items()
    )


def convergence_chart(trained: Files, sensitivity: Files) -> Chart:
    """Return the validation NDCG@5 by epoch: of Stage 1, of the graph, and of each sensitivity run.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
        sensitivity: Result files of `benchmarks.paper.sensitivity`.
    """
    runs = of_split(trained, "standard")
    found = {file["method"]: file for file in sensitivity}
    return (
        Panel("Stage 1, three seeds", curves=_seed_curves(runs, _TRAININGS, "encoder")),
        Panel("graph, three seeds", curves=_seed_curves(runs, _GRAPHS, "graph")),
        *(
            Panel(
                title,
                curves=tuple(
                    (label, _curve(found[name], "graph"))
                    for name, label in rows.items()
                    if name in found and _curve(found[name], "graph")
                ),
                reference=rows["reference"],
            )
            for title, rows in PANELS.items()
        ),
    )


def _seed_curves(
    runs: Mapping[str, Files], titles: Mapping[str, str], step: str
) -> tuple[tuple[str, Curve], ...]:
    return tuple(
        (title, curve)
        for name, title in titles.items()
        for file in runs.get(name, ())
        if (curve := _curve(file, step))
    )


def _curve(file: File, step: str) -> Curve:
    """Return the validation of one training by epoch; empty where none was written down."""
    recorded = file["metrics"].get("steps", {}).get(step, {}).get("validation") or ()
    return tuple((float(epoch), _rounded(value)) for epoch, value in recorded)


def comparison_chart(trained: Files) -> Chart:
    """Return NDCG@5 of every method on the standard test and on unseen families.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
    """
    main = paper.full_corpus("industrytab_1k")
    reported: dict[str, dict[str, tuple[float | None, float | None]]] = {
        "standard": {name: (row[METRIC].mean, row[METRIC].sd) for name, row in main.items()},
        "grouped": {name: (value, None) for name, value in paper.grouped().items()},
    }
    titles = {"standard": "standard test", "grouped": "unseen families"}
    return tuple(
        Panel(
            title,
            tuple(
                Point(NAMES[name], None, *_over_seeds(files))
                for name, files in of_split(trained, split).items()
                if name in NAMES
            ),
            tuple(
                Point(title, None, *reported[split].get(OF_PAPER.get(name, ""), (None, None)))
                for name, title in NAMES.items()
            ),
        )
        for split, title in titles.items()
    )


def _over_seeds(files: Files) -> tuple[float | None, float | None]:
    if not files:
        return None, None
    found = Spread.of([file["metrics"][METRIC] for file in files])
    return _rounded(found.mean), None if found.sd is None else _rounded(found.sd)


def latency_chart(trained: Files, cascade: Files) -> Chart:
    """Return median time of a question and NDCG@5 by machine, beside the paper's on an A40.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
        cascade: Result files of `benchmarks.paper.cascade`, with `joint_p50_ms`.
    """
    quality = {name: _over_seeds(files)[0] for name, files in of_split(trained, "standard").items()}
    times: dict[str, dict[str, float]] = {}
    for file in cascade:
        time = file["metrics"].get("joint_p50_ms")
        if time is not None and file["split"] == "standard":
            times.setdefault(_machine(file), {})[file["method"]] = round(time, 3)
    return tuple(
        Panel(
            machine,
            tuple(Point(title, found.get(name), quality[name]) for name, title in NAMES.items()),
            _reported_times(),
        )
        for machine, found in (times or {"CPU": {}}).items()
    )


def _reported_times() -> tuple[Point, ...]:
    """Return time and NDCG@5 of the paper's methods, in the places of their counterparts."""
    times = paper.latency_ms("industrytab_1k")
    main = paper.full_corpus("industrytab_1k")
    points = []
    for name, title in NAMES.items():
        method = OF_PAPER.get(name)
        known = (None, None) if method is None else (times[method], main[method][METRIC].mean)
        points.append(Point(title, *known))
    return tuple(points)


def _machine(file: File) -> str:
    """Return the device on which a time was measured."""
    if device := file["metrics"].get("device"):
        return str(device)
    return f"{file['provenance']['hardware']['cores']} CPU cores"


def _rounded(value: float) -> float:
    return round(float(value), 6)


def growth_chart(million: Files, postgres: Files, drawn_on: Files) -> Chart:
    """Return what grows with the number of sheets: measured as lines, drawn on as marks.

    Args:
        million: Result files of `benchmarks.speed.million`.
        postgres: Result files of `benchmarks.speed.postgres`.
        drawn_on: Result files of `benchmarks.speed.ten_million`.
    """
    sizes, foreseen = {"in a file": million, "in PostgreSQL": postgres}, _by_method(drawn_on)
    return tuple(
        Panel(
            title,
            ours=tuple(
                Point(store, float(TARGET), _rounded(foreseen[store][figure] / unit))
                for store, figure in zip(sizes, figures, strict=True)
                if store in foreseen
            ),
            curves=tuple(
                (store, line)
                for store, figure in zip(sizes, figures, strict=True)
                if (line := _by_size(sizes[store], figure, unit))
            ),
        )
        for title, *figures, unit in GROWTH
    )


def _by_method(files: Files) -> dict[str, Mapping[str, float]]:
    return {file["method"]: file["metrics"] for file in files}


def _by_size(files: Files, figure: str, unit: int) -> Curve:
    """Return one figure of indexes of names by their number of sheets."""
    found = {
        int(size): file["metrics"][figure]
        for file in files
        if file["method"] == "sat-retriever"
        and (size := file["dataset"].removeprefix("template_")).isdigit()
        and figure in file["metrics"]
    }
    return tuple((float(size), _rounded(found[size] / unit)) for size in sorted(found))
