"""`run cascade` over a small corpus, by a method without training."""

from __future__ import annotations

from benchmarks.paper import cascade
from benchmarks.results import read_summaries
from tests.training_corpus import write_corpus


def test_a_method_is_timed_and_a_log_is_told_how_far_it_is(tmp_path, monkeypatch, capsys):
    for name in ("CUDA_VISIBLE_DEVICES", "ACCELERATE_USE_CPU"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("benchmarks.progress._SECONDS", 0.0)
    write_corpus(tmp_path / "industrytab_1k")
    arguments = ["--data", str(tmp_path), "--runs", str(tmp_path / "runs"), "--repeats", "2"]
    cascade.main([*arguments, "--methods", "dense", "--out", str(tmp_path / "out")])
    (found,) = read_summaries("cascade", tmp_path / "out").values()
    asked = found["metrics"]["queries"]
    assert found["metrics"]["calls"] == 2 * asked
    assert found["metrics"]["joint_p50_ms"] > 0
    assert f"dense: {2 * asked} of {2 * asked}, about 0 min left" in capsys.readouterr().err
