"""Result tables and figures, rendered from the committed result files.

python -m benchmarks tables            write the tables of README.md and docs/results/, and figures
python -m benchmarks tables --check    fail if they are stale, or a metric does not
                                       follow from its stored per-query rows
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.results import ROOT, read_results
from benchmarks.tables.figures import figures
from benchmarks.tables.part import Part
from benchmarks.tables.parts import all_parts, paper_parts
from benchmarks.tables.readme import readme_table, untrained_table
from benchmarks.tables.users import indexing_table, speed_table, warned_table
from sat_retriever.datasets.metrics.rows import unsupported

RANKED = (
    "quality", "links", "trained", "train_bug", "train_sensitivity", "train_spider", "adapted",
    "periods", "contents", "target", "related", "graph_attempt", "real", "ladder",
)  # fmt: skip
# Blocks of each page; a block's table lies between the comments NAME:start and NAME:end.
_RESULTS = "docs/results"
ALL = f"{_RESULTS}/tables.md"
BLOCKS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "README.md": {"results": readme_table},
    f"{_RESULTS}/index.md": {
        "quality": untrained_table,
        "speed": speed_table,
        "indexing": indexing_table,
        "warnings": warned_table,
    },
    f"{_RESULTS}/paper.md": {"paper": lambda: _rendered(paper_parts())},
}
_HEAD = """# Every table and figure

`python -m benchmarks tables` renders this page from the files in `benchmarks/results/`. Each of
them names its commit, data, versions, hardware and command. *Paper* and *authors* mark figures that
they report; they were not measured here. The [log](log.md) says what was tried and did not help,
and names every look at a test set. Results that are older than `python -m benchmarks run` name a
module as their command: `python -m benchmarks.trained` is `run main` or, with `--split grouped`,
`run grouped`; `train_bug`, `train_sensitivity` and `train_spider` are `run bug`, `run sensitivity`
and `run spider`; all others kept their names."""


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
    return f"{_HEAD}\n\n{contents(parts)}\n\n{_rendered(parts)}\n"


def _rendered(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.markdown() for part in parts)


def inserted(page: str, name: str, table: str) -> str:
    r"""Return a page's text with the table in its block.

    Raises:
        ValueError: If a marker is missing.

    >>> inserted("a <!-- x:start --> old <!-- x:end --> b", "x", "new")
    'a <!-- x:start -->\n\nnew\n\n<!-- x:end --> b'
    """
    first, last = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, start, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not (start and end):
        raise ValueError(f"the page lacks the markers {first} and {last}")
    return f"{before}{first}\n\n{table}\n\n{last}{after}"


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
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of README.md and docs/")
    options = parser.parse_args(arguments)
    wrong = wrong_metrics()
    stale = figures(check=options.check)
    for path, fresh in _pages(options.root).items():
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


def _pages(root: Path) -> dict[Path, str]:
    """Return each page with what should be in it."""
    pages = {root / ALL: render_results()}
    for name, blocks in BLOCKS.items():
        text = (root / name).read_text(encoding="utf-8")
        for block, table in blocks.items():
            text = inserted(text, block, table())
        pages[root / name] = text
    return pages
