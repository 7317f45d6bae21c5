"""Result tables of the README, rendered from the committed result files.

python -m benchmarks tables            write them between the README's markers
python -m benchmarks tables --check    fail if they are stale, or a metric does not
                                       follow from its stored per-query rows
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.link_tables import links_table
from benchmarks.markdown import markdown, number
from benchmarks.results import ROOT, read_results
from benchmarks.sections import SECTIONS, Section
from benchmarks.synth_tables import stats_table
from benchmarks.train_parts import training_parts, wrong_metrics
from sat_retriever.metrics import mean, ndcg, paired_bootstrap

START, END = "<!-- results:start -->", "<!-- results:end -->"
PAPER = Path(__file__).resolve().parent / "paper.json"
File = Mapping[str, Any]

_QUALITY_COLUMNS = {
    "NDCG@5": "NDCG@5",
    "NDCG@10": "NDCG@10",
    "Recall@1": "R@1",
    "Recall@5": "R@5",
    "Recall@10": "R@10",
    "Recall@50": "R@50",
    "AllRelevant@10": "all@10",
    "MRR": "MRR",
}
_CORPORA = {
    ("industrytab_1k", "standard"): "IndustryTab-1K, standard test",
    ("industrytab_1k", "all"): "IndustryTab-1K, all queries",
    ("spider_dev", "all"): "Spider dev",
    ("bird_dev", "all"): "BIRD dev, question only",
    ("bird_dev_evidence", "all"): "BIRD dev, question + evidence",
    ("eps", "all"): "EPS, real workbooks",
}


def quality_table(files: Sequence[File]) -> str:
    """Untrained retrieval on the open corpora, with the paper's figures beside it."""
    if not files:
        return _not_run("quality")
    headings = ["corpus", "queries", "method", *_QUALITY_COLUMNS.values(), "Δ NDCG@10 to BM25"]
    rows = []
    for (dataset, split), title in _CORPORA.items():
        found = [f for f in files if (f["dataset"], f["split"]) == (dataset, split)]
        if not found:
            rows.append([title, "not run"])
        baseline = next((f for f in found if f["method"] == "bm25"), None)
        for file in found:
            numbers = [number(file["metrics"][column]) for column in _QUALITY_COLUMNS]
            size = str(file["metrics"]["queries"])
            rows.append([title, size, file["method"], *numbers, lead(file, baseline)])
        if split == "standard":
            rows += _paper_rows(title, dataset)
    return markdown(headings, rows)


def _paper_rows(title: str, dataset: str) -> list[list[str]]:
    """The paper's figures on the same test split."""
    reported = json.loads(PAPER.read_text(encoding="utf-8"))
    return [
        [title, "", f"*paper: {method}*", number(value)]
        for method, value in reported[dataset].items()
    ]


def lead(file: File, baseline: File | None) -> str:
    """Mean difference in NDCG@10 to the baseline with its 95 % bootstrap interval."""
    if baseline is None or file is baseline:
        return ""
    ours, theirs = (_ndcg_rows(one["per_query"]) for one in (file, baseline))
    gap = paired_bootstrap(list(ours.values()), [theirs[query] for query in ours])
    return f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"


def _ndcg_rows(rows: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """NDCG@10 by query, computed anew from the ranks of the positives."""
    return {row["query"]: ndcg_of_hits(row["hits"], row["relevant"], 10) for row in rows}


def ndcg_of_hits(hits: Sequence[int], relevant: int, k: int) -> float:
    """NDCG@k from the ranks (from 1) of the positives that were ranked.

    >>> ndcg_of_hits([1, 3], 2, 5) == ndcg(["a", "x", "b"], ["a", "b"], 5)
    True
    """
    ranking = [f"x{rank}" for rank in range(1, k + 1)]
    for rank in hits:
        if rank <= k:
            ranking[rank - 1] = f"p{rank}"
    return ndcg(
        ranking, [f"p{rank}" for rank in (*hits, *range(-1, -relevant - 1, -1))][:relevant], k
    )


def unsupported(file: File) -> list[str]:
    """Stored metrics of a quality file that do not follow from its own rows."""
    rows = file["per_query"]
    expected = {
        "NDCG@5": mean([ndcg_of_hits(row["hits"], row["relevant"], 5) for row in rows]),
        "NDCG@10": mean([ndcg_of_hits(row["hits"], row["relevant"], 10) for row in rows]),
        "MRR": mean([1 / min(row["hits"]) if row["hits"] else 0.0 for row in rows]),
        "AllRelevant@10": mean(
            [float(sum(rank <= 10 for rank in row["hits"]) == row["relevant"]) for row in rows]
        ),
    }
    for k in (1, 5, 10, 50):
        shares = [sum(rank <= k for rank in row["hits"]) / row["relevant"] for row in rows]
        expected[f"Recall@{k}"] = mean(shares)
    where = f"{file['method']}.{file['dataset']}.{file['split']}"
    return [
        f"{where}: {name} is {file['metrics'][name]}, its rows give {value}"
        for name, value in expected.items()
        if abs(file["metrics"][name] - value) > 1e-9
    ]


def plain_table(section: Section) -> str:
    """A section's result files as rows; files and columns without a number are left out."""
    files = shown_files(section)
    if not files:
        return _not_run(section.benchmark)
    headings = ["data", "method"]
    rows = [[_data(file), file["method"]] for file in files]
    for key, heading in section.columns.items():
        values = [file["metrics"].get(key) for file in files]
        if all(value is None for value in values):
            continue
        headings.append(heading)
        fractions = any(isinstance(value, float) for value in values)
        for row, value in zip(rows, values, strict=True):
            row.append(number(float(value) if fractions and type(value) is int else value))
    return markdown(headings, rows)


def shown_files(section: Section) -> list[File]:
    """Result files of a section's benchmark that hold any of its numbers."""
    found = read_results(section.benchmark)
    held = [file for file in found if set(section.columns) & set(file["metrics"])]
    return sorted(held, key=lambda file: _natural(f"{file['dataset']} {file['split']}"))


def _natural(text: str) -> list[str]:
    """Sort key by which 30,000 comes before 100,000.

    >>> sorted(["a_100", "a_30"], key=_natural)
    ['a_30', 'a_100']
    """
    return [part.zfill(12) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def _data(file: File) -> str:
    """Data set and, if it is but a part, the split."""
    split = "" if file["split"] == "all" else f", {file['split']}"
    return f"{file['dataset']}{split}".replace("_", " ")


def measured_on(files: Sequence[File]) -> str:
    """Commits and machines behind some results, in one sentence."""
    commits = dict.fromkeys(
        f"`{(file['provenance']['commit'] or 'unknown')[:7]}`"
        + (" with changes" if file["provenance"]["dirty"] else "")
        for file in files
    )
    machines = dict.fromkeys(
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
        for machine in (file["provenance"]["hardware"] for file in files)
    )
    return f"Measured at {', '.join(commits)} on {'; '.join(machines)}."


def _not_run(benchmark: str) -> str:
    return f"*not run: `python -m benchmarks run {benchmark}`*"


def render() -> str:
    """Everything between the README's markers."""
    quality, links = read_results("quality"), read_results("links")
    parts = [
        "### Quality without training",
        "`python -m benchmarks run quality`. No test set was used for a choice; every choice "
        "was made on the validation parts (`python -m benchmarks run fusion`)."
        + (f" {measured_on(quality)}" if quality else ""),
        quality_table(quality),
        "### What links buy without training",
        "`python -m benchmarks run links_quality`. Chosen on the validation parts "
        "(`--validation`), scored here once. BIRD's declared keys take its own dev_tables.json "
        "(`--bird-tables FILE`)." + (f" {measured_on(links)}" if links else ""),
        links_table(links, _CORPORA) if links else _not_run("links_quality"),
    ]
    stats = read_results("synth_stats")
    parts += [
        "### Made corpora beside the published ones",
        "`python -m benchmarks run synth_stats`." + (f" {measured_on(stats)}" if stats else ""),
        stats_table(stats) if stats else _not_run("synth_stats"),
    ]
    reported = json.loads(PAPER.read_text(encoding="utf-8"))
    for part in training_parts(reported):
        where = f" {measured_on(part.files)}" if part.files else ""
        parts += [f"### {part.title}", f"{part.text}{where}", part.table]
    for section in SECTIONS:
        command = f"`python -m benchmarks run {section.benchmark}`"
        files = shown_files(section)
        where = f" {measured_on(files)}" if files else ""
        parts += [f"### {section.title}", f"{command}.{where}", plain_table(section)]
    return "\n\n".join(parts)


def inserted(readme: str, tables: str) -> str:
    r"""The README's text with the tables between its markers.

    Raises:
        ValueError: If a marker is missing.

    >>> inserted(f"a {START} old {END} b", "new") == f"a {START}\n\nnew\n\n{END} b"
    True
    """
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise ValueError(f"the README lacks the markers {START} and {END}")
    return f"{before}{START}\n\n{tables}\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if the README is written or fresh, 1 if it is stale or a number is unsupported."""
    parser = argparse.ArgumentParser(description="Result tables of the README")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options = parser.parse_args(arguments)
    ranked = (*read_results("quality"), *read_results("links"))
    wrong = [line for file in ranked for line in unsupported(file)] + wrong_metrics()
    for line in wrong:
        print(line, file=sys.stderr)
    readme = options.readme.read_text(encoding="utf-8")
    fresh = inserted(readme, render())
    if options.check:
        if fresh != readme:
            print("README tables are stale; run: python -m benchmarks tables", file=sys.stderr)
        return int(fresh != readme or bool(wrong))
    options.readme.write_text(fresh, encoding="utf-8")
    return int(bool(wrong))
