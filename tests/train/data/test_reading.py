from dataclasses import replace

import pytest

from sat_retriever.datasets.dataset import Dataset, Split, divided_dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import EmptyInputError, FingerprintMismatchError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.train.data.corpusindex import corpus_index, seen_index
from sat_retriever.train.data.holdout import by_question, by_workbook
from sat_retriever.train.data.reading import (
    from_dataset,
    from_index,
    read_records,
    refuse_unknown_sheets,
)
from tests.fakes import HashedEncoder


def record(number, name, *headers, workbook=""):
    columns = tuple(Column(header) for header in headers)
    return SheetRecord(str(number), name, workbook, columns=columns, num_rows=3, num_cols=2)


RECORDS = (
    record(0, "sales", "region", "revenue", workbook="a"),
    record(1, "staff", "name", "salary", workbook="a"),
    record(2, "stock", "item", "number", workbook="b"),
    record(3, "rates", "currency", "rate", workbook="c"),
)
QUERIES = (
    Query("revenue by region", ("0",), ("2",), hard_negatives=("1",)),
    Query("salaries", ("1", "0")),
    Query("items in stock", ("2",), ("3",)),
    Query("exchange rates", ("3",)),
)
LINKS = (Link("0", "1", "join_key", 0.5, "name = region"), Link("1", "2", "aggregation"))
SPLIT = Split((0, 1), (2,), (3,))
TOY = Dataset("toy", RECORDS, QUERIES, LINKS, split=SPLIT)


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "own.sat", HashedEncoder()) as made:
        made.add_records(RECORDS, LINKS, find_links=False)
        yield made


# ---- a corpus as training data


def test_rows_are_places_in_the_order_of_the_records_and_texts_are_serialized():
    data = from_dataset(TOY)
    assert data.name == "toy"
    assert data.sheet_ids == ("0", "1", "2", "3")
    assert data.sheets == tuple(serialize(one) for one in RECORDS)
    assert data.train.texts == ("revenue by region", "salaries")
    assert data.train.positives == ((0,), (0, 1))
    assert data.train.hard_negatives == ((1,), ())
    assert data.validation.texts == ("items in stock",)
    assert data.seen == (0, 1, 2, 3)


def test_the_serialization_decides_the_texts():
    form = Serialization(form="paper")
    assert from_dataset(TOY, form).sheets == tuple(serialize(one, form) for one in RECORDS)


def test_held_out_sheets_are_no_hard_negatives_of_training_but_validation_searches_all():
    split = Split((0,), (1, 2), seen=frozenset({"0", "3"}))
    data = from_dataset(replace(TOY, split=split))
    assert data.seen == (0, 3)
    assert data.train.hard_negatives == ((),)  # sheet 1 is held out
    assert data.validation.positives == ((0, 1), (2,))


def test_a_training_question_about_a_held_out_sheet_is_refused():
    with pytest.raises(InputError, match="'salaries' has a relevant sheet that is held out"):
        from_dataset(replace(TOY, split=replace(SPLIT, seen=frozenset({"0", "2", "3"}))))


@pytest.mark.parametrize("split", [Split((), (1,)), Split((1,), ()), Split()])
def test_a_split_without_a_part_is_refused(split):
    with pytest.raises(EmptyInputError, match=r"toy has no (training|validation) questions"):
        from_dataset(replace(TOY, split=split))


def test_labels_that_name_sheets_that_are_not_there_are_counted_and_named():
    labels = [
        Query("a", ("0", "x")),
        Query("b", ("x",), ("y",)),
        Query("c", ("1",), hard_negatives=("z",)),
        Query("d", ("2",)),
    ]
    with pytest.raises(InputError) as caught:
        refuse_unknown_sheets(labels, "0123", "own.sat")
    said = str(caught.value)
    assert "3 of the sheets that the labels name (in 3 of the questions)" in said
    assert "not in own.sat: 'x', 'y', 'z';" in said
    assert "sat queries" in said


def test_of_many_unknown_sheets_the_first_are_named_and_the_others_counted():
    labels = [Query("a", tuple(f"x{number}" for number in range(9)))]
    with pytest.raises(InputError, match=r"'x4' and 4 more; "):
        refuse_unknown_sheets(labels, "0123", "own.sat")


# ---- an index as training data


def test_an_index_gives_the_same_texts_and_rows_as_the_corpus_it_was_made_of(index):
    train, validation = QUERIES[:2], QUERIES[2:3]
    own, corpus = from_index(index, divided_dataset("own", train, validation)), from_dataset(TOY)
    assert (own.sheet_ids, own.sheets, own.train) == (
        corpus.sheet_ids,
        corpus.sheets,
        corpus.train,
    )


def test_what_a_user_ruled_out_is_a_hard_negative_unless_some_are_annotated(index):
    data = from_index(index, divided_dataset("own", QUERIES[:1], QUERIES[2:3]))
    assert data.train.hard_negatives == ((1,),)
    assert data.validation.hard_negatives == ((3,),)
    assert from_dataset(TOY).validation.hard_negatives == ((),)  # drawn at random there


def test_records_of_an_index_come_complete_whatever_is_read_at_once(index, monkeypatch):
    monkeypatch.setattr("sat_retriever.train.data.reading.READ_AT_ONCE", 3)
    assert [one.sheet_id for one in read_records(index)] == ["0", "1", "2", "3"]


# ---- a user's own split


def _many(number):
    return tuple(Query(f"word{place}", (str(place),)) for place in range(number))


def _texts(queries):
    return {query.text for query in queries}


def _divided(queries, split):
    return Dataset("own", (), tuple(queries), split=split)


def test_questions_are_held_out_at_random_by_the_seed():
    split = by_question(_many(50), share=0.2)
    first = _divided(_many(50), split)
    assert (len(first.train), len(first.validation), first.left_out) == (40, 10, 0)
    assert _texts(first.train) | _texts(first.validation) == _texts(_many(50))
    assert split == by_question(_many(50), share=0.2)
    assert split.validation != by_question(_many(50), share=0.2, seed=43).validation
    assert split.seen is None


@pytest.mark.parametrize(
    "twin",
    [
        Query("Sales by regions?", ("9",)),  # the same words
        Query("turnover of each area", ("0",)),  # the same sheets
    ],
)
@pytest.mark.parametrize("seed", range(8))
def test_questions_that_ask_the_same_are_never_divided(twin, seed):
    asked = (Query("Region, sale", ("0",)), twin, *_many(6)[1:])
    divided = _divided(asked, by_question(asked, share=0.5, seed=seed))
    pair = {asked[0].text, twin.text}
    parts = [pair & _texts(part) for part in (divided.train, divided.validation)]
    assert sorted(map(len, parts)) == [0, 2]


def test_there_is_always_something_to_learn_from_and_to_choose_with():
    divided = by_question(_many(2), share=0.01)
    assert (len(divided.train), len(divided.validation)) == (1, 1)


def test_questions_that_all_ask_the_same_cannot_be_divided():
    with pytest.raises(InputError, match="all 2 questions have the same words or the same"):
        by_question((Query("a", ("0",)), Query("b", ("0",))))


def test_whole_workbooks_are_held_out_and_questions_across_the_border_left_out(index):
    across = Query("staff and stock", ("1", "2"))
    split = by_workbook(index, (*QUERIES, across), share=0.4)
    divided = _divided((*QUERIES, across), split)
    held_out = {"0", "1", "2", "3"} - split.seen
    assert held_out in ({"0", "1"}, {"2"}, {"3"})
    assert all(held_out.issuperset(query.positives) for query in divided.validation)
    assert all(split.seen.issuperset(query.positives) for query in divided.train)
    assert divided.left_out == (0 if held_out == {"3"} else 1)
    assert len(divided.train) + len(divided.validation) + divided.left_out == 5
    from_index(index, divided)


def test_one_workbook_cannot_be_held_out(index):
    with pytest.raises(InputError, match="of one workbook only"):
        by_workbook(index, QUERIES[:2])


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_an_impossible_share_is_refused(index, share):
    for divide in (by_question, lambda queries, share: by_workbook(index, queries, share=share)):
        with pytest.raises(InputError, match="must lie between 0 and 1"):
            divide(QUERIES, share=share)


# ---- indexes for Stage 2


def test_a_corpus_index_has_the_records_and_the_published_links_and_no_others(tmp_path):
    with corpus_index(TOY, HashedEncoder(), tmp_path / "run" / "c.sat") as made:
        assert made.sheet_ids() == ["0", "1", "2", "3"]
        assert list(made.all_links()) == list(LINKS)
        assert made.serialization == Serialization()
    with corpus_index(TOY, HashedEncoder(), tmp_path / "bare.sat", links=False) as bare:
        assert list(bare.all_links()) == []


def test_of_a_part_only_its_sheets_and_the_links_among_them_are_kept(tmp_path, index):
    seen = frozenset({"0", "1", "3"})
    with corpus_index(TOY, HashedEncoder(), tmp_path / "c.sat", seen=seen) as made:
        assert (set(made.sheet_ids()), list(made.all_links())) == (seen, [LINKS[0]])
        with seen_index(index, seen, tmp_path / "s.sat") as part:
            assert list(part.all_links()) == [LINKS[0]]
            assert part.records(part.sheet_ids()) == made.records(made.sheet_ids())
            assert part.candidates("revenue") == made.candidates("revenue")


def test_an_index_that_is_there_is_opened_and_another_one_refused(tmp_path):
    path = tmp_path / "c.sat"
    corpus_index(TOY, HashedEncoder(), path).close()
    written = path.stat().st_mtime_ns
    corpus_index(TOY, HashedEncoder(), path).close()
    assert path.stat().st_mtime_ns == written
    with pytest.raises(FingerprintMismatchError):
        corpus_index(TOY, HashedEncoder(128), path)
    with pytest.raises(InputError, match="other sheets or other texts"):
        corpus_index(replace(TOY, records=RECORDS[:3]), HashedEncoder(), path)
    with pytest.raises(InputError, match="other sheets or other texts"):
        corpus_index(TOY, HashedEncoder(), path, serialization=Serialization(form="paper"))


def test_an_index_that_could_not_be_finished_is_not_there(tmp_path):
    broken = replace(TOY, links=(Link("0", "1", "join_key", 7.0),))
    with pytest.raises(InputError, match="weight"):
        corpus_index(broken, HashedEncoder(), tmp_path / "c.sat")
    assert {one.name for one in tmp_path.iterdir()} <= {"c.sat.lock"}


def test_a_corpus_of_workbooks_is_to_be_indexed_as_such(tmp_path):
    with pytest.raises(InputError, match="'eps' has no records"):
        corpus_index(Dataset("eps", (), ()), HashedEncoder(), tmp_path / "c.sat")


def test_a_real_encoder_makes_the_same_index_as_any(tmp_path):
    from tests.saved_encoder import save_bag_of_words

    folder = save_bag_of_words(tmp_path / "bag", ["revenue", "region", "stock"])
    with corpus_index(TOY, SheetEncoder.load(folder), tmp_path / "c.sat") as made:
        assert (
            made.candidates(made.question("revenue by region", dense_weight=1.0))[0].sheet_id == "0"
        )
