import pytest

from benchmarks.results import Result
from benchmarks.speed import adapt_scale


def test_an_adaptation_that_fails_ends_the_command(tmp_path, capfd):
    with pytest.raises(SystemExit, match=r"sat adapt failed for .*no\.sat \(exit status \d\)"):
        adapt_scale.adapt(tmp_path / "no.sat", ["--number", "5"])
    assert capfd.readouterr().err


def test_a_corpus_that_is_there_is_not_made_again(tmp_path, monkeypatch):
    steps = []
    monkeypatch.setattr(adapt_scale, "apart", lambda step, *_: steps.append(step))
    folder = tmp_path / "30"
    folder.mkdir()
    for _ in range(2):
        assert adapt_scale.prepared(folder, 30) == folder / "sheets.sat"
    assert steps == ["make", "index"]


def test_a_size_stands_in_a_column_of_its_own():
    results = [
        Result("sat_adapt", f"sheets_{sheets}", {"in_one_go": True, "adapt_s": sheets / 10})
        for sheets in (1000, 10_000)
    ]
    table = adapt_scale.show(results)
    assert [column.header for column in table.columns] == ["", "sheets_1000", "sheets_10000"]
    assert [list(column.cells) for column in table.columns][2] == ["yes", "1,000.0"]
