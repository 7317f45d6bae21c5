"""Ten million sheets on paper: measured unit costs, drawn on to sizes that were not measured.

    python -m benchmarks run ten_million

Reads the results of `run million` and `run postgres` at 100,000, 300,000 and 1,000,000 sheets, of
`run remote` for reading and encoding real workbooks (EPS, local), and of `run ray` for what a
cluster spends on them. Each figure of a store is drawn on as a power of the number of sheets,
fitted to the three. The error says how far the first two alone miss the third; nothing says how far
all three miss ten million. Of a cluster, costs a sheet are multiplied: workers share their work,
one driver writes. Prices are list prices of June 2026, dated in the code: they leave out
discounts, traffic and people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.results import FOLDER, Result, read_summaries
from benchmarks.runner import Options, option, suite

SIZES = (100_000, 300_000, 1_000_000)
TARGET = 10_000_000
IN_FILE = (
    "add_s", "mapping_s", "file_mib", "mapped_mib", "first_answer_s", "reader_private_mib",
    "default_p50_ms", "no_reranking_p50_ms", "encode_p50_ms",
)  # fmt: skip
IN_POSTGRES = (
    "migrate_s", "database_mib", "first_on_host_s", "first_answer_s", "reader_private_mib",
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


Metrics = Mapping[str, float]


def curves(figures: Sequence[str], measured: Mapping[int, Metrics]) -> dict[str, float]:
    """Return each figure at the target, the power it grows by, and its error at a million.

    Args:
        figures: Names of figures.
        measured: Metrics by number of sheets.
    """
    found: dict[str, float] = {}
    for name in figures:
        value, power, error = drawn_on({size: measured[size][name] for size in measured}, TARGET)
        found |= {name: value, f"{name}_power": power, f"{name}_error_at_1m": error}
    return found


def of_file(million: Mapping[int, Metrics], reading: Metrics) -> dict[str, float]:
    """Return the figures of ten million sheets in one file.

    Args:
        million: Metrics of `run million` by size.
        reading: Metrics of `run remote`, local.
    """
    found = curves(IN_FILE, million)
    each_s = reading["index_s"] * _PROCESSORS / reading["sheets"]
    found |= {"reading_ms_a_sheet": each_s * 1000, **_work(each_s)}
    disk_gb = (found["file_mib"] + found["mapped_mib"]) * 2**20 / 1e9
    return found | _rent(disk_gb)


def of_postgres(measured: Mapping[int, Metrics]) -> dict[str, float]:
    """Return the figures of ten million sheets in PostgreSQL, from those of `run postgres`."""
    found = curves(IN_POSTGRES, measured)
    return found | _rent(found["database_mib"] * 2**20 / 1e9)


def of_cluster(ray: Metrics) -> dict[str, float]:
    """Return the figures of indexing ten million sheets on Ray.

    Args:
        ray: Metrics of `run ray`, two workers.
    """
    shared = sum(ray[name] for name in ("read_s", "link_s", "encode_s")) / ray["sheets"]
    alone = sum(ray[name] for name in ("list_s", "fetch_s", "write_s")) / ray["sheets"]
    return {
        "reading_ms_a_sheet": shared * 1000,
        **_work(shared),
        "driver_ms_a_sheet": alone * 1000,
        "driver_hours": alone * TARGET / 3600,
        "cores_of_one_driver": shared / alone,
    }


def _work(each_s: float) -> dict[str, float]:
    """Processor hours and their price, of so many processor seconds a sheet."""
    hours = each_s * TARGET / 3600
    return {"reading_processor_hours": hours, "reading_usd": hours / _PROCESSORS * PRICE_HOUR}


def _rent(disk_gb: float) -> dict[str, float]:
    """Prices of a month, of a disk and of one machine."""
    return {
        "disk_gb": disk_gb,
        "disk_usd_a_month": disk_gb * PRICE_GB_MONTH,
        "machine_usd_a_month": PRICE_HOUR * _HOURS,
    }


@suite("ten_million", source=option(FOLDER, "results that are drawn on"))
def main(options: Options) -> Iterator[Result]:
    """Draw on."""

    def metrics(suite_name: str, name: str) -> Metrics:
        found: Metrics = read_summaries(suite_name, options.source)[f"{name}.all"]["metrics"]
        return found

    million, postgres = (
        {size: metrics(each, f"sat-retriever.template_{size}") for size in SIZES}
        for each in ("million", "postgres")
    )
    reading = metrics("remote", "local.eps")
    for method, name, found in (
        ("in a file", f"template_{TARGET}", of_file(million, reading)),
        ("in PostgreSQL", f"template_{TARGET}", of_postgres(postgres)),
        ("on Ray", f"eps_{TARGET}", of_cluster(metrics("ray", "ray_2_workers.eps"))),
    ):
        yield Result(method, name, {figure: round(value, 3) for figure, value in found.items()})
