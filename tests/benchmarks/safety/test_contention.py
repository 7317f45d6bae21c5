import pytest

from benchmarks.results import read_results
from benchmarks.safety.contention import main
from benchmarks.safety.contention_part import Report, Seen
from sat_retriever import Column, SheetRecord
from sat_retriever.errors import IndexBusyError


def sheet(version, *, name="S0", path="book001.xlsx", of="book001"):
    columns = (Column("Key"), Column(version), Column(f"Amount of {of}"))
    return SheetRecord(f"{path}#{name}", name, path=path, columns=columns)


@pytest.mark.slow
def test_two_writers_and_readers_leave_a_result(tmp_path):
    results = tmp_path / "results"
    wanted = ["--seconds", "2", "--readers", "2", "--workbooks", "4"]
    main([*wanted, "--work", str(tmp_path / "work"), "--out", str(results)])
    [file] = read_results("contention", results)
    found = file["metrics"]
    assert found["same_as_a_fresh_index"] is True
    assert found["findings"] == 0
    assert found["workbooks_written"] > 0
    assert found["openings"] > 0


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([sheet("w0n7"), sheet("w0n8", name="S1")], "is of w0n8 and w0n7 at once"),
        ([sheet("w0n7", of="book002")], "holds what is of another workbook"),
        ([sheet("w0n7", path="book002.xlsx", of="book001")], "holds what is of another workbook"),
        ([sheet("w0n5")], "book001.xlsx went back to w0n5"),
        ([sheet("nonsense")], "book001.xlsx went back to nonsense"),
    ],
)
def test_an_answer_of_no_committed_state_is_found(records, said):
    seen = Seen({})
    seen.check([sheet("w0n6")])
    with pytest.raises(SystemExit, match=said):
        seen.check(records)


def test_only_a_busy_index_is_no_finding():
    report = Report()

    def refuse(error):
        raise error

    report.did("syncs", lambda: None)
    report.did("syncs", lambda: refuse(IndexBusyError("busy")))
    report.did("syncs", lambda: refuse(KeyError("x")))
    report.did("shows", lambda: refuse(SystemExit("torn")))
    assert report.counts == {"syncs": 1, "syncs_busy": 1, "findings": 2}
    assert report.findings == ["syncs: KeyError: 'x'", "shows: SystemExit: torn"]
