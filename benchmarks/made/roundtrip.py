"""Read made workbooks again, and compare the index's records and links with the truth.

    python -m benchmarks run synth_roundtrip --scale 1000 --seeds 0 1 2

Records are compared field by field, links by ends and type. `join_key` links that no formula shows
are inferred from headers and values; they have a precision and a recall of their own.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.made.truth import Tally
from benchmarks.results import Result
from benchmarks.runner import Options, console, suite
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.plan.plan import Plan
from sat_retriever.synth.plan.scales import scale, years
from sat_retriever.synth.unit import Retold, made_units
from sat_retriever.synth.words.vocabulary import Vocabulary

_SHOWN = 12


def compare(plan: Plan, folder: Path, retold: Retold | None = None) -> tuple[Tally, int]:
    """Make, index and compare one corpus; return the tally, and the sheets only the index has."""
    units = list(made_units(plan, folder / "workbooks", retold))
    tally = Tally()
    with SheetIndex.create(folder / "index.sat") as index:
        report = index.sync(folder / "workbooks")
        tally.differences += [f"skipped {s.path}#{s.sheet}: {s.message}" for s in report.skipped]
        for unit in units:
            ids = [sheet.record.sheet_id for sheet in unit.sheets]
            records = index.records(ids)
            for sheet in unit.sheets:
                tally.add_sheet(sheet, records.get(sheet.record.sheet_id))
            own = set(ids)
            tally.add_links(unit, (link for link in index.links(ids) if link.source in own))
        unknown = len(index) - sum(len(unit.sheets) for unit in units)
    return tally, unknown


def metrics_of(tally: Tally, unknown: int) -> dict[str, Any]:
    """Return shares of equal records, and precision and recall by link type."""
    groups = sorted(tally.sheets)
    categories = [name for name in groups if name.startswith("category ")]
    sheets = sum(tally.sheets[name] for name in categories)
    equal = sum(tally.equal[name] for name in categories)
    found: dict[str, Any] = {
        "sheets": sheets,
        "sheets_only_in_index": unknown,
        "records_equal": share(equal, sheets),
    }
    for name in groups:
        found[f"{name}: records equal"] = share(tally.equal[name], tally.sheets[name])
        found[f"{name}: wrong links"] = tally.wrong[name]
    for name in sorted({*tally.both, *tally.missed, *tally.extra}):
        both = tally.both[name]
        found[f"{name}: links"] = both + tally.missed[name]
        found[f"{name}: precision"] = share(both, both + tally.extra[name])
        found[f"{name}: recall"] = share(both, both + tally.missed[name])
    return found


def share(part: int, whole: int) -> float | None:
    """Return a share rounded to four digits; None if `whole` is 0."""
    return round(part / whole, 4) if whole else None


@suite("synth_roundtrip", scale="1000", seeds=[0], years="2019-2026", language="en")
def main(options: Options) -> Iterator[Result]:
    """Make and compare; print some of the differences."""
    vocabulary = Vocabulary.load()
    retold = Retold(options.language) if options.language != "en" else None
    name = f"made_{options.scale}".replace("-", "_")
    dataset = name if options.language == "en" else f"{name}_{options.language}"
    for seed in options.seeds:
        plan = Plan(scale(options.scale), years(options.years), 18, seed, vocabulary)
        with tempfile.TemporaryDirectory() as folder:
            tally, unknown = compare(plan, Path(folder), retold)
        yield Result("round_trip", dataset, metrics_of(tally, unknown), seed=seed)
        if tally.fields:
            console.print(f"fields that differ: {dict(tally.fields.most_common())}", markup=False)
        kinds: Counter[str] = Counter()
        for difference in tally.differences:
            kind = difference.partition(" ")[0]
            kinds[kind] += 1
            if kinds[kind] <= _SHOWN:
                console.print(difference, markup=False)
