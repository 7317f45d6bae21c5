"""Ranking along links, by hand, against networkx and against slow loops."""

import itertools
import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import Column, Filters, InputError, Link, SheetIndex, SheetRecord
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.links.pulls import LinkSettings, pull_graph, pulls, walk
from sat_retriever.rank.reranker import complete_set
from sat_retriever.records.candidates import Candidate
from sat_retriever.text.lexical import WordShares
from tests.fakes import HashedEncoder

PLAIN = LinkSettings(
    pulling=4, base=0.5, unexplained=0, added=0, backward=0.2, siblings=0, hub=0, longest=0.9
)


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(width=512)) as opened:
        yield opened


def add(index, *records, links=()):
    index.add_records(records, links, find_links=False)


def sheet(name, *headers, **fields):
    return SheetRecord(name, name, columns=tuple(Column(h) for h in headers), **fields)


def link(source, target, kind="formula_reference", weight=1.0):
    return Link(source, target, kind, weight, f"{source}!A1 ={target}!A1")


def candidate(name, score, rank=1):
    return Candidate(name, rank, score, score, score, rank, rank)


def ids(candidates):
    return [each.sheet_id for each in candidates]


FOUR = [candidate("summary", 0.8), candidate("other", 0.5), candidate("q1", 0.4),
        candidate("tariffs", 0.2)]  # fmt: skip


@pytest.fixture
def four(index):
    """A summary of q1, which takes from tariffs; the other sheet stands alone."""
    add(
        index,
        *(sheet(each.sheet_id) for each in FOUR),
        links=[link("summary", "q1"), link("q1", "tariffs", "join_key", 0.25)],
    )
    return index


def test_a_ranking_of_four_sheets_equals_the_one_computed_by_hand(four):
    found = LinkReranker(PLAIN).rerank(four.search.candidate_set(four.question("x"), FOUR))
    # q1 closes half of its gap to summary: .4 + .5 · (.8 - .4) = .6, and overtakes other.
    # tariffs is pulled by q1 with √.25 · .5: .2 + .25 · (.6 - .2) = .3; nothing pulls up
    # the first, and the pull back from q1 on summary is none, as summary is better.
    assert ids(found) == ["summary", "q1", "other", "tariffs"]
    assert [each.score for each in found] == pytest.approx([0.8, 0.6, 0.5, 0.3])
    assert [each.rank for each in found] == [1, 2, 3, 4]


def test_via_is_the_link_that_lifted_a_sheet(four):
    via = {
        each.sheet_id: each.via
        for each in LinkReranker(PLAIN).rerank(four.search.candidate_set(four.question("x"), FOUR))
    }
    assert via["summary"] is None
    assert via["other"] is None
    assert (via["q1"].source, via["q1"].target) == ("summary", "q1")
    assert via["tariffs"].type == "join_key"
    assert via["tariffs"].evidence == "q1!A1 =tariffs!A1"


def test_the_better_of_two_lifting_sheets_is_named(index):
    names = ("good", "better", "pulled")
    add(index, *map(sheet, names), links=[link("good", "pulled"), link("better", "pulled")])
    start = [candidate("better", 0.9), candidate("good", 0.6), candidate("pulled", 0.1)]
    found = {
        each.sheet_id: each
        for each in LinkReranker(PLAIN).rerank(
            index.search.candidate_set(index.question("x"), start)
        )
    }
    assert found["pulled"].via.source == "better"
    assert found["good"].score < found["pulled"].score < found["better"].score


def test_a_sheet_that_depends_is_pulled_less_than_one_depended_on(index):
    links = [link("first", "source"), link("dependent", "first")]
    add(index, *map(sheet, ("first", "source", "dependent")), links=links)
    start = [candidate("first", 1.0), candidate("source", 0.5), candidate("dependent", 0.5)]
    scores = {
        each.sheet_id: each.score
        for each in LinkReranker(PLAIN).rerank(
            index.search.candidate_set(index.question("x"), start)
        )
    }
    assert scores["source"] == pytest.approx(0.75)
    assert scores["dependent"] == pytest.approx(0.55)


def test_without_links_and_workbooks_nothing_moves_at_all(index):
    add(index, *(sheet(f"s{n}", f"h{n}") for n in range(30)))
    start = index.candidates("h3 s4 h5", 20)
    assert (
        LinkReranker().rerank(index.search.candidate_set(index.question("h3 s4 h5"), start))
        == start
    )


def test_no_candidates_give_none(index):
    assert LinkReranker().rerank(index.search.candidate_set(index.question("anything"), [])) == []


def test_the_order_of_the_candidates_does_not_matter(four):
    reranker = LinkReranker(replace(PLAIN, pulling=1))
    question = four.question("x")
    wanted = reranker.rerank(four.search.candidate_set(question, FOUR))
    assert all(
        reranker.rerank(four.search.candidate_set(question, order)) == wanted
        for order in itertools.permutations(FOUR)
    )


def test_equal_scores_are_ordered_by_sheet_id_and_do_not_pull_each_other(index):
    add(index, *map(sheet, "abc"), links=[link("c", "a"), link("b", "a")])
    start = [candidate("c", 0.5), candidate("a", 0.5), candidate("b", 0.5)]
    found = LinkReranker(PLAIN).rerank(index.search.candidate_set(index.question("x"), start))
    assert ids(found) == ["a", "b", "c"]
    assert [each.via for each in found] == [None] * 3


# ---- expansion


def test_a_sheet_that_a_good_one_depends_on_is_added_from_outside_the_candidates(index):
    add(index, sheet("sales"), sheet("rates"), sheet("plan"), sheet("users"),
        links=[link("sales", "rates"), link("users", "sales")])  # fmt: skip
    start = index.candidates("sales plan", 2)
    assert set(ids(start)) == {"sales", "plan"}
    found = LinkReranker().rerank(index.search.candidate_set(index.question("sales plan"), start))
    assert set(ids(found)) == {"sales", "plan", "rates"}  # users depends on it: not added
    added = next(each for each in found if each.sheet_id == "rates")
    assert added.via.source == "sales"
    assert added.score > index.search.score_sheets(index.question("sales plan"), ["rates"])[0].score


def test_added_sheets_meet_the_filters(index):
    add(index, sheet("sales", format="xlsx"), sheet("rates", format="ods"),
        sheet("taxes", format="xlsx"),
        links=[link("sales", "rates"), link("sales", "taxes")])  # fmt: skip
    filters = Filters(format="xlsx")
    start = index.candidates("sales", 1, filters)
    assert set(
        ids(
            LinkReranker().rerank(
                index.search.candidate_set(index.question("sales"), start, filters)
            )
        )
    ) == {
        "sales",
        "taxes",
    }
    assert (
        len(LinkReranker().rerank(index.search.candidate_set(index.question("sales"), start))) == 3
    )


def test_a_hub_leads_to_no_new_sheets_and_few_rows_of_it_are_read(index, monkeypatch):
    many = [sheet(f"part{n:04}") for n in range(3000)]
    links = [link("sales", each.sheet_id) for each in many]
    add(index, sheet("sales"), *many, links=links)
    read = []
    ask = index._seen.links.targets
    monkeypatch.setattr(
        index._seen.links, "targets", lambda *given: read.append(rows := ask(*given)) or rows
    )
    start = index.candidates("sales part0001 part0002", 3)
    found = LinkReranker().rerank(
        index.search.candidate_set(index.question("sales part0001 part0002"), start)
    )
    assert sorted(ids(found)) == ["part0001", "part0002", "sales"]
    [found_links] = read
    assert max(map(len, found_links.values())) == LinkSettings().hub_links + 1
    assert all(each.via for each in found if each.sheet_id != "sales")  # still lifts candidates


def test_no_more_than_the_set_number_of_sheets_is_added(index):
    others = [sheet(f"part{n:02}") for n in range(20)]
    add(index, sheet("sales"), *others, links=[link("sales", each.sheet_id) for each in others])
    start = index.candidates("sales", 1)
    assert (
        len(
            LinkReranker(LinkSettings(expansion=5)).rerank(
                index.search.candidate_set(index.question("sales"), start)
            )
        )
        == 6
    )
    assert (
        len(
            LinkReranker(LinkSettings(expansion=0)).rerank(
                index.search.candidate_set(index.question("sales"), start)
            )
        )
        == 1
    )


@pytest.mark.parametrize("weight", [0.0, 0.7, 1.0, None])
def test_added_sheets_are_scored_with_the_weight_of_the_candidates(index, weight):
    add(index, sheet("sales"), sheet("taxes of sales"), links=[link("sales", "taxes of sales")])
    question = index.question("sales", dense_weight=weight)
    still = replace(PLAIN, base=0.0)  # nothing pulls
    found = LinkReranker(still).rerank(
        index.search.candidate_set(question, index.candidates(question, 1))
    )
    assert ids(found) == ["sales", "taxes of sales"]
    share = DENSE_WEIGHT if weight is None else weight
    assert [each.score for each in found] == pytest.approx(
        [share * each.dense + (1 - share) * each.lexical for each in found]
    )


def test_a_join_that_leaves_the_workbook_neither_lifts_nor_adds(index):
    add(index, sheet("orders", workbook="a"), sheet("people", workbook="b"),
        links=[link("orders", "people", "join_key")])  # fmt: skip
    start = index.candidates("orders people", 2)
    assert (
        LinkReranker().rerank(index.search.candidate_set(index.question("orders people"), start))
        == start
    )
    assert ids(
        LinkReranker().rerank(
            index.search.candidate_set(index.question("orders"), index.candidates("orders", 1))
        )
    ) == ["orders"]


# ---- words and workbooks


def test_a_linked_sheet_rises_more_the_more_of_the_missing_words_it_has(index):
    add(index, sheet("orders", "alpha"), sheet("items", "beta"), sheet("notes", "alpha"),
        links=[link("orders", "items"), link("orders", "notes")])  # fmt: skip
    query = "orders alpha beta"
    found = index.candidates(query, 3)
    start = {each.sheet_id: each.score for each in found}
    reranker = LinkReranker(LinkSettings(siblings=0))
    end = {
        each.sheet_id: each.score
        for each in reranker.rerank(index.search.candidate_set(index.question(query), found))
    }
    gap = start["orders"]

    def closed(name):
        return (end[name] - start[name]) / (gap - start[name])

    assert closed("items") > closed("notes") > 0


def test_a_sheet_of_the_same_workbook_rises_only_for_words_that_are_missing(index):
    add(index, sheet("orders", "alpha", workbook="a.xlsx", path="x/a.xlsx"),
        sheet("items", "beta", workbook="a.xlsx", path="x/a.xlsx"),
        sheet("cells", "beta", workbook="b.xlsx", path="x/b.xlsx"))  # fmt: skip
    found = LinkReranker().rerank(
        index.search.candidate_set(
            index.question("orders beta"), index.candidates("orders beta", 3)
        )
    )
    via = {each.sheet_id: each.via for each in found}
    assert via["cells"] is None
    assert via["items"].type == "same_workbook"
    assert via["items"].evidence == "both in x/a.xlsx"
    start = index.candidates("orders", 3)
    assert (
        LinkReranker().rerank(index.search.candidate_set(index.question("orders"), start)) == start
    )


def test_pulls_equal_the_formula_written_out_as_a_loop():
    rng = np.random.default_rng(3)
    names = [f"s{n}" for n in range(9)]
    scores = np.sort(rng.random(9))[::-1]
    pairs = [(a, b) for a in names for b in names if a != b and rng.random() < 0.3]
    links = [link(a, b, weight=float(rng.uniform(0.1, 1))) for a, b in pairs]
    homes = {name: f"w{n % 3}" for n, name in enumerate(names)}
    raw = rng.random((4, 9)) * (rng.random((4, 9)) < 0.6)
    limits = np.full(4, 0.25, dtype=np.float32)
    words = WordShares(limits, (raw * 0.25).astype(np.float32))
    chosen = LinkSettings(pulling=5)
    found = pulls(scores, pull_graph(names, links, homes, chosen), words, chosen)
    weight = {(x.source, x.target): x.weight**0.5 for x in links}
    for j, i in itertools.product(range(9), repeat=2):
        reach = {
            n: max(weight.get((names[i], names[n]), 0), 0.3 * weight.get((names[n], names[i]), 0))
            for n in range(9)
        }
        share, of = words.shares, limits
        needed = 0.4 * sum(of[w] for w in range(4) if share[w, i] == 0)
        needed += 4.0 * sum(max(share[w, j] - share[w, i], 0) for w in range(4))
        degree = sum(value > 0 for value in reach.values()) or 1
        pulling = i < 5 and scores[j] < scores[i]
        linked = pulling * reach[j] * (0.2 + needed) / degree**0.5
        beside = pulling * (i % 3 == j % 3 and i != j) * 0.4 * needed / 2**0.5
        assert found.linked[j, i] == pytest.approx(linked, abs=1e-6)
        assert found.beside[j, i] == pytest.approx(beside, abs=1e-6)


# ---- the walk


def random_pulls(rng, n, density=0.4):
    scores = np.sort(rng.random(n))[::-1]
    found = rng.random((n, n)) * (rng.random((n, n)) < density) * 0.5
    found[scores[None, :] <= scores[:, None]] = 0
    return scores, found


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_where_personalised_pagerank_of_networkx_ends(seed):
    scores, found = random_pulls(np.random.default_rng(seed), 12)
    longest = 0.85
    total = found.sum(axis=1)
    damping = np.minimum(total, longest)
    # A loop makes one damping for all out of a damping for each sheet.
    loop = (longest - damping) / (longest * (1 - damping))
    graph = nx.DiGraph()
    for j in range(12):
        graph.add_edge(j, j, weight=loop[j] if total[j] else 1.0)
        for i in np.flatnonzero(found[j]):
            graph.add_edge(j, int(i), weight=(1 - loop[j]) * found[j, i] / total[j])
    for j in range(12):
        ends = nx.pagerank(graph, alpha=longest, personalization={j: 1}, tol=1e-13, max_iter=1000)
        expected = sum(share * scores[sheet] for sheet, share in ends.items())
        assert walk(scores, found, longest).scores[j] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_many_steps_taken_one_by_one(seed):
    scores, found = random_pulls(np.random.default_rng(100 + seed), 15)
    steps = {}
    for j in range(15):
        total = sum(found[j])
        for i in range(15):
            steps[j, i] = found[j, i] / total * min(total, 0.9) if total else 0.0
    ended = list(scores)
    for _ in range(15):
        ended = [
            (1 - sum(steps[j, i] for i in range(15))) * scores[j]
            + sum(steps[j, i] * ended[i] for i in range(15))
            for j in range(15)
        ]
    assert walk(scores, found, 0.9).scores == pytest.approx(ended, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 20))
@settings(max_examples=60)
def test_no_sheet_falls_or_overtakes_the_best_of_those_that_pull_it(seed, n):
    scores, found = random_pulls(np.random.default_rng(seed), n)
    ended = walk(scores, found * 5, 0.9)
    assert (ended.scores >= scores - 1e-12).all()
    for j in range(n):
        above = np.flatnonzero(found[j])
        if len(above):
            assert ended.scores[j] < ended.scores[above].max()
        else:
            assert ended.scores[j] == scores[j]
    assert ended.gains.sum(axis=1) == pytest.approx(ended.scores - scores, abs=1e-9)


def test_thousands_of_links_among_random_candidates_keep_every_promise(index):
    rng = random.Random(5)
    names = [f"s{n:02}" for n in range(60)]
    links = [link(a, b, rng.choice(["join_key", "formula_reference", "odd"]), rng.random())
             for a in names for b in names if a != b]  # fmt: skip
    add(index, *(sheet(n, f"h{i % 7}", workbook=f"w{i % 4}") for i, n in enumerate(names)),
        links=links)  # fmt: skip
    start = index.candidates("s01 s02 h3 h4", 50)
    found = LinkReranker().rerank(
        index.search.candidate_set(index.question("s01 s02 h3 h4"), start)
    )
    assert found[0].sheet_id == start[0].sheet_id
    before = {each.sheet_id: each.score for each in start}
    assert all(before.get(each.sheet_id, 0) <= each.score <= 1 for each in found)
    assert [each.rank for each in found] == list(range(1, len(found) + 1))
    assert all((each.score > before[each.sheet_id]) == (each.via is not None)
               for each in found if each.sheet_id in before)  # fmt: skip


# ---- what the ranking asks of the index


def test_shares_of_words_sum_to_the_lexical_score_and_limits_to_one(index):
    add(index, *(sheet(f"s{n}", f"alpha{n % 2}", f"beta{n % 3}") for n in range(6)))
    query = "s1 alpha1 beta2 absent"
    wanted = ["s5", "unknown", "s1"]
    words = index.search.word_shares(index.question(query), wanted)
    lexical = {each.sheet_id: each.lexical for each in index.candidates(query, 6)}
    assert words.shares.shape == (3, 3)  # a word that no sheet has is left out
    assert words.shares.sum(axis=0) == pytest.approx([lexical["s5"], 0, lexical["s1"]])
    assert words.limits.sum() == pytest.approx(1)
    assert (words.shares <= words.limits[:, None] + 1e-6).all()


def test_words_of_an_empty_index_and_of_no_sheet_give_nothing(index):
    assert index.search.word_shares(index.question("alpha"), ["a"]).shares.shape == (0, 1)
    add(index, sheet("a"))
    assert index.search.word_shares(index.question("a"), []).shares.shape == (1, 0)


def test_links_between_are_those_with_an_end_in_each_group(index):
    given = [link("a", "b"), link("c", "a"), link("b", "c"), link("a", "b", "join_key")]
    add(index, *map(sheet, "abc"), links=given)
    assert index._seen.links.between(["a"], ["a", "b", "c"]) == [given[0], given[3], given[1]]
    assert index._seen.links.between(["b"], ["c"]) == [given[2]]
    assert index._seen.links.targets(["a", "x"], 10) == {"a": [given[0], given[3]], "x": []}
    assert len(index._seen.links.targets(["a"], 1)["a"]) == 1
    assert index._seen.links.targets([], 1) == {}


def test_the_workbook_of_a_sheet_is_its_path_or_else_its_name(index):
    add(index, sheet("a", workbook="w.xlsx", path="x/w.xlsx"), sheet("b", workbook="w"), sheet("c"))
    assert index.workbook_of(["c", "b", "a", "?"]) == {"a": "x/w.xlsx", "b": "w"}


# ---- settings and the complete set


@pytest.mark.parametrize("wrong", [{"base": -1}, {"longest": 1.0}, {"expansion": -1},
                                   {"types": {"join_key": -0.1}}])  # fmt: skip
def test_settings_that_break_a_promise_are_refused(wrong):
    with pytest.raises(InputError):
        LinkSettings(**wrong)


def test_a_complete_set_ends_at_the_first_fall_below_the_share():
    ranking = [candidate(str(n), score) for n, score in enumerate((0.5, 0.46, 0.45, 0.44, 0.45))]
    assert complete_set(ranking) == 3
    assert complete_set(ranking, max_k=2) == 2
    assert complete_set(ranking, share=1.0) == 1


def test_a_complete_set_of_nothing_is_empty():
    assert complete_set([]) == 0
    assert complete_set([candidate("a", 0.0), candidate("b", 0.0)]) == 0


@pytest.mark.parametrize("wrong", [{"max_k": 0}, {"share": 0}, {"share": 1.1}])
def test_a_complete_set_out_of_range_is_refused(wrong):
    with pytest.raises(InputError):
        complete_set([candidate("a", 1.0)], **wrong)
