"""Describe the outcome of an adaptation and the layout of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.train.adapt.judging import Verdict
from sat_retriever.train.adapt.questions import Material
from sat_retriever.train.adapt.settings import Stage
from sat_retriever.train.loop.runfolder import CONFIG
from sat_retriever.train.loop.summary import RunSummary, read_run

STAGE_1, STAGE_2 = "stage-1", "stage-2"
CARRIED = "carried"  # the earlier reranker, converted for the adapted encoder's tokens
ENCODER = "encoder"  # in the run of Stage 1


@dataclass(frozen=True, slots=True)
class Adaptation:
    """The outcome of an adaptation.

    Attributes:
        folder: Its folder; an adapted index needs the encoder in it.
        stage: Models that were trained; see `AdaptSettings`.
        verdicts: The models before, and the trained ones, on the judging questions.
        apart: True if the judging questions were not used to choose as well. If they were, there
            were few questions, and the figures are better than they would be on others.
        encoder: The new encoder of the index, if it was replaced.
        dense_weight: Share of the cosine that belongs to it.
        reranker: Folder of the trained reranker that the index was given: a copy of the earlier
            one, or the run of the one trained here. None if links came with the new encoder, or
            nothing was replaced.
        counts: Numbers of sheets, families and questions by their use.
        seconds: Wall time of the start that finished, plus the epochs of earlier starts; without
            the writing of the index.
        memory_mib: Peak memory of that start or of the trainings, whichever is larger.
    """

    folder: Path
    stage: Stage
    verdicts: tuple[Verdict, ...]
    apart: bool
    encoder: Path | None
    dense_weight: float | None
    reranker: Path | None
    counts: Mapping[str, int]
    seconds: float
    memory_mib: float

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

    Args:
        verdicts: Verdicts on the earlier models, the adapted encoder, and that encoder with the
            reranker trained here, if there is one.
        carried: True if the adapted encoder was judged with the earlier reranker, not links.

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
