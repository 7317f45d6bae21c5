"""Figures that are drawn on from measured ones."""

import pytest

from benchmarks.speed.ten_million import IN_FILE, SIZES, TARGET, drawn_on, of_cluster, of_file


def test_a_power_is_drawn_on_and_a_bend_is_its_error():
    value, power, error = drawn_on({10: 5.0, 100: 5.0, 1000: 50.0}, 10_000)
    assert power == pytest.approx(0.5)
    assert error == pytest.approx(-0.9)  # the first two foresee 5 in place of 50
    assert value > 50


def test_costs_follow_from_units():
    million = {size: dict.fromkeys(IN_FILE, size / 1000) for size in SIZES}
    found = of_file(million, {"index_s": 36.0, "sheets": 1000})
    assert found["file_mib"] == pytest.approx(TARGET / 1000)
    assert found["reading_ms_a_sheet"] == pytest.approx(72)
    assert found["reading_processor_hours"] == pytest.approx(200)
    assert found["reading_usd"] == pytest.approx(100 * 0.0816, abs=0.001)
    assert found["disk_gb"] == pytest.approx(20_000 * 2**20 / 1e9, abs=0.001)


def test_workers_share_the_work_and_one_driver_writes():
    spent = {"read_s": 40.0, "link_s": 10.0, "encode_s": 50.0}
    found = of_cluster({**spent, "list_s": 1.0, "fetch_s": 1.0, "write_s": 3.0, "sheets": 1000})
    assert found["reading_ms_a_sheet"] == pytest.approx(100)
    assert found["driver_hours"] == pytest.approx(0.005 * TARGET / 3600)
    assert found["cores_of_one_driver"] == pytest.approx(20)
