from benchmarks.tables.leads import leads_table


def file(method, dataset, hits, split="all", seed=None):
    rows = [{"query": n, "relevant": 1, "hits": [hit], "hard": None} for n, hit in enumerate(hits)]
    metrics = {"NDCG@10": 1.0}
    return {
        "method": method, "dataset": dataset, "split": split, "seed": seed,
        "metrics": metrics, "per_query": rows,
    }  # fmt: skip


def test_a_search_stands_beside_each_baseline_of_the_same_questions():
    by_names = [
        file("general_reranker", "spider_dev", [1, 1]),
        file("bm25", "spider_dev", [2, 2]),
        file("general", "spider_dev", [1, 1, 1]),  # other questions
        file("links", "spider_dev", [2, 2], split="grouped_42"),
        file("bm25", "eps", [1]),  # not beside a search
    ]
    by_contents = [
        file("all_reranked", "fetaqa_dev_untitled", [1, 2]),
        file("all", "fetaqa_dev_untitled", [1, 1]),
        file("all_reranked", "fetaqa_dev", [1, 1]),  # with titles
    ]
    *_, spider, fetaqa = leads_table(by_names, by_contents).splitlines()
    assert spider == ("| Spider dev, by names | 2 | 1.000 | +0.369 [+0.369, +0.369] | – | – | – |")
    assert fetaqa.startswith("| FeTaQA dev, by contents | 2 | 1.000 | – | – | – | -0.185 [-0.369,")


def test_without_results_the_command_is_named():
    assert "run general_tests" in leads_table([], [])
