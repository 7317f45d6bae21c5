"""Sheets and texts from elsewhere in one ranking."""

from dataclasses import replace

import numpy as np
import pytest

from sat_retriever import (
    Column,
    EmptyInputError,
    Link,
    LinkReranker,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.rank.graph.graphrank import GraphReranker
from sat_retriever.rank.mixed import Passage, rerank_mixed, score_texts
from sat_retriever.rank.reranker import Reranker
from sat_retriever.text.lexical import K1
from sat_retriever.text.serialize import serialize
from tests.fakes import CountingEncoder, HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_spec

QUERY = "sales of 2024"


@pytest.fixture
def index(tmp_path):
    records = [
        SheetRecord(name, name, columns=(Column("Amount"),))
        for name in ("sales", "sales 2024", "taxes", "notes")
    ]
    links = [Link("sales 2024", "taxes", "formula_reference")]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(512)) as opened:
        opened.add_records(records, links, find_links=False)
        yield opened


class Backwards(Reranker):
    """A trained reranker's stand-in: the worst first, on a scale of its own from -3 up."""

    def rerank(self, found: CandidateSet):
        turned = found.candidates[::-1]
        return [replace(c, rank=n, score=-2.0 - n) for n, c in enumerate(turned, start=1)]


def sheets(*names: str) -> list[Passage]:
    return [Passage("", name) for name in names]


def test_sheets_alone_come_as_the_reranker_orders_them(index):
    names = ["taxes", "sales", "sales 2024"]
    expected = LinkReranker().rerank(
        index.search.candidate_set(
            index.question(QUERY), index.search.score_sheets(index.question(QUERY), names)
        )
    )
    found = rerank_mixed(LinkReranker(), index, QUERY, sheets(*names))
    assert [(names[place], score) for place, score in found] == [
        (candidate.sheet_id, candidate.score) for candidate in expected
    ]


def test_sheets_that_links_lead_to_are_not_added(index):
    added = LinkReranker().rerank(
        index.search.candidate_set(
            index.question(QUERY), index.search.score_sheets(index.question(QUERY), ["sales 2024"])
        )
    )
    assert {candidate.sheet_id for candidate in added} == {"sales 2024", "taxes"}
    found = rerank_mixed(LinkReranker(), index, QUERY, sheets("sales 2024"))
    assert [place for place, _ in found] == [0]


def test_a_query_that_the_index_was_just_asked_is_not_encoded_again(index):
    passages = sheets("taxes", "sales")
    with SheetIndex.open(index.path, CountingEncoder(512)) as alone:
        expected = rerank_mixed(LinkReranker(), alone, QUERY, passages)
        assert alone.encoder.asked == [QUERY]
    with SheetIndex.open(index.path, CountingEncoder(512)) as asked:
        asked.candidates(QUERY)
        assert rerank_mixed(LinkReranker(), asked, QUERY, passages) == expected
        assert asked.encoder.asked == [QUERY]


def test_a_query_whose_token_the_caller_gave_is_not_encoded_at_all(index):
    passages = sheets("taxes", "sales")
    token = HashedEncoder(512).encode_queries([QUERY])[0]
    with SheetIndex.open(index.path, CountingEncoder(512)) as asked:
        SheetRetriever(asked).retrieve(QUERY, token=3 * token)
        found = rerank_mixed(LinkReranker(), asked, QUERY, passages)
        assert asked.encoder.asked == []
    assert found == rerank_mixed(LinkReranker(), index, QUERY, passages)


def test_every_passage_comes_once_whatever_it_is(index):
    passages = [
        *sheets("sales", "sales", "gone", "taxes"),
        Passage("sales of 2024"),
        Passage("sales of 2024"),
        Passage(""),
    ]
    for reranker in (LinkReranker(), Backwards()):
        found = rerank_mixed(reranker, index, QUERY, passages)
        assert sorted(place for place, _ in found) == list(range(len(passages)))
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)


def test_scores_that_round_to_the_same_number_keep_the_rerankers_order(index):
    class Sure(Backwards):
        def rerank(self, found):
            return [replace(c, score=1.0) for c in super().rerank(found)]

    names = [
        c.sheet_id for c in index.search.score_sheets(index.question(QUERY), index.sheet_ids())
    ]
    found = rerank_mixed(Sure(), index, QUERY, sheets(*names))
    assert found == [(place, 1.0) for place in reversed(range(len(names)))]


def test_passages_of_one_sheet_share_its_score_and_keep_their_order(index):
    found = rerank_mixed(LinkReranker(), index, QUERY, sheets("taxes", "sales", "sales"))
    assert [place for place, _ in found] == [1, 2, 0]
    assert found[0][1] == found[1][1]


def test_a_text_scores_by_cosine_and_words_as_the_formula_says(index):
    encoder = index.encoder
    texts = ["2024 plan", "no word of it", "  "]
    cosines = encoder.encode_sheets(texts) @ encoder.encode_queries([QUERY])[0]
    # "2024" is in one sheet of four, "sales" in two; "of" says nothing.
    rare, common = np.log1p(3.5 / 1.5), np.log1p(2.5 / 2.5)
    words = np.array([rare / (rare + common) / (1 + K1), 0, 0])
    expected = 0.4 * np.maximum(cosines, 0) + 0.6 * words
    expected[2] = 0
    assert score_texts(index, index.question(QUERY), texts) == pytest.approx(expected, abs=1e-6)
    alone = score_texts(index, index.question(QUERY, dense_weight=1.0), texts[:1])
    assert alone == pytest.approx(cosines[:1], abs=1e-6)


def test_words_that_no_sheet_has_count_for_nothing(index):
    asked, more = (
        score_texts(index, index.question(QUERY), ["sales"]),
        score_texts(index, index.question(f"{QUERY} x"), ["sales"]),
    )
    words = asked - 0.4 * index.encoder.encode_sheets(["sales"]) @ index.question(QUERY).token
    again = more - 0.4 * index.encoder.encode_sheets(["sales"]) @ index.question(f"{QUERY} x").token
    assert words == pytest.approx(again, abs=1e-6)


def test_a_text_of_any_length_and_with_broken_characters_is_read(index):
    [long] = score_texts(index, index.question(QUERY), ["x" * 10_000 + " sales 2024"])
    assert long == 0  # the words come too late
    same = score_texts(index, index.question(QUERY), ["sales 2024 \ud83d", "sales 2024 ?"])
    assert same[0] == same[1] > 0


def test_the_text_of_a_sheet_without_its_id_scores_nearly_as_the_sheet(index):
    record = index.records(["sales 2024"])["sales 2024"]
    [sheet] = index.search.score_sheets(index.question(QUERY), ["sales 2024"])
    [text] = score_texts(index, index.question(QUERY), [serialize(record)])
    # The sheet has both words in its name, which counts threefold; the text has them once.
    assert 0.7 * sheet.score < text < sheet.score


def test_a_linked_sheet_can_pass_a_text(index):
    query, names = "taxes on sales in 2024", ["sales 2024", "taxes"]
    passages = [Passage("taxes and other sales"), *sheets(*names)]
    before = {c.sheet_id: c.score for c in index.search.score_sheets(index.question(query), names)}
    [text] = score_texts(index, index.question(query), [passages[0].text])
    assert before["taxes"] < text < before["sales 2024"]
    found = rerank_mixed(LinkReranker(), index, query, passages)
    assert dict(found)[0] == pytest.approx(text)
    assert [place for place, _ in found] == [1, 2, 0]


@pytest.mark.parametrize("text", ["sales of 2024", "sales", "nothing at all", "amount 2024"])
def test_a_text_keeps_its_place_among_sheets_of_another_scale(index, text):
    names = ["sales", "sales 2024", "taxes", "notes"]
    [own] = score_texts(index, index.question(QUERY), [text])
    before = [
        candidate.score for candidate in index.search.score_sheets(index.question(QUERY), names)
    ]
    above, beside = sum(score > own for score in before), before.count(float(own))
    found = rerank_mixed(Backwards(), index, QUERY, [Passage(text), *sheets(*names)])
    assert above <= [place for place, _ in found].index(0) <= above + beside


def test_a_trained_reranker_orders_sheets_and_texts(index, tmp_path):
    spec = small_spec(index)
    reranker = GraphReranker.load(index, save_small_model(tmp_path / "model", spec))
    passages = [*sheets("sales", "taxes"), Passage("sales of 2024"), *sheets("sales 2024")]
    found = rerank_mixed(reranker, index, QUERY, passages)
    alone = reranker.rerank(
        index.search.candidate_set(
            index.question(QUERY),
            index.search.score_sheets(
                index.question(QUERY, dense_weight=reranker.dense_weight),
                ["sales", "taxes", "sales 2024"],
            ),
        )
    )
    given = ["sales", "taxes", None, "sales 2024"]
    assert [given[place] for place, _ in found if place != 2] == [c.sheet_id for c in alone]
    assert 0 <= dict(found)[2] <= 1


def test_texts_alone_keep_the_scores_of_stage_1(index):
    texts = ["plan of 2024", "sales of 2024", "sales of 2024"]
    own = score_texts(index, index.question(QUERY), texts)
    found = rerank_mixed(Backwards(), index, QUERY, [Passage(text) for text in texts])
    assert [place for place, _ in found] == [1, 2, 0]
    assert [score for _, score in found] == pytest.approx(sorted(own, reverse=True))


def test_a_sheet_that_vanishes_while_it_is_reranked_counts_by_its_text(index):
    class Removing(Backwards):
        def rerank(self, found):
            return [c for c in super().rerank(found) if c.sheet_id != "sales"]

    passages = [Passage("sales", "sales"), Passage("taxes", "taxes")]
    found = rerank_mixed(Removing(), index, QUERY, passages)
    assert sorted(place for place, _ in found) == [0, 1]


def test_no_passages_are_no_ranking_and_an_empty_query_is_refused(index):
    assert rerank_mixed(LinkReranker(), index, QUERY, []) == []
    with pytest.raises(EmptyInputError):
        rerank_mixed(LinkReranker(), index, "  ", [])
