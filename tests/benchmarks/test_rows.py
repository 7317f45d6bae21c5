import lzma
import subprocess
import sys

import pytest

from benchmarks.results import ROOT, Result, read_results, write_result
from benchmarks.rows import FILE, Block, DamagedRowsError, blocks, write_blocks
from sat_retriever.errors import OutputError

ROWS = [{"query": 0, "hits": [1, 9], "hard": None}, {"query": 1, "hits": [], "hard": True}]


def write(folder, *, seed, rows=ROWS):
    return write_result("b", Result("m", "d", {"n": 1}, "all", seed, rows), folder=folder)


def names(folder):
    return [block.result for block in blocks(folder / "b" / FILE)]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [{"finding": "hang", "file": "a", "seconds": 1.5}, {"finding": "miss", "reasons": ["ü"]}],
        [{"b": 1, "a": None}, {"a": 1, "b": 2.0}, {"b": 1, "a": False}],
        [],
    ],
)
def test_rows_come_back_as_they_were(rows):
    found = Block.of("r", rows).rows()
    assert found == rows
    assert [list(row) for row in found] == [list(row) for row in rows]
    assert [list(map(type, row.values())) for row in found] == [
        list(map(type, row.values())) for row in rows
    ]


def test_the_file_is_a_plain_xz_file(tmp_path):
    write_blocks(tmp_path / FILE, [Block.of("one", ROWS), Block.of("two", ROWS[:1])])
    lines = lzma.decompress((tmp_path / FILE).read_bytes()).decode().splitlines()
    assert [line[:17] for line in lines[::2]] == ['{"result": "one",', '{"result": "two",']
    assert lines[1] == '[{"query":[0,1],"hits":[[1,9],[]],"hard":[null,true]}]'


def test_the_same_results_give_the_same_bytes(tmp_path):
    for folder in (tmp_path / "one", tmp_path / "two"):
        for seed in (1, 2):
            write(folder, seed=seed)
    one, two = (tmp_path / name / "b" / FILE for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_a_new_seed_leaves_the_bytes_of_the_others(tmp_path):
    write(tmp_path, seed=1)
    before = (tmp_path / "b" / FILE).read_bytes()
    write(tmp_path, seed=2, rows=ROWS[:1])
    assert (tmp_path / "b" / FILE).read_bytes().startswith(before)
    assert [len(result["per_query"]) for result in read_results("b", tmp_path)] == [2, 1]


def test_a_seed_that_is_run_again_replaces_its_rows(tmp_path):
    for seed in (1, 2):
        write(tmp_path, seed=seed)
    write(tmp_path, seed=1, rows=ROWS[:1])
    assert names(tmp_path) == ["m.d.all.2", "m.d.all.1"]
    assert [len(result["per_query"]) for result in read_results("b", tmp_path)] == [1, 2]


def test_the_same_rows_again_are_kept_once(tmp_path):
    for _ in range(2):
        write(tmp_path, seed=1)
    assert names(tmp_path) == ["m.d.all.1"]


def test_a_result_that_no_longer_has_rows_loses_its_block(tmp_path):
    write(tmp_path, seed=1)
    write(tmp_path, seed=1, rows=[])
    assert not (tmp_path / "b" / FILE).exists()
    assert read_results("b", tmp_path)[0]["per_query"] == []


def test_rows_of_a_removed_summary_go_with_the_next_write(tmp_path):
    write(tmp_path, seed=1).unlink()
    write(tmp_path, seed=2)
    assert names(tmp_path) == ["m.d.all.2"]


@pytest.mark.parametrize("lost", [1, 30, 150])
def test_a_cut_off_end_is_passed_over_and_gone_after_the_next_write(tmp_path, lost):
    write(tmp_path, seed=1)
    write(tmp_path, seed=2).unlink()
    path = tmp_path / "b" / FILE
    path.write_bytes(path.read_bytes()[:-lost])
    assert [result["per_query"] for result in read_results("b", tmp_path)] == [ROWS]
    write(tmp_path, seed=3)
    assert names(tmp_path) == ["m.d.all.1", "m.d.all.3"]


def test_rows_that_a_summary_names_and_that_are_lost_are_reported(tmp_path):
    write(tmp_path, seed=1)
    path = tmp_path / "b" / FILE
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedRowsError, match=r"lacks the 2 rows of m\.d\.all\.1; take both from"):
        read_results("b", tmp_path)


def test_damage_before_the_end_is_reported_and_never_written_over(tmp_path):
    for seed in (1, 2):
        write(tmp_path, seed=seed)
    path = tmp_path / "b" / FILE
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 4] ^= 0xFF
    path.write_bytes(damaged)
    for again in (lambda: read_results("b", tmp_path), lambda: write(tmp_path, seed=3)):
        with pytest.raises(DamagedRowsError, match="is damaged after byte 0"):
            again()
    assert path.read_bytes() == damaged


def test_a_run_that_is_stopped_before_its_summary_leaves_the_old_result(tmp_path):
    summary = write(tmp_path, seed=1)
    summary.unlink()
    summary.mkdir()  # nothing can take its place
    (summary / "x").touch()
    write_blocks(tmp_path / "b" / FILE, [Block.of("m.d.all.1", ROWS)])
    with pytest.raises(OutputError):
        write(tmp_path, seed=1, rows=ROWS[:1])
    assert [block.count for block in blocks(tmp_path / "b" / FILE)] == [2, 1]


def test_results_written_by_several_processes_at_once_are_all_kept(tmp_path):
    code = (
        "import sys; from pathlib import Path; from benchmarks.results import *\n"
        "for n in range(5):\n"
        "    rows = [{'query': n}] * (n + 1)\n"
        "    found = Result(sys.argv[2], 'd', {}, 'all', n, rows)\n"
        "    write_result('b', found, folder=Path(sys.argv[1]))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], cwd=ROOT)
        for name in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    counts = {
        (result["method"], result["seed"]): len(result["per_query"])
        for result in read_results("b", tmp_path)
    }
    assert counts == {(name, n): n + 1 for name in "abc" for n in range(5)}
