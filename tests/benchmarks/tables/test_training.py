from benchmarks.tables import training as train_tables
from sat_retriever.datasets.metrics.rows import metrics_of


def file(method, seed, ranks, split="standard", **metrics):
    """A result of queries 0, 1, …, each with one relevant sheet at a rank."""
    rows = [
        {"query": query, "relevant": 1, "hits": [rank], "hard": rank > 1}
        for query, rank in enumerate(ranks)
    ]
    report = {
        "key": f"{method}{seed}", "corpus": "industrytab 1k, standard", "device": "CPU",
        "best": 0.5, "best_epoch": 3, "steps": [4, 2],
        "train_s": 10.0 * (seed or 0), "prepare_s": 1.0, "epoch_s": 2.0,
        "cpu_s": 30.0, "peak_mib": 512, "accelerator_mib": None,
    }  # fmt: skip
    return {
        "method": method, "dataset": "industrytab_1k", "split": split, "seed": seed,
        "per_query": rows,
        "metrics": {
            **metrics_of(rows), "queries": len(rows), "settings": {},
            "steps": {"encoder": report, "graph": report} if seed else {}, **metrics,
        },
    }  # fmt: skip


def line(table, start):
    return next(row for row in table.splitlines() if row.startswith(f"| {start} |"))


def test_ours_and_the_papers_sensitivity_stand_side_by_side():
    table = train_tables.sensitivity_table([file("k_10", 42, [1, 20])])
    assert line(table, "K = 10").startswith("| K = 10 | .500 | .858 | .500 | .687 |")
    assert "| not run | .911 |" in line(table, "2 layers")
    assert "arctic" not in table


def test_sensitivity_of_another_encoder_has_rows_of_its_own():
    table = train_tables.sensitivity_table([file("mpnet_k_10", 42, [1, 20])])
    assert "| not run | .858 |" in line(table, "K = 10")
    assert line(table, "K = 10, all-mpnet-base-v2").split("|")[2:4] == [" .500 ", " .858 "]


def test_the_steps_of_each_epoch_and_seed_are_shown():
    files = [file("released_stops", seed, [1]) for seed in (42, 43)]
    row = line(train_tables.bug_table(files), "released recipe, as released")
    assert "| 2 | 4, 2; 4, 2 |" in row


def test_a_training_that_several_results_rest_on_is_counted_once():
    files = [file("stage1", 2, [1]), file("stage1", 4, [1]), file("stage1", 4, [1])]
    (row,) = [r for r in train_tables.cost_table(files).splitlines() if "| encoder |" in r]
    assert "| CPU | 2 | 20.0 | 30.0 | 2.000 | 1.000 | 512 | – |" in row
