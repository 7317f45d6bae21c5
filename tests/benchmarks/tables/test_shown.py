import pytest

from benchmarks.registry import TABLES
from benchmarks.results import Result, write_result
from benchmarks.tables import shown
from benchmarks.tables.sections import SECTIONS

PARTS = (*shown.CORPORA, *shown.TRAINING, *shown.WITHOUT_LABELS, *shown.UNTRAINED)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.results.FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("part", [*PARTS, shown.PAPER_LABELS], ids=lambda part: part.title)
def test_a_part_without_results_says_so(part, folder):
    assert "not run" in part.part().content


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.title)
def test_the_command_of_a_part_can_be_run(part):
    assert not part.run or part.run in TABLES
    assert all(section.benchmark in TABLES for section in SECTIONS)


def test_a_part_names_its_command_and_the_machine_of_its_results(folder):
    made = Result("made", "industrytab_1k", {"sheets": 30})
    write_result("synth_stats", made)
    part = shown.CORPORA[1].part()
    assert part.text == "`python -m benchmarks run synth_stats`."
    assert "Measured at" in part.markdown()
    assert "| sheets | 30 |" in part.content
