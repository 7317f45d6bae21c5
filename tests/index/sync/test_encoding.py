"""The token of a sheet: made of which text, stored, read, damaged, made anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sat_retriever import SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.errors import IndexDamagedError
from sat_retriever.index.sync import executor
from sat_retriever.records.contents import CellText, ContentsPolicy, SheetContents
from sat_retriever.records.privacy import Privacy
from sat_retriever.text.serialize import contents_text, serialize
from tests.fakes import HashedEncoder
from tests.index.store.older import WITHOUT_NAMES

OLD, NEW = HashedEncoder(32, "old"), HashedEncoder(48, "new")


def sheet(sheet_id: str, *notes: str) -> SheetRecord:
    cells = tuple(CellText(f"A{n}", text) for n, text in enumerate(notes, 1))
    return SheetRecord(sheet_id, "Sheet1", contents=SheetContents(cells) if notes else None)


RECORDS = [
    sheet("a", "fares of trains"),
    sheet("b"),
    sheet("c", "one", "two", "trucks", "ships"),
    sheet("d", "fares of trains"),
]


class Telling(HashedEncoder):
    """A `HashedEncoder` that notes the texts of sheets it encodes."""

    def __init__(self) -> None:
        super().__init__(32, "old")
        self.read: list[str] = []

    def encode_sheets(self, texts):
        self.read.extend(texts)
        return super().encode_sheets(texts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.sat"


@pytest.fixture
def index(path):
    with SheetIndex.create(path, OLD) as opened:
        opened.add_records(RECORDS)
        yield opened


def cosines(index: SheetIndex, query: str = "fares trucks") -> dict[str, float]:
    found = index.candidates(index.question(query), 50)
    return {each.sheet_id: each.dense for each in found}


def wanted(records, encoder=OLD, query: str = "fares trucks") -> dict[str, float]:
    """Cosine with the token of each sheet's text, one sheet at a time."""
    asked = encoder.encode_queries([query])[0]
    return {
        each.sheet_id: pytest.approx(float(asked @ encoder.encode_sheets([text])[0]), abs=1e-6)
        for each in records
        for text in [contents_text(each) or serialize(each)]
    }


def test_the_token_is_of_names_and_contents_or_of_names_where_there_are_none(path):
    encoder = Telling()
    with SheetIndex.create(path, encoder) as index:
        index.add_records(RECORDS[:2])
        assert encoder.read == ["Sheet1\nfares of trains", "name: Sheet1"]
        assert cosines(index) == wanted(RECORDS[:2])
        hits = {hit.sheet_id: hit for hit in SheetRetriever(index, None).retrieve("fares", 4)}
        assert hits["a"].why.dense == pytest.approx(4**-0.5, abs=1e-3)


@pytest.mark.parametrize("kept", [ContentsPolicy.NAMES, ContentsPolicy.EXAMPLES])
def test_an_index_that_keeps_no_contents_encodes_names_alone(path, kept):
    encoder = Telling()
    with SheetIndex.create(path, encoder, contents=kept) as index:
        assert index.privacy == Privacy(kept)
        index.add_records(RECORDS)
        assert encoder.read == ["name: Sheet1"] * len(RECORDS)


def test_changed_and_removed_sheets_are_read_anew_and_others_kept(index, path):
    cosines(index)
    changed = sheet("a", "trucks")
    index.add_records([changed, sheet("e", "ships and trucks")])
    index.remove(["d"])
    left = [changed, *RECORDS[1:3], sheet("e", "ships and trucks")]
    assert cosines(index) == wanted(left)
    index.add_records([sheet("c")])
    assert cosines(index)["c"] == wanted([sheet("c")])["c"]
    with SheetIndex.open(path, OLD) as again:
        assert cosines(again) == cosines(index)


def test_another_encoder_makes_tokens_anew(index, path):
    told: list[tuple[int, int]] = []
    index.reencode(NEW, progress=lambda *numbers: told.append(numbers))
    assert told == [(4, 4)]
    assert cosines(index) == wanted(RECORDS, NEW)
    with SheetIndex.open(path, NEW) as again:
        assert cosines(again) == cosines(index)


@pytest.mark.parametrize("workbook", [True, False])
def test_tokens_of_an_older_text_are_made_anew_with_their_workbooks_or_by_reencoding(
    workbook, path, tmp_path, monkeypatch
):
    folder = csv(tmp_path / "data")
    with monkeypatch.context() as earlier:
        earlier.setattr(executor, "contents_text", lambda _: "oslo")
        with SheetIndex.create(path, OLD) as index:
            index.sync(folder)
            index.add_records(RECORDS[:1])
    with closing(sqlite3.connect(path)) as older:
        older.executescript(
            f"{WITHOUT_NAMES} CREATE TABLE contents_tokens (id); PRAGMA user_version = 11;"
        )
    with SheetIndex.open(path, OLD) as index:
        assert [*cosines(index, "oslo").values()] == pytest.approx([1, 1], abs=1e-3)
        if workbook:
            assert (index.sync(folder).changed, index.sync(folder).changed) == (1, 0)
        else:
            index.reencode(OLD)
        told = cosines(index, "oslo")
    assert 0 < told["fares.csv#fares"] < 1
    assert told["a"] == pytest.approx(1 if workbook else 0, abs=1e-3)


# ---- damage


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE tokens SET token = x'00'",
        "UPDATE tokens SET token = 'text'",
        "UPDATE tokens SET token = x'0000c07f' || substr(token, 5)",
    ],
)
def test_a_damaged_token_is_told_and_its_sheet_is_taken_out(sql, index, path, tmp_path):
    index.close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"{sql} WHERE id = (SELECT id FROM sheets WHERE sheet_id = 'c')")
    (tmp_path / "data").mkdir()
    with SheetIndex.open(path, OLD) as again:
        with pytest.raises(IndexDamagedError, match=r"rows \(c\)"):
            again.question("fares")
        report = again.sync(tmp_path / "data", verify=True)
        assert report.lost == ("c: it has no file, add it again",)
        again.add_records([RECORDS[2]])
        assert cosines(again) == wanted(RECORDS)


def test_a_missing_token_is_found_by_verifying(index, path, tmp_path):
    index.close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM tokens WHERE id = 1")
    (tmp_path / "data").mkdir()
    with SheetIndex.open(path, OLD) as again:
        assert again.sync(tmp_path / "data", verify=True).lost == (
            "a: it has no file, add it again",
        )


def csv(folder: Path) -> Path:
    folder.mkdir()
    (folder / "fares.csv").write_text("line,city\nred,Oslo\nblue,Paris\ngreen,Rome\n")
    return folder


def test_a_changed_token_of_a_file_is_read_anew_by_verifying(path, tmp_path):
    with SheetIndex.create(path, OLD) as index:
        folder = csv(tmp_path / "data")
        index.sync(folder)
        before = cosines(index, "oslo")
        assert before["fares.csv#fares"]
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE tokens SET token = zeroblob(128)")
    with SheetIndex.open(path, OLD) as again:
        assert cosines(again, "oslo") != before
        assert again.sync(folder).repaired == 0
        assert again.sync(folder, verify=True).repaired == 1
        assert cosines(again, "oslo") == before


def test_reencoding_a_file_keeps_its_seal(path, tmp_path):
    folder = csv(tmp_path / "data")
    with SheetIndex.create(path, OLD) as index:
        index.sync(folder)
        index.reencode(NEW)
        assert index.sync(folder, verify=True).repaired == 0


def test_names_alone_rank_as_if_contents_had_never_been(index, tmp_path):
    bare = [replace(record, contents=None) for record in RECORDS]
    with (
        SheetIndex.create(tmp_path / "n.sat", OLD, contents=ContentsPolicy.NAMES) as names,
        SheetIndex.create(tmp_path / "b.sat", OLD) as none,
    ):
        names.add_records(RECORDS)
        none.add_records(bare)
        for query in ("sheet1", "fares trucks", "Sheet one"):
            assert names.candidates(names.question(query), 9) == none.candidates(
                none.question(query), 9
            )
