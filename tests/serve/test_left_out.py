"""Rows that are no records, and merged labels, on the pages and in the file of a table."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.serve.app import Pages
from sat_retriever.tools.work import Searches
from tests.builders import LEFT_OUT, MESSY, messy_index
from tests.fakes import HashedEncoder


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    file = messy_index(tmp_path_factory.mktemp("messy"))
    with SheetIndex.open(file, HashedEncoder()) as opened:
        pages = Pages(SheetRetriever(opened, None), Searches(opened, 1, 8))
        with TestClient(Starlette(routes=pages.routes())) as made:
            yield made


def test_a_sheets_page_tells_them_beside_the_table_and_in_each_row(client):
    page = client.get("/sheet", params={"id": MESSY}).text
    assert f"{LEFT_OUT} The column Section has the heading above each record." in page
    told = re.findall(r'<tr class="out" id="row-(\d+)"', page)
    assert told == ["2", "3", "7", "8", "11", "13"]
    for says in ("no record: subtotal", "no record: section", "may be a total"):
        assert f'title="{says}"' in page


@pytest.mark.parametrize("path", ["/sheet", "/rows", "/preview"])
def test_a_piece_that_begins_in_a_merged_label_shows_it_and_its_cell(client, path):
    where = {"row": 5} if path != "/preview" else {"range": "A5:D6"}
    page = client.get(path, params={"id": MESSY, **where}).text
    assert page.count('title="merged with A4">North</td>') == 2


def test_the_file_of_a_table_tells_them_in_a_header_and_has_totals_if_asked(client):
    address = {"id": MESSY, "table": 0}
    plain = client.get("/table.csv", params=address)
    assert plain.headers["x-sat-note"] == LEFT_OUT
    assert "Subtotal" not in plain.text
    whole = client.get("/table.csv", params={**address, "totals": 1})
    assert "Subtotal,,24,231.75,Retail\n" in whole.text
    assert "subtotal" not in whole.headers["x-sat-note"]
    assert client.get("/table.csv", params={**address, "totals": "x"}).status_code == 400
    page = client.get("/sheet", params={"id": MESSY}).text
    (url,) = re.findall(r'href="([^"]*)" download>CSV with totals', page)
    assert parse_qs(urlsplit(url.replace("&amp;", "&")).query)["totals"] == ["1"]


def test_a_hit_tells_them_of_the_table_that_answers(client):
    assert LEFT_OUT in client.get("/", params={"q": "revenue by region", "k": 50}).text
