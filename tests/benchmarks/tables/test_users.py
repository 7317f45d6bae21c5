import pytest

from benchmarks.results import Result, write_result
from benchmarks.tables.users import indexing_table, speed_table, warned_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.results.FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("table", [indexing_table, speed_table, warned_table])
def test_a_table_without_results_says_so(table):
    assert "not run" in table()


def test_a_first_answer_takes_the_import_the_opening_and_the_question():
    shown = {"default_p50_ms": 9.0, "default_p95_ms": 12.0, "file_mib": 4.0,
             "reader_private_mib": 142.0, "recall_at_50": 1.0}  # fmt: skip
    parts = {"import_s": 0.5, "open_and_load_encoder_s": 0.2, "first_answer_s": 0.05}
    for sheets in (100_000, 1_000):
        metrics = {"sheets": sheets, **shown, **parts}
        write_result("million", Result("sat-retriever", f"template_{sheets}_contents", metrics))
        write_result("million", Result("sat-retriever", f"template_{sheets}", metrics))
    *_, first, last = speed_table().splitlines()
    assert first == "| 1,000 | 9.000 | 12.0 | .750 | 4.000 | 142.0 | 1.000 |"
    assert last.startswith("| 100,000 |")
    assert len(speed_table().splitlines()) == 4


def test_warnings_have_the_range_over_tests_and_leave_out_validation():
    for name, split, share in (("a", "test", 0.0), ("b", "test", 0.5), ("c", "test", 0.25),
                               ("d", "validation", 1.0)):  # fmt: skip
        metrics = {"warned_right": share, "warned_foreign": share, "warned_removed": share}
        write_result("nothing", Result("confidence", name, metrics, split=split))
    heading, _, right, *_ = warned_table().splitlines()
    assert heading.endswith("| most of 3 tests |")
    assert right.endswith("| .000 | .250 | .500 |")


def test_a_corpus_that_was_made_and_not_indexed_has_no_row():
    made = {"sheets": 9, "workbooks": 3}
    write_result("synth_scale", Result("made", "large", made))
    assert "not run" in indexing_table()
    indexed = {**made, "index_s": 1.5, "index_main_mib": 300.0, "index_mib": 2.0}
    write_result("synth_scale", Result("made", "small", indexed))
    assert indexing_table().splitlines()[2:] == ["| 9 | 3 | 1.500 | 300.0 | 2.000 |"]
