"""No test of this folder leaves the machine through a proxy."""

import pytest


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
