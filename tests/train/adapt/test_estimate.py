"""How long an adaptation is said to take."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from sat_retriever.index.index import SheetIndex
from sat_retriever.train.adapt.questions import prepare
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.adapt.start import estimated_seconds
from tests.fakes import HashedEncoder
from tests.train.adapt.corpus import sheet_records

SETTINGS = AdaptSettings(number=100, share=0.3)


class TimedEncoder(HashedEncoder):
    """A second a text by a clock of its own, and what the machine is busy with meanwhile."""

    now = 0.0
    late = iter(())  # seconds more of the next calls

    def encode_sheets(self, texts):
        self.now += len(texts) + next(self.late, 0)
        return super().encode_sheets(texts)


@pytest.fixture
def encoder(monkeypatch):
    made = TimedEncoder()
    monkeypatch.setattr(time, "perf_counter", lambda: made.now)
    return made


@pytest.fixture
def estimated(tmp_path, encoder):
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        index.add_records(sheet_records())
        material = prepare(index, SETTINGS, tmp_path)
        yield lambda settings=SETTINGS: estimated_seconds(index, material, settings)


def test_more_epochs_take_longer(estimated):
    times = [estimated(replace(SETTINGS, epochs=epochs)) for epochs in (1, 2, 3)]
    assert times[0] > 72
    assert times[2] - times[1] == pytest.approx(times[1] - times[0])
    assert times[1] > times[0]


@pytest.mark.parametrize("late", [(3600,), (0, 3600), (0, 0, 3600, 3600)])
def test_a_machine_that_is_busy_for_a_moment_does_not_count(encoder, estimated, late):
    alone = estimated()
    encoder.late = iter(late)
    assert estimated() == alone
