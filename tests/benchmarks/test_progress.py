import pytest

from benchmarks import progress


@pytest.mark.parametrize(
    ("clock", "told", "total", "said"),
    [
        ([0.0, 30.0, 90.0, 100.0], [1, 3, 4], 9, ["work: 3 of 9, about 3 min left"]),
        (  # in large parts: the pace is that of the later ones
            [0.0, 60.0, 120.0, 180.0],
            [200, 400, 500],
            600,
            ["work: 400 of 600, about 1 min left", "work: 500 of 600, about 1 min left"],
        ),
        (  # goes on where an earlier run ended
            [0.0, 30.0, 90.0],
            [801, 803],
            1_000,
            ["work: 803 of 1,000, about 98 min left"],
        ),
    ],
)
def test_long_work_without_a_terminal_says_how_far_it_is(
    clock, told, total, said, monkeypatch, capsys
):
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.pop(0))
    tell = progress.progress_lines("work")
    for done in told:
        tell(done, total)
    assert capsys.readouterr().err.splitlines() == said


def test_values_are_tracked_as_they_are_used_and_nothing_is_on_standard_output(monkeypatch, capsys):
    clock = [0.0, 0.0, 90.0, 100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.pop(0))
    assert list(progress.track(iter("abc"), "letters", 3)) == ["a", "b", "c"]
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "letters: 2 of 3, about 2 min left\n")
    with pytest.raises(AssertionError):
        next(progress.track(iter("abc"), "letters"))
