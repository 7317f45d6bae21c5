from benchmarks import progress


def test_long_work_without_a_terminal_says_how_far_it_is(monkeypatch, capsys):
    clock = iter([0.0, 30.0, 90.0, 100.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    tell = progress.progress_lines("LLM-only")
    for done in (1, 3, 4):
        tell(done, 9)
    assert capsys.readouterr().err == "LLM-only: 3 of 9, about 3 min left\n"


def test_work_that_is_told_in_large_parts_is_estimated_by_the_later_ones(monkeypatch, capsys):
    clock = iter([0.0, 60.0, 120.0, 180.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    tell = progress.progress_lines("dense")
    for done in (200, 400, 500):
        tell(done, 600)
    said = ["dense: 400 of 600, about 1 min left", "dense: 500 of 600, about 1 min left"]
    assert capsys.readouterr().err.splitlines() == said


def test_work_that_goes_on_is_estimated_by_what_was_done_since(monkeypatch, capsys):
    clock = iter([0.0, 30.0, 90.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    tell = progress.progress_lines("kills")
    for done in (801, 803):
        tell(done, 1_000)
    assert capsys.readouterr().err == "kills: 803 of 1,000, about 98 min left\n"
