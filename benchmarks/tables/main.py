"""The main table: every method with its quality and time, the paper's figures below ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.corpora import INDUSTRYTAB_1K, PUBLISHED
from benchmarks.paper import paper
from benchmarks.paper.paper import Reported
from benchmarks.tables.breakdown import (
    PAPER_COLUMNS,
    File,
    Files,
    Gap,
    Spread,
    gap_of,
    neighbours,
    of_split,
    spread_of,
    trained_in,
)
from benchmarks.tables.figure_data import OF_PAPER
from benchmarks.tables.markdown import markdown, number, signed
from benchmarks.training.methods import RECIPES

HEADINGS = ("method", "seeds", *PAPER_COLUMNS.values(), "ms", "Δ NDCG@5 to the row above")
# Rows that a reader compares though they are not neighbours.
_FURTHER = (
    ("stage1", "bm25"),
    ("graph", "stage1"),
    ("ours", "graph"),
    ("ours", "ours_stage1"),
    ("ours", "bm25"),
    ("ours", "links"),
    ("arctic_stage1", "stage1"),
    ("arctic_graph", "graph"),
    ("arctic_graph", "arctic_stage1"),
    ("mpnet_stage1", "stage1"),
    ("mpnet_graph", "graph"),
    ("mpnet_graph", "mpnet_stage1"),
)


def main_table(trained: Files, timed: Files, split: str, dataset: str = INDUSTRYTAB_1K) -> str:
    """Return every method on one split of a corpus: mean ± sd over seeds, and milliseconds.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
        timed: Result files of `benchmarks.paper.cascade`.
        split: "standard", "grouped" or "legacy".
        dataset: Name of the corpus; the paper's figures are beside its own.
    """
    return markdown(HEADINGS, main_rows(trained, timed, split, dataset))


def main_rows(trained: Files, timed: Files, split: str, dataset: str) -> list[list[str]]:
    """Return the cells of the main table."""
    times = {file["method"]: file["metrics"]["joint_mean_ms"] for file in timed}
    ahead = {gap.method: _ahead(gap) for gap in neighbours(trained, split, dataset)}
    rows = []
    for name, files in of_split(trained, split, dataset).items():
        cells = [spread_of(files, column) for column in PAPER_COLUMNS] if files else ["not run"]
        row = [_title(name, files), str(len(files)) if files else "", *cells]
        if files:
            took = times.get(name, _answer_ms(files[0]))
            row += ["" if took is None else number(took), ahead.get(name, "")]
        rows.append(row)
        if name in OF_PAPER:
            rows += _reported(OF_PAPER[name], split, dataset)
    return rows


def _title(name: str, files: Files) -> str:
    """Return the row's name, with the language model that answered."""
    title = RECIPES[name].title
    models = dict.fromkeys(file["metrics"]["settings"].get("model") for file in files)
    named = [model for model in models if model]
    return f"{title} ({', '.join(named)})" if named else f"{title}{trained_in(files)}"


def _answer_ms(file: File) -> float | None:
    """Return the mean milliseconds of a language model's answer; None without a model."""
    answers = file["metrics"].get("answers")
    return None if answers is None else 1000 * _answer_s(answers)


def _answer_s(answers: Mapping[str, Any]) -> float:
    """Return the mean seconds of an answer when it was given; of several at a time its share."""
    return float(answers["seconds"]) / float(answers["questions"] * answers.get("slots", 1))


def _ahead(gap: Gap) -> str:
    """Return the difference, with the number of seeds where a row has more of them."""
    few = f", {gap.seeds} seed" if gap.seeds == 1 and not gap.whole else ""
    return f"{signed(gap.by)}{few}"


def answers_table(trained: Files) -> str:
    """Return a table of language models on IndustryTab-1K: prompts, short and failed answers.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
    """
    rows = []
    for name, files in of_split(trained, "standard").items():
        if RECIPES[name].llm is None:
            continue
        cells = [
            [
                *(
                    number(file["metrics"]["answers"][key])
                    for key in ("questions", "tokens_mean", "short", "failed", "retries")
                ),
                number(_answer_s(file["metrics"]["answers"])),
                number(file["metrics"]["answers"].get("slots", 1)),
            ]
            for file in files
        ]
        rows += [[_title(name, files), *each] for each in cells] or [[_title(name, []), "not run"]]
        if label := OF_PAPER.get(name):
            figures = (paper.prompt_tokens()[label], paper.short_answers().get(label))
            rows.append(["*paper, reported*", "179", *map(number, figures)])
    headings = ["", "questions", "tokens a prompt", "short", "failed", "retries"]
    return markdown([*headings, "s a question", "asked at a time"], rows)


def latency_table(timed: Files) -> str:
    """Return the milliseconds of each method on IndustryTab-1K, with the paper's below.

    Args:
        timed: Result files of `benchmarks.paper.cascade`.
    """
    found = {file["method"]: file["metrics"] for file in timed}
    parts, kinds = ("joint", "stage1", "stage2"), ("p50", "p95", "mean")
    columns = [f"{part}_{kind}" for part in parts for kind in kinds]
    rows = []
    for name, recipe in RECIPES.items():
        times = found.get(name)
        if times is None:
            rows.append([recipe.title, "not run"])
        else:
            cells = [times.get(f"{column}_ms") for column in columns]
            shown = ["" if cell is None else f"{cell:.2f}" for cell in cells]
            rows.append([recipe.title, str(times["calls"]), *shown])
        if name in OF_PAPER:
            rows.append(_reported_times(OF_PAPER[name]))
    headings = [column.replace("joint", "both").replace("stage", "Stage ") for column in columns]
    return markdown(["method", "calls", *(each.replace("_", ", ") for each in headings)], rows)


def _reported_times(method: str) -> list[str]:
    """Return the paper's mean times of a method: both stages, and each where it says so."""
    parts = {"joint_ms": paper.latency_ms(INDUSTRYTAB_1K)[method]}
    parts |= paper.stage_latencies().get(method, {})
    times = (parts.get(f"{part}_ms") for part in ("joint", "stage1", "stage2"))
    shown = ["" if value is None else f"{value:,.2f}" for value in times]
    return ["*paper, reported*", "", "", "", shown[0], "", "", shown[1], "", "", shown[2]]


def further(trained: Files, split: str) -> str:
    """Return the differences of rows that are no neighbours, as a table."""
    runs = of_split(trained, split)
    rows = [
        [RECIPES[first].title, RECIPES[second].title, signed(found)]
        for first, second in _FURTHER
        if (found := gap_of(runs[first], runs[second]))
    ]
    return markdown(["method", "against", "Δ NDCG@5 [95 % interval]"], rows)


def _reported(method: str, split: str, dataset: str) -> list[list[str]]:
    """Return the paper's row of a method; on the grouped split, that of the authors' later runs."""
    if dataset not in PUBLISHED or split == "legacy":
        return []
    if split == "grouped":
        value = paper.grouped().get(method)
        return [] if value is None else [["*authors, reported*", "3", number(value)]]
    found: Mapping[str, Reported] = paper.full_corpus(dataset).get(method, {})
    if not found:
        return []
    cells = [str(Spread(found[column].mean, found[column].sd)) for column in PAPER_COLUMNS]
    seeds = "1" if found["NDCG@5"].sd is None else "3"
    return [["*paper, reported*", seeds, *cells, number(float(paper.latency_ms(dataset)[method]))]]
