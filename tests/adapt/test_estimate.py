"""How long an adaptation is said to take."""

from __future__ import annotations

import time

import pytest

from sat_retriever.adapt.estimate import estimated_seconds
from sat_retriever.adapt.questions import prepare
from sat_retriever.adapt.settings import AdaptSettings
from sat_retriever.index import SheetIndex
from tests.adapt.corpus import sheet_records
from tests.fakes import HashedEncoder

SETTINGS = AdaptSettings(number=100, share=0.3)


class TimedEncoder(HashedEncoder):
    """A second a text by a clock of its own, and an hour more whenever the machine is busy."""

    now = 0.0
    busy = ()  # calls, counted from 0, that take so long

    def encode_sheets(self, texts):
        self.busy, late = [call - 1 for call in self.busy], 0 in self.busy
        self.now += len(texts) + 3600 * late
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
    times = [estimated(AdaptSettings(number=100, share=0.3, epochs=epochs)) for epochs in (1, 2, 3)]
    assert times[0] > 72
    assert times[2] - times[1] == pytest.approx(times[1] - times[0])
    assert times[1] > times[0]


@pytest.mark.parametrize("busy", [(0,), (1,), (2, 3)])
def test_a_machine_that_is_busy_for_a_moment_does_not_count(encoder, estimated, busy):
    alone = estimated()
    encoder.busy = busy
    assert estimated() == alone
