"""Time of the page on real workbooks: searches, sheets and previews over HTTP, and three tasks.

    python -m benchmarks run page [--corpora nz_contents eps] [--repeats 3]

Each question of a corpus is asked over HTTP, one request at a time: its search, the preview of its
best hit, which reads the workbook unless an earlier one did, and the page of that sheet without the
question and with it. With a question a sheet's page tells the next and the previous hit, from what
its search has found or, in another process, by a search of its own; both kinds take turns, so their
difference is what that costs. In `nz_contents` a script does three tasks of a person in chromium,
each checked at its end.
"""

from __future__ import annotations

import http.client
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.indexes import fill, made_once
from benchmarks.real import sources
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.speed.asking import Request
from benchmarks.speed.pagetasks import TASKS, browsing, done
from benchmarks.speed.serve import asked_at_once, served
from benchmarks.speed.turns import percentiles
from sat_retriever import SheetEncoder

KINDS = ("search", "preview", "sheet", "sheet_asked")
TASKS_OF = "nz_contents"


def requests_of(port: int, questions: Sequence[str]) -> list[Request]:
    """Return the requests of each question with a hit in a workbook, in the order of `KINDS`."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    made = []
    for question in questions:
        connection.request("GET", f"/search.json?{urlencode({'q': question})}")
        found: dict[str, Any] = json.load(connection.getresponse())
        hit = found["workbooks"][0]["hits"][0]
        if not hit["preview"]:  # nothing seems to answer
            continue
        given = dict(parse_qsl(urlsplit(hit["url"]).query))
        plain = {name: text for name, text in given.items() if name not in ("q", "k")}
        bare, asked = f"/sheet?{urlencode(plain)}", hit["url"]
        made += [f"/?{urlencode({'q': question})}", hit["preview"], bare, asked]
    connection.close()
    return [{"path": path} for path in made]


def measured(index: Path, questions: Sequence[str], repeats: int) -> dict[str, float | int]:
    """Return the percentiles of all kinds of requests, each repetition by a new server."""
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(repeats):
        with served(index, 1) as port:
            requests = requests_of(port, questions)
        with served(index, 1) as port:  # that has read nothing yet
            found = asked_at_once(port, requests, 1)["ms"]
        for place, kind in enumerate(KINDS):
            times[kind] += found[place :: len(KINDS)]
    figures: dict[str, float | int] = {"requests": len(times["search"])}
    for kind, spent in times.items():
        figures |= percentiles(kind, spent)
    more = [a - b for a, b in zip(times["sheet_asked"], times["sheet"], strict=True)]
    return figures | percentiles("repeated_search", more)


def worked(index: Path, repeats: int) -> dict[str, float | int]:
    """Return steps and median seconds of each task."""
    spent: dict[str, list[float]] = {task: [] for task in TASKS}
    figures: dict[str, float | int] = {}
    with browsing() as browser:
        for _ in range(repeats):
            for task in TASKS:
                with served(index, 1) as port:
                    start = time.perf_counter()
                    steps = done(task, browser, f"http://127.0.0.1:{port}/")
                    spent[task].append(time.perf_counter() - start)
                figures[f"{task}_steps"] = steps
    medians = {f"{task}_s": round(statistics.median(each), 2) for task, each in spent.items()}
    return figures | medians


@suite(
    "page",
    "data",
    "work",
    corpora=["nz_contents", "eps"],
    repeats=3,
    tasks=option(5, "repetitions of the tasks"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    for name in options.corpora:
        source = sources.read(options.data, name)
        path = options.work / f"{name}.sat"
        dataset = source.dataset
        made_once(path, SheetEncoder.load("general"), partial(fill, dataset=dataset))
        asked = [each.text for each in dataset.queries]
        figures = measured(path, asked, options.repeats)
        if name == TASKS_OF:
            figures |= worked(path, options.tasks)
        yield Result("sat-retriever", name, figures, data=dataset.files)
