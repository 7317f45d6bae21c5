"""Index a folder on Ray and tell each step as a line of JSON, for `cut_hosts`.

python -m benchmarks.safety.cut_hosts_part 10.99.0.1:6379 index.sat workbooks
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from sat_retriever import SheetIndex, ray_cluster
from sat_retriever.errors import SatError


def tell(kind: str, *what: Any) -> None:
    """Print a line that can be read at once."""
    print(json.dumps([kind, *what]), flush=True)


class Told(logging.Handler):
    """What the package logs, as lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Tell a message."""
        tell("log", record.getMessage())


def main(address: str, file: str, folder: str) -> int:
    """Index; return 1 if an error of the package ends it."""
    logging.getLogger("sat_retriever").addHandler(Told())
    try:
        with ray_cluster(address) as cluster, SheetIndex.open(file) as index:
            report = index.sync(
                folder,
                executor=cluster,
                progress=lambda done, total, path: tell("done", done, total, path),
            )
    except SatError as error:
        tell("error", str(error))
        return 1
    tell("report", report.added, report.unchanged, report.sheets, len(report.skipped))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
