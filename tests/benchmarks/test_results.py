import json
import lzma
import subprocess
import sys

import pytest

from benchmarks import results
from benchmarks.results import (
    ROOT,
    Block,
    DamagedRowsError,
    Result,
    blocks,
    data_hash,
    read_results,
    read_summaries,
    write_blocks,
    write_result,
)
from sat_retriever.errors import OutputError
from sat_retriever.train.loop.provenance import provenance

ROWS = [{"query": 0, "hits": [1, 9], "hard": None}, {"query": 1, "hits": [], "hard": True}]


def write(folder, *, seed, rows=ROWS, data=()):
    return write_result("b", Result("m", "d", {"n": 1}, "all", seed, rows, data), folder)


def rows_of(folder):
    return [result["per_query"] for result in read_results("b", folder)]


def stored(folder):
    return [block.result for block in blocks(folder / "b.rows.xz")]


def without(folder, name):
    """Take a result out of its file, not its rows."""
    path = folder / "b.jsonl"
    _, *parts = name.split(".")
    kept = [line for line in path.read_text().splitlines() if f'"seed": {parts[-1]}' not in line]
    path.write_text("".join(f"{line}\n" for line in kept))


def test_a_result_is_one_line_and_names_its_provenance(tmp_path):
    for seed in (2, 1):
        path = write(tmp_path, seed=seed)
    assert path == tmp_path / "b.jsonl"
    head, shared, *lines = map(json.loads, path.read_text("utf-8").splitlines())
    assert head == {"format": results.FORMAT}
    assert [line["seed"] for line in lines] == [1, 2]
    assert {line["provenance"] for line in lines} == {shared["provenance"]}
    assert lines[0]["rows"]["count"] == 2
    [found, _] = read_summaries("b", tmp_path).values()
    assert set(found["provenance"]) == {*provenance(), "data_hash"}
    assert found["metrics"] == {"n": 1}


def test_results_with_other_provenance_keep_it(tmp_path, monkeypatch):
    write(tmp_path, seed=1)
    monkeypatch.setattr(sys, "argv", ["x", "another"])
    (tmp_path / "data").write_text("x")
    write(tmp_path, seed=2, data=[tmp_path / "data"])
    one, other = (each["provenance"] for each in read_summaries("b", tmp_path).values())
    assert one["command"] != other["command"]
    assert one["data_hash"] is None
    assert other["data_hash"] == data_hash([tmp_path / "data"])


def test_provenance_that_no_result_names_goes_with_the_next_write(tmp_path, monkeypatch):
    for command in ("one", "two"):
        monkeypatch.setattr(sys, "argv", ["x", command])
        write(tmp_path, seed=1)
    text = (tmp_path / "b.jsonl").read_text("utf-8")
    assert text.count('"command"') == 1
    assert ' two", "commit"' in text


def test_committed_results_are_written_as_they_are_read(tmp_path):
    """A result more changes no line of the others."""
    for path in results.FOLDER.glob("*.jsonl"):
        copy = tmp_path / path.name
        results._write_summaries(copy, read_summaries(path.stem))
        assert copy.read_bytes() == path.read_bytes(), path.name


def test_a_result_without_rows_or_with_an_undefined_metric_is_kept(tmp_path):
    write_result("latency", Result("o", "made", {"p50_ms": 1.0, "no": None}), folder=tmp_path)
    (content,) = read_results("latency", tmp_path)
    assert content["per_query"] == []
    assert content["metrics"] == {"p50_ms": 1.0, "no": None}


def test_results_of_a_benchmark_never_run_are_an_empty_list(tmp_path):
    assert read_results("nothing", tmp_path) == []


def test_the_data_hash_follows_names_and_bytes_but_not_the_place(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "a.csv").write_text("x", encoding="utf-8")
    one, two = data_hash([tmp_path / "one"]), data_hash([tmp_path / "two"])
    assert one == two is not None
    (tmp_path / "two" / "sub" / "a.csv").write_text("y", encoding="utf-8")
    changed = data_hash([tmp_path / "two"])
    (tmp_path / "one" / "sub" / "a.csv").rename(tmp_path / "one" / "sub" / "b.csv")
    renamed = data_hash([tmp_path / "one"])
    assert len({one, changed, renamed}) == 3


def test_the_data_hash_of_no_files_is_none(tmp_path):
    assert data_hash([]) is None
    assert data_hash([tmp_path]) is None


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


def test_the_file_of_rows_is_a_plain_xz_file(tmp_path):
    path = tmp_path / "rows.xz"
    write_blocks(path, [Block.of("one", ROWS), Block.of("two", ROWS[:1])])
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    assert [line[:17] for line in lines[::2]] == ['{"result": "one",', '{"result": "two",']
    assert lines[1] == '[{"query":[0,1],"hits":[[1,9],[]],"hard":[null,true]}]'


def test_a_new_seed_leaves_the_bytes_of_the_others(tmp_path):
    write(tmp_path, seed=1)
    before = (tmp_path / "b.rows.xz").read_bytes()
    write(tmp_path, seed=2, rows=ROWS[:1])
    assert (tmp_path / "b.rows.xz").read_bytes().startswith(before)
    assert rows_of(tmp_path) == [ROWS, ROWS[:1]]


def test_a_seed_that_is_run_again_replaces_its_rows(tmp_path):
    for seed in (1, 2):
        write(tmp_path, seed=seed)
    write(tmp_path, seed=1, rows=ROWS[:1])
    assert stored(tmp_path) == ["m.d.all.2", "m.d.all.1"]
    assert rows_of(tmp_path) == [ROWS[:1], ROWS]


def test_the_same_rows_again_are_kept_once(tmp_path):
    for _ in range(2):
        write(tmp_path, seed=1)
    assert stored(tmp_path) == ["m.d.all.1"]


def test_a_result_that_no_longer_has_rows_loses_its_block(tmp_path):
    write(tmp_path, seed=1)
    write(tmp_path, seed=1, rows=[])
    assert not (tmp_path / "b.rows.xz").exists()
    assert rows_of(tmp_path) == [[]]


@pytest.mark.parametrize("lost", [1, 30, 150])
def test_a_cut_off_end_is_passed_over_and_gone_after_the_next_write(tmp_path, lost):
    for seed in (1, 2):
        write(tmp_path, seed=seed)
    without(tmp_path, "m.d.all.2")
    path = tmp_path / "b.rows.xz"
    path.write_bytes(path.read_bytes()[:-lost])
    assert rows_of(tmp_path) == [ROWS]
    write(tmp_path, seed=3)
    assert stored(tmp_path) == ["m.d.all.1", "m.d.all.3"]


def test_rows_that_a_result_names_and_that_are_lost_are_reported(tmp_path):
    write(tmp_path, seed=1)
    path = tmp_path / "b.rows.xz"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedRowsError, match=r"lacks the 2 rows of m\.d\.all\.1; take both"):
        read_results("b", tmp_path)


def test_damage_before_the_end_is_reported_and_never_written_over(tmp_path):
    for seed in (1, 2):
        write(tmp_path, seed=seed)
    path = tmp_path / "b.rows.xz"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 4] ^= 0xFF
    path.write_bytes(damaged)
    for again in (lambda: read_results("b", tmp_path), lambda: write(tmp_path, seed=3)):
        with pytest.raises(DamagedRowsError, match="is damaged after byte 0"):
            again()
    assert path.read_bytes() == damaged


def test_a_run_that_is_stopped_before_its_line_leaves_the_old_result(tmp_path, monkeypatch):
    write(tmp_path, seed=1)

    def stopped(*_):
        raise OutputError("no place")

    with monkeypatch.context() as patched:
        patched.setattr(results, "_write_summaries", stopped)
        with pytest.raises(OutputError):
            write(tmp_path, seed=1, rows=ROWS[:1])
    assert [block.count for block in blocks(tmp_path / "b.rows.xz")] == [2, 1]
    assert rows_of(tmp_path) == [ROWS]


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


@pytest.mark.parametrize(
    ("commit", "dirty", "now"), [("a", False, "a"), ("a", True, None), (None, None, None)]
)
def test_only_code_without_changes_has_a_commit_and_current_results(
    commit, dirty, now, monkeypatch
):
    found = {"commit": commit, "dirty": dirty}
    monkeypatch.setattr(results, "provenance", lambda **_: found)
    assert results.commit_now() == now
    assert results.is_current({"provenance": found}) is (now is not None)
    assert not results.is_current({"provenance": {"commit": "b", "dirty": False}})
