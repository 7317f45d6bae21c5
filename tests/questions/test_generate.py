import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from sat_retriever.errors import InputError
from sat_retriever.questions.facts import SheetFacts, Sources
from sat_retriever.questions.generate import QueryOptions, make_queries
from sat_retriever.questions.grammar import Grammar
from sat_retriever.questions.negatives import HARD_TYPES, QUESTIONS
from tests.places import ROOT
from tests.questions.slow import answers
from tests.questions.small_world import MONTHLY, WORDINGS, facts_of, world

FACTS, LINKS = world()


@pytest.fixture(scope="module")
def made():
    return list(make_queries(FACTS, LINKS, wordings=WORDINGS, number=900, seed=5))


def types(made):
    return Counter((each.query.query_type, each.query.dependency_type) for each in made)


def test_the_positives_are_all_sheets_that_a_loop_over_all_finds(made):
    for each in made:
        assert set(each.query.positives) == answers(each.asked, FACTS, LINKS), each.query.text
        assert len(set(each.query.positives)) == len(each.query.positives) > 0


def test_questions_come_in_the_published_proportions(made):
    found, total = types(made), sum(QUESTIONS.values())
    assert len(made) == 900
    assert set(found) == set(QUESTIONS)
    for name, count in QUESTIONS.items():
        assert found[name] == pytest.approx(900 * count / total, abs=1.01)


def test_proportions_can_be_given():
    shares = {("comparison", "schema_alignment"): 1.0, ("semantic_lookup", "none"): 3.0}
    found = list(make_queries(FACTS, LINKS, number=80, options=QueryOptions(shares=shares)))
    assert types(found) == {
        ("comparison", "schema_alignment"): 20,
        ("semantic_lookup", "none"): 60,
    }


def test_no_two_questions_have_the_same_text(made):
    texts = [each.query.text.casefold() for each in made]
    assert len(set(texts)) == len(texts)


def test_a_grammar_of_few_words_gives_few_questions_and_none_twice():
    rules = {**Grammar.load().rules, "lookup": ["{np}"], "np_k": ["{kind} sheets"]}
    facts = [SheetFacts(name, "", name) for name in ("cash flow", "rent roll")]
    made = list(make_queries(facts, number=50, options=QueryOptions(grammar=Grammar(rules))))
    assert sorted(each.query.text.casefold() for each in made) == [
        "cash flow sheets",
        "rent roll sheets",
    ]


def test_many_sheets_are_never_asked_for_as_one(made):
    for each in made:
        if each.query.query_type == "semantic_lookup" and len(each.query.positives) > 1:
            assert not re.search(r"\b(worksheet|tab|table)\b", each.query.text), each.query.text


def test_one_need_is_asked_no_more_often_than_allowed(made):
    assert max(Counter(each.asked for each in made).values()) <= 3


def need_of(each):
    return each.asked.of if isinstance(each.asked, Sources) else each.asked


def test_a_text_names_every_entity_key_and_year_that_its_answer_is_bound_to(made):
    for each in made:
        text, need = each.query.text.casefold(), need_of(each)
        assert all(name.casefold() in text for name in (*need.entities, *need.keys)), text
        if " years" in text or "each" in text or "every" in text:
            continue  # years said in words
        for span in need.spans:
            assert str(span.last_year or "") in text, (text, need)


def test_a_text_uses_a_clear_phrase_for_every_kind_and_category(made):
    for each in made:
        text, need = each.query.text.casefold(), need_of(each)
        for kind in need.kinds:
            assert any(name.casefold() in text for name in WORDINGS.kinds[kind]), text
        for category in need.categories:
            assert any(name.casefold() in text for name in WORDINGS.categories[category]), text


def test_what_no_rewording_may_lose_is_in_the_text(made):
    for each in made:
        assert all(part.casefold() in each.query.text.casefold() for part in each.fixed)


def test_negatives_are_no_positives_and_hard_ones_have_a_type(made):
    for each in made:
        query = each.query
        positives = set(query.positives)
        assert not positives & {*query.negatives, *query.hard_negatives}
        assert len(query.negatives) == len(set(query.negatives))
        known = [sheet for sheet in query.positives if sheet != "notes without facts"]
        assert len(known) <= len(query.negatives) <= len(query.positives)
        assert tuple(query.hard_negative_types) == query.hard_negatives
        assert set(query.hard_negative_types.values()) <= set(HARD_TYPES)
        assert len(query.hard_negatives) <= 56


def test_kinds_and_companies_are_asked_for_evenly(made):
    by_entity = Counter(name for each in made for name in need_of(each).entities)
    assert min(by_entity.values()) > 0.8 * max(by_entity.values())
    kinds = Counter(name for each in made for name in need_of(each).kinds)
    assert len(kinds) == len(WORDINGS.kinds)
    counts = [kinds[kind] for _, kind, _ in MONTHLY]  # there are as many ways to ask for each
    assert min(counts) > 0.5 * max(counts)
    months = Counter(
        span.first_month
        for each in made
        for span in need_of(each).spans
        if span.first_month == span.last_month
    )
    assert len(months) == 12
    assert min(months.values()) > 0.25 * max(months.values())


def test_the_same_seed_gives_the_same_questions_and_another_one_others(made):
    again = make_queries(FACTS, LINKS, wordings=WORDINGS, number=900, seed=5)
    assert list(again) == made
    other = list(make_queries(FACTS, LINKS, wordings=WORDINGS, number=50, seed=6))
    assert [each.query.text for each in other] != [each.query.text for each in made[:50]]


def test_questions_do_not_depend_on_the_order_of_hashes():
    code = (
        "from tests.questions.small_world import *\n"
        "from sat_retriever.questions.generate import make_queries\n"
        "made = make_queries(*world(years=(2023, 2024)), wordings=WORDINGS, number=80)\n"
        "print([each.query for each in made])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            cwd=ROOT,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_fewer_questions_are_the_beginning_of_more(made):
    few = make_queries(FACTS, LINKS, wordings=WORDINGS, number=30, seed=5)
    assert list(few) == made[:30]


def test_a_question_with_too_many_positives_is_left_out_and_never_cut():
    options = QueryOptions(max_positives=5)
    made = list(make_queries(FACTS, LINKS, number=200, options=options))
    assert len(made) == 200
    for each in made:
        assert len(each.query.positives) <= 5
        assert set(each.query.positives) == answers(each.asked, FACTS, LINKS)


def test_without_links_the_linked_types_leave_their_share_to_the_others():
    made = list(make_queries(FACTS, number=100))
    assert len(made) == 100
    assert not {"formula_tracing", "summary_source"} & {each.query.query_type for each in made}


def test_sheets_of_which_only_a_name_is_known_are_looked_up_by_it():
    facts = [
        replace(facts_of("", name, (), "", 0), sheet_id=name, period=None, workbook="")
        for name in ("cash flow", "rent roll", "fleet list")
    ]
    made = list(make_queries(facts, number=60))
    assert {each.query.query_type for each in made} == {"semantic_lookup"}
    assert {each.query.positives for each in made} == {
        ("cash flow",),
        ("rent roll",),
        ("fleet list",),
    }
    assert len(made) == 9  # each in three ways
    assert all(
        set(each.query.negatives) <= set("cash flow,rent roll,fleet list".split(","))
        for each in made
    )


def test_of_nothing_there_are_no_questions():
    assert list(make_queries([], number=10)) == []


@pytest.mark.parametrize(
    ("number", "options"),
    [(-1, QueryOptions()), (1, QueryOptions(max_positives=0)), (1, QueryOptions(max_phrasings=0))],
)
def test_bounds_that_allow_nothing_are_refused(number, options):
    with pytest.raises(InputError):
        make_queries(FACTS, number=number, options=options)


def test_the_last_years_are_the_last_ones_of_the_whole_corpus():
    facts = [facts_of("hr", "payroll", (), "Acme", number) for number in (2019, 2020)]
    facts += [facts_of("hr", "payroll", (), "Bolt", number) for number in (2023, 2024)]
    options = QueryOptions(max_phrasings=100)
    made = [each.query for each in make_queries(facts, number=150, options=options)]
    last = [query for query in made if re.search(r"(last|latest|recent) two years", query.text)]
    assert last
    assert {sheet.split("/")[0] for query in last for sheet in query.positives} == {"Bolt"}


def test_one_type_asks_for_the_same_sheets_only_so_often():
    facts = [facts_of("hr", "payroll", ("ID",), "Acme", 2024)]
    made = list(make_queries(facts, number=100, options=QueryOptions(max_phrasings=2)))
    assert len(made) == 2
    assert len({each.query.text for each in made}) == 2


def test_who_asks_for_a_column_gets_the_sheets_for_which_it_is_no_key_too():
    keyed = facts_of("hr", "payroll", ("Department",), "Acme", 2024)
    other = replace(facts_of("hr", "roster", (), "Acme", 2024), columns=("name", "department"))
    made = list(make_queries([keyed, other], number=200))
    asked = [each for each in made if each.asked.keys and not each.asked.kinds]
    assert asked
    assert all(len(each.query.positives) == 2 for each in asked)


def test_what_is_meant_are_the_positives_or_those_that_take_from_them(made):
    for each in made:
        if isinstance(each.asked, Sources):
            assert set(each.meant) == answers(each.asked.of, FACTS, LINKS)
        else:
            assert each.meant == each.query.positives
