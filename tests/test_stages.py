"""Stages are told to whoever watches, in threads too, and nobody else."""

from __future__ import annotations

import asyncio

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sat_retriever.stages import Cache, Stage, Told, looked_up, stage, tell, watched_by


class Notes:
    def __init__(self) -> None:
        self.taken: list[object] = []

    def took(self, which: Stage, seconds: float) -> None:
        assert seconds >= 0
        self.taken.append(which)

    def looked_up(self, cache: Cache, *, found: bool) -> None:
        self.taken.append((cache, found))

    def told(self, what: Told, names: tuple[str, ...]) -> None:
        self.taken.append((what, names))


@stage(Stage.SEARCH)
def search(words: str) -> str:
    tell(Told.QUESTION, words)
    looked_up(Cache.TOKENS, found=False)
    with stage(Stage.ENCODE):
        if words == "fail":
            raise ValueError(words)
    return words


def test_a_watcher_sees_the_work_of_its_own_context_also_of_threads_and_of_failures():
    one, other = Notes(), Notes()

    async def both() -> None:
        async def ask(notes: Notes, words: str) -> str:
            with watched_by(notes):
                return await asyncio.to_thread(search, words)

        await asyncio.gather(ask(one, "rent"), ask(other, "pumps"))

    asyncio.run(both())
    told = [(Told.QUESTION, ("rent",)), (Cache.TOKENS, False), Stage.ENCODE, Stage.SEARCH]
    assert one.taken == told
    assert other.taken == [(Told.QUESTION, ("pumps",)), *told[1:]]
    with watched_by(one), pytest.raises(ValueError, match="fail"):
        search("fail")
    assert one.taken[-2:] == [Stage.ENCODE, Stage.SEARCH]
    assert search("nobody") == "nobody"
    assert len(one.taken) == 8


def test_spans_of_what_fails_have_the_type_of_the_error_and_end_as_the_current_one(monkeypatch):
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)  # a process has but one SDK
    with pytest.raises(ValueError, match="fail"):
        search("fail")
    assert not trace.get_current_span().get_span_context().is_valid
    encode, whole = kept.get_finished_spans()
    assert (encode.name, whole.name) == ("sat.encode", "sat.search")
    assert encode.parent == whole.context
    for each in (encode, whole):
        assert each.attributes == {"error.type": "ValueError"}
        assert (each.status.status_code, each.status.description) == (trace.StatusCode.ERROR, None)
        assert each.events == ()
