"""The files of other programs in the guide for teams, and the unit that it names."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, blocks
from tests.places import ROOT

SHOWN = list(blocks(DOCS / "guides" / "team.md"))


def texts(language: str) -> list[str]:
    return [block.text for block in SHOWN if block.language == language]


@pytest.mark.parametrize("option", ["--workers", "--token-file", "--proxy", "--allow-host"])
def test_the_unit_starts_what_the_guide_explains(option):
    assert option in (ROOT / "deploy" / "systemd" / "sat.service").read_text()
    (told,) = [block.text for block in SHOWN if "serving 23 sheets" in block.text]
    assert option in told


def test_proxies_set_who_asks_and_hide_the_probes():
    (nginx,), (caddy,) = texts("nginx"), texts("caddyfile")
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx
    assert "location /health/" in nginx
    assert "respond /health/* 404" in caddy
