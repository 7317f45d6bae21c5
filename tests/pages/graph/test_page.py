"""The page of sheets and links: what is in it, and what it does in a real browser."""

from __future__ import annotations

import json
import random
import re
from urllib.parse import quote

import numpy as np
import pytest

from sat_retriever import Column, Link, SheetRecord, Table
from sat_retriever.pages.graph import page as pagemodule
from sat_retriever.pages.graph.page import PAGE_LINKS, to_html
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.links import OTHER_KIND, kind_of
from sat_retriever.records.sheets import ColumnType

EVIL = "</script><img src=x onerror=window.hacked=1>"
EVIDENCE = "Summary!B4 =SUM(Q1!B2:B9)"


def sheet(path: str, name: str, *headers: str, **more) -> SheetRecord:
    columns = tuple(Column(header, type=ColumnType.NUMBER, unit="EUR") for header in headers)
    table = Table("A3:B9", 3, 1, transposed=False, num_rows=6, columns=columns)
    return SheetRecord(
        f"{path}#{name}", name, path.rpartition("/")[2], path, columns, tables=(table,), **more
    )


RECORDS = [
    sheet("2024/Sales.xlsx", "Q1", "Month", "Net revenue", num_rows=12, num_cols=2),
    sheet("2024/Sales.xlsx", "Summary", "Quarter", formulas=FormulaState.READ),
    sheet("old/Rates.xls", "Währungen", "Kurs", formulas=FormulaState.UNREAD),
    sheet("evil.xlsx", EVIL, EVIL),
]
Q1, SUMMARY, RATES, BAD = (record.sheet_id for record in RECORDS)
LINKS = [
    Link(SUMMARY, Q1, "formula_reference", 0.75, EVIDENCE),
    Link(SUMMARY, Q1, "aggregation", 1.0, EVIDENCE),
    Link(Q1, RATES, "join_key", 0.5, "VLOOKUP(A2,Rates!A:B,2)"),
    Link(Q1, SUMMARY, "same_workbook"),
    Link(BAD, RATES, EVIL, 0.5, EVIL),
]


def embedded(page: str) -> dict:
    (text,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_with_too_many_links_the_strongest_stay_and_the_page_says_so():
    records = [SheetRecord(str(number), str(number)) for number in range(210)]
    links = [
        Link(str(a), str(b), "join_key", 0.1 if b == 0 else 0.9)
        for a in range(210)
        for b in range(96)
    ]
    data = embedded(to_html(records, links))
    assert len(data["links"]) == PAGE_LINKS
    assert data["notes"] == [f"{210 * 96 - PAGE_LINKS} weaker links are left out."]
    assert all(target != 0 for _, target, *_ in data["links"][: 210 * 95])


def test_a_single_link_left_out_is_no_plural(monkeypatch):
    monkeypatch.setattr(pagemodule, "PAGE_LINKS", 2)
    links = [Link(a, b, "join_key", 0.5) for a, b in ((Q1, SUMMARY), (Q1, RATES), (Q1, BAD))]
    assert embedded(to_html(RECORDS, links))["notes"] == ["1 weaker link is left out."]


def test_links_to_other_sheets_are_left_out():
    data = embedded(to_html(RECORDS[:1], LINKS))
    assert (len(data["sheets"]), data["links"], data["types"]) == (1, [], [])


# ---- in a browser


@pytest.fixture
def page(visit):
    return visit(to_html(RECORDS, LINKS, title="Reports"))


def place_of(page, sheet_id: str) -> dict:
    return page.evaluate("id => window.placeOf(id)", sheet_id)


def click_sheet(page, sheet_id: str) -> None:
    place = place_of(page, sheet_id)
    page.mouse.click(place["x"], place["y"])


def pixels(page) -> bytes:
    page.mouse.move(2, 2)  # away from the sheets: nothing is lit
    page.wait_for_timeout(80)  # a frame or two
    return page.locator("#graph").screenshot()


def test_a_click_on_a_sheet_shows_its_record_links_and_evidence(page):
    assert page.locator("#panel").is_hidden()
    click_sheet(page, Q1)
    panel = page.locator("#panel")
    text = panel.inner_text()
    assert panel.locator("h3").inner_text() == "Q1"
    for part in ("2024/Sales.xlsx", "12 rows × 2 columns", "A3:B9", "Net revenue", "number, EUR"):
        assert part in text
    assert EVIDENCE in text
    assert "← is summed up in Summary" in text
    assert "→ joins to Währungen" in text
    page.keyboard.press("Escape")
    assert panel.is_hidden()


def test_a_link_in_the_panel_leads_to_its_other_end_and_the_address_follows(page):
    click_sheet(page, Q1)
    page.locator(".links button", has_text="Währungen").click()
    assert page.locator("#panel h3").inner_text() == "Währungen"
    assert "formulas not read" in page.locator("#panel").inner_text()
    assert page.url.endswith("#" + quote(RATES, safe=""))


def test_the_address_names_the_sheet_that_is_shown_at_first(visit):
    page = visit(to_html(RECORDS, LINKS), "#" + quote(SUMMARY, safe=""))
    assert page.locator("#panel h3").inner_text() == "Summary"
    assert "formulas read" in page.locator("#panel").inner_text()


@pytest.mark.parametrize("fragment", ["#nothing", "#%", "#%E0%A4%A"])
def test_an_address_that_names_no_sheet_is_no_error(visit, fragment):
    assert visit(to_html(RECORDS, LINKS), fragment).locator("#panel").is_hidden()


SEARCHES = [
    ("summ", ["Summary"]),
    ("wahr", ["Währungen"]),  # accents do not matter
    ("revenue", ["Q1"]),  # a header
    ("sales q", ["Q1", "Summary"]),  # a path and a name, a path and a header
    ("old", ["Währungen"]),  # a folder
]


@pytest.mark.parametrize(("query", "names"), SEARCHES, ids=[query for query, _ in SEARCHES])
def test_search_finds_names_headers_and_paths(page, query, names):
    page.keyboard.press("/")
    page.keyboard.type(query)
    assert page.locator("#results [role=option] > bdi").all_inner_texts() == names


def test_a_sheet_is_found_and_chosen_with_the_keyboard_alone(page):
    page.keyboard.press("/")
    page.keyboard.type("sales")
    options = page.locator("#results [role=option]")
    assert options.count() == 2
    assert options.nth(0).get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowDown")
    assert options.nth(1).get_attribute("aria-selected") == "true"
    second = options.nth(1).locator("> bdi").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("#panel h3").inner_text() == second
    assert page.locator("#results").is_hidden()
    assert page.locator("#status").inner_text().startswith(second)


def test_a_search_without_a_hit_says_so(page):
    page.locator("#search").fill("nonsense")
    assert "No sheet has these words" in page.locator("#results").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""


def test_each_type_is_counted_and_can_be_switched_off(page):
    legend = page.locator("#types li")
    counts = [item.inner_text().replace("\n", " ").rsplit(None, 1) for item in legend.all()]
    assert counts == [
        ["formula reference", "1"],
        ["aggregation", "1"],
        ["join key", "1"],
        ["same workbook", "1"],
        [EVIL, "1"],
    ]
    before = pixels(page)
    page.locator("input[name=join_key]").uncheck()
    without = pixels(page)
    assert without != before
    page.locator("input[name=join_key]").check()
    assert pixels(page) == before
    assert page.locator("input[name=same_workbook]").is_checked() is False


def test_each_type_has_the_colour_of_its_row_in_the_light_and_in_the_dark(page):
    names = [kind_of(name) for name in ("formula_reference", "aggregation", "join_key")]
    expected = [*names, kind_of("same_workbook"), OTHER_KIND]
    for theme in (0, 1):
        lines = page.locator("#types .line").all()
        found = [line.evaluate("e => getComputedStyle(e).borderTopColor") for line in lines]
        hexes = ["#{:02x}{:02x}{:02x}".format(*map(int, re.findall(r"\d+", one))) for one in found]
        assert hexes == [kind.colours[theme] for kind in expected]
        page.locator("#theme").click()


def test_a_type_that_is_off_is_still_listed_and_marked(page):
    page.locator("input[name=join_key]").uncheck()
    click_sheet(page, Q1)
    assert "join key1, not drawn" in page.locator("#panel").inner_text().replace("\n", "")


def test_the_view_pans_zooms_and_returns_to_the_whole(page):
    start = place_of(page, Q1)
    page.mouse.move(600, 700)
    page.mouse.wheel(0, -240)
    page.wait_for_timeout(80)
    zoomed = place_of(page, Q1)
    assert zoomed != start
    page.mouse.move(20, 780)
    page.mouse.down()
    page.mouse.move(120, 700, steps=4)
    page.mouse.up()
    panned = place_of(page, Q1)
    assert panned["x"] - zoomed["x"] == pytest.approx(100)
    assert panned["y"] - zoomed["y"] == pytest.approx(-80)
    page.locator("#graph").focus()
    page.keyboard.press("0")
    assert place_of(page, Q1) == start


def test_no_title_hides_the_dot_of_a_sheet(visit):
    records = [
        sheet(f"A workbook with a long name {number}.xlsx", f"Sheet {each}")
        for number in range(300)
        for each in range(2 + number * 7 % 13)
    ]
    page = visit(to_html(records, []))
    hidden = page.evaluate(
        """(ids) => {
          const canvas = document.getElementById("graph"), at = canvas.getBoundingClientRect();
          const { width, height } = canvas, ratio = width / canvas.clientWidth;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          return ids.filter((id) => {
            const { x, y } = window.placeOf(id);
            const row = Math.round(ratio * (y - at.top)), col = Math.round(ratio * (x - at.left));
            const colour = data.slice(4 * (row * width + col), 4 * (row * width + col) + 3);
            return Math.max(...colour) - Math.min(...colour) < 50;  // grey
          });
        }""",
        [record.sheet_id for record in records],
    )
    assert hidden == []


WINDOWS = {"laptop": (1280, 800), "screen": (1920, 1080), "phone": (390, 844)}


def corpus(workbooks: int, seed: int = 0) -> tuple[list[SheetRecord], list[Link]]:
    """Workbooks of 1 to 30 sheets with long names; a few of them are linked."""
    chance = random.Random(seed)
    sizes = [chance.choice((1, 2, 2, 3, 4, 5, 8, 30)) for _ in range(workbooks)]
    records = [
        sheet(f"group {number % 7}/Fuel economy of vehicle class {number}.xlsx", f"Sheet {each}")
        for number, size in enumerate(sizes)
        for each in range(size)
    ]
    ids = [record.sheet_id for record in records]
    few = ids[: len(ids) // 4]
    links = [Link(*chance.sample(few, 2), "join_key") for _ in range(len(few) // 6)]
    return records, links


def seen(visit, records, links, window):
    """The page in a window of a size, and where the dots of all sheets are in its canvas."""
    page = visit(to_html(records, links), size=window)
    page.wait_for_timeout(80)  # a frame or two
    return page, dots(page, records)


def dots(page, records) -> np.ndarray:
    """Shares of the canvas, (n, 2), at which the dots of sheets are."""
    box = page.locator("#graph").bounding_box()
    ids = [record.sheet_id for record in records]
    found = page.evaluate("ids => ids.map((id) => window.placeOf(id))", ids)
    places = np.array([[each["x"] - box["x"], each["y"] - box["y"]] for each in found])
    return places / (box["width"], box["height"])


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("workbooks", [7, 100, 600])
def test_the_first_view_fits_the_window_and_has_the_titles_of_the_workbooks(
    workbooks, window, visit
):
    records, links = corpus(workbooks)
    page, places = seen(visit, records, links, window)
    fits(places, workbooks)
    if workbooks <= 100 and window != WINDOWS["phone"]:
        has_every_title(page, places, records)
    elif workbooks == 600 and window == WINDOWS["phone"]:
        shows_titles_in_a_closer_look(page, records)


def fits(places, workbooks):
    low, high = places.min(axis=0), places.max(axis=0)
    assert (low > 0).all() and (high < 1).all()
    # A card goes on to the right of its dots, and its title stands above them.
    assert np.abs((low + high) / 2 - 0.5).max() < 0.12
    assert (high - low).max() > 0.7
    if workbooks > 7:  # a few cards cannot take any shape
        assert (high - low).min() > 0.6


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_a_single_sheet_stands_in_the_middle(window, visit):
    _, places = seen(visit, RECORDS[:1], [], window)
    assert np.abs(places - 0.5).max() < 0.25


def titles(page) -> list[dict]:
    return page.evaluate("window.titles()")


def overlap(one: list[float], other: list[float]) -> bool:
    return one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]


def has_every_title(page, places, records):
    shown = titles(page)
    assert {title["workbook"] for title in shown} == {record.path for record in records}
    box = page.locator("#graph").bounding_box()
    centres = places * (box["width"], box["height"])
    for row, title in enumerate(shown):
        assert len("".join(title["lines"])) >= 9
        left, top, right, bottom = title["box"]
        assert left >= 0 and top > -1 and right <= box["width"]
        assert not any(overlap(title["box"], other["box"]) for other in shown[row + 1 :])
        x, y = centres.T
        assert not ((left < x) & (x < right) & (top < y) & (y < bottom)).any()


def shows_titles_in_a_closer_look(page, records):
    """Where not all titles fit, none overlap."""
    shown = titles(page)
    assert len(shown) < 600
    assert not any(
        overlap(one["box"], other["box"]) for row, one in enumerate(shown) for other in shown[:row]
    )
    for record in records[:: len(records) // 5]:
        page.evaluate("id => { location.hash = encodeURIComponent(id); }", record.sheet_id)
        page.wait_for_timeout(80)  # a frame or two
        assert record.path in {title["workbook"] for title in titles(page)}


def test_a_window_of_another_size_shows_all_again(visit):
    records, links = corpus(100)
    page, _ = seen(visit, records, links, WINDOWS["laptop"])
    for window in (WINDOWS["phone"], WINDOWS["screen"]):
        page.set_viewport_size({"width": window[0], "height": window[1]})
        page.wait_for_timeout(120)  # until the observer has told, and a frame
        places = dots(page, records)
        assert (places > 0).all() and (places < 1).all()
        assert (np.ptp(places, axis=0) > 0.5).all()


def test_a_view_that_was_chosen_stays_when_the_window_changes(visit):
    page, _ = seen(visit, RECORDS, LINKS, WINDOWS["laptop"])
    page.mouse.move(600, 500)
    page.mouse.wheel(0, -240)
    page.wait_for_timeout(80)
    before = titles(page)[0]["box"]
    page.set_viewport_size({"width": 1000, "height": 700})
    page.wait_for_timeout(120)
    assert titles(page)[0]["box"] == before
    page.locator("#graph").focus()
    page.keyboard.press("0")
    assert (dots(page, RECORDS) < 1).all()


def test_a_card_that_was_moved_stays_where_it_is_when_the_window_changes(visit):
    page, _ = seen(visit, RECORDS, LINKS, WINDOWS["laptop"])
    before = np.diff(dots(page, RECORDS[1:3]), axis=0) * (1280, 1)
    start = place_of(page, Q1)
    page.mouse.move(start["x"], start["y"] - 40)
    page.mouse.down()
    page.mouse.move(start["x"] - 60, start["y"] - 40, steps=4)
    page.mouse.up()
    page.set_viewport_size({"width": 700, "height": 800})
    page.wait_for_timeout(120)
    places = dots(page, RECORDS)
    assert (places > 0).all() and (places < 1).all()
    after = np.diff(places[1:3], axis=0) * (700, 1)
    assert after[0, 0] / before[0, 0] > 0.4  # the layout of wide windows, only smaller


def test_a_card_is_moved_by_its_title_with_its_sheets(page):
    start, other = place_of(page, Q1), place_of(page, RATES)
    page.mouse.move(start["x"], start["y"] - 40)
    page.mouse.down()
    page.mouse.move(start["x"] + 30, start["y"] - 20, steps=4)
    page.mouse.up()
    moved = place_of(page, Q1)
    assert (moved["x"] - start["x"], moved["y"] - start["y"]) == pytest.approx((30, 20))
    assert place_of(page, RATES) == other


def test_hostile_names_are_text_everywhere(page):
    for element in ("#title", "#types", "#counts"):
        page.locator(element).inner_text()
    click_sheet(page, BAD)
    assert page.locator("#panel h3").inner_text() == EVIL
    assert EVIL in page.locator("#panel .links code").inner_text()
    page.locator("#search").fill("onerror")
    assert page.locator("#results [role=option]").count() == 1
    assert page.locator("img").count() == 0
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(visit, scheme):
    page = visit(to_html(RECORDS, LINKS))
    page.emulate_media(color_scheme=scheme)
    page.wait_for_selector(f"html[data-theme={scheme}]", state="attached")
    before = pixels(page)
    page.locator("#theme").click()
    page.wait_for_selector(f"html:not([data-theme={scheme}])", state="attached")
    assert pixels(page) != before


def test_without_sheets_the_page_says_why(visit):
    page = visit(to_html([], []))
    assert "No sheets here" in page.locator("#empty").inner_text()
    assert page.locator("#legend").is_hidden()


def test_without_links_the_page_says_so(visit):
    page = visit(to_html(RECORDS, [], notes=["Something was left out."]))
    assert page.locator("#notes").inner_text() == (
        "No links between these sheets. Something was left out."
    )


def test_two_thousand_sheets_are_drawn_and_searched(visit):
    records = [sheet(f"w{number // 8}.xlsx", f"Sheet {number}") for number in range(2000)]
    links = [
        Link(records[number].sheet_id, records[number * 7 % 2000].sheet_id, "formula_reference")
        for number in range(2000)
    ]
    page = visit(to_html(records, links))
    page.locator("#search").fill("sheet 1234")
    page.keyboard.press("Enter")
    assert page.locator("#panel h3").inner_text() == "Sheet 1234"
    frame_ms = page.evaluate(
        """async () => {
          const start = performance.now();
          for (let n = 0; n < 10; n += 1) {
            document.getElementById("graph").dispatchEvent(new WheelEvent("wheel",
              { deltaY: 60, clientX: 600, clientY: 400, cancelable: true }));
            await new Promise(requestAnimationFrame);
          }
          return (performance.now() - start) / 10;
        }"""
    )
    assert frame_ms < 300  # measured at 17 to 40 ms, drawn without a graphics card
