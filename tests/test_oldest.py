"""What is tested as the oldest release is what pyproject.toml allows."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.places import DISTRIBUTIONS, ROOT

PINS = [
    Requirement(line)
    for line in (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def lower_bounds() -> dict[str, Version]:
    """Oldest release allowed of each package that this project names."""
    lines = []
    for folder in (ROOT, *DISTRIBUTIONS):
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project.get("optional-dependencies", {}).values()
        lines += [*project["dependencies"], *(line for each in extras for line in each)]
    return {
        wanted.name: Version(bound.version)
        for wanted in map(Requirement, lines)
        for bound in wanted.specifier
        if bound.operator == ">="
    }


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_the_oldest_release_tested_is_the_oldest_allowed(pin):
    [exact] = pin.specifier
    bounds = lower_bounds()
    if pin.name not in bounds:
        pytest.skip(f"{pin.name} comes with another package")
    assert Version(exact.version) == bounds[pin.name]


def test_the_oldest_client_of_ollama_can_be_told_not_to_think():
    assert lower_bounds()["ollama"] >= Version("0.5.0")  # the first whose `chat` takes `think`
