from benchmarks.tables.adapted import (
    adapted_rows,
    adapted_tables,
    cost_rows,
    summary_table,
    what_was_chosen_with,
)
from sat_retriever.datasets.metrics.rows import metrics_of


def file(method, ranks, *, split="all", seed=None, title=None, dataset="eps"):
    """A result of queries 0, 1, …, each with one relevant sheet at a rank."""
    rows = [
        {"query": query, "relevant": 1, "hits": [rank], "hard": None}
        for query, rank in enumerate(ranks)
    ]
    told = {}
    if seed is not None:
        told = {
            "mode": "inductive" if "inductive" in method else "transductive",
            "start": "minilm",
            "adaptation": {
                "seconds": 100.0 + seed, "memory_mib": 900.0, "encoder_kept": seed == 42,
                "reranker_kept": False, "counts": {"sheets": 30, "train": 80},
            },
        }  # fmt: skip
    return {
        "method": method, "dataset": dataset, "split": split, "seed": seed, "per_query": rows,
        "metrics": {**metrics_of(rows), "title": title or method, **told},
    }  # fmt: skip


def row(rows, title):
    return next(cells for cells in rows if cells[0] == title)


def test_an_adapted_stage_stands_beside_the_last_that_was_not_adapted():
    files = [
        file("fused", [2, 2]),
        file("links", [1, 2]),
        *(file("stage1_transductive_minilm", [1, 1], seed=seed) for seed in (42, 43)),
        *(file("cascade_transductive_minilm", [1, 2], seed=seed) for seed in (42, 43)),
    ]
    rows = adapted_rows(files, "all")
    assert row(rows, "links")[1] == "–"
    assert row(rows, "stage1_transductive_minilm")[1] == "2"
    assert row(rows, "stage1_transductive_minilm")[2] == "1.000 ± .000"
    assert row(rows, "stage1_transductive_minilm")[-1].startswith("+0.185 [")
    assert row(rows, "cascade_transductive_minilm")[-1].startswith("-0.185 [")
    assert row(rows, "general encoder + words")[1] == "not run"


def test_the_general_model_that_knows_less_is_last_and_beside_the_one_that_knows_more():
    files = [
        file("general", [1, 1]),
        file("general_reranker", [1, 2]),
        file("general_apart", [2, 2]),
        file("general_apart_reranker", [1, 2]),
        file("stage1_transductive_minilm", [1, 1], seed=42),
    ]
    rows = adapted_rows(files, "all")
    titles = [cells[0] for cells in rows]
    assert titles[-2:] == ["general_apart", "general_apart_reranker"]
    assert rows[-2][1] == "–"
    assert rows[-2][-1].startswith("-0.369 [")
    assert rows[-1][-1].startswith("+0.000 [")
    assert "general_apart" not in str(adapted_rows(files[:2], "all"))


def test_on_unseen_families_a_seed_is_only_scored_on_its_own_test_set():
    files = [
        file("links", [1], split="grouped_42"),
        file("links", [2], split="grouped_43"),
        file("stage1_transductive_minilm", [1], split="grouped_42", seed=42),
        file("stage1_transductive_minilm", [50], split="grouped_43", seed=42),
        file("stage1_transductive_minilm", [1], split="grouped_43", seed=43),
        file("stage1_inductive_minilm", [2], split="grouped_42", seed=42),
    ]
    rows = adapted_rows(files, "grouped")
    assert row(rows, "stage1_transductive_minilm")[2] == "1.000 ± .000"
    assert [cells[0] for cells in rows][-2:] == [
        "stage1_transductive_minilm",
        "stage1_inductive_minilm",
    ]
    assert row(rows, "stage1_inductive_minilm")[-1].startswith("-0.369 [")


def test_the_papers_row_is_shown_only_for_its_own_corpus():
    ours = adapted_tables([file("bm25", [1], split="standard", dataset="industrytab_1k")])
    assert "| *paper: SAT, with labels* | 3 | .922" in ours
    assert "paper" not in adapted_tables([file("bm25", [1])])


def test_the_summary_has_a_row_a_system_and_leaves_what_was_not_asked_empty():
    files = [
        file("stage1_inductive_minilm", [1], split="grouped_42", seed=42, dataset="industrytab_1k"),
        file("stage1_transductive_minilm", [1, 2], seed=42, dataset="industrytab_1k"),
        file("stage1_transductive_minilm", [1, 1], seed=43, dataset="industrytab_1k"),
        file("stage1_transductive_minilm", [1], seed=42, dataset="eps"),
        file("bm25", [2, 2]),
        file("bm25", [1, 50], dataset="spider_dev"),
    ]
    rows = [line.split("|")[1:-1] for line in summary_table(files).splitlines()[4:]]
    assert [cells[0].strip() for cells in rows] == [
        "bm25", "stage1_transductive_minilm", "stage1_inductive_minilm",
    ]  # fmt: skip
    assert [cell.strip() for cell in rows[0][1:]] == [*[""] * 5, ".500", ".500", "", "", ".631"]
    assert rows[1][1].strip() == ".908 ± .130"
    assert rows[1][10].strip() == "1.000 (1 of 2 seeds)"
    assert rows[2][3].strip() == "1.000"


def test_without_results_the_command_is_said():
    assert adapted_tables([]) == "*not run: `python -m benchmarks run adapted`*"


def test_an_adaptation_that_several_results_rest_on_is_counted_once():
    files = [
        file(name, [1], seed=seed, split=split)
        for name in ("stage1_transductive_minilm", "cascade_transductive_minilm")
        for seed in (42, 44)
        for split in ("all", "grouped_42")
    ]
    (line,) = cost_rows(files).splitlines()[2:]
    assert line == "| eps | transductive | minilm | 2 | 30 | 80 | 143 | 900 | 1 of 2 | 0 of 2 |"


def test_the_clean_column_is_marked_and_the_others_are_said_to_hold_chosen_questions():
    def asked(split, places):
        made = file("fused", [1] * len(places), split=split, dataset="industrytab_1k")
        for row, place in zip(made["per_query"], places, strict=True):
            row["query"] = place
        return made

    files = [
        asked("standard", [0, 1]),
        asked("grouped_42", range(1, 11)),  # nine of ten are in no standard test
        asked("grouped_43", [0, 5, 6, 7, 8]),
    ]
    said = what_was_chosen_with(files)
    assert "only the standard test is clean" in said
    assert "and 80 to 90 % of the questions of each test of *unseen families*" in said
    _, headings = summary_table(files).split("\n\n")
    headings = headings.splitlines()[0]
    assert "| 1K, all questions | 1K, standard test (clean) | 1K, unseen families |" in headings
    assert headings.count("clean") == 1
