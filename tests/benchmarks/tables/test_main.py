from benchmarks.tables.main import answers_table, further, latency_table, main_table
from benchmarks.training.methods import RECIPES
from sat_retriever.datasets.metrics.rows import metrics_of


def file(method, seed, ranks, split="standard"):
    """A result of questions 0, 1, …, each with one relevant sheet at a rank."""
    rows = [
        {"query": n, "relevant": 1, "hits": [rank], "hard": rank > 1}
        for n, rank in enumerate(ranks)
    ]
    return {
        "method": method, "dataset": "industrytab_1k", "split": split, "seed": seed,
        "per_query": rows, "metrics": {**metrics_of(rows), "settings": {}},
    }  # fmt: skip


def cells(table, title):
    (row,) = (line for line in table.splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def below(table, title):
    lines = table.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in lines[place + 1].split("|")[1:-1]]


def test_means_and_deviations_are_over_seeds_with_the_papers_figures_below():
    files = [file("graph", 42, [1, 1]), file("graph", 43, [1, 20])]
    title = RECIPES["graph"].title
    table = main_table(files, [{"method": "graph", "metrics": {"joint_mean_ms": 8.25}}], "standard")
    assert cells(table, title)[:3] == ["2", ".750 ± .354", ".750 ± .354"]
    assert cells(table, title)[6] == "8.250"
    reported = below(table, title)
    assert reported[:4] == ["*paper, reported*", "3", ".922 ± .006", ".759 ± .005"]
    assert reported[7] == "9.240"


def test_what_was_not_run_is_said_with_what_was_reported():
    table = main_table([], [], "standard")
    assert cells(table, RECIPES["llm_only"].title)[1] == "not run"
    assert below(table, RECIPES["llm_only"].title)[2] == ".525"
    assert cells(table, RECIPES["bm25"].title)[1] == "not run"


def test_a_row_is_compared_with_the_row_above_that_was_run():
    files = [file("bm25", None, [1, 2]), file("dense", None, [20, 20]), file("ours", 42, [1, 1])]
    table = main_table(files, [], "standard")
    assert cells(table, RECIPES["bm25"].title)[7] == ""
    assert cells(table, RECIPES["dense"].title)[7].startswith("-0.815 [")
    assert cells(table, RECIPES["ours"].title)[7].startswith("+1.000 [")
    (row,) = (line for line in further(files, "standard").splitlines() if "BM25" in line)
    assert row.startswith(f"| {RECIPES['ours'].title} | BM25 | +0.185 [")


def test_a_difference_over_fewer_seeds_than_the_rows_have_says_so():
    files = [file("graph", 42, [1]), file("graph", 43, [1]), file("cross", 42, [20])]
    table = main_table(files, [], "standard")
    assert cells(table, RECIPES["cross"].title)[7].endswith(", 1 seed")


def test_a_language_models_row_has_its_name_its_time_and_its_answers():
    found = file("rag_llm", None, [1, 2])
    told = {"questions": 2, "tokens_mean": 2836.5, "short": 1, "failed": 0, "retries": 3}
    told |= {"seconds": 20.0, "slots": 4}
    found["metrics"] |= {"settings": {"model": "small:1b"}, "answers": told}
    title = f"{RECIPES['rag_llm'].title} (small:1b)"
    assert cells(main_table([found], [], "standard"), title)[6] == "2,500.0"
    table = answers_table([found])
    assert cells(table, title) == ["2", "2,836.5", "1", "0", "3", "2.500", "4"]
    assert below(table, title)[1:4] == ["179", "2,830", "4"]
    assert cells(table, RECIPES["llm_only"].title)[0] == "not run"


def test_unseen_families_stand_beside_the_authors_later_runs():
    table = main_table([file("dense", 42, [1], "grouped")], [], "grouped")
    assert below(table, RECIPES["dense"].title)[:3] == ["*authors, reported*", "3", ".640"]
    assert "*paper, reported*" not in table


def test_times_of_each_stage_stand_above_the_papers():
    times = {f"{part}_{name}_ms": 4.0 for part in ("joint", "stage1") for name in ("p50", "p95")}
    timed = [{"method": "graph", "metrics": {"calls": 537, **times, "stage2_mean_ms": 2.5}}]
    table = latency_table(timed)
    ours = cells(table, RECIPES["graph"].title)
    assert ours == ["537", "4.00", "4.00", "", "4.00", "4.00", "", "", "", "2.50"]
    reported = below(table, RECIPES["graph"].title)
    assert [cell for cell in reported if cell] == ["*paper, reported*", "9.24", "6.41", "2.82"]
    assert cells(table, RECIPES["bm25"].title)[0] == "not run"


def trained(method, seed, **epochs):
    made = file(method, seed, [1, 1])
    steps = {name: {"best_epoch": best} for name, best in {"encoder": 3, **epochs}.items()}
    made["metrics"]["steps"] = steps
    return made


def test_a_row_says_in_how_many_seeds_its_last_training_was_kept():
    files = [
        trained("base", 42, base=8),
        trained("base", 43, base=1),
        trained("graph", 42, base=8, graph=0),
        trained("graph", 43, base=0, graph=5),
        trained("ours_base", 42, base=0),
        file("bm25", None, [1, 2]),
    ]
    table = main_table(files, [], "standard")
    assert cells(table, "+ base scorer")[0] == "2"
    assert cells(table, "+ GNN (SAT) (a trained graph in 1 of 2 seeds)")[0] == "2"
    assert cells(table, "+ base scorer (a trained base scorer in none of 1 seed)")[0] == "1"
    assert cells(table, "BM25")[0] == "1"
