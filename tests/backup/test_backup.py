"""A backup is whole, of one state, private, and everything that an index needs is in it."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sat_retriever import (
    OWNER,
    IndexBusyError,
    IndexDamagedError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStorageError,
    InputError,
    OutputError,
    SheetEncoder,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.backup.manifest import INDEX, MANIFEST, _checksum, read_manifest
from sat_retriever.backup.restore import check, restore
from sat_retriever.backup.write import back_up, drop_oldest
from sat_retriever.index.search import columns, mapped
from sat_retriever.index.store import connection, replacing
from sat_retriever.index.store.schema import MIGRATIONS
from sat_retriever.index.store.sqlite import sole_writer_of
from tests.fakes import HashedEncoder
from tests.index.formats.answers import RERANKERS, answers
from tests.places import ROOT

FORMATS = sorted((ROOT / "tests" / "index" / "formats").glob("schema-*"))


def record(number: int) -> SheetRecord:
    return SheetRecord(f"{number:04}.csv#sales {number}", f"sales {number}", workbook="a.csv")


def sheets(path: Path) -> list[str]:
    with SheetIndex.open(path, HashedEncoder()) as index:
        return index.seen_by(OWNER).sheet_ids()


def saved(index: SheetIndex, tmp_path: Path) -> Path:
    return back_up(index.path, tmp_path / "backups")[0]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def filled(index: SheetIndex) -> SheetIndex:
    index.add_records(record(number) for number in range(40))
    return index


def test_a_backup_is_one_state_although_others_write_while_it_is_made(
    filled, tmp_path, monkeypatch
):
    monkeypatch.setattr(connection, "_PAGES", 5)  # many steps, with a write between them
    written = []

    def write(what: str, done: int, total: int, _noun: str) -> None:
        if what == "copying" and done < total and len(written) < 3:
            filled.add_records([record(1_000 + len(written))])
            written.append(done)

    before = filled.sheet_ids()
    folder, manifest = back_up(filled.path, tmp_path / "backups", told=write)
    assert len(written) == 3 and len(filled) == 43
    assert manifest.sheets == len(before)
    restore(folder, tmp_path / "b.sat")
    assert sheets(tmp_path / "b.sat") == before


def test_a_backup_and_what_comes_back_are_for_their_owner_alone(filled, tmp_path):
    before = os.umask(0o022)
    try:
        folder = saved(filled, tmp_path)
        restore(folder, tmp_path / "new.sat")
        filled.path.chmod(0o640)
        restore(folder, filled.path, replace=True)
    finally:
        os.umask(before)
    assert {mode(each) for each in (tmp_path / "backups", folder)} == {0o700}
    assert {mode(each) for each in folder.iterdir()} == {0o600}
    assert mode(tmp_path / "new.sat") == 0o600
    assert mode(filled.path) == 0o640  # that of the file that it replaced


@pytest.mark.parametrize("place", FORMATS, ids=lambda folder: folder.name)
def test_an_index_of_every_format_is_backed_up_upgraded_and_rolled_back(place, tmp_path):
    """The upgrade guide in `docs/guides/operate.md`, step by step."""
    kept = shutil.copytree(place, tmp_path / "kept")
    file = kept / "reports.sat"
    file.write_bytes(lzma.decompress((kept / "index.sat.xz").read_bytes()))
    schema = int(place.name.removeprefix("schema-"))
    folder, manifest = back_up(file, tmp_path / "backups")  # before: the schema stays
    assert (manifest.schema, version_of(file)) == (schema, schema)
    check(folder)
    wanted = json.loads((kept / "answers.json").read_text(encoding="utf-8"))["links"]
    assert answered(file, kept) == rounded(wanted)  # the upgrade
    assert version_of(file) == len(MIGRATIONS)
    restore(folder, file, replace=True)  # the way back
    assert version_of(file) == schema
    assert file.read_bytes() == (folder / INDEX).read_bytes()
    assert answered(file, kept) == rounded(wanted)  # and forth again


def version_of(file: Path) -> int:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as found:
        return found.execute("PRAGMA user_version").fetchone()[0]


def answered(file: Path, kept: Path) -> object:
    with SheetIndex.open(file, kept / "encoder") as index:
        return rounded(answers(index, kept, RERANKERS[0]))


def rounded(found: dict) -> object:
    return {
        q: [(h["sheet"], h["words"], round(h["score"], 2)) for h in x] for q, x in found.items()
    }


def test_models_and_permissions_come_along(tmp_path):
    kept = shutil.copytree(FORMATS[-1], tmp_path / "kept")
    file = kept / "reports.sat"
    file.write_bytes(lzma.decompress((kept / "index.sat.xz").read_bytes()))
    with SheetIndex.open(file, kept / "encoder") as index:
        index.reencode(kept / "encoder", reranker=kept / "features")
        index.permit(lambda record: ("sales",) if "Sales" in record.path else ())
        found = asked(index)
    folder, manifest = back_up(file, tmp_path / "backups")
    assert set(manifest.models) == {"encoder", "reranker"} and not manifest.missing
    restore(folder, tmp_path / "same.sat")
    assert not (tmp_path / "same.sat.models").exists()  # the models are where they were
    shutil.rmtree(kept)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    restore(folder, elsewhere / "b.sat")
    restore(folder, elsewhere / "b.sat", replace=True)  # finds the models that the first one put
    assert len([*(elsewhere / "b.sat.models").iterdir()]) == 2
    with SheetIndex.open(elsewhere / "b.sat") as index:
        assert asked(index) == found
        assert index.is_restricted and index.seen_by(OWNER).groups() == {"sales": 3}
    moved = shutil.copytree(elsewhere, tmp_path / "moved")
    shutil.rmtree(elsewhere)
    with SheetIndex.open(moved / "b.sat") as index:  # the models are found beside it
        assert asked(index) == found


def asked(index: SheetIndex) -> list[tuple[str, float]]:
    seen = index.seen_by(["sales"])
    return [(hit.sheet_id, hit.score) for hit in SheetRetriever(seen).retrieve("revenue by region")]


def test_a_model_that_is_gone_is_named(tmp_path, filled):
    with closing(sqlite3.connect(filled.path)) as own, own:
        own.execute("UPDATE meta SET value = '/gone/encoder' WHERE key = 'encoder'")
    assert back_up(filled.path, tmp_path / "backups")[1].missing == ("/gone/encoder",)


def test_the_mapped_state_of_a_large_index_comes_along(filled, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "ALL", 30)
    filled.add_records([record(100)])
    [state] = filled._store.beside.iterdir()
    folder, manifest = back_up(filled.path, tmp_path / "backups")
    restore(folder, tmp_path / "b.sat")
    assert manifest.of("maps")
    [back] = (tmp_path / "b.sat-snapshot").iterdir()
    assert {f.name: f.read_bytes() for f in back.iterdir()} == {
        f.name: f.read_bytes() for f in state.iterdir()
    }
    assert mode(back.parent) == 0o700
    with SheetIndex.open(tmp_path / "b.sat", HashedEncoder()) as index:
        assert mapped.read_columns(index._store, index.width) is not None
    filled.add_records([record(101)])  # now that of the index is of another history
    restore(folder, filled.path, replace=True)
    assert [each.name for each in filled._store.beside.iterdir()] == [state.name]


def test_nothing_is_overwritten_unless_it_is_asked_for(filled, tmp_path):
    folder = saved(filled, tmp_path)
    filled.add_records([record(99)])
    with pytest.raises(InputError, match="exists already"):
        restore(folder, filled.path)
    assert len(sheets(filled.path)) == 41
    other = tmp_path / "letter.txt"
    other.write_text("Dear Sir")
    with pytest.raises(InputError, match="is no index, or too damaged to tell"):
        restore(folder, other, replace=True)
    assert other.read_text() == "Dear Sir"
    with pytest.raises(InputError, match="there is no folder"):
        restore(folder, tmp_path / "none" / "a.sat")
    with pytest.raises(InputError, match=f"it holds {folder.name}: name one of them"):
        restore(folder.parent, tmp_path / "b.sat")


def test_an_index_in_use_is_replaced_with_nothing_of_its_log(filled, tmp_path):
    folder = saved(filled, tmp_path)
    with SheetIndex.open(filled.path, HashedEncoder()) as reader:
        filled.add_records([record(99)])  # in the log, which the open index keeps
        assert filled.path.with_name("a.sat-wal").stat().st_size
        restore(folder, filled.path, replace=True)
        assert not filled.path.with_name("a.sat-wal").exists()
        assert len(sheets(filled.path)) == 40
        assert len(reader) == 41  # until it is opened again
        with pytest.raises(IndexStorageError, match="deleted or replaced meanwhile"):
            filled.add_records([record(98)])
    with SheetIndex.open(filled.path, HashedEncoder()) as again:
        again.add_records([record(97)])
    assert len(sheets(filled.path)) == 41
    left = {each.name for each in tmp_path.iterdir()}
    assert left <= {"a.sat", "a.sat.lock", "a.sat-wal", "a.sat-shm", "backups"}


def test_a_power_failure_while_an_index_is_replaced_loses_nothing_of_it(
    filled, tmp_path, monkeypatch
):
    folder = saved(filled, tmp_path)
    filled.add_records([record(99)])  # in the log alone

    def failing(path: Path) -> None:
        connection.drop_side_files(path)
        raise OSError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(replacing, "drop_side_files", failing)
        with pytest.raises(OutputError, match="the power is gone"):
            restore(folder, filled.path, replace=True)
    assert len(sheets(filled.path)) == 41


def test_a_writer_is_waited_for_and_then_named(filled, tmp_path, monkeypatch):
    monkeypatch.setattr("sat_retriever.index.store.sqlite.WRITER_WAIT_S", 0.1)
    monkeypatch.setattr("sat_retriever.backup.write._LOCK_S", 0.1)
    folder = saved(filled, tmp_path)
    with sole_writer_of(filled.path), pytest.raises(IndexBusyError, match="is writing to"):
        restore(folder, filled.path, replace=True)

    def second(*_: object) -> None:
        with pytest.raises(IndexBusyError, match="another backup"):
            saved(filled, tmp_path)

    back_up(filled.path, tmp_path / "backups", told=second)


def spoilt(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)


def noting(**more: Any) -> Callable[[Path, str], None]:
    """Write other notes, with a checksum that fits; those on files are added."""

    def spoil(folder: Path, _name: str) -> None:
        plain = json.loads((folder / MANIFEST).read_text())
        del plain["checksum"]
        files = {name: plain["files"][INDEX] | note for name, note in more.get("files", {}).items()}
        plain |= more | {"files": plain["files"] | files}
        plain["checksum"] = _checksum(plain)
        (folder / MANIFEST).write_text(json.dumps(plain))

    return spoil


def leading(to: str) -> Callable[[Path, str], None]:
    """Put a link in the place of a file, or a pipe."""

    def spoil(folder: Path, name: str) -> None:
        (folder / name).unlink()
        if to:
            (folder / name).symlink_to(to)
        else:
            os.mkfifo(folder / name)

    return spoil


HOSTILE = [
    *((noting(files={name: {}}), MANIFEST, "its notes") for name in (
        "encoder/../../stolen", "/tmp/stolen", "encoder/./a", "maps/..", "maps//a", "other/a",
        "encoder", "encoder/a\nb", "C:/a", "encoder/a\\..\\b",
    )),
    *((noting(files={INDEX: note}), MANIFEST, "its notes") for note in (
        {"bytes": "1"}, {"bytes": -1}, {"bytes": True}, {"sha256": 1},
    )),
    *((noting(**more), MANIFEST, "its notes") for more in (
        {"models": {"../stolen": "/x"}}, {"models": {"encoder": 1}}, {"models": ["encoder"]},
        {"missing": 1}, {"index": None},
    )),
    *((leading(to), INDEX, "is no regular file of its folder") for to in (
        "/dev/zero", "/etc/hosts", "/proc/self/environ", "",
    )),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "name", "said"),
    [
        (spoilt, INDEX, "index.sat is not what was written"),
        (spoilt, MANIFEST, "its notes"),
        (lambda folder, name: (folder / name).unlink(), INDEX, "index.sat cannot be read"),
        (lambda folder, name: (folder / name).write_text("[]"), MANIFEST, "its notes"),
        *HOSTILE,
    ],
)
def test_a_damaged_backup_is_told_and_changes_nothing(filled, tmp_path, spoil, name, said):
    folder = saved(filled, tmp_path)
    filled.add_records([record(99)])
    spoil(folder, name)
    for attempt in (
        lambda: check(folder),
        lambda: restore(folder, filled.path, replace=True),
        lambda: restore(folder, tmp_path / "new.sat"),
    ):
        with pytest.raises(IndexFormatError, match=said):
            attempt()
    assert len(sheets(filled.path)) == 41 and not (tmp_path / "new.sat").exists()
    assert not [*tmp_path.glob(".*restoring*")]


def test_notes_lead_to_no_device_and_to_no_model_beside_those_of_the_index(filled, tmp_path):
    folder = saved(filled, tmp_path)
    noting(models={"reranker": "/x"})(folder, MANIFEST)
    with pytest.raises(IndexFormatError, match="a model that its index does not name"):
        restore(folder, tmp_path / "new.sat")
    (folder / "encoder").mkdir()
    (folder / "encoder" / "zero").touch()
    empty = {"bytes": 0, "sha256": hashlib.sha256().hexdigest()}
    noting(files={"encoder/zero": empty}, models={"encoder": "/dev"})(folder, MANIFEST)
    restore(folder, tmp_path / "new.sat")  # without end, if /dev/zero were read
    assert [*(tmp_path / "new.sat.models").glob("encoder-*/zero")]


def test_a_backup_of_a_newer_form_is_refused(filled, tmp_path):
    folder = saved(filled, tmp_path)
    text = (folder / MANIFEST).read_text().replace('"format_number": 1', '"format_number": 2')
    (folder / MANIFEST).write_text(text)
    with pytest.raises(IndexFormatError, match="a backup of the form sat-backup 2"):
        check(folder)


def test_a_damaged_or_missing_index_makes_no_backup(filled, tmp_path):
    with pytest.raises(IndexNotFoundError):
        back_up(tmp_path / "none.sat", tmp_path / "backups")
    with closing(sqlite3.connect(filled.path)) as own, own:
        own.execute("UPDATE sheets SET record = replace(record, 'sales 7', 'sales 8')")
    with pytest.raises(IndexDamagedError, match=r"damaged rows \(0007.csv#sales 7\)"):
        saved(filled, tmp_path)
    filled.path.write_bytes(b"SQLite format 3\0" + bytes(4_000))
    with pytest.raises(IndexFormatError):
        saved(filled, tmp_path)
    assert [each.name for each in (tmp_path / "backups").iterdir()] == [".lock"]


def test_the_oldest_backups_of_the_same_index_go(filled, tmp_path):
    into = tmp_path / "backups"
    with SheetIndex.create(tmp_path / "other.sat", HashedEncoder()) as other:
        others = back_up(other.path, into)[0]
    made = [saved(filled, tmp_path) for _ in range(4)]
    spoilt(made[0], MANIFEST)  # nobody knows whose it is
    (into / ".partial-1").mkdir()  # of one that was killed
    assert drop_oldest(filled.path, into, 2) == [made[1]]
    assert {each.name for each in into.iterdir()} == {
        each.name for each in (*made[2:], made[0], others, into / ".lock")
    }
    assert read_manifest(made[3]).sheets == 40


_FULL = """
import resource, sys
from pathlib import Path
from sat_retriever.backup.restore import restore
from sat_retriever.backup.write import back_up
from sat_retriever.errors import SatError
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
index, backup, into = map(Path, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
for attempt in (lambda: back_up(index, into), lambda: restore(backup, index, replace=True)):
    try:
        attempt()
    except SatError as error:
        print(type(error).__name__, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of files are those of POSIX")
def test_a_full_disk_loses_neither_the_index_nor_a_backup(filled, tmp_path):
    folder = saved(filled, tmp_path)
    filled.add_records([record(99)])
    line = [sys.executable, "-c", _FULL, str(filled.path), str(folder), str(folder.parent)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [IndexStorageError.__name__, OutputError.__name__]
    assert len(sheets(filled.path)) == 41
    assert [each.name for each in folder.parent.glob("[!.]*")] == [folder.name]
    assert not [*folder.parent.glob(".partial*")] and not [*tmp_path.glob(".*restoring*")]
    check(folder)


_CHANGING = """
import itertools, sys
from pathlib import Path
from sat_retriever.backup.restore import restore
from sat_retriever.backup.write import back_up
index, into, *backups = map(Path, sys.argv[1:])
print("ready", flush=True)
for backup in itertools.cycle(backups):
    restore(backup, index, replace=True)
    back_up(index, into)
"""


@pytest.mark.slow
def test_killed_at_any_moment_the_index_is_the_old_or_the_new_one(filled, tmp_path):
    few = saved(filled, tmp_path)
    filled.add_records(record(number) for number in range(100, 150))
    many = saved(filled, tmp_path)
    path, into = filled.path, tmp_path / "more"
    filled.close()
    seen = set()
    for kill in range(12):
        line = [sys.executable, "-c", _CHANGING, *map(str, (path, into, few, many))]
        with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(0.03 + 0.11 * kill)
            running.kill()
        seen.add(len(sheets(path)))
        for each in into.glob("[!.]*") if into.exists() else ():
            check(each)
    assert seen <= {40, 90}
    restore(few, path, replace=True)  # no lock and no draft is in the way
    assert len(sheets(path)) == 40
    back_up(path, into)
    assert not [*into.glob(".partial*")] and not [*tmp_path.glob(".*restoring*")]


def test_a_backup_with_an_encoder_of_another_precision_names_it_again(tmp_path):
    kept = shutil.copytree(FORMATS[-1] / "encoder", tmp_path / "encoder")
    with SheetIndex.create(tmp_path / "a.sat", SheetEncoder.load(kept)) as index:
        index.add_records([record(1)])
    with closing(sqlite3.connect(tmp_path / "a.sat")) as own, own:
        own.execute("UPDATE meta SET value = value || ':int8' WHERE key = 'encoder'")
    folder = back_up(tmp_path / "a.sat", tmp_path / "backups")[0]
    shutil.rmtree(kept)
    restore(folder, tmp_path / "b.sat")
    with closing(sqlite3.connect(tmp_path / "b.sat")) as own:
        [(name,)] = own.execute("SELECT value FROM meta WHERE key = 'encoder'")
    assert name.startswith(str(tmp_path / "b.sat.models" / "encoder-")) and name.endswith(":int8")
