"""Attempts by the author of a workbook, and by the next person at a browser, on the pages."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from sat_retriever import index_paths
from sat_retriever.pages.graph.page import to_html
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.serve.grid import GridCell, GridRow
from tests.saved_encoder import save_bag_of_words
from tests.serve.conftest import TOKEN, serving

TURNED = "\u202egnp.\u2066rent"
TEXTS = (
    "<img src=x onerror=hacked=1>", "<svg onload=hacked=1>", '" onmouseover="hacked=1',
    "<form id=q><input name=action>", "<a id=main name=cells>", "<base href=//evil>",
    "<meta http-equiv=refresh content=0;url=//evil>", "</td></table><style>*{display:none}</style>",
    "<img src='//evil/?", "</title></script><script>hacked=1</script>", "{{7*7}}${7*7}<%=1%>{%x%}",
    "javascript:hacked=1", "data:text/html,<script>hacked=1</script>", "file://evil/share/x",
    "\\\\evil\\share", TURNED, "re\u200bnt\u200d\ufeff\u00ad", "w" * 3_000, "a\u0301" * 500,
)  # fmt: skip
SHEETS = ("rent \u202eTEEHS", "main", "<title><script>hacked=1<scrip", "q", "W" * 31)
FORMATS = ('"<script>hacked=1</script>"0', '[Red]"\u202e"0', '"javascript:"0', "0;;;@")
FILES = ("rent \u202efdp.exe.xlsx", "onerror=alert(1) '\"><svg onload=hacked=1>.csv")
KEPT = (
    "javascript:hacked=1", "<img src=x onerror=hacked=1>", "//evil", "&q=x#y", "x" * 9_000, 5, None,
    {"textContent": "x"}, ["rent"], "\u202erent", "\ud800",
)  # fmt: skip
TURNING = "[\u202a-\u202e\u2066-\u2069]"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, token_file):
    """A server that wants a token, over workbooks with all of these."""
    folder = tmp_path_factory.mktemp("hostile")
    reports = folder / "reports"
    deep = reports.joinpath(*(f"d{n} {TURNED}" for n in range(20)))
    deep.mkdir(parents=True)
    book = Workbook()
    for title in SHEETS:
        sheet = book.create_sheet(title)
        for row in range(3):
            sheet.append([*TEXTS, row] if row else [*TEXTS, "rent"])
        for row, form in enumerate(FORMATS, start=2):
            sheet.cell(row, len(TEXTS) + 1, 7).number_format = form
        sheet["A2"].comment = Comment(TEXTS[0] + TURNED, TEXTS[1])
    del book["Sheet"]
    book.save(reports / FILES[0])
    (reports / FILES[1]).write_text("rent,region\n1,N\n", encoding="utf-8")
    (deep / "rent.csv").write_text("rent,region\n1,N\n", encoding="utf-8")
    wide = ",".join(f"rent {n}" for n in range(100_000))
    (reports / "wide.csv").write_text(f"{wide}\n{wide}\n", encoding="utf-8")
    encoder = save_bag_of_words(folder / "encoder", ["rent", "region"])
    with index_paths([reports], folder / "a.sat", encoder=encoder) as index:
        ids = index.sheet_ids()
    assert len(ids) == len(SHEETS) + 3
    with serving(folder / "a.sat", "--token-file", token_file, "--rate", 0) as server:
        server.ids = ids
        yield server


def signed_in(page, server):
    page.goto(f"{server.url}/sign-in")
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-ready] #q", state="attached")
    return page


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_texts_run_nothing_lead_nowhere_and_turn_nothing(hostile, window, width):
    page, asked = signed_in(window(width), hostile), []
    page.on("request", lambda request: asked.append(request.url))
    searches = ("/", f"/?{urlencode({'q': f'rent {TURNED}'})}", "/?q=main+evil", "/?folder=d0*")
    sheets = [f"/sheet?{urlencode({'id': each, 'q': 'rent'})}" for each in hostile.ids]
    graphs = [f"/graph?{urlencode({'id': each})}" for each in hostile.ids if width == 1280]
    for address in (*searches, *sheets, *graphs):
        page.goto(hostile.url + address)
        page.wait_for_selector("html[data-ready]", state="attached")
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img, iframe, [onerror], base, a[href^='javascript']").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert not page.evaluate(f"/{TURNING}/.test(document.title + document.body.innerText)")
        assert page.evaluate("[...document.links].every(each => each.origin === location.origin)")
    assert all(each.startswith(hostile.url) for each in asked)


def test_pieces_of_a_page_turn_nothing_and_forms_send_the_name_as_it_is(hostile):
    odd = next(each for each in hostile.ids if each.endswith(SHEETS[0]))
    known = {"Authorization": f"Bearer {TOKEN}"}
    for path in ("/rows", "/preview"):
        answer = hostile.ask(f"{path}?{urlencode({'id': odd, 'cells': 'P2'})}", **known)
        assert answer.status == 200 and "\ufffd" in answer.text
        assert not re.search(f">[^<]*{TURNING}", answer.text)
    page = hostile.ask(f"/sheet?{urlencode({'id': odd})}", **known).text
    assert f'name="id" value="{odd}"' in page and "rent \ufffdTEEHS</h1>" in page


def test_a_cell_alone_in_the_last_column_keeps_its_width():
    empty, text = GridCell([]), GridCell([("rent", False)])
    rows = [(text, empty), (empty, text), (text,), (empty,), ()]
    assert [GridRow(1, cells).alone for cells in rows] == [0, None, None, None, None]


def test_a_graph_that_was_saved_turns_nothing():
    record = SheetRecord(TURNED, TURNED, path=TURNED, workbook=TURNED, columns=(Column(TURNED),))
    shown = to_html([record], [], title=TURNED)
    assert shown.count("\\u202e") == 1  # the id, which the address has
    assert shown.count("\\ufffdgnp.\\ufffdrent") >= 5


def test_searches_of_late_are_texts_whatever_the_browser_holds(hostile, window):
    page = signed_in(window(), hostile)
    page.evaluate("kept => localStorage.setItem('sat-searches', kept)", json.dumps(KEPT))
    page.goto(hostile.url)
    page.wait_for_selector("html[data-ready] #recent:not([hidden])", state="attached")
    links = page.eval_on_selector_all("#recent a", "all => all.map(each => each.href)")
    assert len(links) == sum(isinstance(each, str) for each in KEPT)
    assert all(each.startswith(f"{hostile.url}/?q=") for each in links)
    for broken in ("{", "5", "null", '{"length": 9}'):
        page.evaluate("kept => localStorage.setItem('sat-searches', kept)", broken)
        page.goto(hostile.url)
        page.wait_for_selector("html[data-ready] #recent[hidden]", state="attached")


def test_after_signing_out_no_window_shows_or_keeps_what_was_asked(hostile, window):
    page = signed_in(window(), hostile)
    other = page.context.new_page()
    for each in (page, other):
        each.goto(f"{hostile.url}/?q=rent")
        each.wait_for_selector("html[data-ready] .hits", state="attached")
    page.click("form.leave button")
    page.wait_for_selector("#token")
    other.fill("#q", "rent of the mansion")  # a search that its session no longer answers
    other.keyboard.press("Enter")
    other.wait_for_selector("#token")
    for each in (page, other):
        each.go_back()
        each.wait_for_selector("#token")
        assert each.locator(".hits").count() == 0
        assert each.evaluate("localStorage.getItem('sat-searches')") is None


COUNTED = (
    len(TEXTS) + len(SHEETS) + len(FORMATS) + len(FILES) + len(KEPT) + 4 + 2 + 2  # places, windows
)
"""Attempts in these tests."""
