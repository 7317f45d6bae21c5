"""The rankings of `run ladder`: the default, and what is left without one or more of its rungs.

Each rung names its code, from which its lines are counted. Code that several rungs need counts for
each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import ModuleType

from benchmarks.real import without
from benchmarks.real.cost import Asking
from benchmarks.real.systems import BEFORE, DEFAULT, FOLDED, Searched, System, package
from sat_retriever.index.search import matches
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.rank.links import linkrank, reading
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.links.pulls import LinkSettings
from sat_retriever.rank.load import own_reranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.candidates import Candidate


class Weighing(Reranker):
    """A reranker over candidates that are found with another share of the cosine."""

    def __init__(self, reranker: Reranker, dense_weight: float) -> None:
        self._reranker = reranker
        self.dense_weight = dense_weight
        self.trained_candidates = reranker.trained_candidates

    def rerank(self, found: CandidateSet) -> Sequence[Candidate]:
        """Return what the reranker returns."""
        return self._reranker.rerank(found)


def _weighed(on: Searched, weight: float) -> Asking:
    index = on.index()
    return on.asking(index, Weighing(own_reranker(index), weight))


def _changed(on: Searched, change: without.Change) -> Asking:
    return on.asking(on.changed_index(change))


def _replacing(ask: Asking, module: ModuleType, **values: object) -> Asking:
    def asked(place: int) -> Sequence[str]:
        with without.replaced(module, **values):
            return ask(place)

    return asked


def _no_initials(on: Searched) -> Asking:
    ask = _replacing(on.asking(on.index()), linkrank, raise_abbreviations=_as_found)
    return _replacing(ask, matches, _by_initials=lambda *given: given[-1])


def _no_codes(on: Searched) -> Asking:
    return _replacing(on.asking(on.index()), matches, codes_of=lambda *_: ())


def _no_reading(on: Searched) -> Asking:
    return _replacing(on.asking(on.index()), linkrank, read_closely=_as_found)


def _free_documentation(on: Searched) -> Asking:
    ask = _changed(on, without.free_documentation)
    return _replacing(ask, reading, NGRAM_OF_DOCUMENTATION=1.0)


def _no_links(on: Searched) -> Asking:
    index = on.index()
    return on.asking(index, LinkReranker(LinkSettings(pulling=0)))


def _as_found(found: CandidateSet) -> list[Candidate]:
    return list(found.candidates)


RUNGS = (
    DEFAULT,
    System(
        "no_words",
        "without words",
        partial(_weighed, weight=1.0),
        package(
            "text.lexical", "text.segment", "index.search.matches", "index.search.frequent_words",
            "index.store.words",
        ),
    ),
    System(
        "no_name_words",
        "without words of names",
        partial(_changed, change=without.no_name_words),
        package("text.lexical:LexicalScorer", "index.search.frequent_words"),
    ),
    System(
        "no_cell_words",
        "without words of cells",
        partial(_changed, change=without.no_cell_words),
        package("text.contents", "index.store.words"),
    ),
    System(
        "no_cosine",
        "without cosines",
        partial(_weighed, weight=0.0),
        package(
            "encoder", "index.search.tokens", "index.sync.executor:encoded",
            "index.sync.executor:token_text", "text.serialize",
        ),
    ),
    System(
        "no_periods",
        "without periods",
        lambda on: on.asking(on.index(times=False)),
        package(
            "text.period", "index.search.columns:Periods", "index.search.fusion:time_factors",
        ),
    ),
    System(
        "silent_documentation",
        "documentation speaks for no other sheet",
        partial(_changed, change=without.silent_documentation),
        package("index.search.columns:LeadSheets", "index.search.matches:_spoken_for"),
    ),
    System(
        "free_documentation",
        "documentation is not held back",
        _free_documentation,
        package(
            "index.search.scores:DOCUMENTATION", "index.search.scores:role_factors",
            "text.contents:asks_for_documentation", "rank.links.reading:NGRAM_OF_DOCUMENTATION",
        ),
    ),
    System(
        "no_main_sheets",
        "without main sheets",
        partial(_changed, change=without.no_main_sheets),
        package(
            "index.search.scores:BESIDE_MAIN", "index.search.scores:role_factors",
            "index.search.columns:LeadSheets",
            "text.spelling:abbreviates",
        ),
    ),
    FOLDED,
    System(
        "no_initials",
        "without initials",
        _no_initials,
        package(
            "rank.links.linkrank:raise_abbreviations", "text.spelling:abbreviates",
            "index.search.matches:_by_initials",
        ),
    ),
    System("no_codes", "without codes", _no_codes, package("index.search.matches:codes_of")),
    System(
        "no_reading",
        "without reading the best sheets",
        _no_reading,
        package("rank.links.reading"),
    ),
    System(
        "reading",
        "without links",
        _no_links,
        package(
            "rank.links.pulls",
            "rank.links.linkrank:LinkReranker._best",
            "rank.links.linkrank:LinkReranker._expanded",
            "rank.links.linkrank:LinkReranker._lifted",
        ),
    ),
    *BEFORE,
)  # fmt: skip
"""The rankings of `run ladder`."""
