"""The CHANGELOG has the form of Keep a Changelog."""

from __future__ import annotations

import re
from datetime import date

from packaging.version import Version

from tests.places import ROOT

LINES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def sections() -> list[tuple[str, list[str]]]:
    """Each section: its heading, and the lines below it."""
    starts = [number for number, line in enumerate(LINES) if line.startswith("## ")]
    ends = [*starts[1:], len(LINES)]
    return [(LINES[a], LINES[a + 1 : b]) for a, b in zip(starts, ends, strict=True)]


def test_what_is_unreleased_stands_above_the_releases_the_newest_first():
    first, *released = [heading for heading, _ in sections()]
    assert first == "## [Unreleased]"
    found = [re.fullmatch(r"## \[(.+)\] - (.+)", heading) for heading in released]
    versions = [(Version(each[1]), date.fromisoformat(each[2])) for each in found]
    assert versions == sorted(versions, reverse=True)
    assert len({version for version, _ in versions}) == len(versions)


def test_every_line_of_a_section_is_below_a_kind_of_change():
    for heading, lines in sections():
        kinds = [line[4:] for line in lines if line.startswith("### ")]
        assert kinds == [kind for kind in KINDS if kind in kinds], heading
        assert len(set(kinds)) == len(kinds), heading
        texts = [line for line in lines if line and not line.startswith("### ")]
        before = (
            [line for line in lines[: lines.index(f"### {kinds[0]}")] if line] if kinds else texts
        )
        assert before == [], heading
        assert all(line.startswith("- ") and line.endswith((".", ")")) for line in texts), heading
