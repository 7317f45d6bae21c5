"""The tables of models that learnt without labels, from their result files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.paper import paper
from benchmarks.tables.breakdown import DATASET, PAPER_COLUMNS, Spread, gap_of
from benchmarks.tables.markdown import markdown, not_run, number, signed

File = Mapping[str, Any]
Files = Sequence[File]

COLUMNS = {**PAPER_COLUMNS, "NDCG@10": "NDCG@10", "AllRelevant@10": "all@10"}
HEADINGS = ("ranking", "seeds", *COLUMNS.values(), "Δ NDCG@5 to the row before")
SPLITS = {
    "all": "all questions",
    "standard": "standard test",
    "grouped": "unseen families, three test sets",
}
CORPORA = {
    DATASET: "IndustryTab-1K",
    "made_templates": "made workbooks of templates, unseen naming conventions",
    "made_domains": "made workbooks of other subjects, unseen naming conventions",
    "eps": "EPS",
    "spider_dev": "Spider dev, links found by headers",
    "bird_dev": "BIRD dev, question only, links found by headers",
    "bird_dev_evidence": "BIRD dev, question + evidence, links found by headers",
}
# Columns of the summary: corpus, part, metric, heading.
SUMMARY = (
    (DATASET, "all", "NDCG@5", "1K, all questions"),
    (DATASET, "standard", "NDCG@5", "1K, standard test"),
    (DATASET, "grouped", "NDCG@5", "1K, unseen families"),
    ("made_templates", "all", "NDCG@5", "templates"),
    ("made_domains", "all", "NDCG@5", "other subjects"),
    ("eps", "all", "NDCG@5", "EPS"),
    ("spider_dev", "all", "NDCG@10", "Spider dev, NDCG@10"),
    ("spider_dev", "all", "AllRelevant@10", "Spider dev, all@10"),
    ("bird_dev", "all", "NDCG@10", "BIRD dev, NDCG@10"),
    ("bird_dev", "all", "AllRelevant@10", "BIRD dev, all@10"),
)
_PLAIN = ("dense", "bm25", "fused", "times", "links", "general", "general_reranker")
# Shown last where there is one: the general model that has not seen the paper's categories and
# names, beside the one that has.
_APART = {"general_apart": "general", "general_apart_reranker": "general_reranker"}
_STAGES = ("stage1", "cascade")


def adapted_tables(files: Files) -> str:
    """A table a corpus and part, in order; what was not run is said."""
    if not files:
        return not_run("adapted")
    tables = []
    for dataset, title in CORPORA.items():
        here = [file for file in files if file["dataset"] == dataset]
        for split, part in SPLITS.items():
            rows = adapted_rows(here, split)
            if rows:
                tables.append(f"**{title}, {part}**\n\n{markdown(HEADINGS, rows)}")
    return "\n\n".join(tables)


def summary_table(files: Files) -> str:
    """A row a system and a column a test set: NDCG@5 where the heading names no other metric.

    Where a column rests on fewer seeds than another of the row, their number is said.
    """
    if not files:
        return not_run("adapted")
    parts = {
        (dataset, split): _systems([file for file in files if file["dataset"] == dataset], split)
        for dataset, split, *_ in SUMMARY
    }
    titles: dict[str, str] = {}
    for found in parts.values():
        for name, own in found.items():
            titles.setdefault(name, str(own[0]["metrics"]["title"]))
    rows = []
    for name in (each for each in (*_PLAIN, *_adapted(titles), *_APART) if each in titles):
        asked = [parts[dataset, split].get(name, ()) for dataset, split, *_ in SUMMARY]
        most = max(map(len, asked)) if name not in (*_PLAIN, *_APART) else 1
        shown = zip(asked, (metric for _, _, metric, _ in SUMMARY), strict=True)
        rows.append([titles[name], *(_summed(each, metric, most) for each, metric in shown)])
    return markdown(["ranking", *(heading for *_, heading in SUMMARY)], rows)


def adapted_rows(files: Files, split: str) -> list[list[str]]:
    """The cells of one corpus and part: a row a system, each beside the one before.

    What is adapted is beside what is not, whatever mode stands above it; the general model that
    has not seen the paper's names is last, beside the one that has. On unseen families the
    seed of an adaptation is that of its test set, as in the paper; what has no seed answers all.

    Args:
        files: Result files of one corpus.
        split: "all", "standard" or "grouped".
    """
    found = _systems(files, split)
    rows: list[list[str]] = []
    last_plain: Files = ()
    for name in (*_PLAIN, *_adapted(found), *_APART):
        own = found.get(name, ())
        if not own:
            if name in _PLAIN and found:
                rows.append([_UNMADE.get(name, name), "not run"])
            continue
        before = last_plain
        if name.startswith(_STAGES[1]):
            before = found.get(name.replace(_STAGES[1], _STAGES[0], 1), last_plain)
        elif name in _APART:
            before = found.get(_APART[name], ())
        gap = gap_of(own, before) if before else None
        seeds = 0 if name in (*_PLAIN, *_APART) else len({file["seed"] for file in own})
        cells = [_cell(own, column) for column in COLUMNS]
        title = str(own[0]["metrics"]["title"])
        rows.append([title, str(seeds) if seeds else "–", *cells, signed(gap) if gap else ""])
        if name in _PLAIN:
            last_plain = own
    return [*rows, *_reported(files, split)] if rows else []


def cost_rows(files: Files) -> str:
    """What each adaptation took, and which of its parts were kept."""
    made: dict[tuple[str, str, str], dict[int, Mapping[str, Any]]] = {}
    for file in files:
        told = file["metrics"].get("adaptation")
        if told:
            where = (file["dataset"], file["metrics"]["mode"], file["metrics"]["start"])
            made.setdefault(where, {})[file["seed"]] = told
    if not made:
        return not_run("adapted")
    headings = ["corpus", "mode", "from", "seeds", "sheets seen", "questions learnt"]
    headings += ["median s", "most MiB", "encoder kept", "new reranker kept"]
    rows = []
    for (dataset, mode, start), by_seed in made.items():
        told = list(by_seed.values())
        counts = [each["counts"] for each in told]
        taken = [
            median(each["sheets"] for each in counts),
            median(each["train"] for each in counts),
            median(each["seconds"] for each in told),
            max(each["memory_mib"] for each in told),
        ]
        kept = [sum(each[name] for each in told) for name in ("encoder_kept", "reranker_kept")]
        cells = [*(f"{value:,.0f}" for value in taken), *(f"{n} of {len(told)}" for n in kept)]
        rows.append([dataset.replace("_", " "), mode, start, str(len(told)), *cells])
    return markdown(headings, rows)


# ---- inner workings

_UNMADE = {
    "general": "general encoder + words",
    "general_reranker": "+ its reranker",
}


def _systems(files: Files, split: str) -> dict[str, Files]:
    """Files of each system; of unseen families one a test set, with that set's seed."""
    found: dict[str, list[File]] = {}
    for file in files:
        part, _, drawn = file["split"].partition("_")
        if part != split:
            continue
        if drawn and file["seed"] not in (None, int(drawn)):
            continue
        own = {**file, "seed": int(drawn)} if drawn else file
        found.setdefault(file["method"], []).append(own)
    return {name: sorted(each, key=_seed) for name, each in found.items()}


def _seed(file: File) -> int:
    return -1 if file["seed"] is None else int(file["seed"])


def _adapted(found: Iterable[str]) -> list[str]:
    """Names of the adapted systems, each Stage 1 before its cascade, transductive ones first."""
    stages = [name for name in sorted(found) if name.startswith(f"{_STAGES[0]}_")]
    stages.sort(key=lambda name: ("_inductive_" in name, name))
    cascades = [name.replace(_STAGES[0], _STAGES[1], 1) for name in stages]
    return [name for pair in zip(stages, cascades, strict=True) for name in pair]


def _summed(files: Files, metric: str, most: int) -> str:
    """A cell of the summary; empty where nothing was asked."""
    if not files:
        return ""
    fewer = f" ({len(files)} of {most} seeds)" if len(files) < most else ""
    return _cell(files, metric) + fewer


def _cell(files: Files, column: str) -> str:
    values = [file["metrics"][column] for file in files]
    return number(None) if None in values else str(Spread.of(values))


def _reported(files: Files, split: str) -> list[list[str]]:
    """The paper's SAT, which has labels, where it reports this test set."""
    if not files or files[0]["dataset"] != DATASET:
        return []
    if split == "standard":
        found = paper.full_corpus(DATASET)["SAT"]
        cells = [str(Spread(found[column].mean, found[column].sd)) for column in PAPER_COLUMNS]
        return [["*paper: SAT, with labels*", "3", *cells]]
    if split == "grouped":
        return [["*authors: SAT, with labels*", "3", number(paper.grouped()["SAT"])]]
    return []
