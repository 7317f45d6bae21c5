"""Pages of their own: no text leaves the data it is in, and nothing but their own code runs."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from sat_retriever.pages.onepage import one_page
from tests.places import ROOT

EVIL = "</script><img src=x onerror=window.hacked=1>"
TEXTS = [EVIL, "%STYLE%", "\u2028", "a\ud800"]


@pytest.fixture(params=["sat_retriever.pages.graph", "sat_retriever.evaluation.report"])
def page(request) -> str:
    return one_page(request.param, (), title=f"{EVIL}%SCRIPT%t\udc80", data=TEXTS)


def test_the_pages_of_one_file_look_as_those_that_are_served():
    shared = (ROOT / "sat_retriever/pages/viewer/shared.css").read_text(encoding="utf-8")
    served = (ROOT / "sat_retriever/serve/pages/page.css").read_text(encoding="utf-8")
    value = re.compile(r"(--[a-z-]+): ([^;]+);")
    looks = set(value.findall(shared))
    names = {name for name, _ in looks}
    assert {"--paper", "--ink", "--accent", "--sans"} <= names
    assert {each for each in value.findall(served) if each[0] in names} == looks


def test_texts_cannot_leave_the_data_they_are_in_and_placeholders_in_them_are_texts(page):
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert "%SCRIPT%t?</title>" in page
    (text,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    assert text.isascii()  # so U+2028 and lone surrogates are escaped too
    assert not set("<>&") & set(text)
    assert json.loads(text) == TEXTS
    page.encode()


def test_the_policy_allows_the_pages_own_script_and_style_by_their_hashes_only(page):
    (policy,) = re.findall(r'Content-Security-Policy" content="(.+?)"', page)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for kind in ("script", "style"):
        (own,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy
