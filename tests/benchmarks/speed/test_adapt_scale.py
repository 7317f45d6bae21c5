import pytest

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
