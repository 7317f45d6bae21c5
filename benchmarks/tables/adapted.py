"""The tables of models that learnt without labels, from their result files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.corpora import INDUSTRYTAB_1K, Corpus, used
from benchmarks.paper import paper
from benchmarks.tables.breakdown import PAPER_COLUMNS, Spread, gap_of, spread_of
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
# Parts of a corpus as columns of the summary. "Clean" is the part that no choice was made with.
_SUMMARISED = {
    "all": "all questions",
    "standard": "standard test (clean)",
    "grouped": "unseen families",
}
_PLAIN = ("dense", "bm25", "fused", "times", "links", "general", "general_reranker")
# Shown last where there is one: the general model that has not seen the paper's categories and
# names, beside the one that has.
_APART = {"general_apart": "general", "general_apart_reranker": "general_reranker"}
_STAGES = ("stage1", "cascade")


def adapted_tables(files: Files) -> str:
    """Return a table a corpus and part, in order; what was not run is said."""
    if not files:
        return not_run("adapted")
    tables = [what_was_chosen_with(files)]
    for corpus in used("judged").values():
        here = [file for file in files if file["dataset"] == corpus.dataset]
        title = corpus.title + (", links found by headers" if corpus.databases else "")
        for split, part in SPLITS.items():
            rows = adapted_rows(here, split)
            if rows:
                tables.append(f"**{title}, {part}**\n\n{markdown(HEADINGS, rows)}")
    return "\n\n".join(tables)


def summary_table(files: Files) -> str:
    """Return a row for each system and a column for each test set, NDCG@5 if not named.

    Where a column rests on fewer seeds than another of the row, their number is said.
    """
    if not files:
        return not_run("adapted")
    columns = [column for corpus in used("summary").values() for column in _columns(corpus)]
    parts = [
        _systems([file for file in files if file["dataset"] == column.dataset], column.split)
        for column in columns
    ]
    titles: dict[str, str] = {}
    for found in parts:
        for name, own in found.items():
            titles.setdefault(name, str(own[0]["metrics"]["title"]))
    rows = []
    for name in (each for each in (*_PLAIN, *_adapted(titles), *_APART) if each in titles):
        asked = [found.get(name, ()) for found in parts]
        most = max(map(len, asked)) if name not in (*_PLAIN, *_APART) else 1
        shown = zip(asked, columns, strict=True)
        rows.append([titles[name], *(_summed(each, column.metric, most) for each, column in shown)])
    table = markdown(["ranking", *(column.heading for column in columns)], rows)
    return f"{what_was_chosen_with(files)}\n\n{table}"


def what_was_chosen_with(files: Files) -> str:
    """Return sentences that name the IndustryTab-1K columns with questions used for choices."""
    asked: dict[str, set[int]] = {}
    for file in files:
        if file["dataset"] == INDUSTRYTAB_1K and file["split"] not in asked:
            asked[file["split"]] = {row["query"] for row in file["per_query"]}
    test = asked.get("standard", set())
    seen = [
        1 - len(places & test) / len(places)
        for split, places in asked.items()
        if split.startswith("grouped_")
    ]
    share = " to ".join(dict.fromkeys(f"{value:.0%}".rstrip("%") for value in sorted(seen)))
    known = f" {share} % of" if seen else ""
    return (
        "No model learnt from a labelled question of these test sets. Fusion share, field "
        "weights, time factors and adaptation settings were chosen on the validation questions "
        "of IndustryTab-1K's standard split, of Spider's training part and of made corpora. So of "
        "the columns of IndustryTab-1K only the standard test is clean: *all questions* contains "
        f"those validation questions, and{known} the questions of each test of *unseen families* "
        "are in the standard train or validation part. (The time factors were also looked at on "
        "the validation questions of that other split, and a few of these are in the standard "
        "test.) Some of EPS's questions were looked at later, when rules for words were chosen."
    )


def adapted_rows(files: Files, split: str) -> list[list[str]]:
    """Return the cells of one corpus and part: a row a system, each beside the one before.

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
        cells = [spread_of(own, column) for column in COLUMNS]
        title = str(own[0]["metrics"]["title"])
        rows.append([title, str(seeds) if seeds else "–", *cells, signed(gap) if gap else ""])
        if name in _PLAIN:
            last_plain = own
    return [*rows, *_reported(files, split)] if rows else []


def cost_rows(files: Files) -> str:
    """Return a table of each adaptation's cost and its kept parts."""
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


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the summary."""

    dataset: str
    split: str
    metric: str
    heading: str


def _columns(corpus: Corpus) -> Iterator[_Column]:
    """Yield a corpus in the summary: a column a part and metric."""
    for split in ("all", *corpus.parts, "grouped") if corpus.parts else ("all",):
        for metric in corpus.metrics:
            words = [corpus.short]
            if corpus.parts:
                words.append(_SUMMARISED[split])
            if metric != "NDCG@5":
                words.append(COLUMNS[metric])
            yield _Column(corpus.dataset, split, metric, ", ".join(words))


_UNMADE = {
    "general": "general encoder + words",
    "general_reranker": "+ its reranker",
}


def _systems(files: Files, split: str) -> dict[str, Files]:
    """Return the files of each system; of unseen families one a test set, with that set's seed."""
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
    """Return a cell of the summary; empty where nothing was asked."""
    if not files:
        return ""
    fewer = f" ({len(files)} of {most} seeds)" if len(files) < most else ""
    return spread_of(files, metric) + fewer


def _reported(files: Files, split: str) -> list[list[str]]:
    """Return the paper's SAT, which has labels, where it reports this test set."""
    if not files or files[0]["dataset"] != INDUSTRYTAB_1K:
        return []
    if split == "standard":
        found = paper.full_corpus(INDUSTRYTAB_1K)["SAT"]
        cells = [str(Spread(found[column].mean, found[column].sd)) for column in PAPER_COLUMNS]
        return [["*paper: SAT, with labels*", "3", *cells]]
    if split == "grouped":
        return [["*authors: SAT, with labels*", "3", number(paper.grouped()["SAT"])]]
    return []
