"""The contract of Stage 2, a question and its candidates in, a better order out, and its kinds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from sat_retriever.errors import FingerprintMismatchError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.records.candidates import Candidate

# Chosen on Spider's training questions and 1K's validation split (benchmarks/LOG.md).
COMPLETE_SHARE = 0.9


def complete_set(
    candidates: Sequence[Candidate], max_k: int = 20, *, share: float = COMPLETE_SHARE
) -> int:
    """Return how many leading candidates together answer the query, at most `max_k`.

    The answer ends before the first sheet that scores less than a share of the best one. After
    `LinkReranker` the scores take account of links and of the words still missing.

    Raises:
        InputError: If `max_k` is less than 1, or `share` is out of its range.

    >>> scores = (0.8, 0.75, 0.5)
    >>> ranking = [Candidate(str(n), n, s, s, s, n, n) for n, s in enumerate(scores, start=1)]
    >>> complete_set(ranking), complete_set(ranking, 1), complete_set(ranking, share=0.6)
    (2, 1, 3)
    """
    if max_k < 1:
        raise InputError(f"max_k is {max_k}; ask for at least 1")
    if not 0 < share <= 1:
        raise InputError(f"share is {share}; give a share above 0, at most 1")
    if not candidates or candidates[0].score <= 0:
        return 0
    least = share * candidates[0].score
    size = 0
    for candidate in candidates[:max_k]:
        if candidate.score < least:
            break
        size += 1
    return size


_Values = NDArray[Any]


def rescored(candidates: Sequence[Candidate], values: _Values, scores: _Values) -> list[Candidate]:
    """Return candidates with new scores and ranks, in the order of values (k,), best first.

    Ties are in the order of sheet ids. Different values may round to the same shown score.
    """
    places = zip((-values).tolist(), candidates, scores.tolist(), strict=True)
    order = sorted(places, key=lambda place: (place[0], place[1].sheet_id))
    return [each.placed(rank, score) for rank, (_, each, score) in enumerate(order, start=1)]


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates with ranks from 1, in their order."""
    return [
        candidate if candidate.rank == rank else replace(candidate, rank=rank)
        for rank, candidate in enumerate(candidates, start=1)
    ]


class Reranker(Protocol):
    """Stage 2: candidates in, the same sheets in a better order out.

    A reranker of your own inherits from this class and defines `rerank`; it overrides attributes
    whose values do not fit:

        class ShortNamesFirst(Reranker):
            def rerank(self, found):
                order = sorted(found.candidates, key=lambda each: len(each.sheet_id))
                return [each.placed(n, 1 / n) for n, each in enumerate(order, 1)]

        SheetRetriever(index, ShortNamesFirst()).retrieve("orders by region")

    It needs no index: all that it may know about the sheets is in the set that it is given.
    """

    dense_weight: float | None = None
    """Share of the cosine in the score that finds candidates; None is the index's own."""
    trained_candidates: int | None = None
    """Number of candidates per query that it was trained on; None for any number."""
    complete_share: float = COMPLETE_SHARE
    """Smallest share of the best score for a sheet of a complete answer, in (0, 1]."""
    keeps_scale: bool = False
    """True if its scores are comparable with the candidates' earlier ones."""

    @abstractmethod
    def rerank(self, found: CandidateSet) -> Sequence[Candidate]:
        """Return candidates with new scores and ranks, best first.

        Args:
            found: The result of Stage 1, in any order, with the question (its `text`, `token`,
                `words`, `times` and more) and the sheets' records, contents, links and words.
                `found.further` scores sheets to add.
        """
        ...


@dataclass(frozen=True, slots=True)
class UntrainedKind:
    """A reranker that needs no training."""

    name: str
    make: Callable[[], Reranker]


class TrainedOn(Protocol):
    """What a model was trained on, as its spec says."""

    @property
    def encoder(self) -> str:
        """Fingerprint of the Sheet Encoder whose tokens it read."""
        ...

    @property
    def serialization(self) -> str:
        """Fingerprint of the sheet texts."""
        ...


@dataclass(frozen=True, slots=True)
class TrainedKind:
    """A reranker in a folder."""

    name: str  # name of its training (`sat train NAME`), and of its folder within a run
    label: str  # name of its row in a table
    format: str  # `format` in the `config.json` of its folder
    # Reads and checks the description of a model in a folder; loads no model.
    trained_on: Callable[[Path], TrainedOn]
    load: Callable[[SheetIndex, Path], Reranker]
    # Copies the model in a folder into another one, for an encoder trained further from its own,
    # given by its fingerprint. The caller must measure how well it ranks there. None if it reads no
    # tokens.
    carry: Callable[[Path, Path, str], None] | None = None
    has_command: bool = True  # false if no command trains it, but this package's library alone

    @property
    def command(self) -> str | None:
        """The command that trains one; None if there is none."""
        return f"sat train {self.name}" if self.has_command else None


def check_trained_on(index: SheetIndex, folder: Path, command: str | None, on: TrainedOn) -> None:
    """Refuse a model that was trained on other tokens or other texts than an index has."""
    again = "or search with the reranker 'links'"
    if command is not None:
        again = f"or train another on this one ({command} --index {index.path})"
    if on.encoder != index.fingerprint:
        int8 = index.encoder_name.endswith(":int8")
        raise FingerprintMismatchError(
            f"{folder} was trained with tokens of encoder {on.encoder}, but {index.path} was "
            f"written with {index.encoder_name!r} ({index.fingerprint})"
            f"{', and int8 tokens are not those of fp32' if int8 else ''}: search the index it was "
            "trained on, index the folders anew with the training's encoder "
            f"(sat index FOLDER --index NEW --encoder RUN), {again}"
        )
    own = index.serialization.fingerprint
    if on.serialization != own:
        raise FingerprintMismatchError(
            f"{folder} was trained on sheet texts of serialization {on.serialization}, but "
            f"{index.path} has those of {own}: search the index it was trained on, {again}"
        )
