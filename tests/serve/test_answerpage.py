"""The answer in words above the hits: its piece of HTML, and the page in a browser."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.modelserver import Reaction, always, one_by_one, openai
from tests.serve.conftest import serving

FORM = {"Content_Type": "application/x-www-form-urlencoded"}
SQL = "SELECT region, revenue FROM q1 WHERE region <> '<b>'"
ASKED = {"q": "revenue by region in Q1", "folder": "2024"}


def asking(index_file, *reactions, more=()):
    """A server with a language model that reacts so."""
    model = openai(one_by_one(*reactions) if len(reactions) > 1 else always(*reactions))
    return model, lambda opened: serving(
        index_file, "--llm", "openai:small", "--llm-url", opened.v1, *more
    )


def test_the_answer_has_its_query_rows_and_links_to_the_cells(index_file):
    words = "South has <img src=x> 80.5."
    model, server_of = asking(index_file, Reaction(f"```sql\n{SQL}\n```"), Reaction(words))
    with model as opened, server_of(opened) as server:
        found = server.ask("/answer", "POST", urlencode(ASKED).encode(), **FORM)
        assert server.ask("/answer").status == 405
        assert "Answer in words" in server.get("/", **ASKED).text
    assert found.status == 200
    for part in (
        "<p>South has &lt;img src=x&gt; 80.5.</p>",
        "WHERE region &lt;&gt; &#39;&lt;b&gt;&#39;",
        '<td>South</td><td class="number">80.5</td>',
        'href="/sheet?id=2024%2FSales+2024.xlsx%23Q1&amp;row=2&amp;column=1&amp;cells=A2">A2:C3</a>',
    ):
        assert part in found.text


@pytest.mark.parametrize(
    ("form", "reaction", "status", "words"),
    [
        (ASKED, Reaction(status=401, error="wrong key"), 502, "language model cannot be reached"),
        (ASKED, Reaction("x", wait_s=2.5), 504, "more than 1 seconds"),
        ({"q": " "}, Reaction("x"), 400, "query is empty"),
        ({"q": "x", "period": "soon"}, Reaction("x"), 400, "soon"),
    ],
    ids=["wrong key", "slow", "no question", "wrong filter"],
)
def test_failures_are_told_in_words(index_file, form, reaction, status, words):
    seconds = 1 if status == 504 else 60
    model, server_of = asking(index_file, reaction, more=("--answer-seconds", seconds))
    with model as opened, server_of(opened) as server:
        found = server.ask("/answer", "POST", urlencode(form).encode(), **FORM)
    assert (found.status, words in found.text) == (status, True), found.text
    assert "wrong key" not in found.text


def test_without_a_model_there_is_no_button(server):
    assert "Answer in words" not in server.get("/", q="revenue").text
    assert server.ask("/answer", "POST", b"q=x", **FORM).status == 404


def test_a_button_asks_when_the_hits_are_there(index_file, window):
    replies = Reaction(f"```sql\n{SQL}\n```"), Reaction("South has the least: 80.5.")
    model, server_of = asking(index_file, *replies)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with model as opened, server_of(opened) as server:
        page = window()
        page.goto(f"{server.url}/?{urlencode(ASKED)}")
        page.wait_for_selector(".hits")
        page.fill("#q", f"{ASKED['q']} again")  # the hits are replaced, and the button with them
        page.wait_for_url("**again**")
        assert opened.chats == []
        page.click("text=Answer in words")
        page.wait_for_selector("#answer details")
        assert "South has the least: 80.5." in page.inner_text("#answer")
        top = page.locator("#answer").bounding_box()["y"]
        assert top < page.locator(".hits").first.bounding_box()["y"]
        assert axe.run(page).response["violations"] == []
        page.click("#answer a")
        page.wait_for_selector("#cells td.hit")
