"""The report of a bench: what is in it, and what it does in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from sat_retriever import Candidate, SheetIndex, SheetRecord
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import PER_QUERY
from sat_retriever.evaluation.bench import Bench, bench
from sat_retriever.evaluation.latency import Timing
from sat_retriever.evaluation.methods import Method, named_methods
from sat_retriever.evaluation.report import page as reportpage
from sat_retriever.evaluation.report.page import report_html
from tests.evaluation.books import BAD, EVIL, PLAN, Q1, QUERIES, STAFF, SUMMARY, indexed
from tests.fakes import HashedEncoder

LINKED = 4  # place of the link reranker among the methods


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Iterator[SheetIndex]:
    with indexed(tmp_path_factory.mktemp("report")) as opened:
        yield opened


@pytest.fixture(scope="module")
def found(index) -> Bench:
    return bench(index, QUERIES, named_methods(index), Timing(questions=2))


@pytest.fixture(scope="module")
def text(found, index) -> str:
    return report_html(found, index, title=f"Report {EVIL}", about=EVIL, remarks=[EVIL])


def embedded(page: str) -> dict:
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(data)


def test_a_question_has_the_ranks_of_its_relevant_sheets_by_every_method(text, found):
    data = embedded(text)
    question = data["questions"][1]
    assert [data["sheets"][n]["citation"] for n in question["relevant"]] == [
        f"{SUMMARY}!A1:B2", f"{Q1}!A1:C3",
    ]  # fmt: skip
    for ranks, scored in zip(question["ranks"], found.scored, strict=True):
        order = [ranked.sheet_id for ranked in scored.run[1]]
        expected = [order.index(each) + 1 if each in order else 0 for each in (SUMMARY, Q1)]
        assert ranks == expected
    assert question["ndcg"] == [
        pytest.approx(scored.metrics["NDCG@5"] * 4 - sum(
            each["ndcg"][row] for each in data["questions"] if each is not question
        ), abs=3e-4)
        for row, scored in enumerate(found.scored)
    ]  # fmt: skip


def test_what_speaks_for_a_sheet_is_what_the_index_scores_it_by(text, index):
    data = embedded(text)
    question = data["questions"][0]
    names = {sheet["citation"].partition("!")[0]: n for n, sheet in enumerate(data["sheets"])}
    cosine, dense_rank, lexical, word_rank, own, headers = question["facts"][str(names[Q1])]
    (one,) = index.search.score_sheets(index.question(QUERIES[0].text), [Q1])
    assert (cosine, lexical) == (round(one.dense, 3), round(one.lexical, 3))
    assert (dense_rank, word_rank) == (one.dense_rank, one.lexical_rank)
    assert {question["words"][n] for n in own} == {"revenue", "region"}
    assert [data["sheets"][names[Q1]]["headers"][n] for n in headers] == ["Region", "Revenue"]
    assert data["questions"][2]["nowhere"] == ["people", "earn"]


def test_sheets_are_marked_by_the_labels(text):
    data = embedded(text)
    ids = [sheet["citation"].partition("!")[0] for sheet in data["sheets"]]
    marks = {
        ids[number]: mark
        for method in data["questions"][0]["first"]
        for number, _, mark, *_ in method
    }
    assert (marks[Q1], marks[PLAN], marks[STAFF]) == (1, 2, 0)


def test_a_link_that_lifted_a_sheet_is_told_from_its_side(text):
    data = embedded(text)
    links = [link for *_, link in data["questions"][1]["first"][LINKED] if link]
    assert any("Summary" in link[2] or "Q1" in link[2] for link in links)
    assert all(link[1] for link in links)


def test_of_too_many_questions_those_answered_best_are_left_out_and_that_is_said(
    found, index, monkeypatch
):
    monkeypatch.setattr(reportpage, "QUESTIONS", 3)
    data = embedded(report_html(found, index, title="t"))
    shown = [question["number"] for question in data["questions"]]
    means = [sum(q["ndcg"]) for q in embedded(report_html_whole(found, index))["questions"]]
    best = means.index(max(means)) + 1
    assert sorted([*shown, best]) == [1, 2, 3, 4]
    assert data["notes"][-1].startswith("1 of the 4 questions are in the table, but not listed")


def report_html_whole(found: Bench, index: SheetIndex) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reportpage, "QUESTIONS", 2_000)
        return report_html(found, index, title="t")


def test_text_that_is_not_unicode_does_not_break_the_report(index):
    queries = [Query("region \ud800", (Q1,), query_type="\udc80")]
    found = bench(index, queries, named_methods(index), Timing(questions=0))
    page = report_html(found, index, title="t\udc80")
    assert embedded(page)["questions"][0]["text"] == "region \ud800"
    page.encode()


# ---- in a browser


@pytest.fixture
def page(visit, text):
    return visit(text)


def listed(page) -> list[str]:
    return page.locator("#questions .text").all_inner_texts()


def values(page) -> list[float]:
    return [float(each) for each in page.locator("#questions .value").all_inner_texts()]


def test_the_table_is_there_and_a_method_is_chosen_in_it(page, found):
    rows = page.locator("#summary tbody tr")
    assert rows.count() == len(found.scored)
    assert page.locator("#summary [aria-pressed=true]").inner_text() == "+ link reranker"
    page.locator("#summary button", has_text="BM25").click()
    assert page.locator("#method").input_value() == "0"
    assert page.locator("#summary [aria-pressed=true]").inner_text() == "BM25"
    assert page.locator("#summary svg").count() == len(found.scored)


def test_the_worst_question_comes_first_and_is_open(page):
    assert values(page) == sorted(values(page))
    first = page.locator("#questions > li").first
    assert first.locator(".question").get_attribute("aria-expanded") == "true"
    assert first.locator(".detail").count() == 1


def test_questions_are_ordered_by_the_chosen_method(page, found):
    page.locator("#method").select_option("0")
    for order, expected in (("worst", sorted), ("best", lambda x: sorted(x, reverse=True))):
        page.locator("#order").select_option(order)
        assert values(page) == expected(values(page))
    page.locator("#order").select_option("file")
    assert listed(page) == [query.text for query in QUERIES]


def test_the_row_above_is_compared_with_where_there_is_one(page):
    page.locator("#order").select_option("behind")
    assert len(listed(page)) == 4
    page.locator("#method").select_option("0")
    assert page.locator("#order").input_value() == "worst"
    assert page.locator("#order [value=behind]").is_disabled()


def test_questions_are_ordered_by_the_row_that_is_named_for_comparison(visit, index):
    found = bench(index, QUERIES, named_methods(index), Timing(questions=3), against="fused")
    page = visit(report_html(found, index, title="t"))
    page.locator("#method").select_option("0")
    assert not page.locator("#order [value=behind]").is_disabled()
    assert page.locator("#order [value=behind]").inner_text() == "most behind fused first"
    page.locator("#order").select_option("behind")
    ndcg = [[PER_QUERY["NDCG@5"](row) for row in one.rows] for one in found.scored]
    fused = [one.name for one in found.scored].index("fused")
    gains = [mine - other for mine, other in zip(ndcg[0], ndcg[fused], strict=True)]
    texts = [QUERIES[place].text for place in sorted(found.queries, key=lambda q: gains[q])]
    assert listed(page) == texts
    page.locator("#method").select_option(str(fused))
    assert page.locator("#order [value=behind]").is_disabled()


SHOWN = [
    ("type", "lookup", {0, 2}),
    ("type", EVIL, {3}),
    ("show", "nothing", {2}),  # by BM25: no sheet has a word of it
    ("search", "REVENUE", {0}),
    ("search", "staff", {2, 3}),  # a relevant sheet
    ("search", "earn people", {2}),
]


@pytest.mark.parametrize(
    ("field", "value", "kept"), SHOWN, ids=[f"{a}-{b[:8]}" for a, b, _ in SHOWN]
)
def test_questions_are_filtered(page, field, value, kept):
    page.locator("#method").select_option("0")
    if field == "search":
        page.keyboard.press("/")
        page.keyboard.type(value)
    else:
        page.locator(f"#{field}").select_option(value)
    assert set(listed(page)) == {QUERIES[place].text for place in kept}
    assert page.locator("#counts").inner_text().startswith(f"{len(kept)} of 4 questions")


def test_missed_something_means_that_the_first_five_could_hold_more(page, found):
    for row, scored in enumerate(found.scored):
        page.locator("#method").select_option(str(row))
        page.locator("#show").select_option("missed")
        missed = {
            QUERIES[each["query"]].text
            for each in scored.rows
            if sum(rank <= 5 for rank in each["hits"]) < min(5, each["relevant"])
        }
        assert set(listed(page)) == missed


def test_without_a_match_there_is_a_way_back(page):
    page.locator("#search").fill("nonsense")
    assert page.locator("#none").is_visible()
    page.locator("#reset").click()
    assert len(listed(page)) == 4


def test_a_missed_sheet_says_why(page):
    page.locator("#method").select_option("0")
    page.locator("#search").fill("people earn")
    if not page.locator(".detail").count():
        page.locator(".question").click()
    detail = page.locator(".detail").inner_text()
    assert "not among 50" in detail
    assert "No word of the question is in its name, headers or folder." in detail
    assert re.search(r"Of 5 sheets it is \d(st|nd|rd|th) by cosine, not ranked by words", detail)
    assert "It found nothing at all." in detail
    assert page.locator(".word.gone").all_inner_texts() == ["people", "earn"]


def test_missed_sheets_come_first_and_say_how_many_others_are_before_them(page, found):
    page.locator("#search").fill("what it is made of")
    for row, scored in enumerate(found.scored):
        page.locator("#method").select_option(str(row))
        if not page.locator(".detail").count():
            page.locator(".question").click()
        ranks = [
            int(each) if each.isdigit() else 99
            for each in page.locator(".ranks tbody td.chosen").all_inner_texts()
        ]
        assert [rank > 5 for rank in ranks] == sorted([rank > 5 for rank in ranks], reverse=True)
        assert page.locator(".reason").count() == sum(rank > 5 for rank in ranks)
        order = [ranked.sheet_id for ranked in scored.run[1]]
        assert sorted(ranks) == sorted(
            order.index(each) + 1 if each in order else 99 for each in QUERIES[1].positives
        )


def ranked_as(sheet_ids):
    found = [Candidate(each, n, 1 / n, 0.0, 0.0, 1, None) for n, each in enumerate(sheet_ids, 1)]
    return Method(lambda _: found)


def test_a_sheet_deep_in_the_list_counts_the_others_before_it(visit, tmp_path):
    with SheetIndex.create(tmp_path / "many.sat", HashedEncoder()) as many:
        records = [SheetRecord(f"{n:02}", f"tab {n:02}") for n in range(12)]
        many.add_records(records)
        order = [record.sheet_id for record in records]
        asked = [Query("first", ("00", "08")), Query("all", tuple(order[:7]))]
        found = bench(many, asked, {"fixed": ranked_as(order)}, Timing(questions=0))
        page = visit(report_html(found, many, title="t"), "#q1")
        assert page.locator("#q1 .reason").all_inner_texts() == [
            "Before it: 7 sheets not labelled as relevant. No word of the question is in its name, "
            "headers or folder. " + cosine_of(many, "08")
        ]
        page.locator("#show").select_option("missed")
        assert listed(page) == ["first"]
        page.locator("#show").select_option("all")
        page.locator("#q2 .question").click()
        assert page.locator("#q2 .sum").inner_text() == "5 of 7 in first 5"
        assert set(page.locator("#q2 .reason").all_inner_texts()) == {
            "All of the first five are relevant; there is no place left."
        }


def many_relevant(index) -> str:
    """The page of a question with 45 relevant sheets; the last of all is the 50th, the 3rd to
    the 6th are not relevant."""
    records = [SheetRecord(f"{n:02}", f"tab {n:02}") for n in range(50)]
    index.add_records(records)
    order = [record.sheet_id for record in records]
    gold = (order[49], *(each for n, each in enumerate(order[:49]) if n not in (2, 3, 4, 5, 6)))
    asked = [Query("first", gold)]
    found = bench(index, asked, {"fixed": ranked_as(order)}, Timing(questions=0))
    return report_html(found, index, title="t")


def test_all_relevant_sheets_before_one_are_known_however_many_are_listed(tmp_path):
    with SheetIndex.create(tmp_path / "many.sat", HashedEncoder()) as many:
        question = embedded(many_relevant(many))["questions"][0]
    assert (question["count"], len(question["relevant"])) == (45, 40)
    assert question["ranks"][0][0] == 50
    assert question["hits"][0] == [1, 2, *range(8, 51)]


def test_why_a_sheet_is_missed_counts_relevant_sheets_that_are_not_listed(visit, tmp_path):
    with SheetIndex.create(tmp_path / "many.sat", HashedEncoder()) as many:
        page = visit(many_relevant(many), "#q1")
        said = page.locator("#q1 .reason").all_inner_texts()
    assert said[0].startswith("Before it: 5 sheets not labelled as relevant.")


def cosine_of(index, sheet_id: str) -> str:
    (one,) = index.search.score_sheets(index.question("first"), [sheet_id])
    ending = {1: "st", 2: "nd", 3: "rd"}.get(one.dense_rank, "th")
    return f"Of 12 sheets it is {one.dense_rank}{ending} by cosine, not ranked by words."


def test_a_found_sheet_shows_its_citation_headers_words_and_marks(page):
    page.locator("#search").fill("revenue by region")
    if not page.locator(".detail").count():
        page.locator(".question").click()
    first = page.locator(".first li").first
    assert "relevant" in first.get_attribute("class")
    said = first.inner_text()
    for part in ("Q1", "sales.xlsx#Q1!A1:C3", "Region · Month · Revenue", "cosine"):
        assert part in said
    assert first.locator("mark").all_inner_texts() == ["Region", "Revenue"]
    assert "not relevant" in page.locator(".first li.ruled").first.inner_text()
    assert page.locator(".reason").count() == 0  # nothing is missed


def test_the_address_opens_a_question(visit, text):
    page = visit(text, "#q2")
    assert page.locator("#q2 .detail").count() == 1
    assert page.locator(".detail").count() == 1
    page.locator("#q4 .question").click()
    assert page.url.endswith("#q4")


@pytest.mark.parametrize("fragment", ["#q0", "#q99", "#%", "#nothing"])
def test_an_address_that_names_no_question_is_no_error(visit, text, fragment):
    assert visit(text, fragment).locator(".detail").count() == 1


def test_hostile_names_are_text_everywhere(page):
    for row in range(4):
        page.locator("#method").select_option(str(row))
        page.locator("#search").fill("grade")
        if not page.locator(".detail").count():
            page.locator(".question").click()
        assert EVIL in page.locator(".detail").inner_text()
        assert EVIL in page.locator(".question .tag").inner_text()
    assert page.locator("#title").inner_text() == f"Report {EVIL}"
    assert page.locator("img").count() == 0
    assert page.evaluate("window.hacked") is None
    assert BAD.partition("#")[2] == EVIL


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(visit, text, scheme):
    page = visit(text)
    page.emulate_media(color_scheme=scheme)
    page.wait_for_selector(f"html[data-theme={scheme}]", state="attached")
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.locator("#theme").click()
    page.wait_for_selector(f"html:not([data-theme={scheme}])", state="attached")
    assert page.evaluate(ground) != before


def test_a_long_list_is_shown_in_parts(visit, index):
    queries = [Query(f"revenue {number}", (Q1,)) for number in range(230)]
    found = bench(index, queries, {"BM25": named_methods(index)["BM25"]}, Timing(questions=0))
    page = visit(report_html(found, index, title="t"), "#q230")
    assert page.locator("#q230 .detail").count() == 1
    page.locator("#order").select_option("best")
    assert len(listed(page)) == 100
    page.locator("#more").click()
    assert len(listed(page)) == 200
    page.locator("#more").click()
    assert (len(listed(page)), page.locator("#more").is_visible()) == (230, False)
