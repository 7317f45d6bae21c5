"""What is shown of trained models: titles, commands and tables, in order."""

from __future__ import annotations

from benchmarks.results import read_results
from benchmarks.tables.part import Part
from benchmarks.tables.training import (
    bug_table,
    cost_table,
    sensitivity_table,
    spider_table,
)

BENCHMARKS = ("trained", "train_bug", "train_sensitivity", "train_spider")


def training_parts() -> list[Part]:
    """Everything that is shown of trained models, in order."""
    trained, bug, sensitivity, spider = map(read_results, BENCHMARKS)
    return [
        Part(
            "The fixed error of the released training",
            "`python -m benchmarks run bug`. IndustryTab-1K, standard test. Stage 1 alone, "
            "MiniLM; a released epoch ends at a question without a hard negative.",
            bug_table(bug),
            bug,
        ),
        Part(
            "Sensitivity of the paper's graph",
            "`python -m benchmarks run sensitivity`. IndustryTab-1K, standard test, seed 42; "
            "MiniLM here, BGE in the paper.",
            sensitivity_table(sensitivity),
            sensitivity,
        ),
        Part(
            "Trained on Spider, asked on unseen databases",
            "`python -m benchmarks run spider`. Trained on Spider's training questions, also "
            "with synonyms; neither dev nor BIRD was touched before.",
            spider_table(spider),
            spider,
        ),
        Part(
            "What training takes",
            "The least of several runs, since the machine was shared; every step in a process of "
            "its own. CPU seconds are those of all threads, with reading data and export.",
            cost_table([*trained, *spider]),
        ),
    ]
