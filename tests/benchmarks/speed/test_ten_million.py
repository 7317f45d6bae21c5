"""Figures that are drawn on from measured ones."""

import pytest

from benchmarks.speed.ten_million import FIGURES, SIZES, TARGET, drawn_on, paper


def test_a_power_is_drawn_on_and_a_bend_is_its_error():
    value, power, error = drawn_on({10: 5.0, 100: 5.0, 1000: 50.0}, 10_000)
    assert power == pytest.approx(0.5)
    assert error == pytest.approx(-0.9)  # the first two foresee 5 in place of 50
    assert value > 50


def test_costs_follow_from_units():
    million = {size: dict.fromkeys(FIGURES, size / 1000) for size in SIZES}
    found = paper(million, {"index_s": 36.0, "sheets": 1000})
    assert found["file_mib"] == pytest.approx(TARGET / 1000)
    assert found["reading_ms_a_sheet"] == pytest.approx(72)
    assert found["reading_processor_hours"] == pytest.approx(200)
    assert found["reading_usd"] == pytest.approx(100 * 0.0816, abs=0.001)
    assert found["disk_gb"] == pytest.approx(20_000 * 2**20 / 1e9, abs=0.001)
