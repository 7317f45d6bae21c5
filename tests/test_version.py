"""The version comes from the metadata of what is installed."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version

import sat_retriever
from sat_retriever import _version


def test_the_version_is_that_of_the_installed_package():
    assert sat_retriever.__version__ == version("sat-retriever")


def test_a_copy_that_nobody_installed_has_no_known_version(monkeypatch):
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    with monkeypatch.context() as patched:
        patched.setattr("importlib.metadata.version", missing)
        assert importlib.reload(_version).__version__ == "0+unknown"
    assert importlib.reload(_version).__version__ == sat_retriever.__version__
