"""The tables of trained models, from the result files of the benchmarks of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpora import used
from benchmarks.paper import paper
from benchmarks.paper.bug import ROWS as BUG_ROWS
from benchmarks.paper.sensitivity import ROWS
from benchmarks.paper.spider import SYSTEMS as SPIDER_ROWS
from benchmarks.tables.breakdown import PAPER_COLUMNS, gap_of, spread_of, trained_in
from benchmarks.tables.markdown import markdown, number, signed
from benchmarks.training.encoders import ENCODERS
from benchmarks.training.methods import of_encoder
from sat_retriever.encoder.source import MINILM

File = Mapping[str, Any]
Files = Sequence[File]

_COLUMNS = {**PAPER_COLUMNS, "CandidateRecall@50": "candidates: R@50"}


def sensitivity_table(files: Files) -> str:
    """Return every row of the paper's sensitivity table, with the paper's figures behind ours.

    The rows of MiniLM come first, then those of each other base encoder that was measured.
    """
    grid = paper.sensitivity()
    columns = tuple(grid["reference"])
    headings = ["setting"]
    for column in columns:
        headings += [_COLUMNS[column], "paper"]
    headings += ["validation NDCG@5", "best epoch"]
    found = {file["method"]: file for file in files}
    rows = []
    for encoder in ENCODERS:
        recipes = of_encoder(ROWS, encoder)
        if encoder != MINILM and not found.keys() & recipes.keys():
            continue
        for name, (method, recipe) in zip(ROWS, recipes.items(), strict=True):
            file = found.get(method)
            row = [recipe.title]
            for column, value in grid[name].items():
                row += [number(file["metrics"][column]) if file else "not run", number(value)]
            if file:
                graph = file["metrics"]["steps"]["graph"]
                row += [number(graph["best"]), str(graph["best_epoch"])]
            rows.append(row)
    return markdown(headings, rows)


def bug_table(files: Files) -> str:
    """Return Stage 1 as released, with the error that ends its epochs and without, step by step."""
    headings = ["Stage 1", "seeds", "steps an epoch", *_COLUMNS.values()]
    headings.append("Δ NDCG@5 to the row above")
    rows: list[list[str]] = []
    above: list[File] = []
    for name, method in BUG_ROWS.items():
        found = _of(files, name, "standard")
        row = [method.title, *_cells(found, tuple(_COLUMNS))]
        if found:
            row.insert(2, "; ".join(_steps(file) for file in found))  # a seed each
            row.append(_gap(found, above))
        rows.append(row)
        above = found
    return markdown(headings, rows)


def _steps(file: File) -> str:
    return ", ".join(str(count) for count in file["metrics"]["steps"]["encoder"]["steps"])


def spider_table(files: Files) -> str:
    """Return every system on questions over databases that training has not seen."""
    columns = {"NDCG@10": "NDCG@10", "Recall@10": "R@10", "AllRelevant@10": "all@10"}
    headings = ["corpus", "ranking", "seeds", *columns.values()]
    headings += ["Δ NDCG@10 to the link reranker, untrained", "to it over the trained Stage 1"]
    rows = []
    for corpus in used("transfer").values():
        here = [file for file in files if file["dataset"] == corpus.dataset]
        for name, recipe in SPIDER_ROWS.items():
            found = _of(here, name, "all")
            row = [
                corpus.title,
                f"{recipe.title}{trained_in(found)}",
                *_cells(found, tuple(columns)),
            ]
            for rival in ("fused_walk", "walk"):
                against = f"{rival}_{recipe.links}" if name.startswith("graph") else ""
                row.append(_gap(found, _of(here, against, "all"), "NDCG@10"))
            rows.append(row)
    return markdown(headings, rows)


def cost_table(files: Files) -> str:
    """Return a table of each training's least cost; on a busy machine it takes longer.

    A recipe is named with its base encoder, but for MiniLM.
    """
    found: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    transfer = {corpus.dataset for corpus in used("transfer").values()}
    for file in files:
        own = file["method"].startswith("ours") or file["dataset"] in transfer
        base = file["metrics"]["settings"].get("encoder", {}).get("backbone", MINILM)
        recipe = "ours" if own else "paper's"
        recipe += "" if base == MINILM else f", {ENCODERS[base]}"
        for name, report in file["metrics"]["steps"].items():
            training = name.replace("_", " ")
            where: tuple[str, ...] = (report["corpus"], recipe, training, report["device"])
            found.setdefault(where, {})[report["key"]] = report
    if not found:
        return "*not run*"
    headings = ["corpus", "recipe", "training", "on", "runs", *_COSTS.values()]
    rows = []
    for where, reports in found.items():
        row = [*where, str(len(reports))]
        for key in _COSTS:
            values = [one[key] for one in reports.values() if one.get(key) is not None]
            row.append(number(min(values)) if values else "–")
        rows.append(row)
    return markdown(headings, rows)


_COSTS = {
    "train_s": "training, s",
    "cpu_s": "in all, CPU s",
    "epoch_s": "an epoch, s",
    "prepare_s": "index and candidates, s",
    "peak_mib": "peak memory, MiB",
    "accelerator_mib": "of the GPU, MiB",
}


# ---- inner workings


def _of(files: Files, method: str, split: str) -> list[File]:
    return [one for one in files if (one["method"], one["split"]) == (method, split)]


def _cells(files: Files, columns: Sequence[str]) -> list[str]:
    """Return the number of seeds, then mean ± sd of each metric; "not run" without files."""
    if not files:
        return ["not run"]
    return [str(len(files)), *(spread_of(files, column) for column in columns)]


def _gap(first: Files, second: Files, metric: str = "NDCG@5") -> str:
    """Return the difference in a metric with its interval; empty where one side was not run."""
    found = gap_of(first, second, metric)
    return "" if found is None else signed(found)
