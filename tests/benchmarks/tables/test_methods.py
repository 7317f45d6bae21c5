"""What the tables of methods say follows from the recipes that are run."""

from __future__ import annotations

import pytest

from benchmarks.paper import paper
from benchmarks.tables import methods as method_tables
from benchmarks.training.methods import RECIPES
from sat_retriever.encoder.source import MINILM


def row(table, title):
    line = next(line for line in table.splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("BM25", ["words only", "–", "–", "full corpus → 5", "–"]),
        ("LLM-only", ["–", "language model", "–", "all sheet names → 5", "LLM-only"]),
        ("RAG + LLM", ["zero-shot", "language model", "–", "full corpus → 50 → 5", "RAG + LLM"]),
        ("+ GNN (SAT)",
         ["trained", "base scorer and gated GNN", "yes", "full corpus → 50 → 5", "SAT"]),
        ("+ link reranker, untrained",
         ["zero-shot", "link reranker, untrained", "yes", "full corpus → 50 → 5", "–"]),
        ("Stage 1 + Cross-Encoder",
         ["trained", "Cross-Encoder", "–", "full corpus → 50 → 5", "Cross-Encoder"]),
    ],
)  # fmt: skip
def test_a_method_is_told_apart_by_its_recipe(title, expected):
    assert row(method_tables.compared_table(), title) == expected


def test_every_method_is_compared_and_each_of_the_papers_has_one():
    table = method_tables.compared_table()
    assert len(table.splitlines()) == 2 + sum(one.base == MINILM for one in RECIPES.values())
    assert {line.split("|")[-2].strip() for line in table.splitlines()[2:]} - {"–"} == set(
        paper.compared().rows
    )


def test_settings_stand_unrounded_beside_the_papers():
    table = method_tables.training_table()
    rate = ["0.0002", "0.0002", "0.0002", "0.0002", "0.0005", "0.0005", "0.0002", "0.0002"]
    assert row(table, "learning rate") == rate
    assert row(table, "epochs") == ["3", "3", "20", "20", "20", "20", "3", "3"]
    assert row(table, "gate at first, IndustryTab-1K")[4:6] == ["-4", "-4"]
    assert row(table, "precision")[:2] == ["bf16", "FP16 autocast"]


def test_every_reported_setting_has_its_place():
    assert list(method_tables._FIELDS) == list(paper.training().rows)
