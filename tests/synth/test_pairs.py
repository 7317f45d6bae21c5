import random
import tracemalloc
from collections import Counter

from sat_retriever.synth.fabricate import fabricate
from sat_retriever.synth.pairs import PairSheet, train_pairs
from tests.synth.small_books import chance, unit

COLUMNS = (("id", "ID"), ("name", "Name"))


def rows(sheets, seed=0):
    return list(train_pairs(sheets, random.Random(seed)))


def halves(count, kinds=3):
    for number in range(count):
        kind = f"sales/{number % kinds}"
        yield PairSheet(2 * number, kind, COLUMNS, f"stem{number}")
        yield PairSheet(2 * number + 1, kind, (("name", "T_Name"), ("x", "X")), f"stem{number}")


def test_source_and_target_are_positive_with_the_columns_they_share():
    found = rows(halves(9))
    positives = [row for row in found if row["label"] == 1]
    assert [(row["sheet_id_1"], row["sheet_id_2"]) for row in positives] == [
        (2 * number, 2 * number + 1) for number in range(9)
    ]
    assert positives[0] == {
        "id": 0,
        "sheet_id_1": 0,
        "sheet_id_2": 1,
        "matched_columns": [["Name", "T_Name"]],
        "label": 1,
    }
    assert [row["id"] for row in found] == [*range(54)]


def test_positives_of_fabricated_books_are_the_columns_that_both_have():
    sheets, expected = [], []
    for pair in fabricate(unit(), chance):
        for halves in zip(pair.source.sheets, pair.target.sheets, strict=True):
            for sheet in halves:
                headers = tuple((column.id, column.header) for column in sheet.columns)
                stem = f"{pair.stem}#{sheet.name}"
                sheets.append(PairSheet(len(sheets), sheet.name, headers, stem))
            source, target = ({c.id: c.header for c in sheet.columns} for sheet in halves)
            expected.append([[source[c], target[c]] for c in source if c in target])
    positives = [row for row in rows(sheets) if row["label"]]
    assert [row["matched_columns"] for row in positives] == expected


def test_as_many_negatives_as_published_of_different_kinds():
    found = rows(halves(501))
    negatives = [row for row in found if row["label"] == 0]
    assert (len(found) - len(negatives), len(negatives)) == (501, 2505)
    assert {row["matched_columns"] for row in negatives} == {None}
    assert all(row["sheet_id_1"] // 2 % 3 != row["sheet_id_2"] // 2 % 3 for row in negatives)
    used = Counter(row[end] for row in negatives for end in ("sheet_id_1", "sheet_id_2"))
    assert len(used) > 980  # of 1,002: five a sheet on average


def test_sheets_without_a_counterpart_are_paired_with_others_of_their_kind():
    sheets = [PairSheet(n, "ab"[n % 2], COLUMNS) for n in range(11)]
    positives = [row for row in rows(sheets) if row["label"]]
    ends = [row[end] for row in positives for end in ("sheet_id_1", "sheet_id_2")]
    assert len(positives) == 5
    assert len(set(ends)) == 10
    assert all(row["sheet_id_1"] % 2 == row["sheet_id_2"] % 2 for row in positives)
    assert all(row["matched_columns"] == [["ID", "ID"], ["Name", "Name"]] for row in positives)


def test_sheets_that_share_no_column_are_no_pair():
    assert rows([PairSheet(0, "a", COLUMNS), PairSheet(1, "a", (("x", "X"),))]) == []


def test_a_corpus_of_one_kind_has_no_negatives():
    found = rows(PairSheet(n, "a", COLUMNS) for n in range(4))
    assert [row["label"] for row in found] == [1, 1]


def test_a_seed_gives_the_same_rows():
    sheets = [PairSheet(n, f"{n % 4}", COLUMNS) for n in range(40)]
    assert rows(sheets) == rows(sheets)
    assert rows(sheets) != rows(sheets, seed=1)


def test_memory_a_sheet_is_small():
    """Headers and kinds are made anew for each sheet, and held once."""
    tracemalloc.start()
    try:
        count = 20_000
        headers = [f"Header number {n}" for n in range(12)]
        sheets = (
            PairSheet(n, f"kind {n % 50}", tuple((h + "x", h + " shown") for h in headers))
            for n in range(count)
        )
        stream = train_pairs(sheets, random.Random(1))
        next(stream)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held / count < 120  # bytes
