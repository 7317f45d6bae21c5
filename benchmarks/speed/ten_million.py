"""Ten million sheets on paper: measured unit costs, drawn on to sizes that were not measured.

    python -m benchmarks run ten_million

Reads the results of `run million` at 100,000, 300,000 and 1,000,000 sheets, and of `run remote` for
reading and encoding real workbooks (EPS, local). Each figure is drawn on as a power of the number
of sheets, fitted to the three. The error says how far the first two alone miss the third; nothing
says how far all three miss ten million. Prices are list prices of June 2026, dated in the code:
they leave out discounts, traffic and people.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.results import FOLDER, Result, read_result, write_result

BENCHMARK = "ten_million"
SIZES = (100_000, 300_000, 1_000_000)
TARGET = 10_000_000
FIGURES = (
    "add_s", "mapping_s", "file_mib", "mapped_mib", "first_answer_s", "reader_private_mib",
    "default_p50_ms", "no_reranking_p50_ms", "encode_p50_ms",
)  # fmt: skip
# One m7g.large (2 processors, 8 GiB) on demand in us-east-1, June 2026, US dollars an hour; and a
# GB of gp3 storage a month.
PRICE_HOUR = 0.0816
PRICE_GB_MONTH = 0.08
_PROCESSORS = 2
_HOURS = 730  # of a month


def drawn_on(values: Mapping[int, float], target: int) -> tuple[float, float, float]:
    """Return a figure at a target size, the power it grows by, and the error at the largest size.

    Args:
        values: Measured values by number of sheets, above 0, at least three.
        target: Number of sheets.

    >>> value, power, error = drawn_on({1: 2.0, 10: 20.0, 100: 200.0}, 1000)
    >>> round(value, 6), round(power, 6), abs(round(error, 6))
    (2000.0, 1.0, 0.0)
    """
    sizes = sorted(values)
    power, start = _fitted({size: values[size] for size in sizes})
    earlier, below = _fitted({size: values[size] for size in sizes[:-1]})
    last = sizes[-1]
    foreseen = math.exp(below + earlier * math.log(last))
    value = math.exp(start + power * math.log(target))
    return value, power, foreseen / values[last] - 1


def _fitted(values: Mapping[int, float]) -> tuple[float, float]:
    sizes, measured = np.log(list(values)), np.log(list(values.values()))
    power, start = np.polyfit(sizes, measured, 1)
    return float(power), float(start)


def paper(
    million: Mapping[int, Mapping[str, float]], reading: Mapping[str, float]
) -> dict[str, float]:
    """Return all figures of ten million sheets.

    Args:
        million: Metrics of `run million` by size.
        reading: Metrics of `run remote`, local.
    """
    found: dict[str, float] = {}
    for name in FIGURES:
        value, power, error = drawn_on({size: million[size][name] for size in million}, TARGET)
        found |= {name: value, f"{name}_power": power, f"{name}_error_at_1m": error}
    each_s = reading["index_s"] * _PROCESSORS / reading["sheets"]
    found["reading_ms_a_sheet"] = each_s * 1000
    found["reading_processor_hours"] = each_s * TARGET / 3600
    found["reading_usd"] = found["reading_processor_hours"] / _PROCESSORS * PRICE_HOUR
    disk_gb = (found["file_mib"] + found["mapped_mib"]) * 2**20 / 1e9
    found |= {"disk_gb": disk_gb, "disk_usd_a_month": disk_gb * PRICE_GB_MONTH}
    found["machine_usd_a_month"] = PRICE_HOUR * _HOURS
    return {name: round(value, 3) for name, value in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw on, print, write `results/ten_million/`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--from", dest="source", type=Path, default=FOLDER)
    parser.add_argument("--results", type=Path, default=None)
    options = parser.parse_args(arguments)
    million = {
        size: read_result(options.source / "million" / f"sat-retriever.template_{size}.all.json")[
            "metrics"
        ]
        for size in SIZES
    }
    reading = read_result(options.source / "remote" / "local.eps.all.json")["metrics"]
    found = paper(million, reading)
    result = Result("drawn on", f"template_{TARGET}", found)
    write_result(BENCHMARK, result, folder=options.results)
    table = Table("figure", *(f"{size:,}" for size in SIZES), f"{TARGET:,}", "power", "error at 1M",
                  title="Ten million sheets, on paper")  # fmt: skip
    for name in FIGURES:
        power, error = found[f"{name}_power"], found[f"{name}_error_at_1m"]
        measured = (f"{million[size][name]:,g}" for size in SIZES)
        table.add_row(name, *measured, f"{found[name]:,.0f}", f"{power:.2f}", f"{error:+.0%}")
    Console().print(table)
    for name in [*found][-7:]:
        Console().print(f"{name}: {found[name]:,g}")
