"""The rankings of `run real` and `run ladder`: a source in, ranked sheets of its questions out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from benchmarks.real import plain
from benchmarks.real.sources import SheetRows, Source
from benchmarks.results import ROOT, data_hash
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.question import Question
from sat_retriever.metrics.run import DEPTH
from sat_retriever.period.asked import UNDATED
from sat_retriever.rank.links import LinkReranker
from sat_retriever.rank.links.settings import LinkSettings
from sat_retriever.rank.load import AUTO, own_reranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.contents import Kept
from sat_retriever.records.filters import Filters
from sat_retriever.records.permissions import EVERYONE
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.retriever import SheetRetriever

MINILM, ARCTIC, GENERAL = "minilm", "arctic", "general"
Rankings = Sequence[Sequence[str]]  # of each question, best first
# Parts of the package that an index depends on; a change of one makes indexes anew.
_MADE_BY = ("encoder", "index", "links", "locate", "period", "records", "text", "workbook")


class Searched:
    """A source as it is searched, with its indexes and plain texts, each made when needed.

    Args:
        source: The source.
        encoders: Encoders by name.
        cut: Cuts a plain text for an encoder.
        work: Where indexes are kept.
    """

    def __init__(
        self,
        source: Source,
        encoders: Mapping[str, Encoder],
        cut: Callable[[str], str],
        work: Path,
    ) -> None:
        self.source = source
        self.questions = [query.text for query in source.dataset.queries]
        self._encoders = encoders
        self._cut = cut
        self._work = work
        self._open = ExitStack()

    def close(self) -> None:
        """Close the indexes."""
        self._open.close()

    def index(self, contents: Kept = Kept.ALL, *, times: bool = True) -> SheetIndex:
        """Return the index by the general encoder; one of the same code is taken up again.

        Nobody may see the sheets that the source leaves out, so it is as if they were not there:
        a page with the questions would speak for the other sheets of its workbook.
        """
        encoder, dataset = self._encoders[GENERAL], self.source.dataset
        excluded = self.source.excluded
        code = [each for part in _MADE_BY for each in (ROOT / "sat_retriever" / part).rglob("*.py")]
        key = f"{self.source.name}-{contents}-{encoder.fingerprint}-{data_hash(sorted(code))}"
        file = self._work / f"{key}.sat"
        if not file.exists():
            draft = file.with_suffix(".partial")
            draft.unlink(missing_ok=True)
            with SheetIndex.create(draft, encoder, contents=contents) as index:
                if dataset.root is None:
                    index.add_records(dataset.records, find_links=False)
                else:
                    index.sync([dataset.root])
                index.permit(lambda record: [] if record.sheet_id in excluded else [EVERYONE])
            draft.rename(file)
        opened = self._open.enter_context(SheetIndex.open(file, encoder, times=times))
        return opened.seen_by(())

    def search(
        self,
        index: SheetIndex,
        reranker: Reranker | str | None = AUTO,
        *,
        all_copies: bool = True,
    ) -> Rankings:
        """Ask an index as users do, but rank every copy, as the plain parts do."""
        retriever = SheetRetriever(index, reranker)
        tokens = self._encoders[GENERAL].encode_queries(self.questions)
        return [
            [
                hit.sheet_id
                for hit in retriever.retrieve(
                    text, DEPTH, token=token, today=UNDATED, all_copies=all_copies
                )
            ]
            for text, token in zip(self.questions, tokens, strict=True)
        ]

    @cached_property
    def sheets(self) -> dict[str, SheetRows]:
        """Rows of every sheet by its id, for plain parts."""
        return self.source.sheets()

    def texts(self, of: Callable[[str, SheetRows], str]) -> list[str]:
        """Return a plain text of every sheet."""
        return [of(sheet_id, rows) for sheet_id, rows in self.sheets.items()]

    def bm25(self, of: Callable[[str, SheetRows], str]) -> FloatArray:
        """BM25 of every question and sheet, (q, n)."""
        return plain.bm25(self.texts(of), self.questions)

    def cosines(self, encoder: str, of: Callable[[str, SheetRows], str]) -> FloatArray:
        """Cosine of every question and sheet, (q, n)."""
        by = self._encoders[encoder]
        tokens = by.encode_sheets([self._cut(text) for text in self.texts(of)])  # (n, d)
        found: FloatArray = by.encode_queries(self.questions) @ tokens.T
        return found

    def ordered(self, scores: FloatArray) -> Rankings:
        """Return the sheets by scores (q, n), best first; equal ones in the order of their ids."""
        ids = sorted(self.sheets)
        places = {sheet_id: place for place, sheet_id in enumerate(self.sheets)}
        by_id = scores[:, [places[each] for each in ids]]
        best = np.argsort(-by_id, axis=1, kind="stable")[:, :DEPTH]
        return [[ids[place] for place in row] for row in best.tolist()]


class Weighing(Reranker):
    """A reranker over candidates that are found with another share of the cosine."""

    def __init__(self, reranker: Reranker, dense_weight: float) -> None:
        self._reranker = reranker
        self._dense_weight = dense_weight

    @property
    def dense_weight(self) -> float:
        """The share, in [0, 1]."""
        return self._dense_weight

    @property
    def trained_candidates(self) -> int | None:
        """As the reranker's."""
        return self._reranker.trained_candidates

    def rerank(
        self, question: Question, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> Sequence[Candidate]:
        """Return what the reranker returns."""
        return self._reranker.rerank(question, candidates, filters)


@dataclass(frozen=True, slots=True)
class System:
    """One row of a table: its name in result files, its title, and its rankings of a source."""

    name: str
    title: str
    rank: Callable[[Searched], Rankings]


def _weighed(on: Searched, weight: float) -> Rankings:
    index = on.index()
    return on.search(index, Weighing(own_reranker(index), weight))


def _reading(on: Searched) -> Rankings:
    index = on.index()
    return on.search(index, LinkReranker(index, LinkSettings(pulling=0)))


def _cosine(on: Searched, encoder: str, of: Callable[[str, SheetRows], str]) -> Rankings:
    return on.ordered(on.cosines(encoder, of))


def _words(on: Searched, of: Callable[[str, SheetRows], str]) -> Rankings:
    return on.ordered(on.bm25(of))


def _sum(on: Searched) -> Rankings:
    cosines = plain.scaled(on.cosines(ARCTIC, plain.row_text))
    return on.ordered(plain.scaled(on.bm25(plain.cell_text)) + 2 * cosines)


DEFAULT = System("default", "**sat-retriever as installed**", lambda on: on.search(on.index()))
_FOLDED = System(
    "folded", "as installed, copies folded", lambda on: on.search(on.index(), all_copies=False)
)
_BEFORE = (
    System("no_reranking", "no reranking", lambda on: on.search(on.index(), None)),
    System("learnt", "with the learnt reranker", lambda on: on.search(on.index(), GENERAL)),
    System("contents_off", "`--contents names`", lambda on: on.search(on.index(Kept.NAMES))),
)
COMPARED = (
    DEFAULT,
    _FOLDED,
    *_BEFORE,
    System("bm25_names", "BM25, names and headers", partial(_words, of=plain.name_text)),
    System("bm25_cells", "BM25, names and cells", partial(_words, of=plain.cell_text)),
    *(
        System(f"{encoder}_{text}", f"{title}, {text}", partial(_cosine, encoder=encoder, of=of))
        for encoder, title in ((MINILM, "MiniLM"), (ARCTIC, "arctic-embed-xs"))
        for text, of in (("names", plain.name_text), ("rows", plain.row_text))
    ),
    System("sum", "BM25, names and cells + 2 × arctic-embed-xs, rows", _sum),
)
"""The rankings of `run real`."""

RUNGS = (
    DEFAULT,
    System("no_words", "without words: the cosine of names", partial(_weighed, weight=1.0)),
    System("no_cosine", "without cosines", partial(_weighed, weight=0.0)),
    System("no_periods", "without periods", lambda on: on.search(on.index(times=False))),
    _FOLDED,
    System("reading", "without links", _reading),
    *_BEFORE,
)
"""The rankings of `run ladder`: the default, and what is left without one or more of its rungs."""
