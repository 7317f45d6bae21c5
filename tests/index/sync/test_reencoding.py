"""An index encoded anew: all of it or nothing, whatever happens on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import (
    FingerprintMismatchError,
    IndexBusyError,
    IndexStorageError,
    InputError,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.serialize import Serialization, serialize
from tests.fakes import HashedEncoder
from tests.places import ROOT
from tests.saved_encoder import save_bag_of_words

OLD, NEW = HashedEncoder(32, "old"), HashedEncoder(48, "new")
RECORDS = [
    SheetRecord(f"s{number:02}", f"sheet {number} of {number % 5}", f"book {number % 3}.xlsx",
                columns=(Column(f"h{number % 4}"), Column("total")))
    for number in range(30)
]  # fmt: skip
LINKS = [Link("s00", "s01", "formula_reference"), Link("s02", "s01", "aggregation", 0.5)]


def made(path: Path, encoder=OLD, **options) -> SheetIndex:
    index = SheetIndex.create(path, encoder, **options)
    index.add_records(RECORDS, LINKS)
    return index


def answers(index: SheetIndex):
    return [index.candidates(query, 30) for query in ("sheet 3 h2", "total of book 1")]


@pytest.fixture
def index(tmp_path):
    with made(tmp_path / "a.sat") as opened:
        yield opened


def test_the_index_is_as_if_it_had_been_made_with_the_other_encoder(index, tmp_path):
    told = []
    links = list(index.all_links())
    before = answers(index)
    index.reencode(NEW, progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (30, 30)
    with made(tmp_path / "fresh.sat", NEW) as fresh:
        assert answers(index) == answers(fresh) != before
    with SheetIndex.open(index.path, NEW) as again:
        assert answers(again) == answers(index)
        assert (again.encoder_name, again.width) == ("new", 48)
        assert list(again.all_links()) == links
        assert again.records(["s07"]) == {"s07": RECORDS[7]}
    with pytest.raises(FingerprintMismatchError):
        SheetIndex.open(index.path, OLD)


def test_the_texts_are_those_that_the_index_was_written_with(tmp_path):
    form = Serialization(form="paper")
    with made(tmp_path / "p.sat", serialization=form) as index:
        index.reencode(NEW)
        wanted = NEW.encode_sheets([serialize(record, form) for record in RECORDS])
        found = index.search.tokens([record.sheet_id for record in RECORDS])
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_sheets_added_and_removed_afterwards_fit_in(index):
    index.remove(["s04"])
    index.reencode(NEW)
    index.add_records([SheetRecord("late", "late arrival")])
    assert index.candidates("late arrival", 1)[0].sheet_id == "late"
    assert index.candidates("late arrival", 1)[0].dense == pytest.approx(
        float(NEW.encode_queries(["late arrival"])[0] @ index.search.tokens(["late"])[0])
    )


def test_memory_is_bounded_whatever_the_number_of_sheets(index, monkeypatch):
    monkeypatch.setattr("sat_retriever.index.sync.writer.AT_ONCE", 7)
    sizes = []

    class Counting(HashedEncoder):
        def encode_sheets(self, texts):
            sizes.append(len(texts))
            return super().encode_sheets(texts)

    index.reencode(Counting(48, "new"))
    assert sizes == [7, 7, 7, 7, 2]
    assert len(answers(index)[0]) == 30


def test_an_empty_index_takes_the_encoder(tmp_path):
    with SheetIndex.create(tmp_path / "e.sat", OLD) as index:
        index.reencode(NEW)
        assert index.candidates("anything") == []
        assert index.fingerprint == NEW.fingerprint


def test_the_share_of_the_cosine_is_the_given_one_the_encoders_or_the_default(tmp_path):
    with made(tmp_path / "w.sat", dense_weight=0.9) as index:
        index.reencode(NEW, dense_weight=0.25)
        assert index.dense_weight == 0.25
        bag = SheetEncoder.load(save_bag_of_words(tmp_path / "bag", ["sheet"]))
        bag.save(tmp_path / "tuned", dense_weight=0.75)
        index.reencode(SheetEncoder.load(tmp_path / "tuned"))
        assert index.dense_weight == 0.75
        index.reencode(NEW)
        assert index.dense_weight == DENSE_WEIGHT
        with pytest.raises(InputError, match="dense_weight is 2"):
            index.reencode(OLD, dense_weight=2)
        assert index.fingerprint == NEW.fingerprint
    with SheetIndex.open(index.path, NEW) as again:
        assert again.dense_weight == DENSE_WEIGHT


# ---- others who have it open


def test_readers_see_the_old_state_to_the_end_and_are_told_to_open_it_again(index):
    with SheetIndex.open(index.path, OLD) as reader, SheetIndex.open(index.path, OLD) as late:
        before = answers(reader)
        seen = []

        class Watched(HashedEncoder):
            def encode_sheets(self, texts):
                seen.append(answers(reader) == before)
                return super().encode_sheets(texts)

        index.reencode(Watched(48, "new"))
        assert seen == [True]
        for other in (reader, late):  # one with the old tokens in memory, one without
            with pytest.raises(FingerprintMismatchError, match="anew with 'new' since it was open"):
                other.candidates("sheet")
            with pytest.raises(FingerprintMismatchError, match="open it again"):
                other.add_records([SheetRecord("x", "with an old token")])
    assert len(index) == 30


def test_nobody_else_writes_meanwhile(index, monkeypatch):
    monkeypatch.setattr("sat_retriever.index.store.sqlite.WRITER_WAIT_S", 0.1)
    with SheetIndex.open(index.path, OLD) as other:
        found = []

        class Watched(HashedEncoder):
            def encode_sheets(self, texts):
                with pytest.raises(IndexBusyError) as caught:
                    other.add_records([SheetRecord("x", "x")])
                found.append(caught)
                return super().encode_sheets(texts)

        index.reencode(Watched(48, "new"))
        assert len(found) == 1


# ---- what goes wrong


def test_an_encoder_that_fails_leaves_the_index_as_it_was(index, monkeypatch):
    monkeypatch.setattr("sat_retriever.index.sync.writer.AT_ONCE", 7)
    before = answers(index)

    class Failing(HashedEncoder):
        def encode_sheets(self, texts):
            if "sheet 20" in texts[-1]:
                raise RuntimeError("no more")
            return super().encode_sheets(texts)

    with pytest.raises(RuntimeError, match="no more"):
        index.reencode(Failing(48, "new"))
    assert answers(index) == before
    index.add_records([SheetRecord("late", "late arrival")])  # it can still be written


def test_tokens_that_are_not_one_a_sheet_are_refused(index):
    before = answers(index)
    meta = {"fingerprint": "x", "width": "48"}
    few = [(row, b"") for row in index._store.ids_by_sheet_id().tolist()[:-1]]
    with pytest.raises(IndexStorageError, match="29 new tokens do not fit the 30 sheets"):
        index._store.replace_tokens(few, meta)
    assert answers(index) == before
    with SheetIndex.open(index.path, OLD) as again:
        assert answers(again) == before


_CHILD = """
import os, resource, signal, sys
from contextlib import contextmanager
from sat_retriever import SheetIndex
from sat_retriever.index import index as module
from sat_retriever.errors import IndexStorageError
from sat_retriever.index.sync import writer
from tests.fakes import HashedEncoder
how, path = sys.argv[1:]
writer.AT_ONCE = 7
made = writer.fresh_tokens

class Killed(HashedEncoder):
    def encode_sheets(self, texts):
        if how == "encoding" and "sheet 20" in texts[-1]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_sheets(texts)

@contextmanager
def dying(*arguments):
    with made(*arguments) as tokens:
        def some():
            for number, token in enumerate(tokens):
                if number == 20:
                    os.kill(os.getpid(), signal.SIGKILL)
                yield token
        yield some()

with SheetIndex.open(path, HashedEncoder(32, "old")) as index:
    if how == "writing":
        writer.fresh_tokens = dying
        index._store._connection.execute("PRAGMA cache_size = 1")  # pages go to the disk early
    if how.isdecimal():
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(how), int(how)))
    try:
        index.reencode(Killed(1024, "new"))
    except IndexStorageError as error:
        sys.exit(f"storage: {error}")
"""


def in_a_process(how: str, path: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, how, str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@contextmanager
def as_it_was(index: SheetIndex):
    before = answers(index)
    index.close()
    yield
    with SheetIndex.open(index.path, OLD) as again:
        assert answers(again) == before
        again.reencode(NEW)  # no lock is left behind
    fresh_file = index.path.with_name("fresh.sat")
    with made(fresh_file, NEW) as fresh, SheetIndex.open(index.path, NEW) as again:
        assert answers(again) == answers(fresh)
    left = {each.name for each in index.path.parent.iterdir()}
    assert left <= {"a.sat", "a.sat.lock", "fresh.sat", "fresh.sat.lock"}


@pytest.mark.parametrize("how", ["encoding", "writing"])
def test_killed_on_the_way_the_old_index_is_whole(index, how):
    with as_it_was(index):
        code, said = in_a_process(how, index.path)
        assert code == -signal.SIGKILL, said


@pytest.mark.parametrize(
    ("room", "said"),
    [(60_000, "the new tokens of"), (150_000, "check space and permissions")],
    ids=["no room for the tokens", "no room for the transaction"],
)
def test_a_full_disk_leaves_the_old_index(index, room, said):
    with as_it_was(index):
        code, found = in_a_process(str(room), index.path)
        assert (code, said in found) == (1, True), found


def test_the_tokens_come_in_the_order_of_the_rows(index):
    from sat_retriever.index.sync.writer import fresh_tokens

    with fresh_tokens(index._store, NEW, index.serialization) as tokens:
        rows = [row for row, *_ in islice(tokens, 30)]
    assert rows == sorted(index._store.ids_by_sheet_id().tolist())
