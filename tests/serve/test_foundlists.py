"""A sheet's page knows its place among those found without a second search."""

import json
from datetime import date, timedelta

import pytest

from sat_retriever import SheetRetriever
from sat_retriever.serve.foundlists import FoundLists
from sat_retriever.serve.searchform import SearchForm
from sat_retriever.stages import Cache, Stage, Told, watched_by
from sat_retriever.text.period.spans import asked_on
from tests.builders import indexed, save_book
from tests.serve.conftest import serving
from tests.serve.test_permissions import ALL, HR, SALES, STAFF, ruled
from tests.serve.test_watching import lines, samples, value

__all__ = ["ruled"]  # a fixture

Q1 = "2024/Sales 2024.xlsx#Q1"
RENT = SearchForm("rent")


class Notes:
    def __init__(self):
        self.taken = []

    def took(self, stage, seconds):
        self.taken.append(stage)

    def looked_up(self, cache, *, found):
        self.taken.append((cache, found))

    def told(self, what, names):
        self.taken.append((what, names))


@pytest.fixture
def books(tmp_path):
    for name, kind in (("Flats", "Tenant"), ("Garages", "Car")):
        rows = [[kind, "Rent"], *[[f"{kind} {at}", at] for at in range(3)]]
        save_book(tmp_path / "books" / f"{name}.xlsx", Rent=rows)
    with indexed(tmp_path / "books", tmp_path / "a.sat") as index:
        yield index


def test_what_was_found_is_known_for_the_same_form_day_and_index(books, tmp_path):
    lists = FoundLists(SheetRetriever(books))
    today, notes = asked_on(None), Notes()
    assert lists.known(RENT) is None
    hits, found = lists.search(RENT, today)
    assert {each.sheet_id for each in found} == {each.sheet_id for each in hits}
    with watched_by(notes):
        assert lists.known(RENT) == found
    ids = tuple(each.sheet_id for each in found)
    told = [(Told.QUESTION, ("rent",)), (Told.FOUND, ids)]  # as a search tells it
    assert notes.taken == [(Cache.FOUND, True), *told]
    for other in (
        SearchForm("rents"),
        SearchForm("rent", k=50),
        SearchForm("rent", period="2024"),
        SearchForm("rent", folder="x"),
    ):
        assert lists.known(other) is None
    save_book(tmp_path / "books" / "Boats.xlsx", Rent=[["Boat", "Rent"], ["Ada", 7]])
    books.sync(tmp_path / "books")
    assert lists.known(RENT) is None
    assert len(lists.search(RENT, today)[1]) == 3


def test_what_was_found_yesterday_is_not_known_today(books):
    lists = FoundLists(SheetRetriever(books))
    lists.search(RENT, date.today() - timedelta(days=1))
    assert lists.known(RENT) is None


def test_the_oldest_lists_are_let_go(books):
    lists = FoundLists(SheetRetriever(books))
    for at in range(300):
        lists.search(SearchForm(f"rent {at}"), asked_on(None))
    known = [at for at in range(300) if lists.known(SearchForm(f"rent {at}"))]
    assert known == [*range(300 - 256, 300)]


def test_groups_have_lists_of_their_own_that_end_with_their_permissions(books):
    book = "Flats.xlsx"
    books.permit(lambda record: ["hr"] if record.path == book else ["hr", "sales"])
    retriever = SheetRetriever(books)
    sales, hr = (FoundLists(retriever.seen_by([group])) for group in ("sales", "hr"))
    today = asked_on(None)
    assert len(hr.search(RENT, today)[1]) == 2
    assert sales.known(RENT) is None
    assert len(sales.search(RENT, today)[1]) == 1
    books.permit(lambda record: ["hr"])
    assert sales.known(RENT) is None
    assert hr.known(RENT) is None


def test_a_sheet_that_was_found_is_shown_without_a_second_search(index_file, tmp_path):
    audit = tmp_path / "audit.jsonl"
    with serving(index_file, "--rate", 0, "--audit", audit) as server:
        server.get("/", q="revenue by region")
        searches = value(samples(server), "sat_stage_seconds_count", stage=Stage.SEARCH.value)
        pages = [server.get("/sheet", id=Q1, q="revenue by region").text for _ in range(2)]
        found = samples(server)
        assert value(found, "sat_stage_seconds_count", stage="search") == searches
        assert value(found, "sat_cache_lookups_total", cache="found", result="hit") == 2
        fresh = server.get("/sheet", id=Q1, q="revenue by region", k=11).text
        assert value(samples(server), "sat_stage_seconds_count", stage="search") == searches + 1
    assert (
        pages[0]
        == pages[1]
        == fresh.replace("&amp;k=11", "").replace('<input type="hidden" name="k" value="11">', "")
    )
    kept, searched = (
        {
            name: sorted(each)
            for name, each in line.items()
            if name in ("questions", "found", "read")
        }
        for line in lines(audit)[-2:]
    )
    assert kept == searched
    assert kept["questions"] == ["revenue by region"]
    assert len(kept["found"]) > 1


def test_no_token_is_shown_what_another_has_found(ruled):
    with serving(ruled, "--tokens", ruled.with_name("tokens.toml"), "--rate", 0) as server:
        for token, seen in ((ALL, True), (SALES, False), (HR, True), (SALES, False)):
            server.headers = {"Authorization": f"Bearer {token}"}
            found = json.loads(server.get("/search.json", q="staff").text)["workbooks"]
            ids = [hit["sheet_id"] for book in found for hit in book["hits"]]
            assert (STAFF in ids) is seen
            steps = json.loads(server.get("/sheet.json", id=ids[0], q="staff").text)["steps"]
            assert (steps["place"], steps["of"]) == (1, len(ids))
