import io
import json
import re
import zipfile

import pytest

from benchmarks.results import read_results
from benchmarks.safety import robustness
from benchmarks.safety.mutants import made_seeds
from benchmarks.safety.robustness import Notes, Tally, fuzz, main

SAME = (
    "files crashes files_without_record_or_reason records worksheets_an_oracle_opens "
    "worksheets_missed skipped_by_reason"
).split()


def test_mutants_are_read_timed_and_measured(tmp_path):
    results = tmp_path / "results"
    where = ["--data", str(tmp_path / "nothing"), "--work", str(tmp_path / "work")]
    main([*where, "--only", "fuzz", "--mutants", "12", "--out", str(results)])
    [found] = read_results("robustness", results)
    assert found["metrics"]["files"] == 12
    assert found["metrics"]["crashes"] == 0
    assert found["metrics"]["max_cpu_s"] >= 0.0
    assert found["metrics"]["max_memory_mib"] > 5
    kinds = [row["finding"] for row in found["per_query"]]
    assert [kinds.count(kind) for kind in ("slow", "busy", "large")] == [10, 10, 10]
    assert not list((tmp_path / "work").glob("*"))


def test_made_workbooks_hold_no_time_so_that_a_seed_gives_the_same_mutants_every_day():
    packages = [c for c in made_seeds().values() if zipfile.is_zipfile(io.BytesIO(c))]
    assert len(packages) == 4
    for content in packages:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            assert {info.date_time for info in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            if "docProps/core.xml" in package.namelist():
                written = re.findall(r">(\d{4}-[^<]*)<", package.read("docProps/core.xml").decode())
                assert set(written) == {"2024-01-01T00:00:00Z"}


def test_a_stopped_run_goes_on_and_finds_the_same(tmp_path, monkeypatch):
    whole = fuzz(made_seeds(), 8, 0, tmp_path / "whole").metrics()
    monkeypatch.setattr(robustness, "_KEPT_EVERY", 3)
    read, left = robustness.read_workbook, iter(range(5))

    def interrupted(path):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return read(path)

    monkeypatch.setattr(robustness, "read_workbook", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fuzz(made_seeds(), 8, 0, tmp_path / "work")
    [notes] = (tmp_path / "work").glob("*.json")
    assert json.loads(notes.read_text(encoding="utf-8"))["tally"]["files"] == 3
    again = []
    monkeypatch.setattr(robustness, "read_workbook", lambda path: again.append(path) or read(path))
    resumed = fuzz(made_seeds(), 8, 0, tmp_path / "work").metrics()
    assert len(again) == 5
    assert {name: resumed[name] for name in SAME} == {name: whole[name] for name in SAME}


def test_notes_of_something_else_are_not_taken(tmp_path):
    tally = Tally(files=4)
    tally.reasons.update(["damaged"])
    Notes(tmp_path / "a.json", "one").write(tally)
    assert Notes(tmp_path / "a.json", "one").read() == tally
    assert Notes(tmp_path / "a.json", "two").read() == Tally()
