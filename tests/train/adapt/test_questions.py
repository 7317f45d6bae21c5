"""What an adaptation learns from, chooses with and is judged by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sat_retriever.datasets.labels import Query, load_labels
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.train.adapt.questions import merged, mixed, prepare
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.data.holdout import families_of
from tests.fakes import HashedEncoder
from tests.train.adapt.corpus import sheet_records

SETTINGS = AdaptSettings(number=100, share=0.3)


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        made.add_records(sheet_records())
        yield made


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


class Chat:
    """Says every request in other words, keeping what has to be kept."""

    def __init__(self):
        self.asked = 0

    def ask(self, prompt, schema, *, seed=0):
        self.asked += 1
        rows = [line.split(". ", 1) for line in prompt.splitlines() if line[:1].isdigit()]
        return {
            "rewordings": [
                {"number": int(number), "text": f"please: {text.partition(' [keep:')[0]}"}
                for number, text in rows
            ]
        }


def test_training_asks_about_seen_sheets_and_the_others_about_held_out_families(index, folder):
    material = prepare(index, SETTINGS, folder)
    held_out = set(index.sheet_ids()) - material.seen
    assert (material.families, material.held_out) == (8, 2)
    assert len(held_out) == 18
    assert all(material.seen.issuperset(query.positives) for query in material.train)
    for query in (*material.choose, *material.judge):
        assert held_out.issuperset(query.positives)
    for query in material.train:  # nor as a negative
        assert held_out.isdisjoint((*query.negatives, *query.hard_negatives))
    assert len(material.train) > 50
    texts = [query.text.casefold() for query in (*material.train, *material.choose)]
    assert len(set(texts)) == len(texts)
    held_out_texts = {*_texts(material.choose), *_texts(material.judge)}
    learnt = len(material.train) + len(material.rerank)
    assert material.made == learnt + len(held_out_texts)


def _texts(queries):
    return [query.text for query in queries]


def test_stage_2_learns_from_other_questions_than_stage_1_about_the_same_sheets(index, folder):
    material = prepare(index, SETTINGS, folder)
    assert material.rerank
    assert set(_texts(material.rerank)).isdisjoint(_texts(material.train))
    asked = {sheet for query in material.rerank for sheet in query.positives}
    assert asked <= material.seen
    alone = prepare(index, replace(SETTINGS, stage="encoder"), folder / "alone")
    assert alone.train == alone.rerank == material.train


def test_families_that_choose_do_not_judge(index, folder):
    material = prepare(index, replace(SETTINGS, number=200, share=0.5), folder)
    assert material.apart
    sheets = [{s for q in part for s in q.positives} for part in (material.choose, material.judge)]
    assert sheets[0].isdisjoint(sheets[1])
    for family in families_of(index):
        assert not (sheets[0].intersection(family) and sheets[1].intersection(family))


def test_made_questions_that_judge_are_in_other_words_and_labelled_ones_as_they_are(index, folder):
    settings = replace(SETTINGS, number=200, share=0.5)
    judged = prepare(index, settings, folder).judge
    as_made = load_labels(folder / "questions" / "held-out.json")
    labels = [(query.positives, query.query_type) for query in as_made]
    assert all((query.positives, query.query_type) in labels for query in judged)
    changed = set(_texts(judged)) - set(_texts(as_made))
    assert len(changed) > len(judged) / 4
    own = Query("alpha payroll salary", judged[0].positives)
    again = prepare(index, settings, folder, [own]).judge
    assert own in again
    assert set(_texts(again)) == {*_texts(judged), own.text}


def test_the_next_start_reads_what_was_made(index, folder, monkeypatch):
    first = prepare(index, SETTINGS, folder)
    monkeypatch.setattr("sat_retriever.train.adapt.questions.own_queries", lambda *_, **__: 1 / 0)
    again = prepare(index, SETTINGS, folder)
    assert again == first
    assert load_labels(folder / "questions" / "train.json") == again.train


def test_a_language_model_rewords_both_parts_and_is_asked_once(index, folder):
    chat = Chat()
    (folder / "plain").mkdir()
    plain = prepare(index, SETTINGS, folder / "plain")
    material = prepare(index, SETTINGS, folder, chat=chat)
    asked = chat.asked
    assert {f"please: {text}" for text in _texts(plain.train)} == set(_texts(material.train))
    assert all(text.startswith("please: ") for text in _texts(material.judge))
    prepare(index, SETTINGS, folder, chat=chat)
    assert chat.asked == asked > 0


def test_labelled_questions_go_to_the_side_of_their_sheets_and_count_more(index, folder):
    seen = prepare(index, SETTINGS, folder).seen
    here = sorted(seen)[0]
    there = sorted(set(index.sheet_ids()) - seen)[0]
    own = [Query("mine", (here,)), Query("theirs", (there,)), Query("both", (here, there))]
    material = prepare(index, SETTINGS, folder, own)
    assert _texts(material.train).count("mine") == SETTINGS.own_most
    assert "theirs" in {*_texts(material.choose), *_texts(material.judge)}
    assert "theirs" not in _texts(material.train)
    assert "both" not in {*_texts(material.train), *_texts(material.choose)}
    assert (material.own, material.left_out) == (2, 1)


def test_many_labelled_questions_have_no_more_than_their_share(index, folder):
    seen = prepare(index, SETTINGS, folder).seen
    here, there = sorted(seen)[0], sorted(set(index.sheet_ids()) - seen)[0]
    own = [
        Query(f"{sheet} {number}", (sheet,)) for sheet in (here, there) for number in range(1500)
    ]
    material = prepare(index, SETTINGS, folder, own)
    mine = [query for query in material.train if query in own]
    assert len(mine) / len(material.train) == pytest.approx(SETTINGS.own_share, abs=0.01)
    held_out = {*_texts(material.choose), *_texts(material.judge)}.intersection(_texts(own))
    assert len(held_out) == 1000
    assert (material.own, material.left_out) == (len(mine) + 1000, 2000 - len(mine))


def test_a_made_question_in_the_words_of_a_labelled_one_gives_way(index, folder):
    first = prepare(index, SETTINGS, folder)
    text = first.train[0].text
    own = [Query(text.upper(), (sorted(first.seen)[0],))]
    material = prepare(index, SETTINGS, folder, own)
    assert text not in _texts(material.train)
    assert text.upper() in _texts(material.train)


@pytest.mark.parametrize(
    ("made", "own", "share"), [(900, 90, 0.33), (900, 440, 0.33), (100, 1, 0.1)]
)
def test_labelled_questions_have_their_share_as_far_as_they_may_count(made, own, share):
    mine = [Query(f"own {number}", ("1",)) for number in range(own)]
    both = mixed([Query(f"made {number}", ("1",)) for number in range(made)], mine, SETTINGS)
    assert sum(query.text.startswith("own") for query in both) / len(both) == pytest.approx(
        share, abs=0.05
    )


def test_labels_of_several_files_are_put_together():
    clicked = [Query("a", ("1",)), Query("b", ("2",), ("1",))]
    labelled = [Query("b", ("1",), ("3",), hard_negatives=("2",))]
    assert merged([clicked, labelled]) == (Query("a", ("1",)), Query("b", ("2", "1"), ("3",)))


def test_nothing_to_ask_for_says_what_to_do(tmp_path, folder):
    with SheetIndex.create(tmp_path / "n.sat", HashedEncoder()) as index:
        index.add_records([SheetRecord(f"{n}.csv#{n}", str(n)) for n in range(4)])
        with pytest.raises(EmptyInputError, match=r"no question can be made .* \(--queries FILE"):
            prepare(index, SETTINGS, folder)


def test_sheets_of_one_family_cannot_be_adapted_to(tmp_path, folder):
    with SheetIndex.create(tmp_path / "n.sat", HashedEncoder()) as index:
        index.add_records(record for record in sheet_records() if "payroll" in record.sheet)
        with pytest.raises(InputError, match="of one family"):
            prepare(index, SETTINGS, folder)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"number": -1}, "number is -1"), ({"share": 1.0}, "share is 1.0"), ({"epochs": 0}, "epochs"),
     ({"own_share": 0.0}, "own_share"), ({"own_most": 0}, "own_most"), ({"candidates": 0}, "cand")],
)  # fmt: skip
def test_settings_out_of_range_are_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        AdaptSettings(**wrong)
