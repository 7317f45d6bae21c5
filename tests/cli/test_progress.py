"""Progress in a terminal of any width, and in a log."""

from __future__ import annotations

import io
import json
import re

import openpyxl
import pytest
from rich.cells import cell_len
from rich.console import Console

from sat_retriever.cli import progress as module
from sat_retriever.cli.progress import At, Lines, progress
from sat_retriever.cli.train.session import TrainingBar
from sat_retriever.train.loop.state import TrainingProgress
from tests.cli.terminals import in_terminal

DEEP = "reports/of the northern region/2024/quarterly figures/Sales and returns, final.xlsx"
READING = At("reading", 1_200, 8_000, noun="workbook", path=DEEP)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def drawn(width: int, *told: At) -> str:
    """The last line of a bar in a terminal of a width, without its colours."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    bar = module._Bar(console)
    for now in told:
        bar.at(now)
    with console.capture() as shown:
        console.print(*bar.get_renderables())
    lines = shown.get().splitlines()
    assert len(lines) == 1
    return lines[0]


class Replaced(module._Bar):
    """A bar whose task goes as soon as it was looked at, as `at` of another thread removes it."""

    @property
    def tasks(self):
        found = super().tasks
        for task in found:
            self.remove_task(task.id)
        return found


def test_a_task_that_goes_while_the_bar_is_drawn_does_not_end_the_drawing():
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    bar = Replaced(console)
    bar.add_task("", total=8, completed=1, stage="reading")
    bar._now = READING
    assert len(list(bar.get_renderables())) == 1
    assert list(bar.get_renderables()) == []


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_bar_keeps_its_numbers_at_any_width(width):
    line = drawn(width, READING)
    assert "1,200/8,000" in line
    assert "reading" in line
    assert cell_len(line) <= width


def test_the_path_keeps_its_end_and_gives_way_to_the_numbers():
    assert DEEP in drawn(160, READING)
    assert "…" in drawn(80, READING)
    assert "final.xlsx" in drawn(80, READING)
    assert "xlsx" not in drawn(40, READING)


def test_a_path_of_wide_letters_or_control_characters_takes_one_line():
    for path in ("报告/" * 60 + "销售.xlsx", "a\nb\x1b[31m" * 40):
        assert cell_len(drawn(80, At("reading", 1, 2, path=path))) <= 80


@pytest.mark.parametrize("width", [80, 120])
def test_the_bar_of_a_training_keeps_what_it_measures(width):
    seen: list[At] = []

    class Kept:
        def at(self, now: At) -> None:
            seen.append(now)

        def say(self, text: str) -> None:
            raise AssertionError(text)

    TrainingBar(Kept()).training(TrainingProgress("graph", "training", 2, 20, 31, 300, 0.5, 0.9))
    line = drawn(width, *seen)
    assert "31/300" in line
    assert "loss 0.500, best NDCG@5 .900" in line
    assert "graph: training" in line


def test_a_number_that_is_not_known_is_a_question_mark():
    assert "1,200/?" in drawn(80, At("making sheets", 1_200))


def test_a_log_gets_a_line_now_and_then(capsys):
    clock = Clock()
    lines = Lines("index", clock)
    for second in range(61):
        clock.now = float(second)
        lines.at(At("reading", 40 * second, 8_000, noun="workbook", path=DEEP))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 6
    assert told[2] == (
        "sat index: reading, 1,200 of 8,000 workbooks, 40 workbooks/s, about 3 minutes left"
    )


def test_the_lines_of_a_long_command_become_rarer(capsys):
    clock = Clock()
    lines = Lines("adapt", clock)
    for second in range(0, 36_000, 5):
        clock.now = float(second)
        lines.at(At("training", second, 36_000))
    told = capsys.readouterr().err.splitlines()
    assert 60 <= len(told) <= 200


def test_speed_and_time_left_are_those_of_what_is_being_done(capsys):
    clock = Clock()
    lines = Lines("synth", clock)
    lines.at(At("making sheets", 1, 1_000))
    clock.now = 1_000.0
    lines.at(At("making queries", 50, 250, noun="query"))
    clock.now = 1_100.0
    lines.at(At("making queries", 150, 250, noun="query"))
    assert capsys.readouterr().err.splitlines()[-1].endswith("about 2 minutes left")


def test_a_short_command_leaves_a_log_empty(capsys):
    with progress("index", "reading") as shown:
        for done in range(100):
            shown.at(At("reading", done, 100, noun="workbook"))
    assert capsys.readouterr().err == ""


def test_no_line_of_a_log_has_control_characters(capsys):
    clock = Clock()
    lines = Lines("bench", clock)
    clock.now = 10.0
    lines.at(At("a\x1b[31m\r[red]method", 1, 2, figures="\x07"))
    err = capsys.readouterr().err
    assert err.endswith("\n")
    assert all(char.isprintable() for char in err[:-1])
    assert "[red]method" in err


REDIRECTED = [
    (("index", "{workbooks}", "--index", "{tmp}/x.sat", "--encoder", "{encoder}"), "workbook"),
    (("synth", "--out", "{tmp}/corpus", "--scale", "20", "--queries", "9"), "making sheets"),
    (("queries", "-i", "{index}", "--number", "5"), "reading sheets"),
]


@pytest.mark.parametrize(("line", "word"), REDIRECTED, ids=[line[0] for line, _ in REDIRECTED])
def test_redirected_output_has_lines_on_standard_error_and_json_on_standard_output(
    line, word, sat, monkeypatch, tmp_path, workbooks, encoder, index_file
):
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(module, "_LINE_SHARE", 0.0)
    places = {"tmp": tmp_path, "workbooks": workbooks, "encoder": encoder, "index": index_file}
    run = sat(*(part.format(**places) for part in line), "--json")
    assert run.code == 0, run.err
    assert isinstance(json.loads(run.out), dict)
    told = run.err.splitlines()
    assert told
    assert all(re.match(rf"sat {line[0]}: ", one) for one in told)
    assert word in run.err
    assert not re.search(r"[^\n\x20-\x7e…]", run.err)


def test_a_huge_workbook_shows_how_much_of_it_was_read(sat, monkeypatch, tmp_path, encoder):
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(module, "_LINE_SHARE", 0.0)
    book = openpyxl.Workbook(write_only=True)
    for name in ("One", "Two"):
        sheet = book.create_sheet(name)
        for row in range(6_000):
            sheet.append([f"Pump {row}", row, 1.5 * row])
    (tmp_path / "huge").mkdir()
    book.save(tmp_path / "huge" / "Huge.xlsx")
    run = sat("index", tmp_path / "huge", "--index", tmp_path / "x.sat", "--encoder", encoder)
    assert run.code == 0, run.err
    shares = re.findall(r"^sat index: reading, 0 of 1 workbook, Huge.xlsx (\d+)%", run.err, re.M)
    assert shares
    assert [*map(int, shares)] == sorted({*map(int, shares)})
    assert "1 of 1 workbook" in run.err
    assert "%" not in run.err.partition("1 of 1")[2]


def test_the_bar_of_sat_index_has_its_numbers_in_a_real_terminal(encoder, tmp_path):
    folder = tmp_path / "a folder with a name that is longer than most, as folders are"
    folder.mkdir()
    for number in range(12):
        text = "Name,Salary\nAda,1\n"
        (folder / f"A file with a long name {number}.csv").write_text(text)
    made = ("--encoder", encoder, "-i", tmp_path / "x.sat")
    run = in_terminal("index", tmp_path, *made, "--json", columns=40)
    assert json.loads(run.out)["added"] == 12
    assert run.code == 0
    assert re.search(r"\b\d+/12\b", run.err)
