from functools import cache

import pytest

from tests.synth.categories.checks import SEEDS, TWO_YEARS, grids, made, sheets


@cache
def sentiment(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("sentiment", seed, TWO_YEARS)
    return books, grids(books)


def by_year(seed, kind):
    """Calculated cells of the sheets of a kind by year; 0 for those of no year."""
    books, cells = sentiment(seed)
    return {
        sheet.facts.period.year if sheet.facts.period else 0: cells[book.path, sheet.name]
        for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_the_summary_counts_texts_and_hits_by_label(seed):
    for year, summary in by_year(seed, "summary").items():
        train, test = by_year(seed, "train")[year], by_year(seed, "test")[year]
        assert set(train["label"]) | set(test["label"]) <= set(summary["label"])
        assert sum(summary["train_texts"]) == sum(train["counted"])
        assert sum(summary["test_texts"]) == len(test["id"])
        agreed = [a == b for a, b in zip(test["label"], test["predicted"], strict=True)]
        assert sum(summary["test_hits"]) == sum(agreed) == sum(test["agreement"])


@pytest.mark.parametrize("seed", SEEDS)
def test_no_text_number_comes_twice_and_labels_are_of_the_codes(seed):
    codes = by_year(seed, "labels")[0]["label"]
    numbers = []
    for kind in ("train", "test"):
        for grid in by_year(seed, kind).values():
            numbers += grid["id"]
            assert set(grid["label"]) <= set(codes)
    assert len(set(numbers)) == len(numbers) > 100


def test_texts_say_what_their_labels_mean():
    books, cells = sentiment(2)
    by_label = {}
    for book, sheet in sheets(books, "train"):
        grid = cells[book.path, sheet.name]
        for text, label in zip(grid["text"], grid["label"], strict=True):
            by_label.setdefault(label, set()).add(text.partition(": ")[2])
    said = list(by_label.values())
    assert len(said) == 4
    for place, one in enumerate(said):
        assert not any(one & other for other in said[place + 1 :])


def test_texts_say_which_placeholder_they_may_become():
    for book, sheet in sheets(sentiment(0)[0], "train"):
        assert sheet.column("text").placeholder == "Post", book.path


def test_houses_differ_in_filing_columns_and_labels():
    every = [sentiment(seed) for seed in range(12)]
    labels = {
        tuple(cells[book.path, sheet.name]["label"])
        for books, cells in every
        for book, sheet in sheets(books, "labels")
    }
    layouts = {
        tuple(column.id for column in sheet.columns)
        for books, _ in every
        for _, sheet in sheets(books, "train")
    }

    assert {len(books) for books, _ in every} == {3, 7}
    assert len(labels) == 2
    assert len(layouts) >= 5
