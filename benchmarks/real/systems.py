"""The rankings of `run real`: a source in, ranked sheets of its questions out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from benchmarks.indexes import fill, made_once
from benchmarks.real import plain
from benchmarks.real.cost import Asking
from benchmarks.real.sources import SheetRows, Source
from benchmarks.real.without import Change, ChangedIndex
from benchmarks.results import ROOT, data_hash
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.metrics.rows import DEPTH
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.opening import open_store
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.permissions import EVERYONE
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.period.spans import UNDATED

MINILM, ARCTIC, GENERAL = "minilm", "arctic", "general"
Rankings = Sequence[Sequence[str]]  # of each question, best first
# Parts of the package that an index depends on; a change of one makes indexes anew.
_MADE_BY = ("encoder", "index", "links", "records", "text", "workbook")


class Searched:
    """A source as it is searched, with its indexes and plain texts, each made when needed.

    Args:
        source: The source.
        encoders: Encoders by name.
        cut: Cuts a plain text for an encoder.
        work: Where indexes are kept.
        hits: Sheets that a retriever is asked for.
    """

    def __init__(
        self,
        source: Source,
        encoders: Mapping[str, Encoder],
        cut: Callable[[str], str],
        work: Path,
        hits: int = DEPTH,
    ) -> None:
        self.source = source
        self.questions = [query.text for query in source.dataset.queries]
        self._encoders = encoders
        self._cut = cut
        self._work = work
        self._hits = hits
        self._open = ExitStack()

    def close(self) -> None:
        """Close the indexes."""
        self._open.close()

    def index(
        self, contents: ContentsPolicy = ContentsPolicy.ALL, *, times: bool = True
    ) -> SheetIndex:
        """Return the index by the general encoder, opened anew, without the sheets left out."""
        file, encoder = self._file(contents), self._encoders[GENERAL]
        return self._seen(SheetIndex.open(file, encoder, times=times))

    def changed_index(self, change: Change) -> SheetIndex:
        """Return the same index, searched as if it held something else of its sheets."""
        file, encoder = self._file(ContentsPolicy.ALL), self._encoders[GENERAL]
        return self._seen(ChangedIndex(open_store(file), encoder, change))

    def _seen(self, index: SheetIndex) -> SheetIndex:
        return self._open.enter_context(index).seen_by(())

    def _file(self, contents: ContentsPolicy) -> Path:
        """Return the file of an index; one that the same code made is taken up again.

        Nobody may see the sheets that the source leaves out, so it is as if they were not there:
        a page with the questions would speak for the other sheets of its workbook.
        """
        encoder, dataset = self._encoders[GENERAL], self.source.dataset
        excluded = self.source.excluded
        code = [each for part in _MADE_BY for each in (ROOT / "sat_retriever" / part).rglob("*.py")]
        code.append(Path(__file__))  # says what is left out
        key = f"{self.source.name}-{contents}-{encoder.fingerprint}-{data_hash(sorted(code))}"

        def make(index: SheetIndex) -> None:
            fill(index, dataset, "none")
            index.permit(lambda record: [] if record.sheet_id in excluded else [EVERYONE])

        return made_once(self._work / f"{key}.sat", encoder, make, contents=contents)

    def asking(
        self,
        index: SheetIndex,
        reranker: Reranker | str | None = AUTO,
        *,
        all_copies: bool = True,
    ) -> Asking:
        """Return what asks an index as users do, but ranks every copy, as the plain parts do.

        The tokens of the questions are there before the first is asked.
        """
        retriever = SheetRetriever(index, reranker)
        tokens = self._encoders[GENERAL].encode_queries(self.questions)

        def ask(place: int) -> list[str]:
            found = retriever.retrieve(
                self.questions[place],
                self._hits,
                token=tokens[place],
                today=UNDATED,
                all_copies=all_copies,
            )
            return [hit.sheet_id for hit in found]

        return ask

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

    def ordered(self, scores: FloatArray) -> Asking:
        """Return the sheets by scores (q, n), best first; equal ones in the order of their ids."""
        ids = sorted(self.sheets)
        places = {sheet_id: place for place, sheet_id in enumerate(self.sheets)}
        by_id = scores[:, [places[each] for each in ids]]
        best = np.argsort(-by_id, axis=1, kind="stable")[:, :DEPTH]
        rankings = [[ids[place] for place in row] for row in best.tolist()]
        return rankings.__getitem__


@dataclass(frozen=True, slots=True)
class System:
    """One row of a table.

    Attributes:
        name: Its name in result files.
        title: Its title.
        asking: Makes what asks it questions of a source; each has indexes of its own.
        code: Where the code is that only it takes, or that goes with it; see `code_lines`.
    """

    name: str
    title: str
    asking: Callable[[Searched], Asking]
    code: tuple[str, ...] = ()

    def rank(self, on: Searched) -> Rankings:
        """Return the ranking of every question of a source."""
        ask = self.asking(on)
        return [ask(place) for place in range(len(on.questions))]


def _cosine(on: Searched, encoder: str, of: Callable[[str, SheetRows], str]) -> Asking:
    return on.ordered(on.cosines(encoder, of))


def _words(on: Searched, of: Callable[[str, SheetRows], str]) -> Asking:
    return on.ordered(on.bm25(of))


def _sum(on: Searched) -> Asking:
    cosines = plain.scaled(on.cosines(ARCTIC, plain.row_text))
    return on.ordered(plain.scaled(on.bm25(plain.cell_text)) + 2 * cosines)


def package(*parts: str) -> tuple[str, ...]:
    """Return the full names of some parts of the package."""
    return tuple(f"sat_retriever.{part}" for part in parts)


DEFAULT = System("default", "**sat-retriever as installed**", lambda on: on.asking(on.index()))
FOLDED = System(
    "folded",
    "as installed, copies folded",
    lambda on: on.asking(on.index(), all_copies=False),
    package("links.copies", "index.search.candidates:copies_of", "index.store.copies"),
)
BEFORE = (
    System(
        "no_reranking",
        "no reranking",
        lambda on: on.asking(on.index(), None),
        package("rank.links", "text.spelling:abbreviates"),
    ),
    System(
        "learnt",
        "with the learnt reranker",
        lambda on: on.asking(on.index(), GENERAL),
        package("rank.features"),
    ),
    System(
        "contents_off",
        "`--contents names`",
        lambda on: on.asking(on.index(ContentsPolicy.NAMES)),
        package(
            "records.contents", "text.contents", "text.serialize:contents_text",
            "index.store.packing", "index.store.words", "rank.links.reading",
        ),
    ),
)  # fmt: skip
COMPARED = (
    DEFAULT,
    FOLDED,
    *BEFORE,
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
