"""Result tables and figures, rendered from the committed result files.

python -m benchmarks tables            write docs/results/, the README's table, the figures
python -m benchmarks tables --check    fail if they are stale, or a metric does not
                                       follow from its stored per-query rows
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.results import ROOT, read_results
from benchmarks.tables.figures import figures
from benchmarks.tables.part import Part
from benchmarks.tables.parts import all_parts, summary_parts
from benchmarks.tables.readme import readme_table
from sat_retriever.datasets.metrics.rows import unsupported

RANKED = (
    "quality", "links", "trained", "train_bug", "train_sensitivity", "train_spider", "adapted",
    "periods", "contents", "target", "related", "related_pulls", "real", "ladder",
)  # fmt: skip
START, END = "<!-- results:start -->", "<!-- results:end -->"
# The pages that tables are rendered to: one in the README, some in a summary, all on one page.
README = ROOT / "README.md"
SUMMARY = ROOT / "docs" / "results" / "index.md"
RESULTS = ROOT / "docs" / "results" / "tables.md"
_HEAD = """# Every table and figure

Every table and figure is rendered by `python -m benchmarks tables` from the files in
`benchmarks/results/`, each of which names its commit, data, versions, hardware and command.
*Paper* and *authors* mark figures that they report; they were not measured here. What was tried
and did not help stands in the [log](log.md), with every look at a test set. Results that were
made before `python -m benchmarks run` name a module as their command: `python -m
benchmarks.trained` is `run main` or, with `--split grouped`, `run grouped`; `train_bug`,
`train_sensitivity` and `train_spider` are `run bug`, `run sensitivity` and `run spider`; all
others kept their names."""


def contents(parts: Sequence[Part]) -> str:
    """Return a list of links to the parts."""
    return "\n".join(f"- [{part.title}](#{_anchor(part.title)})" for part in parts)


def _anchor(title: str) -> str:
    """Return the name that a heading gets on the page.

    >>> _anchor("`kill -9` while indexing, IndustryTab-1K")
    'kill-9-while-indexing-industrytab-1k'
    """
    kept = "".join(char for char in title.lower() if char.isalnum() or char in " -_")
    return re.sub("[- ]+", "-", kept)


def render_results() -> str:
    """Return the whole page of all tables and figures."""
    parts = all_parts()
    body = "\n\n".join(part.markdown(2) for part in parts)
    return f"{_HEAD}\n\n{contents(parts)}\n\n{body}\n"


def render_summary() -> str:
    """Return everything between the markers of the summary."""
    return "\n\n".join(part.markdown(2) for part in summary_parts())


def inserted(page: str, tables: str) -> str:
    r"""Return a page's text with the tables between its markers.

    Raises:
        ValueError: If a marker is missing.

    >>> inserted(f"a {START} old {END} b", "new") == f"a {START}\n\nnew\n\n{END} b"
    True
    """
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise ValueError(f"the page lacks the markers {START} and {END}")
    return f"{before}{START}\n\n{tables}\n\n{END}{after}"


def wrong_metrics() -> list[str]:
    """Return stored metrics of rankings that do not follow from their own rows."""
    return [
        f"{file['method']}.{file['dataset']}.{file['split']}.{file['seed']}: {line}"
        for name in RANKED
        for file in read_results(name)
        for line in unsupported(file["metrics"], file["per_query"])
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all is written or fresh, 1 if it is stale or a number is unsupported."""
    parser = argparse.ArgumentParser("python -m benchmarks tables", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--readme", type=Path, default=README)
    parser.add_argument("--summary", type=Path, default=SUMMARY)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    wrong = wrong_metrics()
    stale = figures(check=options.check)
    for path, fresh in _pages(options.readme, options.summary, options.results).items():
        if path.is_file() and path.read_text(encoding="utf-8") == fresh:
            continue
        if options.check:
            stale.append(path.name)
        else:
            path.write_text(fresh, encoding="utf-8")
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    if stale:
        sys.stderr.write(f"stale: {', '.join(stale)}; run: python -m benchmarks tables\n")
    return int(bool(stale or wrong))


def _pages(readme: Path, summary: Path, results: Path) -> dict[Path, str]:
    """Return each page with what should be in it."""
    return {
        readme: inserted(readme.read_text(encoding="utf-8"), readme_table()),
        summary: inserted(summary.read_text(encoding="utf-8"), render_summary()),
        results: render_results(),
    }
