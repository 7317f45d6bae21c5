"""Judge the models of an adaptation, and describe its outcome and the layout of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.comparison import Difference, difference
from sat_retriever.datasets.metrics.rows import Rows, metrics_of, row_of
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.progress import Progress
from sat_retriever.text.period.spans import UNDATED
from sat_retriever.train.adapt.questions import Material
from sat_retriever.train.adapt.settings import Stage
from sat_retriever.train.loop.runfolder import CONFIG
from sat_retriever.train.loop.summary import RunSummary, read_run

LEVEL = 0.8  # of the interval; chosen on development corpora, see the benchmarks' log
_K = 5
STAGE_1, STAGE_2 = "stage-1", "stage-2"
CARRIED = "carried"  # the earlier reranker, converted for the adapted encoder's tokens
ENCODER = "encoder"  # in the run of Stage 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way to answer the judging questions, with its scores and the decision about it."""

    name: str  # of the models that answer
    ndcg: float  # mean NDCG@5
    recall: float  # mean Recall@5
    ahead: Difference | None = None  # its lead in NDCG@5 over the models that it would replace
    kept: bool = True  # these models answer from now on, or did until a later verdict replaced them

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Verdict:
        """Read a verdict from the output of `jsonform.to_json`."""
        ahead = values["ahead"]
        return cls(**{**values, "ahead": None if ahead is None else Difference(**ahead)})


def answer_rows(
    index: SheetIndex,
    reranker: str | Path,
    queries: Sequence[Query],
    counting: Progress | None = None,
) -> Rows:
    """Return one row a question, of the first five hits, as `sat search` finds them.

    No day is assumed for relative dates, so the same labels give the same rows tomorrow. The
    reranker is "links", "auto" for the index's own, or the run folder of a trained one.
    """
    retriever = SheetRetriever(index, reranker)
    rows = []
    for place, query in enumerate(queries):
        ids = [hit.sheet_id for hit in retriever.retrieve(query.text, _K, today=UNDATED)]
        rows.append(row_of(place, ids, query.positives, query.hard_negatives))
        if counting is not None:
            counting(len(rows), len(queries))
    return rows


def first_verdict(name: str, now: Rows) -> Verdict:
    """Return the verdict on the models that answer before any training."""
    return Verdict(name, *_means(now))


def next_verdict(name: str, new: Rows, now: Rows, circles: Sequence[int], *, sure: bool) -> Verdict:
    """Return the verdict on models that could replace the current ones.

    The interval is over families, which `circles` numbers for each question. Questions about the
    same families are not independent evidence, and a user's families will be others. With `sure`,
    the models replace only if the lead is beyond chance: the whole interval lies above 0. It holds
    80 % of the draws, so the new models lead in nine draws of ten.

    >>> found = {"query": 0, "relevant": 1, "hits": [1]}, {"query": 1, "relevant": 1, "hits": [1]}
    >>> missed = {"query": 0, "relevant": 1, "hits": []}
    >>> verdict = next_verdict("new", found, (missed, found[1]), (0, 1), sure=True)
    >>> verdict.ahead.mean, verdict.ahead.low, verdict.kept
    (0.5, 0.0, False)
    """
    ahead = difference({None: new}, {None: now}, clusters=circles, level=LEVEL)
    certain = ahead.low > 0 and len(set(circles)) > 1  # with one circle all draws are equal
    kept = certain if sure else ahead.mean > 0
    return Verdict(name, *_means(new), ahead, kept)


def _means(rows: Rows) -> tuple[float, float]:
    found = metrics_of(rows, ("NDCG@5", "Recall@5"))
    return found["NDCG@5"] or 0.0, found["Recall@5"] or 0.0


@dataclass(frozen=True, slots=True)
class Adaptation:
    """The outcome of an adaptation."""

    folder: Path  # an adapted index needs the encoder in it
    stage: Stage  # that was trained; see `AdaptSettings`
    verdicts: tuple[Verdict, ...]  # on the models before and on the trained ones
    apart: bool  # False if few questions both chose and judged, which flatters the figures
    encoder: Path | None  # the new one of the index, if it was replaced
    dense_weight: float | None  # share of the cosine that belongs to it
    reranker: Path | None  # the trained one that the index was given: the earlier, or of a run
    counts: Mapping[str, int]  # of sheets, families and questions by their use
    seconds: float  # wall time with the epochs of earlier starts, without writing the index
    memory_mib: float  # peak of the last start or of the trainings

    @property
    def stage_2_kept(self) -> bool:
        """True if the reranker is the one that was trained here."""
        return self.reranker == self.folder / STAGE_2

    @classmethod
    def read(cls, folder: Path, result: Mapping[str, Any]) -> Adaptation:
        """Read the outcome in a folder from its result.json."""
        return cls(
            folder=folder,
            stage=result["stage"],
            verdicts=tuple(map(Verdict.from_json, result["rows"])),
            apart=result["apart"],
            encoder=folder / STAGE_1 / ENCODER if result["encoder"] else None,
            dense_weight=result["dense_weight"],
            reranker=folder / result["reranker"] if result["reranker"] else None,
            counts=result["counts"],
            seconds=result["seconds"],
            memory_mib=max(
                [result["memory_mib"], *(each.memory_mib for each in trainings(folder))]
            ),
        )


def trainings(folder: Path) -> list[RunSummary]:
    """Return the summaries of the trainings in an adaptation's folder, finished or not."""
    runs = (folder / name for name in (STAGE_1, STAGE_2))
    return [read_run(each) for each in runs if (each / CONFIG).exists()]


def kept_reranker(verdicts: Sequence[Verdict], *, carried: bool) -> str | None:
    """Return the folder of the reranker to use, if it is one of the adaptation's.

    The verdicts are on the earlier models, the adapted encoder, and that encoder with the reranker
    trained here, if there is one. `carried` says that the adapted encoder was judged with the
    earlier reranker, not links.

    >>> first, kept, lost = (Verdict("", 0, 0, kept=each) for each in (True, True, False))
    >>> [kept_reranker((first, *rest), carried=True)
    ...  for rest in ([kept], [kept, lost], [kept, kept], [lost, kept], [lost, lost])]
    ['carried', 'carried', 'stage-2', 'stage-2', None]
    >>> kept_reranker((first, kept, lost), carried=False)
    """
    if len(verdicts) > 2 and verdicts[2].kept:
        return STAGE_2
    return CARRIED if carried and verdicts[1].kept else None


def counts(sheets: int, material: Material) -> dict[str, int]:
    """Return the numbers of sheets, families and questions by their use."""
    return {
        "sheets": sheets,
        "sheets_seen": len(material.seen),
        "families": material.families,
        "families_held_out": material.held_out,
        "made": material.made,
        "own": material.own,
        "own_left_out": material.left_out,
        "train": len(material.train),
        "rerank": len(material.rerank),
        "choose": len(material.choose),
        "judge": len(material.judge),
    }
