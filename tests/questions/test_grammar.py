import json
import random
from itertools import pairwise

import pytest

from sat_retriever.errors import InputError
from sat_retriever.questions.facts import Need, Sources
from sat_retriever.questions.generate import QueryOptions, make_queries
from sat_retriever.questions.grammar import Grammar, joined
from sat_retriever.questions.sentences import Draft, spoken
from sat_retriever.questions.shapes import ATTRIBUTE_SHAPES, LINK_SHAPES
from sat_retriever.questions.synonyms import Wordings
from sat_retriever.text.period.spans import Span, year
from tests.questions.small_world import world

GRAMMAR = Grammar.load()
NAMES = Wordings({"payroll": ("payroll",), "roster": ("staff list",)})
ONE = Need(kinds=("payroll",), entities=("Acme",), spans=(year(2024),))
TWO_YEARS = Need(kinds=("payroll",), entities=("Acme",), spans=(year(2023), year(2024)))
EVERYONE = Need(kinds=("payroll",), spans=(year(2024),))
ASKED = {
    "lookup": ONE,
    "lookup_key": Need(("payroll",), (), ("Acme",), (year(2024),), keys=("ID",)),
    "align_times": ONE,
    "align_schemas": EVERYONE,
    "compare_times": TWO_YEARS,
    "compare_entities": Need(("payroll",), (), ("Acme", "Bolt"), (year(2024),)),
    "aggregate_years": ONE,
    "aggregate_year": ONE,
    "aggregate_part": ONE,
    "aggregate_everyone": EVERYONE,
    "aggregate_all": Need(kinds=("payroll",), entities=("Acme",)),
    "totals_in": Sources(ONE, ()),
    "join": Need(("payroll", "roster"), (), ("Acme",), (year(2024),), keys=("ID",)),
    "trace": Sources(ONE, ()),
    "trace_itself": Sources(ONE, (), itself=True),
    "gather": Sources(ONE, ()),
    "feed": Sources(ONE, ()),
    "feed_itself": Sources(ONE, (), itself=True),
}


def said(rule, asked, *, number, single=False):
    rng = random.Random(3)
    draft = Draft("t", "d", asked, rule)
    return [spoken(GRAMMAR, NAMES, draft, single=single, rng=rng) for _ in range(number)]


def test_every_shape_has_a_rule_that_is_tested_here():
    assert {shape.rule for shape in (*ATTRIBUTE_SHAPES, *LINK_SHAPES)} == set(ASKED)


@pytest.mark.parametrize("rule", ASKED)
def test_one_need_can_be_said_in_more_than_a_hundred_ways(rule):
    texts = said(rule, ASKED[rule], number=250)
    assert None not in texts
    # equal but for letter case and spelling of the year is the same way
    plain = {
        each.text.casefold().replace("fy2024", "2024").replace("fiscal 2024", "2024")
        for each in texts
    }
    assert len(plain) > 100


@pytest.mark.parametrize("rule", ASKED)
def test_no_text_has_a_hole_a_double_space_or_a_doubled_word(rule):
    for single in (True, False):
        for each in said(rule, ASKED[rule], number=120, single=single):
            assert not set("{}<>") & set(each.text)
            assert each.text == " ".join(each.text.split())
            words = each.text.casefold().split()
            assert all(first != second for first, second in pairwise(words))


@pytest.mark.parametrize("rule", ASKED)
def test_a_text_about_one_sheet_never_speaks_of_several_of_them(rule):
    if isinstance(ASKED[rule], Sources) or rule != "lookup":
        return
    for each in said(rule, ASKED[rule], number=120, single=True):
        plural = ("payroll sheets", "payroll tabs", "payroll worksheets", "payroll tables")
        assert not any(words in each.text.casefold() for words in plural)


def test_an_alternative_that_speaks_of_what_is_not_given_is_never_taken():
    grammar = Grammar({"ask": ["{kind} of {entity}", "{kind}", "{kind} in {where}"], "where": []})
    rng = random.Random(0)
    texts = {grammar.expand("ask", {"kind": ["pay"]}, rng).text for _ in range(50)}
    assert texts == {"pay"}
    assert grammar.expand("ask", {}, rng) is None


def test_a_text_that_would_leave_something_out_is_not_said():
    grammar = Grammar({**GRAMMAR.rules, "lookup": ["Find {kind} {core}"]})
    rng = random.Random(0)
    assert spoken(grammar, NAMES, Draft("t", "d", ONE, "lookup"), single=False, rng=rng) is None
    everyone = Draft("t", "d", EVERYONE, "lookup")
    assert spoken(grammar, NAMES, everyone, single=False, rng=rng) is not None


def test_nouns_do_not_repeat_the_kind():
    wordings = Wordings({"payroll": ("balance sheet",)})
    rng = random.Random(0)
    for _ in range(200):
        text = spoken(GRAMMAR, wordings, Draft("t", "d", ONE, "lookup"), single=False, rng=rng)
        assert "sheet sheets" not in text.text.casefold()
        assert "sheet worksheets" not in text.text.casefold()


def test_a_users_files_replace_rules_of_the_same_file_and_add_others(tmp_path):
    (tmp_path / "lookup.json").write_text(json.dumps({"lookup": ["Gimme {np}"]}), encoding="utf-8")
    facts, _ = world()
    options = QueryOptions({("semantic_lookup", "none"): 1}, grammar=Grammar.load(tmp_path))
    made = list(make_queries(facts, number=20, options=options))
    assert len(made) == 20
    assert all(each.query.text.casefold().startswith("gimme ") for each in made)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "must be an object"),
        ('{"lookup": "x"}', "must be a list of texts"),
        ('{"a": ["{b}"], "b": ["x {a}"]}', "are circular: a > b > a"),
    ],
)
def test_a_grammar_that_cannot_be_used_is_refused_with_the_reason(tmp_path, content, words):
    (tmp_path / "mine.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        Grammar.load(tmp_path)


def test_lists_are_said_as_in_english():
    assert [joined(list("abc")[:number]) for number in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_spans_of_different_kinds_of_time_are_said_in_full():
    need = Need(kinds=("payroll",), spans=(Span(2021, 2023, 7, 9),))
    for each in said("lookup", need, number=100):
        text = each.text.casefold()
        assert "2021" in text
        assert "2023" in text
        assert "q3" in text or "third quarter" in text


@pytest.mark.parametrize("name", ["{entity}", "{kind} of {year}", "a}{b", "Two  Spaces"])
def test_names_may_have_braces_and_spaces(name):
    need = Need(kinds=("payroll",), entities=(name,), keys=("{key}",))
    for each in said("lookup_key", need, number=30):
        assert " ".join(name.split()).casefold() in each.text.casefold()
        assert "{key}" in each.text.casefold()
        assert all(part.casefold() in each.text.casefold() for part in each.fixed)


def test_a_noun_does_not_make_another_kind_of_the_phrase():
    wordings = Wordings({"payroll": ("bank balance",), "other": ("balance sheet",)})
    rng = random.Random(0)
    for single in [True, False] * 100:
        draft = Draft("t", "d", ONE, "lookup")
        said_of = spoken(GRAMMAR, wordings, draft, single=single, rng=rng).text.casefold()
        assert "balance sheet" not in said_of


@pytest.mark.parametrize(("first", "ranged"), [(2023, True), (2022, False)])
def test_from_one_time_to_another_is_said_where_nothing_lies_between(first, ranged):
    need = Need(kinds=("payroll",), spans=(year(first), year(2024)))
    texts = [each.text for each in said("compare_times", need, number=200)]
    assert any(" from " in text for text in texts) == ranged


@pytest.mark.parametrize("rule", ASKED)
def test_nobody_says_please_twice_or_speaks_of_one_sheet_without_an_article(rule):
    for each in said(rule, ASKED[rule], number=300, single=True):
        assert each.text.casefold().count("please") < 2
        assert "in the way of" not in each.text.casefold()
