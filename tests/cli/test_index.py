"""`sat index` on real folders."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from sat_retriever import SheetEncoder, SheetIndex
from sat_retriever.cli.terminal import counted
from tests.builders import save_book
from tests.cli.conftest import Run, command
from tests.saved_encoder import save_bag_of_words


def test_a_run_with_skipped_files_is_a_success(indexed: tuple[Path, Run]):
    run = indexed[1]
    assert run.code == 0
    assert "6 sheets in" in run.out
    assert "5 added, 0 changed, 0 unchanged, 0 removed" in run.out
    assert "other files ignored: 1" in run.out


def test_every_reason_is_counted_and_whole_files_are_named_first(indexed: tuple[Path, Run]):
    lines = indexed[1].out.splitlines()
    assert "skipped, whole or in part: 1 damaged, 1 empty_file, 1 empty_sheet" in lines
    table = lines[
        lines.index("skipped, whole or in part: 1 damaged, 1 empty_file, 1 empty_sheet") + 1 :
    ]
    named = [line.split()[0] for line in table if ".xlsx" in line or ".csv" in line]
    assert named == ["empty_file", "damaged"]
    assert "sat status --skipped --index" in "".join(table)


def test_a_folder_without_workbooks_is_told_what_was_looked_for(tmp_path, sat, encoder):
    (tmp_path / "notes.txt").write_text("nothing to see")
    run = sat("index", tmp_path, "--index", tmp_path / "x.sat", "--model", encoder)
    assert "no workbook was found; looked for xlsx, " in run.out
    assert "; 1 other file ignored\n" in run.out
    (tmp_path / "a.csv").write_text("Rate\n1\n")
    again = ("index", tmp_path, "--index", tmp_path / "x.sat", "--encoder", encoder)
    for _ in ("added", "unchanged"):
        assert "no workbook" not in sat(*again).out


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["table", "json"])
def test_a_folder_without_workbooks_leaves_no_file_behind_and_says_so(form, tmp_path, sat, encoder):
    (tmp_path / "notes.txt").write_text("nothing to see")
    file = tmp_path / "x.sat"
    run = sat("index", tmp_path, "--index", file, "--encoder", encoder, *form)
    assert run.code == 1
    assert run.err == f"error: no index was made: {file} would be empty\n"
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt"}
    if form:
        report = json.loads(run.out)
        assert (report["index"], report["sheets_in_index"], report["ignored"]) == (None, 0, 1)


def test_an_index_that_was_there_before_stays_when_its_workbooks_are_gone(tmp_path, sat, encoder):
    folder, file = tmp_path / "in", tmp_path / "x.sat"
    folder.mkdir()
    (folder / "a.csv").write_text("Rate\n1\n")
    sat("index", folder, "--index", file, "--encoder", encoder)
    (folder / "a.csv").unlink()
    for removed in (1, 0):
        run = sat("index", folder, "--index", file)
        assert run.code == 0
        assert f"{removed} removed" in run.out
        assert "no workbook was found" in run.out
        assert file.exists()


def test_workbooks_that_cannot_be_read_are_kept_in_an_index(tmp_path, sat, encoder):
    (tmp_path / "blank.csv").write_bytes(b"")
    file = tmp_path / "x.sat"
    assert sat("index", tmp_path, "--index", file, "--encoder", encoder).code == 0
    assert "empty_file" in sat("status", "--index", file, "--skipped").out


def test_an_error_before_anything_was_stored_leaves_no_file_behind(
    tmp_path, sat, encoder, monkeypatch
):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SheetIndex, "sync", full)
    (tmp_path / "a.csv").write_text("Rate\n1\n")
    run = sat("index", tmp_path, "--index", tmp_path / "x.sat", "--encoder", encoder)
    assert run.code == 1
    assert "No space left" in run.err
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv"}


def test_the_index_itself_is_no_other_file(tmp_path, sat, encoder):
    (tmp_path / "a.csv").write_text("Rate\n1\n")
    (tmp_path / "notes.txt").write_text("nothing to see")
    for _ in range(2):
        arguments = ("--index", tmp_path / "x.sat", "--encoder", encoder, "--json")
        assert json.loads(sat("index", tmp_path, *arguments).out)["ignored"] == 1


def test_one_workbook_is_no_plural(tmp_path, sat, encoder):
    (tmp_path / "a.csv").write_text("Rate\n1\n")
    run = sat("index", tmp_path, "--index", tmp_path / "x.sat", "--encoder", encoder)
    assert "1 sheet read in" in run.out
    assert not re.search(r"\b1 (sheets|workbooks)\b", run.out)


def test_at_most_eight_skipped_files_are_named(tmp_path, sat, encoder):
    for number in range(12):
        (tmp_path / f"{number}.csv").write_bytes(b"")
    run = sat("index", tmp_path, "--index", tmp_path / "x.sat", "--model", encoder)
    assert run.code == 0
    assert "skipped, whole or in part: 12 empty_file" in run.out
    assert run.out.count(".csv") == 8


def test_limits_cut_a_sheet_and_skips_of_unchanged_files_are_shown_again(tmp_path, sat, encoder):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("Key,Value\n" + "abc,1.25\n" * 4_000)
    here = ("--index", tmp_path / "x.sat")
    run = sat("index", tmp_path / "data", *here, "--model", encoder, "--limits", "cells=500")
    assert run.code == 0
    assert "skipped, whole or in part: 1 too_large" in run.out
    assert "read in part" in sat("show", "a.csv#a", *here).out
    again = sat("index", tmp_path / "data", *here)
    assert "1 unchanged" in again.out
    assert "skipped, whole or in part: 1 too_large" in again.out
    assert "1 of them known from earlier runs, in unchanged files" in again.out
    whole = sat("index", tmp_path / "data", *here, "--limits", "cells=20000,seconds=60,memory=900")
    assert "1 changed" in whole.out
    assert "skipped" not in whole.out


def test_without_a_terminal_there_is_no_progress_and_no_escape_code(indexed: tuple[Path, Run]):
    run = indexed[1]
    assert run.err == ""
    assert "\x1b" not in run.out


def test_json_is_one_object_with_the_counts(workbooks, encoder, tmp_path, sat):
    file = tmp_path / "x.sat"
    run = sat("index", workbooks, "--index", file, "--model", encoder, "--json")
    report = json.loads(run.out)
    assert run.code == 0
    counts = {key: report[key] for key in ("added", "changed", "unchanged", "removed", "ignored")}
    assert counts == {"added": 5, "changed": 0, "unchanged": 0, "removed": 0, "ignored": 1}
    assert (report["index"], report["sheets_in_index"], report["sheets"]) == (str(file), 6, 6)
    skipped = {(skip["path"], skip["sheet"], skip["reason"]) for skip in report["skipped"]}
    assert skipped == {
        ("blank.csv", None, "empty_file"),
        ("torn.xlsx", None, "damaged"),
        ("sales/2024.xlsx", "Nothing", "empty_sheet"),
    }


def test_a_second_run_reads_only_what_changed_and_drops_what_is_gone(tmp_path, sat, encoder):
    folder, file = tmp_path / "in", tmp_path / "x.sat"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.csv").write_text("Name,Salary\nAda,1\n")
    sat("index", folder, "--index", file, "--model", encoder)
    (folder / "a.csv").write_text("Name,Salary\nAda,1\nBob,2\n")
    (folder / "b.csv").unlink()
    report = json.loads(sat("index", folder, "--index", file, "--json").out)
    counts = [report[key] for key in ("added", "changed", "unchanged", "removed")]
    assert counts == [0, 1, 1, 1]


def test_verify_finds_a_change_that_left_size_and_time_alone(tmp_path, sat, encoder):
    table, file = tmp_path / "a.csv", tmp_path / "x.sat"
    table.write_text("Name,Salary\nAda,1\n")
    old = time.time_ns() - 60 * 10**9
    os.utime(table, ns=(old, old))
    sat("index", table, "--index", file, "--model", encoder)
    table.write_text("Name,Revenue"[:10] + "x\nAda,1\n")
    os.utime(table, ns=(old, old))
    trusting = json.loads(sat("index", table, "--index", file, "--json").out)
    verifying = json.loads(sat("index", table, "--index", file, "--json", "--verify").out)
    assert (trusting["changed"], verifying["changed"]) == (0, 1)


def test_names_alone_keep_every_cell_value_off_the_disk(tmp_path, sat, encoder):
    (tmp_path / "a.csv").write_text("Name,Salary\nSECRETVALUE,424242\n")
    files = {}
    for name, option in (("with", []), ("without", ["--contents", "names"])):
        files[name] = tmp_path / f"{name}.sat"
        arguments = ("--index", files[name], "--model", encoder, *option)
        assert sat("index", tmp_path / "a.csv", *arguments).code == 0
    assert b"SECRETVALUE" in _bytes(files["with"])
    assert b"SECRETVALUE" not in _bytes(files["without"])
    assert b"424242" not in _bytes(files["without"])
    assert b"Salary" in _bytes(files["without"])


@pytest.mark.parametrize(
    ("option", "made"),
    [(("--contents", "names"), "--contents all"), (("--skip-columns", "x"), "no --skip-columns")],
)
def test_an_index_that_keeps_more_cells_than_asked_for_is_refused(
    own_index, workbooks, sat, option, made
):
    run = sat("index", workbooks, "--index", own_index, *option)
    assert run.code == 2
    assert f"was made with {made}: index into a new file" in run.err


def test_skipped_columns_keep_their_headers_alone_and_stay_skipped(tmp_path, sat, encoder):
    table, file = tmp_path / "a.csv", tmp_path / "x.sat"
    table.write_text("Name,Base Salary,Town\nAda,SECRETVALUE,Riga\n")
    asked = ("--skip-columns", "salary|iban")
    assert sat("index", table, "--index", file, "--model", encoder, *asked).code == 0
    table.write_text("Name,Base Salary,Town\nAda,SECRETVALUE,Riga\nBob,SECRETTOO,Oslo\n")
    assert sat("index", table, "--index", file).code == 0
    kept = _bytes(file)
    assert b"Base Salary" in kept and b"Ada" in kept
    assert b"SECRET" not in kept
    assert json.loads(sat("status", "--index", file, "--json").out)["skip_columns"] == "salary|iban"


def test_another_encoder_than_the_indexs_is_refused(own_index, workbooks, tmp_path, sat):
    other = save_bag_of_words(tmp_path / "other", ["revenue"], seed=1)
    run = sat("index", workbooks, "--index", own_index, "--model", other)
    assert run.code == 1
    assert run.err.startswith("error: ")
    assert "open it with that encoder" in run.err


def test_the_same_encoder_may_be_named_again(own_index, workbooks, encoder, sat):
    run = sat("index", workbooks, "--index", own_index, "--model", encoder, "--json")
    assert json.loads(run.out)["unchanged"] >= 3


def test_another_precision_than_the_indexs_is_refused(own_index, workbooks, sat):
    run = sat("index", workbooks, "--index", own_index, "--precision", "int8")
    assert run.code == 1
    assert "int8" in run.err


def test_a_password_opens_an_encrypted_workbook(tmp_path, sat, encoder):
    ooxml = pytest.importorskip("msoffcrypto.format.ooxml", reason="extra [encrypted] missing")
    locked = tmp_path / "locked.xlsx"
    plain = save_book(tmp_path / "plain.xlsx", Sheet=[["Name", "Salary"], ["Ada", 1]])
    with plain.open("rb") as source, locked.open("wb") as target:
        ooxml.OOXMLFile(source).encrypt("open sesame", target)
    file = tmp_path / "x.sat"
    shut = sat("index", locked, "--index", file, "--model", encoder, "--json")
    assert [skip["reason"] for skip in json.loads(shut.out)["skipped"]] == ["encrypted"]
    told = " ".join(sat("index", locked, "--index", file).out.split())
    assert "The workbook is encrypted; give its password to read it (--password or SAT_PASS" in told
    opened = sat("index", locked, "--index", file, "--password", "open sesame", "--json")
    assert json.loads(opened.out)["sheets_in_index"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_keeps_what_was_read(tmp_path, encoder):
    file, process = _indexing_for_long(tmp_path, encoder)
    _wait_for_a_workbook(file, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the run
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in out + err
    with SheetIndex.open(file) as opened:
        assert 0 < len(opened) < 4000
        assert len(opened.workbooks()) == len(opened)
        assert f"the index holds {counted(len(opened), 'workbook')};" in " ".join(err.split())


def test_ctrl_c_before_anything_was_written_leaves_no_file_and_says_so(
    tmp_path, encoder, sat, monkeypatch
):
    book = tmp_path / "staff.csv"
    book.write_text("Name,Salary\nAda,41\n")
    # While its sheet is encoded, which is before it is stored.
    monkeypatch.setattr(SheetEncoder, "each_sheet", lambda *_: signal.raise_signal(signal.SIGINT))
    run = sat("index", book, "--index", tmp_path / "x.sat", "--model", encoder)
    assert (run.code, run.out) == (130, "")
    assert run.err == "interrupted; no workbook was stored yet\n"
    assert list(tmp_path.iterdir()) == [book]


def _indexing_for_long(work: Path, encoder: Path) -> tuple[Path, subprocess.Popen[str]]:
    """An index file, and a process of its own that writes 4,000 workbooks into it."""
    folder, file = work / "in", work / "x.sat"
    folder.mkdir()
    for number in range(4000):
        (folder / f"{number:04}.csv").write_text(f"Name,Salary\nAda,{number}\n")
    process = subprocess.Popen(
        command("index", folder, "--index", file, "--model", encoder, "--workers", "1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    return file, process


def _wait_for_a_workbook(file: Path, process: subprocess.Popen[str]) -> None:
    for _ in range(3000):
        assert process.poll() is None, process.communicate()
        if file.exists():
            try:
                with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
                    if connection.execute("SELECT count(*) FROM workbooks").fetchone()[0]:
                        return
            except sqlite3.OperationalError:  # not laid out yet
                pass
            finally:
                connection.close()
        time.sleep(0.02)
    raise AssertionError("nothing was written within a minute")


def _bytes(file: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(file.parent.glob(f"{file.name}*")))


def test_links_out_of_the_folder_are_read_only_if_they_are_to_be_followed(tmp_path, sat, encoder):
    folder, outside = tmp_path / "data", tmp_path / "passwd"
    folder.mkdir()
    outside.write_text("Secret,Shell\n1,2\n")
    (folder / "passwd.csv").symlink_to(outside)
    file = tmp_path / "a.sat"
    run = sat("index", str(folder), "--index", str(file), "--model", str(encoder))
    assert run.code == 0
    assert "skipped, whole or in part: 1 outside_link" in run.out
    followed = sat("index", str(folder), "--index", str(file), "--follow-links")
    assert "1 sheet in" in followed.out
    assert "outside_link" not in followed.out


@pytest.mark.parametrize("seed", range(4))
def test_damaged_rows_end_every_command_in_one_line_and_verify_repairs_them(
    seed, tmp_path, sat, encoder
):
    folder, file = tmp_path / "data", str(tmp_path / "a.sat")
    folder.mkdir()
    for name in ("sales", "staff"):
        (folder / f"{name}.csv").write_text("Region,Revenue\nNorth,1\nSouth,2\n")
    assert sat("index", str(folder), "--index", file, "--model", str(encoder)).code == 0
    good = sat("search", "revenue", "--index", file, "--json").out
    column = ("record", "token")[seed % 2]
    table = {"record": "sheets", "token": "tokens"}[column]
    chance = random.Random(seed)
    with closing(sqlite3.connect(file)) as connection:
        [content] = connection.execute(
            f"SELECT CAST({column} AS BLOB) FROM {table} LIMIT 1"
        ).fetchone()
        flipped = bytearray(content[: -3 if column == "token" else None])
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(7)
        value = "CAST(? AS TEXT)" if column == "record" else "?"
        connection.execute(f"UPDATE {table} SET {column} = {value}", (bytes(flipped),))
        connection.commit()
    for asked in (("search", "revenue"), ("show", "sales.csv"), ("status",), ("graph",)):
        out = ("--out", str(tmp_path / "links.html")) if asked == ("graph",) else ()
        run = sat(*asked, *out, "--index", file)
        assert run.code in (0, 1)
        assert "Traceback" not in run.out + run.err
        if run.code:
            assert "sat index FOLDER --verify" in " ".join(run.err.split())
    assert sat("search", "revenue", "--index", file).code == 1
    run = sat("index", str(folder), "--index", file, "--verify")
    assert "2 workbooks had damaged rows and were repaired" in run.out
    assert sat("search", "revenue", "--index", file, "--json").out == good


def test_the_first_error_is_told_also_when_the_empty_index_cannot_be_deleted(
    tmp_path, sat, encoder, monkeypatch
):
    file = tmp_path / "x.sat"

    def full(*_: object, **__: object) -> None:
        file.unlink()
        file.mkdir()  # cannot be deleted as a file
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SheetIndex, "sync", full)
    run = sat("index", tmp_path, "--index", file, "--encoder", encoder)
    assert run.code == 1
    assert "No space left" in run.err
    assert "deleted" not in run.err
