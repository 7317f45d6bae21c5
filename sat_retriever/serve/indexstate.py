"""What an index holds, as counts for an operator: sheets, workbooks, what was skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sat_retriever._extras import require
from sat_retriever.errors import PermissionsError, SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.permissions import OWNER
from sat_retriever.records.sheets import SkipReason

try:
    from prometheus_client.core import GaugeMetricFamily
    from prometheus_client.registry import Collector
except ModuleNotFoundError:
    require("prometheus_client", "serve")  # names the extra to install
    raise


@dataclass(frozen=True, slots=True)
class Held:
    """What an index holds after one of its writes; `read_at` is in seconds since 1970."""

    generation: int
    sheets: int
    workbooks: int
    read_at: float
    skipped: Counter[SkipReason]


class IndexState(Collector):
    """Counts of an index, made anew after each change of it.

    Args:
        index: As its owner sees it.
    """

    def __init__(self, index: SheetIndex) -> None:
        self._index = index
        self._held: Held | None = None

    @classmethod
    def of(cls, index: SheetIndex) -> IndexState | None:
        """Return the counts of an index, None if whoever serves it does not see all of it."""
        try:
            return cls(index.seen_by(OWNER) if index.is_restricted else index)
        except PermissionsError:
            return None

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield the counts; none while the index cannot be read, which `/health/ready` tells."""
        try:
            held = self._now()
        except SatError:
            return
        yield from families(held)

    def _now(self) -> Held:
        held, generation = self._held, self._index.generation
        if held is None or held.generation != generation:
            books = self._index.workbooks()
            held = self._held = Held(
                generation,
                len(self._index),
                len(books),
                max((each.checked_ns for each in books), default=0) / 1e9,
                Counter(skip.reason for book in books for skip in book.skipped),
            )
        return held


def families(held: Held) -> Iterator[GaugeMetricFamily]:
    """Yield the counts; the time is left out of an index without workbooks."""
    yield GaugeMetricFamily("sat_index_sheets", "Sheets that can be searched", held.sheets)
    yield GaugeMetricFamily("sat_index_workbooks", "Workbook files known", held.workbooks)
    skipped = GaugeMetricFamily(
        "sat_index_skipped", "Files and sheets that were not read, by reason", labels=["code"]
    )
    for reason in SkipReason:
        skipped.add_metric([reason.value], held.skipped[reason])
    yield skipped
    if held.read_at > 0:
        yield GaugeMetricFamily(
            "sat_index_read_timestamp_seconds",
            "Time at which a workbook was last read into the index",
            held.read_at,
        )
