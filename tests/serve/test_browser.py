"""The pages in a real browser: keys, scrolling, sizes, colours, screen readers, hostile pages."""

from __future__ import annotations

import datetime as dt
import http.server
import importlib
import itertools
import json
import shutil
import threading
import time
from urllib.parse import urlencode

import pytest
from openpyxl import Workbook

from conftest import BROWSERS, FLAGS
from sat_retriever import index_paths
from tests.serve.conftest import EVIL, LONG_ROWS, TOKEN, serving

LONG = urlencode({"id": "pumps/Readings.xlsx#Long"})
HOSTILE = urlencode({"id": "evil/<img src=x onerror=hacked=1> rent.xlsx#<b>rent"})
ADDRESSES = {
    "start": "/",
    "hits": "/?q=revenue+by+region",
    "hostile hits": f"/?{urlencode({'q': f'rent {EVIL}'})}",
    "no hits": "/?q=rent&period=1999",
    "a wrong filter": "/?q=rent&period=soon",
    "a sheet": "/sheet?id=2024%2FSales+2024.xlsx%23Q1&cells=C2",
    "a long sheet": f"/sheet?{LONG}&row=300&cells=A303",
    "a sheet among others": "/sheet?id=2024%2FSales+2024.xlsx%23Q1&cell=B2&q=revenue",
    "a wrong cell": f"/sheet?{LONG}&cell=what",
    "a hostile sheet": f"/sheet?{HOSTILE}",
    "no such sheet": "/sheet?id=none",
}


def visit(page, url):
    page.goto(url)
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def focused(page, what="textContent"):
    return page.evaluate(f"document.activeElement.{what}")


def until(page, holds):
    """Waits until an expression holds; the policy of the pages forbids Playwright's own waiting."""
    end = time.monotonic() + 60
    while not page.evaluate(holds):
        assert time.monotonic() < end, holds
        page.wait_for_timeout(20)


def settled(page):
    """Waits until every preview in sight is there."""
    until(
        page,
        "[...document.querySelectorAll('[data-preview]')].every(box => box.dataset.loaded"
        " || box.getBoundingClientRect().top > innerHeight + 300)",
    )


def test_a_question_is_asked_and_a_sheet_opened_without_a_mouse(server, window):
    page = visit(window(), server.url)
    assert focused(page, "id") == "q"
    page.keyboard.type("revenue by region")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hits")
    titles = page.locator("a.open").all_text_contents()
    page.keyboard.press("j")
    assert focused(page) == titles[0]
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    assert focused(page) == titles[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("k")
    assert focused(page) == titles[0]
    page.keyboard.press("/")
    assert focused(page, "id") == "q"
    page.keyboard.type("j/k")
    assert page.input_value("#q") == "j/k"
    page.keyboard.press("Escape")
    assert focused(page, "tagName") == "BODY"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sheet?*")
    assert page.inner_text("h1") == titles[0]


def test_the_first_step_of_the_tab_key_skips_to_the_content(server, window):
    page = visit(window(), f"{server.url}/?q=revenue")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert focused(page, "id") == "main"


def test_previews_come_after_the_page_with_matched_cells_marked(server, window):
    page = visit(window(), f"{server.url}/?q=revenue+January+North")
    settled(page)
    preview = page.locator(".book").filter(has_text="Sales 2024.xlsx").locator(".look").first
    assert preview.locator("tbody tr").count() == 3
    assert "North" in preview.locator("td.hit mark").all_text_contents()
    assert preview.locator("tbody th[scope=row]").first.inner_text() == "1"


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_when_the_previews_come(server, window, width):
    page, held = window(width), []
    page.route("**/preview?*", lambda route: held.append(route))  # noqa: PLW0108 - it has to look so
    visit(page, f"{server.url}/?q=revenue+reading+region+rent")
    heights = "[...document.querySelectorAll('.look')].map(box => box.offsetHeight)"
    before = page.evaluate(heights)
    waiting = page.locator(".look:not([data-loaded])")
    assert waiting.count() == len(before)
    while waiting.count():
        page.evaluate("document.querySelector('.look:not([data-loaded])')?.scrollIntoView()")
        page.wait_for_timeout(20)
        while held:
            held.pop().continue_()
    assert page.evaluate(heights) == before


def test_a_sheet_leads_to_the_next_one_by_keys_and_to_a_cell_by_its_address(server, window):
    page = visit(window(), f"{server.url}/?q=revenue+by+region")
    found = page.eval_on_selector_all("a.open", "all => all.map(each => each.href)")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    for key, place in (("j", 1), ("k", 0), ("j", 1)):
        page.wait_for_selector("html[data-ready] #results", state="attached")
        page.keyboard.press(key)
        page.wait_for_url(found[place])
    visit(page, f"{server.url}/sheet?{LONG}&q=reading")
    page.keyboard.press("g")
    assert focused(page, "id") == "cell"
    page.keyboard.type("CC700")
    page.keyboard.press("Enter")
    page.wait_for_selector("td.asked")
    box, cell = page.locator("#cells").bounding_box(), page.locator("#asked").bounding_box()
    assert box["y"] <= cell["y"] <= box["y"] + box["height"]
    assert box["x"] <= cell["x"] <= box["x"] + box["width"]
    page.click("#results")
    page.wait_for_selector(".hits")
    assert page.input_value("#q") == "reading"


def test_a_sheet_is_sorted_by_a_column_with_all_its_rows(server, window):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(window(), f"{server.url}/sheet?{LONG}")
    numbers = "[...document.querySelectorAll('#cells tbody th')].map(each => +each.innerText)"
    up = list(range(1, LONG_ROWS + 1))
    down = [1, *range(LONG_ROWS, 1, -1)]  # the header stays above
    for expected, state in ((up, "ascending"), (down, "descending"), (up, None)):
        page.click("#cells thead button >> text=B")
        until(page, f"document.querySelectorAll('#cells tbody tr').length === {LONG_ROWS}")
        heading = "document.querySelectorAll('#cells thead th')[1]"
        until(page, f"{heading}.ariaSort === {json.dumps(state)}")
        assert page.evaluate(numbers) == expected
        # All but the cells, which other tests look at: 68,000 of them take a minute.
        found = axe.run(page, context={"exclude": [["#cells tbody"]]}).response["violations"]
        assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    assert page.inner_text("#shown") == f"rows 1 to {LONG_ROWS}"


def test_cells_are_sorted_by_their_values_not_by_what_they_show(
    tmp_path, reports, index_file, window
):
    book = Workbook()
    book.active.append(["Rent", "Due"])
    days = [dt.date(2024, 10, 1), dt.date(2023, 12, 1), dt.date(2024, 2, 1)]
    for row, (rent, day) in enumerate(zip((900, 12_000, -7), days, strict=True), start=2):
        book.active.append([rent, day])
        book.active[f"A{row}"].number_format = '#,##0.0 "€"'
        book.active[f"B{row}"].number_format = "d mmm yyyy"
    book.save(tmp_path / "Rents.xlsx")
    index_paths([tmp_path], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    with serving(tmp_path / "own.sat") as own:
        page = visit(window(), f"{own.url}/sheet?id=Rents.xlsx%23Sheet")
        for at, column in (
            ("A", ["-7.0 €", "900.0 €", "12,000.0 €"]),
            ("B", ["1 Dec 2023", "1 Feb 2024", "1 Oct 2024"]),
        ):
            page.click(f"#cells thead button >> text={at}")
            cells = f"#cells tbody td:nth-of-type({'AB'.index(at) + 1})"
            assert page.locator(cells).all_inner_texts()[1:] == column
        page.locator("td", has_text="12,000.0 €").hover()
        assert page.locator("td", has_text="12,000.0 €").get_attribute("title") == "12000"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_graph_of_a_sheet_looks_as_its_page_and_leads_back_to_it(server, window, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(window(1280, scheme), f"{server.url}/sheet?id=2024%2FSales+2024.xlsx%23Q1")
    look = (
        "(() => { const own = getComputedStyle(document.body);"
        " return [own.backgroundColor, own.color, own.fontFamily]; })()"
    )
    seen = page.evaluate(look)
    page.click("text=See the graph")
    page.wait_for_selector("html[data-ready] #panel", state="visible")
    assert page.evaluate(look) == seen
    assert page.inner_text("#panel h3") == "Q1"
    found = axe.run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    page.click("text=Open the sheet")
    page.wait_for_url("**/sheet?*")
    assert page.inner_text("h1") == "Q1"


def test_without_scripts_the_pages_still_lead_everywhere(server, window):
    page = window(java_script_enabled=False)
    page.goto(f"{server.url}/?q=reading+pump&folder=pumps&k=50")
    assert page.locator(".hits .look th").first.inner_text() == "Pump 1"
    page.click("a.open")
    page.click("a[rel=next]")
    assert page.locator("tbody th").first.inner_text() == "101"
    page.fill("[name=cell]", "700")
    page.click(".jump button")
    assert page.locator("tbody th").first.inner_text() == "695"
    assert page.locator("#asked").inner_text() == "reading 700"
    assert page.locator("thead th[scope=col]", has_text="Pump 2").count() > 0


def test_a_long_sheet_is_added_to_as_it_is_scrolled(server, window):
    page = visit(window(), f"{server.url}/sheet?{LONG}")
    page.focus("#cells")
    until(
        page,
        "(() => { const box = document.getElementById('cells'); box.scrollTop = box.scrollHeight;"
        f" return box.querySelectorAll('tbody tr').length === {LONG_ROWS}; }})()",
    )
    numbers = page.eval_on_selector_all(
        "#cells tbody th", "all => all.map(each => +each.innerText)"
    )
    assert numbers == list(range(1, LONG_ROWS + 1))
    assert page.locator("a[rel=next]").count() == 0
    assert "added" in page.inner_text("#said")
    top = page.evaluate(
        "document.querySelector('.heads th').getBoundingClientRect().top"
        " - document.getElementById('cells').getBoundingClientRect().top"
    )
    assert 0 < top < 60  # the header is still in sight


def test_a_sheet_opens_where_it_matches(server, window):
    page = visit(window(390), f"{server.url}/sheet?{LONG}&row=300&cells=AB380")
    box = page.locator("#cells").bounding_box()
    cell = page.locator("td.hit").bounding_box()
    assert box["y"] <= cell["y"] <= box["y"] + box["height"]
    assert box["x"] <= cell["x"] <= box["x"] + box["width"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_is_readable_by_screen_readers(server, window, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = window(width, scheme)
    colours = set()
    for name, address in ADDRESSES.items():
        visit(page, server.url + address)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        found = axe.run(page).response["violations"]
        bad = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"]) for each in bad] == [], name
        assert page.evaluate("typeof hacked") == "undefined"
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == {{"light": "rgb(251, 251, 249)", "dark": "rgb(20, 24, 27)"}[scheme]}


@pytest.mark.slow
def test_every_view_of_the_pictures_is_readable_at_both_sizes_in_both_colours(browser, tmp_path):
    pytest.importorskip("axe_playwright_python.sync_playwright")
    tour = importlib.import_module("page_tour")
    wrong = {}
    with tour.served(tmp_path) as url:
        for size, scheme in itertools.product(tour.SIZES, tour.SCHEMES):
            page = tour.opened(browser, size, scheme)
            for view in itertools.chain(*tour.VIEWS.values()):
                if found := tour.seen(page, url, view):
                    wrong[view.name, size, scheme] = found
            page.close()
    assert wrong == {}


def test_hostile_names_and_cells_do_nothing(server, window):
    asked = []
    page = window()
    page.on("request", lambda request: asked.append(request.url))
    for address in ADDRESSES.values():
        visit(page, server.url + address)
        settled(page)
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img, iframe, [onerror], a[href^='javascript']").count() == 0
    assert all(each.startswith(server.url) for each in asked)
    assert page.context.cookies() == []


def test_a_browser_signs_in_by_the_keyboard(index_file, token_file, window):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with serving(index_file, "--token-file", token_file) as private:
        page = window()
        page.goto(f"{private.url}/?q=revenue")
        assert page.inner_text("h1") == "Sign in"
        assert axe.run(page).response["violations"] == []
        page.focus("#token")
        page.keyboard.type("not the token")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=alert]")
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_selector(".hits")
        assert page.url == f"{private.url}/?q=revenue"
        settled(page)
        assert page.locator(".look[data-loaded=yes]").count() > 0
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert TOKEN not in cookie["value"]
        assert axe.run(page).response["violations"] == []
        page.click("text=Sign out")
        page.wait_for_selector("#token")
        assert page.context.cookies() == []


# ---- results while a question is typed, filters, help, searches of late


def test_results_come_while_typing_with_one_request_at_a_time(server, window):
    page, held, asked = window(), [], []
    page.route("**/?q=*", lambda route: held.append(route))  # noqa: PLW0108 - it has to look so
    page.on("request", lambda made: asked.append(made.url) if "/?q=" in made.url else None)
    visit(page, server.url)
    page.keyboard.type("rev")
    while not held:
        page.wait_for_timeout(20)
    page.keyboard.type("enue")
    page.wait_for_timeout(600)
    page.keyboard.type(" by region")
    page.wait_for_timeout(600)
    assert len(asked) == len(held) == 1
    held.pop().continue_()
    while not held:
        page.wait_for_timeout(20)
    assert asked[1:] == [f"{server.url}/?q=revenue+by+region"]
    held.pop().continue_()
    until(page, "location.search === '?q=revenue+by+region'")
    assert page.locator("a.open").count() > 0
    assert focused(page, "id") == "q"
    assert page.title().startswith("revenue by region")
    settled(page)
    page.go_back()
    page.wait_for_selector(".home")


def test_a_busy_server_is_asked_again_after_its_time(server, window):
    page, asked = window(), []

    def busy(route):
        asked.append(route)
        if len(asked) == 1:
            route.fulfill(status=429, headers={"retry-after": "1"}, body="no")
        else:
            route.continue_()

    page.route("**/?q=*", busy)
    visit(page, server.url)
    page.keyboard.type("revenue")
    page.wait_for_selector("a.open")
    assert len(asked) == 2


def test_a_phone_has_one_button_for_filters_and_chips_take_them_away(server, window):
    page = visit(window(390), f"{server.url}/?q=revenue+reading+name&k=50")
    assert not page.locator("[name=format]").is_visible()
    page.click("#narrow")
    page.select_option("[name=format]", "csv")
    page.wait_for_selector(".chips li")
    page.keyboard.press("Escape")
    assert page.inner_text("#narrow") == "Filters (1)"
    csv = {"staff.csv", "evil/javascript:hacked=1.csv"}
    assert {*page.locator(".book h2").all_inner_texts()} <= csv
    page.click(".chips a")
    page.wait_for_selector(".chips:not(:has(li))", state="attached")
    assert page.input_value("#q") == "revenue reading name"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_folder_of_the_tree_narrows_the_search(server, window, scripts):
    page = window(java_script_enabled=scripts)
    page.goto(f"{server.url}/?q=revenue&folder=pumps&k=50")
    page.click(".tree summary")
    page.click(".tree button[value='2024']")
    page.wait_for_selector(".chips li:has-text('2024')")
    assert page.locator(".book h2").all_inner_texts() == ["2024/Sales 2024.xlsx"]


def test_searches_of_late_are_kept_in_the_browser_until_it_forgets_them(server, window):
    page = visit(window(), f"{server.url}/?q=revenue+%3Cb%3E")
    visit(page, f"{server.url}/?q=rent")
    visit(page, server.url)
    assert page.locator("#recent li").all_inner_texts() == ["rent", "revenue <b>"]
    assert page.locator("#recent a").first.get_attribute("href") == "/?q=rent"
    page.click("#forget")
    assert not page.locator("#recent").is_visible()
    visit(page, server.url)
    assert not page.locator("#recent").is_visible()


@pytest.mark.parametrize("address", ["/?q=revenue", f"/sheet?{LONG}"])
def test_help_opens_by_its_key_and_its_button(server, window, address):
    page = visit(window(), server.url + address)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    page.click(".ask-help")
    assert page.locator("#help").is_visible()
    page.keyboard.press("?")
    page.focus("#q")
    page.keyboard.type("?")
    assert not page.locator("#help").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_label_is_broken_by_letters(server, window, width):
    broken = r"""selector => [...document.querySelectorAll(selector)].filter((each) => {
      const [lines, words] = [document.createRange(), each.textContent.trim().split(/\s+/)];
      lines.selectNodeContents(each);
      const tops = new Set([...lines.getClientRects()].map((line) => Math.round(line.top)));
      return tops.size > words.length;
    }).map((each) => each.textContent)"""
    page = visit(window(width), f"{server.url}/?q=revenue+by+region&k=50")
    page.eval_on_selector_all(".why", "all => all.forEach(each => { each.open = true; })")
    assert page.evaluate(broken, ".why dt, .tag, .tree button") == []
    visit(page, f"{server.url}/sheet?{LONG}")
    assert page.evaluate(broken, ".list td:nth-child(2), .facts dt") == []


# ---- a hostile page

ATTACK = """<!doctype html><title>x</title><body><script>
const target = "%s", found = {};
async function read(name, address, options) {
  try { found[name] = await (await fetch(target + address, options)).text(); }
  catch (error) { found[name] = null; }
}
function element(tag, attributes) {
  const made = Object.assign(document.createElement(tag), attributes);
  document.body.append(made);
  return new Promise((done) => {
    made.onload = () => done("loaded");
    made.onerror = () => done(null);
  });
}
async function attack() {
  await read("cors", "/?q=revenue");
  await read("opaque", "/?q=revenue", { mode: "no-cors" });
  await read("with cookies", "/?q=revenue", { credentials: "include" });
  const headers = { "Content-Type": "application/json" };
  await read("tool", "/mcp", { method: "POST", body: "{}", headers });
  await read("simple tool", "/mcp", { method: "POST", body: "{}", mode: "no-cors" });
  await read("open", "/open", { method: "POST", body: "open=staff.csv%%23staff", mode: "no-cors" });
  await read("workbook", "/workbook?id=staff.csv%%23staff");
  await read("sign in", "/sign-in", { method: "POST", body: "token=x", mode: "no-cors" });
  found.script = await element("script", { src: target + "/static/page.js" });
  found.style = await element("link", { rel: "stylesheet", href: target + "/static/page.css" });
  found.image = await element("img", { src: target + "/static/icon.svg" });
  const frame = document.createElement("iframe");
  frame.src = target + "/?q=revenue";
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; });
  try { found.frame = frame.contentDocument.body.innerText; } catch { found.frame = null; }
  return found;
}
</script><form id="f" method="post" action="%s/mcp"><input name="a"></form>"""


@pytest.fixture
def hostile(server):
    """Port of a web server whose page attacks the served pages."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = (ATTACK % (server.url, server.url)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running.server_port
        running.shutdown()
        thread.join()


@pytest.fixture
def fooled(browser):
    """A window of a browser for which evil.example is this machine."""
    program = next(filter(None, map(shutil.which, BROWSERS)))
    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    started = browser.browser_type.launch(executable_path=program, args=[*FLAGS, rules])
    page = started.new_page()
    page.set_default_timeout(60_000)
    yield page
    started.close()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1"])
def test_a_page_of_another_origin_reads_nothing_and_every_request_is_refused(
    server, hostile, fooled, host
):
    statuses = []
    fooled.on(
        "response",
        lambda got: statuses.append(got.status) if got.url.startswith(server.url) else None,
    )
    fooled.goto(f"http://{host}:{hostile}/")
    found = fooled.evaluate("attack()")
    opaque = {
        name: "" for name in ("opaque", "simple tool", "open", "sign in") if found[name] is not None
    }
    assert {name: text for name, text in found.items() if text is not None} == opaque
    fooled.evaluate("document.getElementById('f').submit()")
    fooled.wait_for_url(f"{server.url}/mcp")
    assert "q1" not in fooled.content().lower()
    assert statuses
    assert set(statuses) == {403}


def test_a_host_name_that_was_made_to_mean_this_machine_is_refused(server, fooled):
    answer = fooled.goto(f"http://evil.example:{server.port}/?q=revenue")
    assert answer.status == 421
    assert "Sales" not in fooled.content()
