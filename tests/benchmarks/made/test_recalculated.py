"""The comparison with LibreOffice tells equal values from different ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.made import recalculated as synth_recalculated
from benchmarks.made.recalculated import Tally
from benchmarks.made.recipes import report, store
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.write.xlsx import write_xlsx


def test_files_of_one_name_are_converted_in_different_rounds():
    files = [Path(name) for name in ("a/x.xlsx", "b/X.xlsx", "a/y.xlsx", "c/x.xlsx")]
    assert list(synth_recalculated._batches(files)) == [
        [files[0], files[2]],
        [files[1]],
        [files[3]],
    ]


def test_every_formula_is_compared_and_a_wrong_value_is_shown(tmp_path):
    path = tmp_path / "report.xlsx"
    write_xlsx(compiled(report(), {store().path: store()}.get), path)
    formulas = dict(synth_recalculated._formulas(path))
    ours = synth_recalculated._values(path)
    tally = Tally()
    synth_recalculated._compare("r", formulas, ours, dict(ours), tally)
    assert (tally.formulas, tally.different) == (24, [])
    theirs = {**ours, ("Overview", 6, 3): ours["Overview", 6, 3] + 1e-6}
    del theirs["Overview", 7, 2]
    synth_recalculated._compare("r", formulas, ours, theirs, tally)
    assert [each[1:3] for each in tally.different] == [("Overview", "C6"), ("Overview", "B7")]


def test_without_libreoffice_nothing_is_compared_and_it_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="LibreOffice is not installed"):
        synth_recalculated._program()
