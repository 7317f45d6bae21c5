from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.synonyms import Wordings


def clear(wordings, *sheets):
    facts = [SheetFacts(str(place), *sheet) for place, sheet in enumerate(sheets)]
    return wordings.clear(FactIndex.of(facts))


def test_a_phrase_of_two_kinds_is_left_to_neither():
    wordings = Wordings({"in": ("Goods List", "receipts"), "out": ("goods list", "issues")})
    kinds = clear(wordings, ("stock", "in"), ("stock", "out")).kinds
    assert kinds == {"in": ("receipts",), "out": ("issues",)}


def test_a_category_keeps_a_phrase_that_a_part_of_it_has_too():
    wordings = Wordings({"orders": ("sales", "order book")}, {"trade": ("sales",)})
    found = clear(wordings, ("trade", "orders"), ("trade", "prices"))
    assert found.kinds["orders"] == ("order book",)
    assert found.categories["trade"] == ("sales",)


def test_a_phrase_of_a_kind_and_a_category_elsewhere_is_left_to_neither():
    wordings = Wordings({"plan": ("budget",)}, {"money": ("budget",)})
    found = clear(wordings, ("projects", "plan"), ("money", "accounts"))
    assert found.kinds["plan"] == ()
    assert found.categories["money"] == ()


def test_a_category_of_one_kind_may_share_its_phrase():
    wordings = Wordings({"films": ("movie ratings",)}, {"movies": ("movie ratings",)})
    found = clear(wordings, ("movies", "films"))
    assert found.kinds["films"] == found.categories["movies"] == ("movie ratings",)


def test_what_has_no_wording_is_called_by_its_own_name_and_what_is_not_there_is_left_out():
    found = clear(Wordings({"gone": ("x",)}), ("", "cash flow"))
    assert found.kinds == {"cash flow": ("cash flow",)}
    assert found.categories == {}


def test_a_phrase_that_ends_another_kinds_phrase_is_left_out_where_there_is_another():
    wordings = Wordings({"budget": ("budget", "spending plan"), "ledger": ("ledger",)})
    sheets = [("", kind) for kind in ("budget", "ledger", "project budget", "stock ledger")]
    kinds = clear(wordings, *sheets).kinds
    assert kinds["budget"] == ("spending plan",)
    assert kinds["ledger"] == ("ledger",)  # it has no other
    assert kinds["project budget"] == ("project budget",)


def test_a_phrase_inside_another_kinds_phrase_is_left_out_where_there_is_another():
    wordings = Wordings({"training": ("training", "course log"), "user": ("user", "viewer")})
    kinds = clear(wordings, *(("", kind) for kind in ("training", "training text", "user"))).kinds
    assert kinds["training"] == ("course log",)
    assert kinds["user"] == ("user", "viewer")


def test_a_category_loses_a_phrase_that_sheets_elsewhere_are_called_by_too():
    wordings = Wordings(
        {"plan": ("project budget",), "review": ("budget review",)},
        {"budget": ("budget", "financial planning", "cost planning"), "money": ("planning costs",)},
    )
    sheets = [("budget", "review"), ("projects", "plan"), ("money", "financial planning note")]
    found = clear(wordings, *sheets)
    assert found.categories["budget"] == ("cost planning",)
    assert clear(wordings, ("budget", "review")).categories["budget"][0] == "budget"


def test_a_text_that_ends_with_a_kinds_phrase_is_told():
    wordings = Wordings({"b": ("Balance sheet",)})
    assert wordings.ended_by("bank balance Sheet")
    assert not wordings.ended_by("balance sheet")
    assert not wordings.ended_by("bank balance")
