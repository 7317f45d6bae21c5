"""What an adaptation came to, read from its folder."""

from __future__ import annotations

import pytest

from sat_retriever.train.adapt.outcome import STAGE_1, STAGE_2, Adaptation
from sat_retriever.train.loop.runfolder import RunFolder

RESULT = {
    "rows": [{"name": "now", "ndcg": 0.5, "recall": 0.5, "ahead": None, "kept": True}],
    "stage": "both", "apart": True, "encoder": None, "dense_weight": None, "reranker": None,
    "counts": {}, "seconds": 100.0, "memory_mib": 900.0,
}  # fmt: skip


def train(folder, name: str, *peaks: float) -> None:
    """A run folder with an epoch of each peak memory, MiB."""
    run = RunFolder.open(folder / name, {"seed": 1}, data_hash="h")
    for epoch, peak in enumerate(peaks):
        run.log({
            "row": "epoch", "phase": name, "epoch": epoch, "step": epoch, "best": False,
            "validation": {}, "seconds": 1.0, "memory_mib": peak, "gpu_memory_mib": None,
        })  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [((), (), 900), ((700,), (), 900), ((800, 3800, 3700), (1200,), 3800), ((), (1000.5,), 1000.5)],
)
def test_peak_memory_is_also_that_of_trainings_that_an_earlier_start_made(
    tmp_path, first, second, most
):
    train(tmp_path, STAGE_1, *first)
    train(tmp_path, STAGE_2, *second)
    assert Adaptation.read(tmp_path, RESULT).memory_mib == most


def test_without_its_trainings_the_outcome_can_be_read(tmp_path):
    made = Adaptation.read(tmp_path, RESULT)
    assert (made.memory_mib, made.encoder, made.stage_2_kept) == (900, None, False)
    assert [row.name for row in made.verdicts] == ["now"]
