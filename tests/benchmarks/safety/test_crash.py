import pytest

from benchmarks.results import read_results
from benchmarks.safety.crash import main
from benchmarks.safety.crash_lane import Lane
from sat_retriever import SheetEncoder, SheetIndex

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def encoder():
    return SheetEncoder.load()


@pytest.fixture
def lane(tmp_path):
    return Lane.open(tmp_path / "lane", "0:0", 2)


def test_a_few_kills_leave_a_result_and_no_work(tmp_path):
    work, results = tmp_path / "work", tmp_path / "results"
    wanted = ["--kills", "2", "--workbooks", "2", "--lanes", "1"]
    main([*wanted, "--work", str(work), "--out", str(results)])
    [file] = read_results("crash", results)
    found = file["metrics"]
    assert found["killed"] == 2
    assert found["runs"] == found["reruns_that_completed"] >= 2
    assert found["workbook_states_checked"] == 2 * found["runs"]
    assert found["torn_workbooks"] == found["processes_left_behind"] == 0
    kinds = ("before_a_first_index", "before_a_write", "between_writes", "after_all_writes")
    assert sum(found[f"killed_{kind}"] for kind in kinds) == 2
    assert list(work.iterdir()) == []


def test_a_stopped_lane_goes_on_and_one_of_another_seed_begins_anew(lane, encoder):
    lane.step(encoder)
    again = Lane.open(lane.folder, "0:0", 2)
    assert (again.newest, again.counts) == (lane.newest, lane.counts)
    assert again.round == again.counts["runs"] == 1
    other = Lane.open(lane.folder, "1:0", 2)
    assert (other.round, other.counts.total()) == (0, 0)


def test_a_lane_that_is_cut_off_in_a_round_goes_on_from_the_round_before(lane, encoder):
    lane._write(["book000.xlsx"])
    lane.let_through()  # files and index are ahead of what was kept
    again = Lane.open(lane.folder, "0:0", 2)
    again.step(encoder)
    again.finish(encoder)
    assert again.round == again.counts["runs"] == 1


def test_a_workbook_that_was_lost_is_found(lane, encoder):
    with SheetIndex.open(lane.file, encoder) as index:
        index.remove(index.sheet_ids("book001.xlsx"))
    with pytest.raises(SystemExit, match=r"book001.xlsx is in no whole state: None"):
        lane._checked(anew=False, encoder=encoder)
    lane.file.unlink()
    with pytest.raises(SystemExit, match="is gone"):
        lane._checked(anew=False, encoder=encoder)
    lane._forget()
    assert lane._checked(anew=True, encoder=encoder) == dict.fromkeys(lane.newest)


def test_the_log_of_a_killed_writer_stays_when_its_index_is_deleted(lane, encoder):
    (lane.folder / "left.wal").write_bytes(b"old pages")
    lane._forget()
    assert not lane.file.exists()
    assert lane.file.with_name("crash.sat-wal").read_bytes() == b"old pages"
    lane.let_through()
    lane.finish(encoder)
