"""A folder of real workbooks, an index of it on disk, and what LlamaIndex says while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers.base import BaseEventHandler
from llama_index.core.instrumentation.span_handlers.simple import SimpleSpanHandler

from sat_retriever import SheetIndex, index_paths
from tests.builders import save_book
from tests.saved_encoder import save_bag_of_words

WORDS = (
    "revenue region month staff salary name rate currency order customer total plan target "
    "hours project columns shape sales"
).split()
MONTHS = ("January", "February", "March")


@pytest.fixture(autouse=True)
def event_loop_of_the_thread():
    """The framework's sync calls make one where there is none, and never close it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(scope="session")
def encoder(tmp_path_factory) -> Path:
    return save_bag_of_words(tmp_path_factory.mktemp("encoders") / "bag", WORDS)


@pytest.fixture(scope="session")
def workbooks(tmp_path_factory) -> Path:
    """Sales with a summary of two quarters, staff, rates, and one template for three months."""
    folder = tmp_path_factory.mktemp("workbooks")
    quarter = [["Region", "Month", "Revenue"], ["North", "May", 7], ["South", "May", 9]]
    save_book(
        folder / "sales" / "2024.xlsx",
        Summary=[["Quarter", "Total"], ["Q1", "=SUM(Q1!C2:C3)"], ["Q2", "=SUM(Q2!C2:C3)"]],
        Q1=quarter,
        Q2=quarter,
        Plan=[["Region", "Target"], ["North", 8]],
    )
    (folder / "staff.csv").write_text("Name,Salary\nAda,41\nBob,39\n", encoding="utf-8")
    save_book(folder / "rates.xlsx", Rates=[["Currency", "Rate"], ["EUR", 1.1]])
    for month in MONTHS:
        save_book(folder / month / "Hours.xlsx", Hours=[["Project", "Hours"], [f"{month} work", 3]])
    (folder / "torn.xlsx").write_bytes((folder / "rates.xlsx").read_bytes()[:900])
    return folder


@pytest.fixture(scope="session")
def index_file(tmp_path_factory, workbooks, encoder) -> Path:
    """Never written to by a test."""
    file = tmp_path_factory.mktemp("index") / "all.sat"
    index_paths([workbooks], file, encoder=encoder).close()
    return file


@pytest.fixture
def index(index_file) -> Iterator[SheetIndex]:
    with SheetIndex.open(index_file) as opened:
        yield opened


@dataclass
class Heard:
    """What the framework said: events in order, and the spans that were ended."""

    events: list[Any] = field(default_factory=list)
    handler: Any = None

    def names(self) -> list[str]:
        return [event.class_name() for event in self.events]

    def spans(self) -> list[str]:
        return [span.id_ for span in self.handler.completed_spans]


@pytest.fixture
def heard() -> Iterator[Heard]:
    found = Heard()

    class Listener(BaseEventHandler):
        @classmethod
        def class_name(cls) -> str:
            return "Listener"

        def handle(self, event: Any, **kwargs: Any) -> None:
            found.events.append(event)

    root = get_dispatcher("root")
    listener, found.handler = Listener(), SimpleSpanHandler()
    root.add_event_handler(listener)
    root.add_span_handler(found.handler)
    yield found
    root.event_handlers.remove(listener)
    root.span_handlers.remove(found.handler)
