"""The pages as a program sees them: what is in them, and that all of it is escaped."""

from __future__ import annotations

import csv
import datetime as dt
import html
import io
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sat_retriever import SheetIndex, SheetRetriever, index_paths
from sat_retriever.serve.app import Pages
from sat_retriever.serve.plan import OpenFiles
from sat_retriever.tools.work import Searches
from tests.serve.conftest import (
    EVIL,
    EVIL_IMAGE,
    EVIL_LINK,
    LONG_COLUMNS,
    LONG_ROWS,
    WORDS,
    long_value,
    serving,
)

Q1 = "2024/Sales 2024.xlsx#Q1"
LONG = "pumps/Readings.xlsx#Long"
HOSTILE = "evil/<img src=x onerror=hacked=1> rent.xlsx#<b>rent"
OF_A_SHEET = ["/sheet", "/rows", "/preview", "/table.csv", "/workbook", "/graph"]
PAGES = ["/", *OF_A_SHEET, "/static/page.css"]
OWN_TAGS = set(
    "a article body button caption code datalist dd details div dl dt fieldset form h1 h2 h3 head "
    "header html input kbd label legend li link main mark meta nav ol option p script section "
    "select span summary table tbody td th thead title tr ul".split()
)


class Read(HTMLParser):
    """What a page holds: tags, addresses, and the text of the cells of each numbered row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.urls, self.attributes, self.handlers = set(), [], set(), []
        self.rows: dict[int, list[str]] = {}
        self.marked: list[str] = []
        self.links: dict[str, str] = {}
        self.ids: list[str] = []
        self._row, self._cell, self._mark = None, False, False
        self._body, self._number = False, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        self.handlers += [name for name in given if name.startswith("on") or name == "style"]
        self.urls += [given[name] for name in ("href", "src", "action") if name in given]
        if "id" in given:
            self.ids.append(given["id"])
        self._body = self._body or tag == "tbody"
        self._number = self._body and tag == "th" and given.get("scope") == "row"
        if tag == "tr":
            self._row = None
        if tag == "td" and self._row:
            self.rows[self._row].append("")
            self._cell = True
        self._mark = tag == "mark"
        if tag == "a" and given.get("rel"):
            self.links[given["rel"]] = given["href"]
        if tag == "table" and "data-next" in given:
            self.links["piece"] = given["data-next"]

    def handle_endtag(self, tag):
        self._body = self._body and tag != "tbody"
        self._cell = self._cell and tag != "td"
        self._mark = False

    def handle_data(self, data):
        if self._number and data.isdigit():
            self._row, self._number = int(data), False
            self.rows[self._row] = []
        if self._cell and self._row:
            self.rows[self._row][-1] += data
        if self._mark:
            self.marked.append(data)


def test_a_hit_has_its_sheet_path_reasons_links_and_addresses(server):
    answer = server.get("/", q="revenue by region in January")
    assert answer.status == 200
    first = re.search(r"<article.*?</article>", answer.text, re.S)[0]
    plain = html.unescape(re.sub(r"<.*?>", "", first))
    for said in ("Q1", "2024/Sales 2024.xlsx", "A1:C3", "words", "meaning", "gives values to"):
        assert said in plain
    assert "<mark>Revenue</mark>" in first
    found = Read(first)
    assert {"/sheet", "/table.csv"} <= {urlsplit(each).path for each in found.urls}
    related = [parse_qs(urlsplit(url).query)["id"][0] for url in found.urls if "/sheet" in url]
    assert "2024/Sales 2024.xlsx#Summary" in related


def test_many_at_once_are_each_answered_as_if_alone(server):
    questions = [f"{word} {number % 7}" for number, word in enumerate(WORDS * 3)]
    questions[5] = " "  # no question: the start page
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda each: server.get("/", q=each), questions))
    assert {each.status for each in together} == {200}
    assert [each.text for each in together] == [server.get("/", q=each).text for each in questions]


def test_every_address_of_a_page_leads_to_a_page(server):
    seen, waiting = set(), ["/?q=revenue+rent+reading", "/"]
    while waiting and len(seen) < 60:
        address = waiting.pop()
        seen.add(address)
        answer = server.ask(address.partition("#")[0])
        assert answer.status == 200, address
        if "html" in answer.headers["content-type"]:
            more = [each for each in Read(answer.text).urls if "?" in each or "/static" in each]
            waiting += [each for each in more if each not in (*seen, *waiting)]
    assert len(seen) > 20


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"folder": "2024"}, ["2024/Sales 2024.xlsx"]),
        ({"folder": "2024/"}, ["2024/Sales 2024.xlsx"]),
        ({"folder": "*.csv"}, ["staff.csv", "evil/javascript:hacked=1.csv"]),
        ({"format": "csv", "folder": "evil"}, ["evil/javascript:hacked=1.csv"]),
        ({"period": "2024"}, ["2024/Sales 2024.xlsx"]),
        ({"period": "2019"}, []),
        ({"role": "chart"}, []),
        ({"role": "data", "folder": "pumps"}, ["pumps/Readings.xlsx"]),
    ],
    ids=str,
)
def test_filters_narrow_a_search_and_stay_in_the_form(server, filters, kept):
    answer = server.get("/", q="revenue name reading rent", k=50, **filters)
    paths = re.findall(r'data-preview="[^"]*?id=([^"&]*)', answer.text)
    assert {parse_qs(f"x={html.unescape(p)}")["x"][0].partition("#")[0] for p in paths} == {*kept}
    for value in filters.values():
        assert f'value="{value}"' in answer.text or f"selected>{value}" in answer.text
    if not kept:
        assert "Search everywhere" in answer.text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"q": "x", "format": "docx"}, "give one of: xlsx"),
        ({"q": "x", "role": "odd"}, "give one of: data"),
        ({"q": "x", "period": "soon"}, "names no time"),
        ({"q": "x", "k": "0"}, "from 1 to 50"),
        ({"q": "x" * 4001}, "more than 4,000 characters"),
        ({"q": "a\0b"}, "characters that are not text"),
    ],
    ids=str,
)
def test_what_cannot_be_searched_is_told_in_words(server, given, says):
    answer = server.get("/", **given)
    assert answer.status == 400
    assert says in html.unescape(answer.text)


def pieces(server, address):
    """Rows of a sheet, put together by following the links from piece to piece."""
    rows: dict[int, list[str]] = {}
    while address:
        found = Read(server.ask(address).text)
        assert not set(rows) & set(found.rows)
        rows |= found.rows
        address = found.links.get("next", "")
    return rows


def test_the_pieces_of_a_sheet_are_the_whole_sheet(server):
    whole: dict[int, list[str]] = {}
    for column in range(1, LONG_COLUMNS + 1, 40):
        for row, cells in pieces(
            server, f"/sheet?{urlencode({'id': LONG, 'column': column})}"
        ).items():
            whole.setdefault(row, []).extend(cells)
    assert whole == {
        row: [str(long_value(row, column)) for column in range(1, LONG_COLUMNS + 1)]
        for row in range(1, LONG_ROWS + 1)
    }


def test_rows_that_a_script_adds_are_those_of_the_pages(server):
    rows, address = {}, f"/rows?{urlencode({'id': LONG, 'row': 101})}"
    while address:
        found = Read(server.ask(address).text)
        rows |= found.rows
        address = found.links["piece"]
    assert list(rows) == list(range(101, LONG_ROWS + 1))
    assert rows[730][0] == "reading 730"


def test_a_piece_from_the_middle_names_its_columns_and_leads_both_ways(server):
    answer = server.get("/sheet", id=LONG, row=300, cells="A303,zz")
    found = Read(answer.text)
    assert list(found.rows) == list(range(300, 400))
    assert '<th scope="col">Pump 1</th>' in answer.text
    assert found.marked == ["reading 303"]
    assert parse_qs(urlsplit(found.links["prev"]).query)["row"] == ["200"]
    assert parse_qs(urlsplit(found.links["next"]).query)["cells"] == ["A303"]


def test_a_preview_shows_the_header_and_the_rows_that_match(server):
    answer = server.get("/preview", id=LONG, range="A1:CO730", cells="A600,CC600", q="Pump 50")
    found = Read(answer.text)
    assert [row for row in found.rows if row in (1, 600)] == [1, 600]
    assert list(found.rows) == [1, 2, 3, 599, 600, 601, 602]  # its top, then what answers
    assert answer.text.count('class="gap') == 1
    assert '<tr class="matched "><th scope="row">600' in answer.text
    assert found.ids == []  # many previews stand on one page
    assert "reading 600" in found.marked
    assert "Pump" in found.marked


def test_a_title_above_a_table_is_in_the_preview_and_not_cut(tmp_path, reports, index_file):
    book = Workbook()
    book.active.append(["Fuel use of all pumps of the northern region"])
    book.active.append([])
    book.active.append(["Pump", "Reading", "Month"])
    for row in range(30):
        book.active.append([f"pump {row}", row, "January"])
    book.save(tmp_path / "Pumps.xlsx")
    index_paths([tmp_path], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    with serving(tmp_path / "own.sat") as own:
        hits = own.get("/", q="pump reading", k=50)
        address = html.unescape(re.search(r'data-preview="(.*?)" data-rows="8"', hits.text)[1])
        found = own.ask(address)
        assert list(Read(found.text).rows) == list(range(1, 9))
        assert '<td colspan="3" class="long "' in found.text
        page = own.get("/sheet", id="Pumps.xlsx#Sheet")
        assert "colspan" not in page.text  # its cells are copied as cells
        assert page.text.count('class="title ') == 0  # 45 characters, three columns
    book.active["A1"] = "Fuel use of the north"
    book.save(tmp_path / "Pumps.xlsx")
    index_paths([tmp_path], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    with serving(tmp_path / "own.sat") as own:
        page = own.get("/sheet", id="Pumps.xlsx#Sheet")
        assert page.text.count('class="title ') == 1
        assert Read(page.text).rows[1] == ["Fuel use of the north", "", ""]


def test_the_question_stays_on_a_sheet_and_leads_to_the_next_one_and_back(server):
    hits = server.get("/", q="revenue by region", format="xlsx").text
    first, second = re.findall(r'<a class="open" href="(.*?)"', hits)[:2]
    page = server.ask(html.unescape(first)).text
    assert 'name="q" value="revenue by region"' in page
    assert "1 of " in page
    assert f'<a href="{second}" id="after"' in page
    back = html.unescape(re.search(r'<a href="([^"]*)" id="results"', page)[1])
    assert server.ask(back).text == hits
    page = server.ask(html.unescape(second)).text
    assert f'<a href="{first}" id="before"' in page
    tabs = re.search(r'<nav class="tabs".*?</nav>', page, re.S)[0]
    assert all("q=revenue+by+region&amp;format=xlsx" in each for each in tabs.split("<li>")[1:])
    alone = server.get("/sheet", id=Q1).text
    assert "Results" not in alone
    assert 'id="after"' not in alone


def test_a_sheet_that_was_not_found_still_leads_back_to_the_results(server):
    page = server.get("/sheet", id="staff.csv#staff", q="reading pump", folder="pumps").text
    assert '<a href="/?q=reading+pump&amp;folder=pumps" id="results">' in page
    assert 'id="after"' not in page
    wrong = server.get("/sheet", id=Q1, q="x", role="odd")
    assert wrong.status == 400


def test_the_sheets_of_a_workbook_are_tabs_in_their_order_and_its_folders_are_searches(server):
    page = server.get("/sheet", id=Q1, q="revenue").text
    tabs = re.search(r'<nav class="tabs".*?</nav>', page, re.S)[0]
    assert re.findall(r">(\w+)</a>", tabs) == ["Summary", "Q1", "Q2"]
    assert re.search(r'aria-current="page">(\w+)<', tabs)[1] == "Q1"
    assert '<a href="/?q=revenue&amp;folder=2024">2024</a> / <span>Sales 2024.xlsx</span>' in page
    page = server.get("/sheet", id="staff.csv#staff").text
    assert 'class="tabs"' not in page


@pytest.mark.parametrize(
    ("cell", "row", "first"),
    [("AA120", 120, 115), ("$AA$120", 120, 115), ("b7:c9", 7, 1), ("700", 700, 695), ("C:C", 1, 1)],
)
def test_a_cell_is_gone_to_by_its_address(server, cell, row, first):
    answer = server.get("/sheet", id=LONG, cell=cell)
    assert answer.status == 200
    assert next(iter(Read(answer.text).rows)) == first
    asked = re.search(r'<td id="asked"[^>]*>(.*?)</td>', answer.text)[1]
    column = {"AA120": 27, "$AA$120": 27, "b7:c9": 2, "700": 1, "C:C": 3}[cell]
    assert asked == str(long_value(row, column))
    assert f'value="{cell}"' in answer.text


def test_a_cell_far_to_the_right_brings_its_columns(server):
    page = server.get("/sheet", id=LONG, cell="CC5").text
    assert re.search(r'<td id="asked"[^>]*>(.*?)</td>', page)[1] == str(long_value(5, 81))
    assert "No cell there is used" in server.get("/sheet", id=LONG, cell="ZZ9").text


@pytest.mark.parametrize("cell", ["what", "A0", "0", "XFE1", "A1048577", EVIL, "A1;B2", "9" * 30])
def test_what_is_no_cell_is_told_on_the_page_that_stays(server, cell):
    answer = server.get("/sheet", id=LONG, cell=cell)
    assert answer.status == 400
    assert "is no cell; write one such as AA120" in answer.text
    assert Read(answer.text).rows[1][0] == "Pump 1"
    assert server.get("/sheet.json", id=LONG, cell=cell).status == 400


def test_the_graph_around_a_sheet_is_linked_from_it_and_leads_to_sheets(server):
    page = server.get("/sheet", id=Q1).text
    address = html.unescape(re.search(r'href="(/graph[^"]*)"', page)[1])
    assert address.endswith("#2024/Sales%202024.xlsx%23Q1")
    answer = server.ask(address.partition("#")[0])
    assert answer.status == 200
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', answer.text, re.S)[1])
    assert data["opens"] == "/sheet?id="
    assert "2024/Sales 2024.xlsx#Summary" in [each["id"] for each in data["sheets"]]
    policy = answer.headers["content-security-policy"]
    own, _, frames = policy.rpartition("; ")
    assert f'Content-Security-Policy" content="{own}"' in answer.text
    assert frames == "frame-ancestors 'none'"
    assert "unsafe" not in policy
    alone = server.get("/graph", id=LONG)
    assert alone.status == 200


def test_numbers_have_the_digits_that_spreadsheets_show(tmp_path, reports, index_file):
    book = Workbook()
    book.active.append(["Rate", "Share"])
    book.active.append([0.1 + 0.101, 0.1 + 0.2])
    book.save(tmp_path / "Rates.xlsx")
    index_paths([tmp_path], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    with serving(tmp_path / "own.sat") as own:
        for path in ("/sheet", "/preview", "/rows"):
            assert Read(own.get(path, id="Rates.xlsx#Sheet").text).rows[2] == ["0.201", "0.3"]


@pytest.mark.parametrize("path", OF_A_SHEET)
def test_an_unknown_sheet_is_not_found_and_the_nearest_names_are_links(server, path):
    answer = server.get(path, id="2024/Sales 2024.xlsx#Q3")
    assert answer.status == 404
    linked = [
        parse_qs(urlsplit(each).query)["id"][0] for each in Read(answer.text).urls if "id=" in each
    ]
    assert Q1 in linked
    assert server.get(path, id="../secret.csv#secret").status == 404
    assert server.get(path).status == 404


def test_a_workbook_that_is_gone_or_broken_is_told_without_a_path_of_the_machine(
    reports, tmp_path, index_file
):
    moved = shutil.copytree(reports, tmp_path / "folder")
    index_paths([moved], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    (moved / "staff.csv").unlink()
    (moved / "2024" / "Sales 2024.xlsx").write_bytes(b"PK not a workbook")
    with serving(tmp_path / "own.sat") as own_server:
        for path in ("/sheet", "/rows", "/preview", "/table.csv"):
            for sheet, status, says in (
                ("staff.csv#staff", 410, "is gone"),
                (Q1, 409, "cannot be read"),
            ):
                answer = own_server.get(path, id=sheet)
                assert answer.status == status
                assert says in answer.text
                assert str(tmp_path) not in answer.text
                assert "Traceback" not in answer.text
                gone = path == "/sheet" and status == 410  # nothing there to open, read or save
                assert ("/table.csv" in answer.text) == (path == "/sheet" and not gone)


def test_a_table_is_a_csv_file_in_which_no_text_is_a_formula(server):
    answer = server.get("/table.csv", id=HOSTILE)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="')
    lines = [*csv.reader(io.StringIO(answer.text))]
    assert lines[0] == ["Tenant", EVIL_IMAGE, "Link", "Rent"]
    assert lines[1] == ["'=HYPERLINK(1)", EVIL_IMAGE, EVIL_LINK, "7"]
    assert lines[2] == ["'+41 44", "'@SUM(1)", "'-x", "-7"]
    assert lines[3][3] == "1.5"
    assert server.get("/table.csv", id=HOSTILE, table=7).status == 404


def test_hostile_names_and_cells_are_text_and_nothing_else(server):
    addresses = [
        "/?q=rent",
        f"/?{urlencode({'q': EVIL + EVIL_IMAGE, 'folder': EVIL_IMAGE, 'period': '2024' + EVIL})}",
        f"/sheet?{urlencode({'id': HOSTILE})}",
        f"/preview?{urlencode({'id': HOSTILE, 'q': EVIL})}",
        f"/sheet?{urlencode({'id': EVIL})}",
        f"/{EVIL_LINK}",
    ]
    for address in addresses:
        text = server.ask(address).text
        found = Read(text)
        assert found.tags <= OWN_TAGS
        assert found.handlers == []
        assert all(re.match(r"[/#](?!/)", each) for each in found.urls), address
        assert EVIL not in text
        assert text.count("<script") <= 1


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_read_and_nothing_else(server, path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ODD"):
        answer = server.ask(path, method)
        assert answer.status == 405
        assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
    answer = server.ask(path, "HEAD")
    assert answer.text == ""
    assert answer.status == server.ask(path).status


def test_an_unknown_address_is_a_page(server):
    answer = server.ask("/nothing/here")
    assert (answer.status, "There is no page" in answer.text) == (404, True)
    assert server.ask("/static/../app.py").status == 404
    assert server.ask("/static/%2e%2e%2fapp.py").status == 404


@pytest.fixture(scope="module")
def client(index_file):
    with SheetIndex.open(index_file) as opened:
        searches = Searches(opened, 1, 8)
        pages = Pages(SheetRetriever(opened, None), searches, open_files=OpenFiles.DOWNLOAD)
        with TestClient(Starlette(routes=pages.routes())) as made:
            yield made


names = st.sampled_from(
    "id q row column cell cells table range k folder format period role".split()
)
ids = st.sampled_from([Q1, LONG, HOSTILE, "staff.csv#staff"])
values = st.one_of(ids, st.text(max_size=40), st.integers(-2, 2**40).map(str), st.just("A1:B2"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(path=st.sampled_from(PAGES[:7]), given=st.lists(st.tuples(names, values), max_size=6))
def test_no_query_string_breaks_a_page(client, path, given):
    query = urlencode([(name, value.encode("utf-8", "surrogatepass")) for name, value in given])
    assert client.get(f"{path}?{query}").status_code in (200, 400, 404)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(raw=st.binary(max_size=60))
def test_no_bytes_break_a_page(client, raw):
    query = "q=" + "".join(f"%{each:02x}" for each in raw)
    assert client.get(f"/?{query}").status_code in (200, 400)


# ---- the search page


def words_of(text):
    """The text of a page, without tags, its blanks made one."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def books_of(server, **given):
    """The workbooks on a page of hits, each the part of the page that shows it."""
    return server.get("/", **given).text.split('<section class="book"')[1:]


def test_hits_are_grouped_by_workbook_whose_path_is_shown_once(server):
    books = books_of(server, q="revenue by region", k=50)
    (sales,) = (each for each in books if "Sales 2024.xlsx</h2>" in re.sub("</?mark>", "", each))
    assert sales.count('<a class="open"') == 3
    shown = re.sub(r"<caption.*?</caption>", "", sales)
    assert words_of(f"<a{shown}").count("Sales 2024.xlsx") == 1


def test_a_hit_tells_its_reason_in_words_and_its_numbers_under_why(server):
    (first, *_) = books_of(server, q="revenue by region in January 2024", k=50)
    hit = first.split("<article")[1]
    reason = re.search(r'<p class="reason">(.*?)</p>', hit)[1]
    assert "<mark>2024</mark> in the file name" in reason
    assert "<mark>region</mark>, <mark>revenue</mark> in a header" in reason
    assert "<mark>january</mark> in B2" in reason
    plain, why = hit.split('<details class="why">')
    assert "rank" not in words_of(f"<a{plain}")
    assert "meaning" in why and "score" in why
    (other, *_) = books_of(server, q="zebra", k=50)
    assert "alike in meaning" in other


def test_the_number_of_hits_is_told_beside_that_of_sheets_searched(server):
    sheets = re.search(r"<p>(\d+) sheets of", server.get("/").text)[1]
    assert f"est 10 of {sheets} sheets" not in server.get("/", q="revenue", k=50).text
    assert f"est 2 of {sheets} sheets" in server.get("/", q="revenue", k=2).text
    assert "est 2 of 3 sheets" in server.get("/", q="revenue", k=2, folder="2024").text


def test_where_nothing_answers_three_hits_are_shown_without_cells(server):
    page = server.get("/", q="zebra").text
    assert "Nothing here seems to answer this" in page
    assert "Nearest 3 of" in page
    assert page.count('<a class="open"') == 3
    assert 'class="look"' not in page
    more = html.unescape(re.search(r'href="([^"]*)">More sheets', page)[1])
    assert server.ask(more).text.count('<a class="open"') > 3


def test_filters_are_counted_and_each_that_is_set_can_be_taken_away(server):
    page = server.get("/", q="revenue", format="xlsx", folder="2024").text
    assert '<option value="xlsx" selected>xlsx (' in page
    assert re.search(r'<option value="data">data \(\d+\)', page)
    assert '<option value="2024">3 sheets</option>' in page
    assert re.search(r'<button name="folder" value="pumps">pumps</button> <span[^>]*>1<', page)
    chips = re.search(r'<ul class="chips".*?</ul>', page, re.S)[0]
    assert words_of(chips) == "folder: 2024 × format: xlsx ×"
    left = [
        parse_qs(urlsplit(html.unescape(each)).query) for each in re.findall('href="(.*?)"', chips)
    ]
    assert left == [{"q": ["revenue"], "format": ["xlsx"]}, {"q": ["revenue"], "folder": ["2024"]}]


def test_a_folder_without_a_question_lists_its_workbooks(server):
    page = server.get("/", folder="2024").text
    assert (
        words_of(re.search(r'<ul class="plain".*?</ul>', page, re.S)[0]) == "2024/Sales 2024.xlsx"
    )


def test_the_start_page_tells_what_was_skipped_and_hits_that_their_workbook_is_gone(
    reports, tmp_path, index_file
):
    moved = shutil.copytree(reports, tmp_path / "folder")
    (moved / "broken.xlsx").write_bytes(b"PK\3\4 no workbook")
    index_paths([moved], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    (moved / "staff.csv").unlink()
    with serving(tmp_path / "own.sat") as own:
        start = own.get("/").text
        assert "1 part could not be read" in start
        assert "<li>broken.xlsx <" in start
        assert re.search(r"last read on 20\d\d-\d\d-\d\d\.", start)
        assert str(tmp_path) not in start
        books = books_of(own, q="salary name", k=50)
        gone = [each for each in books if "This workbook is gone" in each]
        assert [words_of(re.search("<h2.*?</h2>", each)[0]) for each in gone] == ["staff.csv"]
        assert "/preview" not in gone[0] and "/table.csv" not in gone[0]


def test_cells_show_what_the_workbook_shows_and_files_have_the_values(
    tmp_path, reports, index_file
):
    book = Workbook()
    book.active.append(["Rent", "Share", "Paid"])
    for _ in range(3):
        book.active.append([1234.5, 0.075, dt.date(2024, 3, 1)])
    for column, code in zip("ABC", ('#,##0.00 "€"', "0.0%", "d mmm yy"), strict=True):
        book.active[f"{column}2"].number_format = code
    book.save(tmp_path / "Rents.xlsx")
    index_paths([tmp_path], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    with serving(tmp_path / "own.sat") as own:
        for path in ("/sheet", "/preview", "/rows"):
            text = own.get(path, id="Rents.xlsx#Sheet", range="A1:C4", q="rent").text
            assert "1,234.50 €" in Read(text).rows[2]
            assert 'data-value="0.075" title="0.075">7.5%</td>' in text
            assert 'title="2024-03-01">1 Mar 24</td>' in text
            assert 'title=""' not in text
        grid = json.loads(own.get("/rows.json", id="Rents.xlsx#Sheet").text)["grid"]
        share = grid["rows"][1]["cells"][1]
        assert (share["parts"], share["value"]) == ([["7.5%", False]], "0.075")
        for path in ("/table.csv", "/table.json"):
            table = own.get(path, id="Rents.xlsx#Sheet").text
            assert "1234.5" in table and "0.075" in table and "%" not in table
        asked = json.dumps({"sheet": "Rents.xlsx#Sheet", "range": "A2:C2"}).encode()
        cells = own.ask("/api/table", "POST", asked, content_type="application/json")
        assert "0.075" in cells.text and "7.5" not in cells.text


def test_a_number_is_shown_as_the_workbook_shows_it(reports, tmp_path, index_file):
    book = Workbook()
    book.active.append(["Region", "Reading"])
    for _ in range(3):
        book.active.append(["North", 0.20099999999999998])
    book.save(tmp_path / "Readings.xlsx")
    index_paths([tmp_path], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    with serving(tmp_path / "own.sat") as own:
        hits = own.get("/", q="reading by region", k=50).text
        preview = own.ask(html.unescape(re.search('data-preview="(.*?)"', hits)[1])).text
        assert "<td>0.201</td>" in hits
        assert ">0.201</td>" in preview
        assert "0.2009" not in hits + preview
