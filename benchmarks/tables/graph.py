"""The tables of the gated graph: every attempt, and the last one in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import INDUSTRYTAB_1K, INDUSTRYTAB_614, title_of
from benchmarks.paper import paper
from benchmarks.related import graphs
from benchmarks.related.graphs import BASES, GRAPHS, SHIPPED
from benchmarks.related.scoring import MEASURES
from benchmarks.related.sets import SETS
from benchmarks.tables.breakdown import gap_of
from benchmarks.tables.markdown import markdown, number, signed
from sat_retriever.datasets.metrics import Difference, mean, paired_bootstrap

File = Mapping[str, Any]
Files = Sequence[File]

LOGGED = Path(graphs.__file__).with_name("attempts.json")
"""Attempts whose figures stand in the log alone, each with the commit of its entry."""
_SPLITS = {"validation": "judged", "test": "test", "left_out": "left out"}
_COLUMNS = {"NDCG@10": "NDCG@10", "AllRelevant@5": "all@5"}
_ROWS = {SHIPPED: "shipped", **BASES, **{name: each.title for name, each in GRAPHS.items()}}
_WITHOUT_LINKS = "unlinked"
_TRAINED = {
    "graph": ("the paper's recipe", "base"),
    "ours": ("the recipe called ours", "ours_base"),
}
_HEADINGS = [
    "attempt", "set", "questions", "seeds", "metric", "base", "graph", "Δ to the base",
    "gate in the end", "epochs kept",
]  # fmt: skip


def attempts_table(attempt: Files, trained: Files, varied: Files, spider: Files) -> str:
    """Return every attempt at a graph: reported ones, then those here in their order.

    Args:
        attempt: Results of `run graph_attempt`.
        trained: Results of the paper's recipe and of ours.
        varied: Results of the paper's sensitivity.
        spider: Results of models trained on Spider.
    """
    logged = [_logged(each) for each in json.loads(LOGGED.read_text("utf-8"))]
    rows = [*_reported(), *_recipes(trained), *_settings(varied, trained), *_transfer(spider)]
    return markdown(_HEADINGS, [*rows, *logged, *_last(attempt)])


def _reported() -> Iterator[list[str]]:
    """Yield what the paper's authors report."""
    for split, gap in paper.graph_over_base().items():
        shown = f"{gap.mean:+.4f}"
        if gap.low is not None and gap.high is not None:
            shown += f" [{gap.low:+.4f}, {gap.high:+.4f}]"
        title = "*reported by the authors*"
        yield [title, _titled(INDUSTRYTAB_1K, split), "", "3", "NDCG@5", "", "", shown]


def _recipes(files: Files) -> Iterator[list[str]]:
    """Yield the graph of both recipes beside the base scorer below it."""
    for method, (title, below) in _TRAINED.items():
        for dataset, split in (
            (INDUSTRYTAB_1K, "standard"), (INDUSTRYTAB_1K, "grouped"), (INDUSTRYTAB_614, "legacy"),
        ):  # fmt: skip
            own, base = (_of(files, name, dataset, split) for name in (method, below))
            if own and (gap := gap_of(own, base)):
                yield _row(title, _titled(dataset, split), own, base, "NDCG@5", gap)


def _settings(files: Files, trained: Files) -> Iterator[list[str]]:
    """Yield the settings of the paper's sensitivity in one row: their worst and their best."""
    values = [file["metrics"]["NDCG@5"] for file in files]
    base = [file for file in _of(trained, "base", INDUSTRYTAB_1K, "standard") if file["seed"] == 42]
    if values and base:
        start = base[0]["metrics"]["NDCG@5"]
        yield [
            f"the paper's recipe, {len(values)} settings", _titled(INDUSTRYTAB_1K, "standard"),
            number(base[0]["metrics"]["queries"]), "1", "NDCG@5", number(start),
            number([min(values), max(values)]),
            f"{min(values) - start:+.3f} to {max(values) - start:+.3f}", "", _kept(files),
        ]  # fmt: skip


def _transfer(files: Files) -> Iterator[list[str]]:
    """Yield graphs trained on Spider beside the order that they start from."""
    for dataset in dict.fromkeys(file["dataset"] for file in files):
        for links in ("found", "given"):
            own, base = (_of(files, f"{name}_{links}", dataset) for name in ("graph", "walk"))
            if own and (gap := gap_of(own, base, "NDCG@10")):
                title = f"trained on Spider, links {links}"
                yield _row(title, title_of(dataset), own, base, "NDCG@10", gap)


def _logged(row: Mapping[str, Any]) -> list[str]:
    graph, base, gap = row.get("graph"), row.get("base"), row.get("difference")
    shown = signed(Difference(*gap)) if gap else f"{row['graph'] - row['base']:+.4f}"
    title = SETS[row["set"]].title if row["set"] in SETS else row["set"]
    asked, metric = number(row.get("questions")), row["metric"].replace("AllRelevant", "all")
    return [
        f"{row['attempt']} (log of {row['date']}, `{row['logged']}`)", title, asked,
        str(row["seeds"]), metric, number(base), number(graph), shown, "", row["kept"],
    ]  # fmt: skip


def _last(files: Files) -> Iterator[list[str]]:
    """Yield the graphs over features of lists beside their base, on every set."""
    for method in _methods(files):
        row, at, encoder = method.partition("@")
        if row not in GRAPHS:
            continue
        title, below = _shown(method), GRAPHS[row].base + at + encoder
        for split, part in _SPLITS.items():
            for dataset in _sets(files, split):
                own, base = (_of(files, name, dataset, split) for name in (method, below))
                if own and base:
                    set_title = f"{_set_title(dataset)}, {part}"
                    gap = _gap(own, base, "NDCG@10")
                    yield _row(title, set_title, own, base, "NDCG@10", gap)


def _row(
    title: str, set_title: str, own: Files, base: Files, metric: str, gap: Difference
) -> list[str]:
    gates = [gate for file in own for gate in file["metrics"].get("gates", [])]
    return [
        title, set_title, number(len(own[0]["per_query"])), str(len(own)), metric,
        _mean(base, metric), _mean(own, metric), signed(gap),
        number([min(gates), max(gates)]) if gates else "", _kept(own),
    ]  # fmt: skip


def graphs_table(files: Files) -> str:
    """Return every row on every set, with its lead over what is shipped and over its base."""
    headings = [
        "set",
        "part",
        "questions",
        "right ones linked",
        "ranking",
        "seeds",
        *_COLUMNS.values(),
    ]
    for rival in (SHIPPED, "its base", "it without links"):
        headings += [f"Δ {title} to {rival}" for title in _COLUMNS.values()]
    rows = []
    for split, part in _SPLITS.items():
        for dataset in _sets(files, split):
            for method in _methods(files):
                own = _of(files, method, dataset, split)
                if not own:
                    continue
                row, at, encoder = method.partition("@")
                cells = [
                    _set_title(dataset), part, number(len(own[0]["per_query"])),
                    number(own[0]["metrics"]["linked"]), _shown(method), str(len(own)),
                    *(_mean(own, column) for column in _COLUMNS),
                ]  # fmt: skip
                below = GRAPHS[row].base if row in GRAPHS else ""
                control = _WITHOUT_LINKS if row == "graph" else ""
                for name in (SHIPPED if row != SHIPPED else "", below, control):
                    other = _of(files, name + at + encoder, dataset, split) if name else []
                    cells += [
                        signed(_gap(own, other, column)) if other else "" for column in _COLUMNS
                    ]
                rows.append(cells)
    return markdown(headings, rows)


def _of(files: Files, method: str, dataset: str, split: str = "all") -> list[File]:
    wanted = (method, dataset, split)
    return [each for each in files if (each["method"], each["dataset"], each["split"]) == wanted]


def _methods(files: Files) -> list[str]:
    """Return the rows in their order, those of another encoder after all others."""
    order = [*_ROWS]
    return sorted(
        {file["method"] for file in files},
        key=lambda method: (method.partition("@")[2], order.index(method.partition("@")[0])),
    )


def _shown(method: str) -> str:
    row, _, encoder = method.partition("@")
    return _ROWS[row] + (f", {encoder}" if encoder else "")


def _sets(files: Files, split: str) -> list[str]:
    """Return the sets of a part: questions of linked sheets, then real workbooks."""
    found = {file["dataset"] for file in files if file["split"] == split}
    return [*(name for name in SETS if name in found), *sorted(found - set(SETS))]


def _set_title(dataset: str) -> str:
    return SETS[dataset].title if dataset in SETS else f"`{dataset}`"


def _titled(dataset: str, split: str) -> str:
    return f"{title_of(dataset)}, {split}"


def _mean(files: Files, metric: str) -> str:
    return number(mean([file["metrics"][metric] for file in files]))


def _kept(files: Files) -> str:
    """Return in how many trainings a later epoch was better than the start."""
    epochs = [
        file["metrics"]["steps"]["graph"]["best_epoch"]
        if "steps" in file["metrics"] else file["metrics"]["best_epoch"]
        for file in files
    ]  # fmt: skip
    return f"{sum(epoch > 0 for epoch in epochs)} of {len(epochs)}"


def _gap(own: Files, rival: Files, measure: str) -> Difference:
    """Return the mean lead of one row over another, questions with one answer drawn together."""
    by_seed = {file["seed"]: file["per_query"] for file in rival}
    first, second, answers = [], [], []
    for file in own:
        for row, other in zip(
            file["per_query"], by_seed.get(file["seed"]) or by_seed[None], strict=True
        ):
            first.append(MEASURES[measure](row))
            second.append(MEASURES[measure](other))
            answers.append(row["answer"])
    return paired_bootstrap(first, second, answers)
