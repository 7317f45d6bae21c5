"""A tiny corpus in the published form, as workbooks and as labels, that a tiny model can learn.

Sheets of four companies, three years and three subjects; a question names two of the three.
Every word of it is in the vocabulary of `tests.tiny_transformer`.
"""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path

from tests.tiny_transformer import COMPANIES, SUBJECTS, YEARS

Name = tuple[str, str, str]

NAMES: tuple[Name, ...] = tuple((c, y, s) for c in COMPANIES for y in YEARS for s in SUBJECTS)


def questions() -> list[tuple[str, list[int]]]:
    """Texts and the numbers of their sheets."""
    asked: dict[frozenset[str], str] = {}
    for name in NAMES:
        for pair in combinations(name, 2):
            asked.setdefault(frozenset(pair), " in ".join(pair))
    return [
        (text, [place for place, name in enumerate(NAMES) if words <= set(name)])
        for words, text in asked.items()
    ]


def write_corpus(folder: Path) -> Path:
    """The folder with sheets.json, query.json and dependency_edges.json."""
    folder.mkdir(parents=True)
    sheets = {
        str(number): {
            "sheet_id": number,
            "name": "_".join(name),
            "num_rows": 9,
            "num_cols": 2,
            "columns": [{"name": "region"}, {"name": f"price of {name[2]}"}],
            "source": "tiny",
        }
        for number, name in enumerate(NAMES)
    }
    rows = [
        {"query": text, "positive_sheet_ids": gold, "negative_sheet_ids": [],
         "hard_negative_sheet_ids": [], "hard_negative_types": {}, "query_type": "semantic_lookup",
         "dependency_type": "none", "is_dependency_heavy": False, "split": "train"}
        for text, gold in questions()
    ]  # fmt: skip
    pairs = [f"{number},{number + 1}" for number in range(0, len(NAMES) - 1, 3)]
    edges = {
        "edges": [[int(end) for end in pair.split(",")] for pair in pairs],
        "edge_all_types": {pair: ["formula_reference"] for pair in pairs},
    }
    for name, content in (("sheets", sheets), ("query", rows), ("dependency_edges", edges)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def write_workbooks(folder: Path) -> Path:
    """One csv file a sheet, no two of them equal: equal files would be one hit of a search."""
    for number, name in enumerate(NAMES):
        file = folder / name[0] / f"{'_'.join(name)}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"region,price of {name[2]}\nNorth,{number}\nSouth,7\n", encoding="utf-8")
    return folder


def write_labels(file: Path) -> Path:
    """Questions about these workbooks, as indexing their folder names the sheets."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["query", "sheet_id", "relevance"])
        for text, gold in questions():
            for number in gold:
                name = "_".join(NAMES[number])
                table.writerow([text, f"{NAMES[number][0]}/{name}.csv#{name}", 1])
    return file
