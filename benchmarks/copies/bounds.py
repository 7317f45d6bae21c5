"""What the bounds of copies are worth: each one varied, on the seeds that they are chosen on.

    python -m benchmarks run copies_bounds

Every pair of sheets is compared, so that blocks play no part.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.copies.copies import CHOSEN_ON, Pair, pairs_of, scores
from benchmarks.copies.histories import make_histories
from benchmarks.results import Result
from benchmarks.runner import Options, console, suite
from sat_retriever.links.copies.claims import CopyClaim, copy_claims
from sat_retriever.links.copies.likeness import BOUNDS, CopyBounds, are_copies, group_of
from sat_retriever.workbook.read import LocalFile, ReadOptions, read_files

_VARIED: Mapping[str, Sequence[float]] = {
    "same": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
    "renamed": (0.3, 0.5, 0.6, 0.7, 0.8, 0.9),
    "elsewhere": (0.6, 0.7, 0.8, 0.9, 0.95, 1.0),
    "texts": (0.0, 0.3, 0.6, 0.9),
}


def claims_below(folder: Path) -> list[CopyClaim]:
    """Claims of all sheets below a folder."""
    files = sorted(path for path in folder.rglob("*.xlsx"))
    local = (LocalFile(file, folder) for file in files)
    books = read_files(local, ReadOptions(formulas=False))
    claims = [each for _, book in books for each in copy_claims(book.records, book.sketches)]
    return sorted(claims, key=lambda claim: claim.sheet_id)


def found_pairs(claims: Sequence[CopyClaim], bounds: CopyBounds) -> set[Pair]:
    """Pairs of sheets of one group, every sheet compared with every other."""
    places = range(len(claims))
    alike = {
        (one, other)
        for one, other in combinations(places, 2)
        if are_copies(claims[one], claims[other], bounds)
    }
    near: dict[int, list[int]] = {place: [] for place in places}
    for one, other in alike:
        near[one].append(other)
        near[other].append(one)
    groups = {
        claims[place].sheet_id: str(min(group_of(place, near.__getitem__, lambda *_: True)))
        for place in places
    }
    return pairs_of(groups)


def varied(seeds: Sequence[int]) -> dict[str, dict[str, float]]:
    """Mean F1 over the seeds for each value of each bound, the others as they are."""
    made = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            histories = make_histories(Path(name), seed)
            made.append((claims_below(histories.folder), pairs_of(histories.groups)))
    found: dict[str, dict[str, float]] = {}
    for bound, values in _VARIED.items():
        for value in values:
            bounds = replace(BOUNDS, **{bound: value})
            all_f1 = [scores(found_pairs(claims, bounds), true)["F1"] for claims, true in made]
            found.setdefault(bound, {})[f"{value:g}"] = sum(all_f1) / len(all_f1)
    return found


@suite("copies", seeds=list(CHOSEN_ON))
def main(options: Options) -> Iterator[Result]:
    """Vary each bound."""
    found = varied(options.seeds)
    metrics: dict[str, Any] = {"seeds": options.seeds, "chosen": asdict(BOUNDS), "F1": found}
    yield Result("bounds", "made_histories", metrics, "development")
    for bound, values in found.items():
        cells = "  ".join(f"{value}: {f1:.4f}" for value, f1 in values.items())
        console.print(f"{bound} {asdict(BOUNDS)[bound]:g}; F1 of {cells}")
