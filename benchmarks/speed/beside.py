r"""The default path of this package beside the retrievers of others, which compare cosines alone.

    python -m benchmarks run beside [--sizes 1000 100000] [--data DIR] [--others FOLDER]

All hold the same tokens, and are asked the same questions for 5 and for 50 hits, each in
a process of its own, with the question's token given and with the question encoded first. Made
sheets are those of `run latency`; `eps` is an index of real workbooks with contents. Packages that
this project does not have stand in a folder that `--others` names:

    pip install --target FOLDER lancedb chromadb

A store is left out where its package is not found, and at more sheets than its memory allows.
`run postgres` measures the frameworks' stores in PostgreSQL.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real.sources import EPS
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.speed.latency import MADE, corpus, index_of, queries, real_index
from benchmarks.speed.turns import percentiles
from sat_retriever import SheetIndex
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.tokens import FloatArray

HITS = (5, 50)
MOST = {"llama-index": 100_000, "langchain": 100_000}  # sheets; a number takes 32 bytes there
_PACKAGES = {"lancedb": "lancedb", "chroma": "chromadb"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What every store holds, and what it is asked.

    Attributes:
        exact: Ids of the nearest sheets of each question, all compared, as many as hits at most.
        hits: Numbers of hits that are asked for.
    """

    ids: Sequence[str]
    tokens: FloatArray
    questions: Sequence[str]
    asked: FloatArray
    exact: list[set[str]]
    hits: tuple[int, ...] = HITS

    @contextmanager
    def handed_over(self) -> Iterator[Path]:
        """Give it to other processes as files of a folder."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            plan = {"ids": [*self.ids], "questions": [*self.questions], "hits": self.hits}
            (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
            np.save(folder / "tokens.npy", self.tokens)
            np.save(folder / "asked.npy", self.asked)
            yield folder

    def measured(
        self, store: str, folder: Path, place: str = "", packages: Path | None = None
    ) -> dict[str, Any]:
        """Return times and recall of a store; see `vector_stores`."""
        command = [sys.executable, "-m", "benchmarks.speed.vector_stores", store, str(folder)]
        paths = [each for each in (packages, os.environ.get("PYTHONPATH")) if each]
        ran = subprocess.run(
            [*command, place],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        answer = json.loads(ran.stdout.splitlines()[-1])
        figures = {name: answer[name] for name in ("build_s", "peak_mib")}
        for k in self.hits:
            found = answer[str(k)]
            name = "query" if len(self.hits) == 1 else f"{k}_hits"
            figures |= percentiles(name, found["spent_ms"])
            figures |= percentiles(f"{name}_encoded", found["whole_ms"])
        most = max(self.hits)
        pairs = zip(self.exact, answer[str(most)]["found"], strict=False)
        shares = [len(best & set(row)) / most for best, row in pairs]
        return figures | {f"recall_at_{most}": round(statistics.mean(shares), 4)}


def nearest_of_all(
    ids: Sequence[str], tokens: FloatArray, asked: FloatArray, most: int
) -> list[set[str]]:
    """Return the ids of the nearest tokens of each question, all compared."""
    best = (np.argpartition(-(tokens @ token), most)[:most] for token in asked)
    return [{ids[place] for place in row} for row in best]


def plan_of(index: SheetIndex, asked: Sequence[str]) -> Plan:
    """Return the sheets of an index and some questions."""
    ids = index.sheet_ids()
    tokens, questions = index.search.tokens(ids), index.encoder.encode_queries(asked)
    return Plan(ids, tokens, asked, questions, nearest_of_all(ids, tokens, questions, max(HITS)))


def measure(
    name: str, index: SheetIndex, asked: Sequence[str], others: Path | None
) -> Iterator[Result]:
    """Yield a result of each store that holds the sheets of an index."""
    plan, place = plan_of(index, asked), str(index.path)
    index.close()
    about = {"sheets": len(plan.ids), "queries": len(asked)}
    with plan.handed_over() as folder:
        for store in ("sat-retriever", "llama-index", "langchain", "lancedb", "chroma"):
            why_not = reason(store, len(plan.ids), others)
            if why_not:
                console.print(f"{store}: not run on {name}: {why_not}")
                continue
            own = store == "sat-retriever"
            found = plan.measured(store, folder, place if own else "", others)
            if own:  # it does not rank by cosines
                del found[f"recall_at_{max(HITS)}"]
            yield Result(store, name, about | found)


def reason(store: str, sheets: int, others: Path | None) -> str:
    """Return why a store cannot be measured; "" if it can."""
    if sheets > MOST.get(store, sheets):
        return f"it keeps more in memory than there is, for {sheets:,} sheets"
    package = _PACKAGES.get(store)
    if package and not (others and (others / package).is_dir()) and find_spec(package) is None:
        return f"the package {package} is not found; name its folder with --others"
    return ""


@suite(
    "beside",
    "data",
    work=MADE,
    sizes=option([1000, 100_000], nargs="*"),
    queries=100,
    others=option(None, "folder with the packages of other stores", type=Path),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    for size in options.sizes:
        index = index_of(size, options.work)
        yield from measure(f"template_{size}", index, queries(options.queries), options.others)
    asked = [each.text for each in corpus(options.data, EPS).queries][: options.queries]
    index = real_index(EPS, ContentsPolicy.ALL, options.data, options.work)
    yield from measure(EPS, index, asked, options.others)
